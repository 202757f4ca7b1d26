// `--sanitize thread`: accesses of instrumented code to shared and global memory are looked at for races.
#if KS_SANITIZE == 2
#include "../src/sanitizer.h"
#include "fault.h"
#include "races.h"
#include "shared.h"
#include <algorithm>
#include <link.h>
#include <string.h>

namespace ks::sanitizer {

Races races;

namespace {

Access last_access;

/// `__ATOMIC_RELEASE` and stronger.
bool releases(int order) { return order >= __ATOMIC_RELEASE; }

void look_at(uintptr_t address, size_t bytes, bool writes, unsigned flags, const void *pc) {
    if (!in_kernel() || bytes == 0) {
        return;
    }
    last_access = {address, bytes, writes, reinterpret_cast<uintptr_t>(pc)};
    races.access(address, bytes, writes, flags, last_access.pc);
    shared.access(last_access);
    if (flags == kVolatile && !shared.holds(address)) {
        writes ? races.order.publish(address) : races.order.learn(address);
    }
}

/// An atomic access; comes before the operation itself.
void look_at_atomic(uintptr_t address, size_t bytes, bool reads, bool writes, int order, const void *pc,
                    unsigned flags = kAtomic) {
    if (!in_kernel()) {
        return;
    }
    last_access = {address, bytes, writes, reinterpret_cast<uintptr_t>(pc)};
    races.access(address, bytes, writes, flags, last_access.pc);
    if (reads) {
        shared.access({address, bytes, false, last_access.pc});
        races.order.learn(address);
    }
    if (writes) {
        shared.access(last_access);
        if (releases(order)) {
            races.order.fence(true);
        }
        races.order.publish(address);
    }
}

void look_at_fence(bool whole_device) {
    if (in_kernel()) {
        races.settle();
        races.order.fence(whole_device);
    }
}

/// Adds the writable memory of the object that `inside` lies in: __device__ variables are there.
int add_writable(dl_phdr_info *info, size_t, void *inside) {
    const uintptr_t wanted = reinterpret_cast<uintptr_t>(inside);
    bool is_it = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) &part = info->dlpi_phdr[i];
        is_it |= part.p_type == PT_LOAD && wanted - (info->dlpi_addr + part.p_vaddr) < part.p_memsz;
    }
    for (int i = 0; is_it && i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) &part = info->dlpi_phdr[i];
        if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0) {
            const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
            races.add_range(begin, begin + part.p_memsz);
        }
    }
    return is_it;
}

} // namespace

void on_begin_launch(const Launch &launch) {
    static const bool dynamic_is_known = [] {
        const uintptr_t dynamic = reinterpret_cast<uintptr_t>(ks_dynamic_shared);
        races.add_range(dynamic, dynamic + kMaxSharedBytes);
        return true;
    }();
    (void)dynamic_is_known;
    races.order.begin_launch(launch);
}
void on_begin_block() { races.order.begin_block(); }
void on_end_block() {}
void on_barrier() { races.order.barrier(); }
void on_wave_order(unsigned wave, uint64_t active) { races.order.wave(wave, active); }
void on_switch() { races.leave(); }
void on_register_shared(void *begin) { dl_iterate_phdr(add_writable, begin); }

void begin_stack(void *, size_t) {}
size_t margin(size_t) { return 0; }
void reserved(void *memory, size_t bytes) {
    races.add_range(reinterpret_cast<uintptr_t>(memory), reinterpret_cast<uintptr_t>(memory) + bytes);
}
void allocated(void *, size_t, const char *) {}
bool freed(void *, size_t) { return false; }
void *take_released(size_t *) { return nullptr; }
void freed_wrongly(void *) {}

bool crashed(const void *address) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(address);
    if (!in_kernel() || at - last_access.address >= std::max<size_t>(last_access.bytes, 1) ||
        !is_new_fault("invalid_address", last_access.pc, 0)) {
        return false;
    }
    tell("invalid_address",
         item_text(state.item) + (last_access.writes ? " writes" : " reads") +
             (at < 4096 ? " through a null pointer" : " where there is no memory") +
             "; --sanitize address says more about such accesses",
         {last_access.pc, state.item, state.block, "here"}, {});
    return true;
}

} // namespace ks::sanitizer

// The functions that clang's instrumentation calls: the ABI of ThreadSanitizer.
using ks::sanitizer::kPlain;
using ks::sanitizer::kVolatile;
#pragma GCC visibility push(default)
extern "C" {
#define KS_LOOK(NAME, BYTES, WRITES, FLAGS)                                                                            \
    void __tsan_##NAME##BYTES(void *address) {                                                                         \
        ks::sanitizer::look_at(reinterpret_cast<uintptr_t>(address), BYTES, WRITES, FLAGS,                             \
                               __builtin_return_address(0));                                                           \
    }
#define KS_LOOKS(BYTES)                                                                                                \
    KS_LOOK(read, BYTES, false, kPlain)                                                                                \
    KS_LOOK(write, BYTES, true, kPlain)                                                                                \
    KS_LOOK(unaligned_read, BYTES, false, kPlain)                                                                      \
    KS_LOOK(unaligned_write, BYTES, true, kPlain)                                                                      \
    KS_LOOK(volatile_read, BYTES, false, kVolatile)                                                                    \
    KS_LOOK(volatile_write, BYTES, true, kVolatile)                                                                    \
    KS_LOOK(unaligned_volatile_read, BYTES, false, kVolatile)                                                          \
    KS_LOOK(unaligned_volatile_write, BYTES, true, kVolatile)
KS_LOOKS(1) KS_LOOKS(2) KS_LOOKS(4) KS_LOOKS(8) KS_LOOKS(16)

void __tsan_read_range(void *address, size_t bytes) {
    ks::sanitizer::look_at(reinterpret_cast<uintptr_t>(address), bytes, false, kPlain, __builtin_return_address(0));
}
void __tsan_write_range(void *address, size_t bytes) {
    ks::sanitizer::look_at(reinterpret_cast<uintptr_t>(address), bytes, true, kPlain, __builtin_return_address(0));
}
void *__tsan_memcpy(void *to, const void *from, size_t bytes) {
    ks::sanitizer::look_at(reinterpret_cast<uintptr_t>(from), bytes, false, kPlain, __builtin_return_address(0));
    ks::sanitizer::look_at(reinterpret_cast<uintptr_t>(to), bytes, true, kPlain, __builtin_return_address(0));
    return memmove(to, from, bytes);
}
void *__tsan_memmove(void *to, const void *from, size_t bytes) {
    ks::sanitizer::look_at(reinterpret_cast<uintptr_t>(from), bytes, false, kPlain, __builtin_return_address(0));
    ks::sanitizer::look_at(reinterpret_cast<uintptr_t>(to), bytes, true, kPlain, __builtin_return_address(0));
    return memmove(to, from, bytes);
}
void *__tsan_memset(void *to, int value, size_t bytes) {
    ks::sanitizer::look_at(reinterpret_cast<uintptr_t>(to), bytes, true, kPlain, __builtin_return_address(0));
    return memset(to, value, bytes);
}
// Objects of classes with virtual functions: only host code has them.
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_init() {}

// Atomic operations are calls: made here as they were meant, sequentially consistent, which is at least what was asked for.
#define KS_ATOMIC(BITS, T)                                                                                             \
    T __tsan_atomic##BITS##_load(const volatile T *address, int order) {                                               \
        ks::sanitizer::look_at_atomic(reinterpret_cast<uintptr_t>(address), sizeof(T), true, false, order,             \
                                      __builtin_return_address(0));                                                    \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                             \
    }                                                                                                                  \
    void __tsan_atomic##BITS##_store(volatile T *address, T value, int order) {                                        \
        ks::sanitizer::look_at_atomic(reinterpret_cast<uintptr_t>(address), sizeof(T), false, true, order,             \
                                      __builtin_return_address(0));                                                    \
        __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                            \
    }                                                                                                                  \
    T __tsan_atomic##BITS##_exchange(volatile T *address, T value, int order) {                                        \
        ks::sanitizer::look_at_atomic(reinterpret_cast<uintptr_t>(address), sizeof(T), true, true, order,              \
                                      __builtin_return_address(0));                                                    \
        return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                                                  \
    T __tsan_atomic##BITS##_compare_exchange_val(volatile T *address, T expected, T value, int order, int) {           \
        ks::sanitizer::look_at_atomic(reinterpret_cast<uintptr_t>(address), sizeof(T), true, true, order,              \
                                      __builtin_return_address(0), ks::sanitizer::kAtomic | ks::sanitizer::kCompared); \
        __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);             \
        return expected;                                                                                               \
    }                                                                                                                  \
    KS_ATOMIC_UPDATE(BITS, T, add) KS_ATOMIC_UPDATE(BITS, T, sub) KS_ATOMIC_UPDATE(BITS, T, and)                        \
    KS_ATOMIC_UPDATE(BITS, T, or) KS_ATOMIC_UPDATE(BITS, T, xor) KS_ATOMIC_UPDATE(BITS, T, nand)
#define KS_ATOMIC_UPDATE(BITS, T, NAME)                                                                                \
    T __tsan_atomic##BITS##_fetch_##NAME(volatile T *address, T value, int order) {                                    \
        ks::sanitizer::look_at_atomic(reinterpret_cast<uintptr_t>(address), sizeof(T), true, true, order,              \
                                      __builtin_return_address(0));                                                    \
        return __atomic_fetch_##NAME(address, value, __ATOMIC_SEQ_CST);                                                \
    }
KS_ATOMIC(8, uint8_t)
KS_ATOMIC(16, uint16_t)
KS_ATOMIC(32, uint32_t)
KS_ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int) {
    ks::sanitizer::look_at_fence(true);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
/// What this runtime's header makes of __threadfence_block().
void __tsan_atomic_signal_fence(int) { ks::sanitizer::look_at_fence(false); }
}
#pragma GCC visibility pop
#endif
