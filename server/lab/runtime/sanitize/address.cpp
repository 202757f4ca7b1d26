// `--sanitize address`: every access of instrumented code is looked up in the shadow.
#if KS_SANITIZE == 1
#include "../src/sanitizer.h"
#include "blocks.h"
#include "caller.h"
#include "fault.h"
#include "shadow.h"
#include "shared.h"
#include "variables.h"
#include <algorithm>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

namespace ks::sanitizer {

Shadow shadow;

namespace {

Access last_access;

Blocks &blocks() {
    static Blocks *const all = new Blocks;
    return *all;
}

/// "12 bytes past the end of" and the like, for `address` outside of [begin, begin + bytes).
std::string relation(uintptr_t address, uintptr_t begin, size_t bytes) {
    if (address < begin) {
        return std::to_string(begin - address) + (begin - address == 1 ? " byte" : " bytes") + " before the start of";
    }
    const uintptr_t past = address - (begin + bytes);
    return past == 0 ? "right past the end of" : std::to_string(past) + " bytes past the end of";
}

struct Finding {
    const char *kind;
    std::string what; ///< goes on from "writes 4 bytes, "
    Where other;
};

Finding about_variable(const Variable &variable, const char *noun, uintptr_t bad) {
    const std::string name = variable.name.empty() ? noun : std::string(noun) + " `" + variable.name + "`";
    if (variable.bytes == 0) {
        return {"out_of_bounds", "outside of " + name, {}};
    }
    return {"out_of_bounds",
            relation(bad, variable.begin, variable.bytes) + " " + name + " (" + std::to_string(variable.bytes) + " bytes)",
            {}};
}

Finding about_device_memory(uintptr_t bad) {
    const MemoryBlock block = blocks().nearest(bad);
    if (block.bytes == 0) {
        return {"out_of_bounds", "in memory that is not allocated", {}};
    }
    const std::string size = "the " + std::to_string(block.bytes) + " bytes of " + block.kind;
    if (block.freed) {
        const bool inside = bad >= block.begin && bad < block.begin + block.bytes;
        return {"use_after_free", inside ? "in " + size + " that were freed" : relation(bad, block.begin, block.bytes) + " " + size + " that were freed",
                {block.freed_pc, kNobody, 0, "freed here"}};
    }
    return {"out_of_bounds", relation(bad, block.begin, block.bytes) + " " + size, {block.allocated_pc, kNobody, 0, "allocated here"}};
}

/// What is known of a byte that must not be accessed.
Finding examine(uintptr_t bad) {
    uint8_t code = shadow.code(bad);
    if (code < kGranule) {
        code = shadow.code(bad + kGranule); // The rest of a granule is what follows it.
    }
    switch (code) {
    case kBeyondDynamicShared: {
        const uintptr_t begin = reinterpret_cast<uintptr_t>(ks_dynamic_shared);
        const size_t bytes = state.launch != nullptr ? state.launch->shared_bytes : 0;
        return {"out_of_bounds",
                relation(bad, begin, bytes) + " the " + std::to_string(bytes) +
                    " bytes of dynamic shared memory that the launch asks for",
                {}};
    }
    case kStackLeft:
    case kStackMiddle:
    case kStackRight: return about_variable(local_near(bad), "local variable", bad);
    case kAllocaLeft:
    case kAllocaRight: return {"out_of_bounds", "outside of a local array", {}};
    case kStackAfterScope: {
        const Variable variable = local_near(bad);
        return {"use_after_scope", "in local variable `" + variable.name + "` after its scope has ended", {}};
    }
    case kUnallocated:
    case kFreed: return about_device_memory(bad);
    default:
        if (blocks().nearest(bad).bytes != 0 && shadow.code(bad) < kGranule && code != kGlobalRedzone) {
            return about_device_memory(bad);
        }
        return about_variable(global_near(bad), shared.holds(bad) ? "shared memory" : "variable", bad);
    }
}

__attribute__((noinline)) void report(const Access &access, uintptr_t bad) {
    const Finding found = examine(bad);
    if (!is_new_fault(found.kind, access.pc, found.other.pc)) {
        return;
    }
    const bool kernel = in_kernel();
    const std::string who = kernel ? item_text(state.item) : "the host";
    tell(found.kind,
         who + (access.writes ? " writes " : " reads ") + std::to_string(access.bytes) + " bytes, " + found.what,
         {access.pc, kernel ? state.item : kNobody, state.block, access.writes ? "written here" : "read here"},
         found.other);
}

inline void check(const Access &access) {
    last_access = access;
    if (const uintptr_t bad = shadow.first_bad(access.address, access.bytes); __builtin_expect(bad != 0, 0)) {
        report(access, bad);
        return;
    }
    if (in_kernel()) {
        shared.access(access);
    }
}

void check_each(uintptr_t address, size_t bytes, bool writes, const void *pc) {
    if (bytes != 0) {
        check({address, bytes, writes, reinterpret_cast<uintptr_t>(pc)});
    }
}

void open_stack_from(const void *here) {
    uintptr_t low = reinterpret_cast<uintptr_t>(here), high = 0;
    const uintptr_t fibers = reinterpret_cast<uintptr_t>(worker.stacks);
    if (worker.stacks != nullptr && low >= fibers && low < fibers + worker.capacity * kStackBytes) {
        high = fibers + ((low - fibers) / kStackBytes + 1) * kStackBytes;
    } else {
        pthread_attr_t attributes;
        void *lowest = nullptr;
        size_t bytes = 0;
        if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
            return;
        }
        pthread_attr_getstack(&attributes, &lowest, &bytes);
        pthread_attr_destroy(&attributes);
        high = reinterpret_cast<uintptr_t>(lowest) + bytes;
    }
    shadow.set(low / kGranule * kGranule, high - low / kGranule * kGranule, 0);
}

} // namespace

void on_begin_launch(const Launch &launch) {
    const uintptr_t dynamic = reinterpret_cast<uintptr_t>(ks_dynamic_shared);
    shadow.set(dynamic, kMaxSharedBytes + kSharedMargin, kBeyondDynamicShared);
    shadow.open(dynamic, launch.shared_bytes);
}
void on_begin_block() {}
void on_end_block() {}
void on_barrier() {}
void on_wave_order(unsigned, uint64_t) {}
void on_switch() {}
void on_register_shared(void *) {}

void begin_stack(void *lowest, size_t bytes) { shadow.set(reinterpret_cast<uintptr_t>(lowest), bytes, 0); }

size_t margin(size_t bytes) {
    // Wide enough that a wrong stride or a wrong row lands in it, small enough not to matter.
    return std::clamp(bytes / 4, size_t{256}, size_t{65536}) / 256 * 256;
}

void reserved(void *memory, size_t bytes) { shadow.set(reinterpret_cast<uintptr_t>(memory), bytes, kUnallocated); }

void allocated(void *pointer, size_t bytes, const char *kind) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(pointer);
    shadow.set(begin - margin(bytes), bytes + 2 * margin(bytes), kUnallocated);
    shadow.open(begin, bytes);
    blocks().add({begin, bytes, kind, caller_of_runtime(), 0, false});
}

bool freed(void *pointer, size_t bytes) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(pointer);
    shadow.set(begin, bytes, kFreed);
    blocks().free(begin, caller_of_runtime());
    return true;
}

void *take_released(size_t *bytes) {
    const MemoryBlock block = blocks().take_released();
    *bytes = block.bytes;
    if (block.bytes == 0) {
        return nullptr;
    }
    shadow.set(block.begin, block.bytes, kUnallocated);
    return reinterpret_cast<void *>(block.begin);
}

void freed_wrongly(void *pointer) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(pointer), pc = caller_of_runtime();
    const MemoryBlock block = blocks().nearest(at);
    const bool twice = block.freed && block.begin == at;
    const char *kind = twice ? "double_free" : "wrong_free";
    const Where other = twice ? Where{block.freed_pc, kNobody, 0, "freed here"} : Where{};
    if (!is_new_fault(kind, pc, other.pc)) {
        return;
    }
    tell(kind,
         twice ? "frees the " + std::to_string(block.bytes) + " bytes of " + block.kind + " that were freed before"
               : "frees what hipMalloc and its kin did not give out, or what another call has to free",
         {pc, kNobody, 0, "freed again here"}, other);
}

bool crashed(const void *address) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(address);
    if (at - last_access.address >= std::max<size_t>(last_access.bytes, 1) ||
        !is_new_fault("invalid_address", last_access.pc, 0)) {
        return false;
    }
    char text[32];
    snprintf(text, sizeof text, "%#zx", static_cast<size_t>(at));
    const bool kernel = in_kernel();
    tell("invalid_address",
         (kernel ? item_text(state.item) : std::string("the host")) + (last_access.writes ? " writes" : " reads") +
             (at < 4096 ? " through a null pointer" : std::string(" at ") + text + ", where there is no memory"),
         {last_access.pc, kernel ? state.item : kNobody, state.block, "here"}, {});
    return true;
}

} // namespace ks::sanitizer

// The functions that clang's instrumentation calls: the ABI of AddressSanitizer, version 8.
#pragma GCC visibility push(default)
extern "C" {
#define KS_CHECK(NAME, WRITES, BYTES)                                                                                  \
    void __asan_##NAME##BYTES##_noabort(uintptr_t address) {                                                           \
        ks::sanitizer::check({address, BYTES, WRITES, reinterpret_cast<uintptr_t>(__builtin_return_address(0))});      \
    }
#define KS_CHECKS(BYTES) KS_CHECK(load, false, BYTES) KS_CHECK(store, true, BYTES)
KS_CHECKS(1) KS_CHECKS(2) KS_CHECKS(4) KS_CHECKS(8) KS_CHECKS(16)

void __asan_loadN_noabort(uintptr_t address, size_t bytes) {
    ks::sanitizer::check_each(address, bytes, false, __builtin_return_address(0));
}
void __asan_storeN_noabort(uintptr_t address, size_t bytes) {
    ks::sanitizer::check_each(address, bytes, true, __builtin_return_address(0));
}
void *__asan_memcpy(void *to, const void *from, size_t bytes) {
    ks::sanitizer::check_each(reinterpret_cast<uintptr_t>(from), bytes, false, __builtin_return_address(0));
    ks::sanitizer::check_each(reinterpret_cast<uintptr_t>(to), bytes, true, __builtin_return_address(0));
    return memmove(to, from, bytes);
}
void *__asan_memmove(void *to, const void *from, size_t bytes) {
    ks::sanitizer::check_each(reinterpret_cast<uintptr_t>(from), bytes, false, __builtin_return_address(0));
    ks::sanitizer::check_each(reinterpret_cast<uintptr_t>(to), bytes, true, __builtin_return_address(0));
    return memmove(to, from, bytes);
}
void *__asan_memset(void *to, int value, size_t bytes) {
    ks::sanitizer::check_each(reinterpret_cast<uintptr_t>(to), bytes, true, __builtin_return_address(0));
    return memset(to, value, bytes);
}

// `at` is a granule's number: see shadow.h.
#define KS_SET_SHADOW(CODE)                                                                                            \
    void __asan_set_shadow_##CODE(uintptr_t at, size_t granules) {                                                     \
        ks::sanitizer::shadow.set(at * ks::sanitizer::kGranule, granules * ks::sanitizer::kGranule, 0x##CODE);         \
    }
KS_SET_SHADOW(00) KS_SET_SHADOW(01) KS_SET_SHADOW(02) KS_SET_SHADOW(03) KS_SET_SHADOW(04) KS_SET_SHADOW(05)
KS_SET_SHADOW(06) KS_SET_SHADOW(07) KS_SET_SHADOW(f1) KS_SET_SHADOW(f2) KS_SET_SHADOW(f3) KS_SET_SHADOW(f5)
KS_SET_SHADOW(f8)

void __asan_poison_stack_memory(uintptr_t address, size_t bytes) {
    ks::sanitizer::shadow.set(address, bytes, ks::sanitizer::kStackAfterScope);
}
void __asan_unpoison_stack_memory(uintptr_t address, size_t bytes) { ks::sanitizer::shadow.open(address, bytes); }
/// Redzones of 32 bytes around an array whose length is known at run time only.
void __asan_alloca_poison(uintptr_t address, size_t bytes) {
    ks::sanitizer::shadow.set(address - 32, 32, ks::sanitizer::kAllocaLeft);
    const uintptr_t end = address + bytes, padded = (end + 31) / 32 * 32;
    ks::sanitizer::shadow.set((end + 7) / 8 * 8, padded + 32 - (end + 7) / 8 * 8, ks::sanitizer::kAllocaRight);
    ks::sanitizer::shadow.open(address, bytes);
}
void __asan_allocas_unpoison(uintptr_t top, uintptr_t bottom) {
    if (top != 0 && top <= bottom) {
        ks::sanitizer::shadow.set(top / 8 * 8, bottom - top / 8 * 8, 0);
    }
}
void __asan_handle_no_return() { ks::sanitizer::open_stack_from(__builtin_frame_address(0)); }
void __asan_register_elf_globals(uintptr_t *registered, const ks::sanitizer::GlobalDescriptor *begin,
                                 const ks::sanitizer::GlobalDescriptor *end) {
    if (*registered == 0 && begin != end) {
        ks::sanitizer::add_globals(begin, end);
        *registered = 1;
    }
}
void __asan_unregister_elf_globals(uintptr_t *registered, const ks::sanitizer::GlobalDescriptor *begin,
                                   const ks::sanitizer::GlobalDescriptor *end) {
    if (*registered != 0) {
        ks::sanitizer::remove_globals(begin, end);
        *registered = 0;
    }
}
void __asan_register_globals(const ks::sanitizer::GlobalDescriptor *begin, size_t count) {
    ks::sanitizer::add_globals(begin, begin + count);
}
void __asan_unregister_globals(const ks::sanitizer::GlobalDescriptor *begin, size_t count) {
    ks::sanitizer::remove_globals(begin, begin + count);
}
void __asan_init() {}
void __asan_version_mismatch_check_v8() {}
// The order in which units initialise their globals is the host's matter.
void __asan_before_dynamic_init(const char *) {}
void __asan_after_dynamic_init() {}
// new T[n] keeps n before the array; the host's heap is not looked after.
void __asan_poison_cxx_array_cookie(uintptr_t) {}
uintptr_t __asan_load_cxx_array_cookie(uintptr_t *cookie) { return *cookie; }
}
#pragma GCC visibility pop
#endif
