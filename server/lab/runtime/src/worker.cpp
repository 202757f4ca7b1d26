#include "worker.h"
#include "fault.h"
#include "sanitizer.h"
#include <atomic>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

namespace ks {

namespace {

// Where `suspend` writes in a kernel that runs as a loop, and outside kernels. No state here is ever kReady, so every
// wait ends in ks_pick_next, which stops the program with a message. Exchanges write to a wave first.
uint8_t idle_state[kMaxWaveSize];
uint32_t idle_site[kMaxWaveSize];
Wave idle_waves[kMaxWaves];

} // namespace

extern "C" {
/// Never waits: the idle states say so.
WorkItem ks_idle_items[1 + kItemsAhead] = {{nullptr, nullptr, nullptr, nullptr, {}, nullptr, idle_state}};
#ifndef KS_TRACE
__thread
#endif
char ks_dynamic_shared[kMaxSharedBytes + sanitizer::kSharedMargin] __attribute__((aligned(128)));
}
__thread Worker worker;

namespace {

/// Pages below a stack that stop an overflow from reaching the neighbour's.
constexpr size_t kGuardBytes = 4096;

template <class T> T *allocate(size_t count) {
    void *memory = aligned_alloc(128, (count * sizeof(T) + 127) / 128 * 128);
    if (memory == nullptr) {
        fail("out_of_memory", "the runtime has no memory left for the work-items of a block; use smaller blocks or "
                              "raise the memory limit");
    }
    memset(memory, 0, count * sizeof(T));
    return static_cast<T *>(memory);
}

/// Makes the lowest page of a stack inaccessible. Linux 6.13 and later mark a page, which costs a third of what it costs to
/// make it a mapping of its own.
void guard(char *page) {
#ifndef MADV_GUARD_INSTALL
    constexpr int MADV_GUARD_INSTALL = 102;
#endif
    static std::atomic<bool> marks{true};
    if (marks && madvise(page, kGuardBytes, MADV_GUARD_INSTALL) == 0) {
        return;
    }
    marks = false;
    mprotect(page, kGuardBytes, PROT_NONE);
}

void map_stacks(unsigned count) {
    if (worker.stacks != nullptr) {
        munmap(worker.stacks, worker.capacity * kStackBytes);
    }
    void *memory = mmap(nullptr, count * kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        fail("out_of_memory", "the runtime cannot map 68 KiB of stack for each work-item of a block; use smaller "
                              "blocks, fewer threads (KS_THREADS) or raise the memory limit");
    }
    worker.stacks = static_cast<char *>(memory);
#ifdef KS_TRACE
    return; // Stacks lie closer than pages.
#endif
    for (unsigned i = 0; i < count; ++i) {
        guard(worker.stacks + i * kStackBytes);
    }
}

void reserve(unsigned count) {
    if (count <= worker.capacity) {
        return;
    }
    const unsigned rounded = (count + kMaxWaveSize - 1) / kMaxWaveSize * kMaxWaveSize;
    map_stacks(rounded);
    free(worker.items);
    free(worker.free_stacks);
    worker.items = allocate<WorkItem>(rounded + kItemsAhead);
    worker.free_stacks = allocate<void *>(rounded);
    worker.free_count = 0;
    for (unsigned i = rounded; i-- > 0;) {
        worker.free_stacks[worker.free_count++] = worker.stacks + i * kStackBytes;
    }
    worker.capacity = rounded;
    worker.extent = {};
}

/// Storage that a thread owns for fibers; `block` points to it while a launch with fibers runs.
struct Storage {
    uint8_t state[kMaxWaves * kStateStride];
    uint32_t site[kMaxBlockSize + kMaxWaveSize];
    Wave waves[kMaxWaves];
};
__thread Storage *storage;

void fill_items(dim3 extent, unsigned wave_size) {
    const ItemIndex &known = worker.extent;
    if (known.x == extent.x && known.y == extent.y && known.z == extent.z && known.ks_linear == wave_size) {
        return;
    }
    unsigned linear = 0;
    for (unsigned z = 0; z < extent.z; ++z) {
        for (unsigned y = 0; y < extent.y; ++y) {
            for (unsigned x = 0; x < extent.x; ++x) {
                worker.items[linear].index = {x, y, z, linear};
                worker.items[linear].state = storage->state + linear / wave_size * kStateStride + linear % wave_size;
                ++linear;
            }
        }
    }
    worker.extent = {extent.x, extent.y, extent.z, wave_size};
}

} // namespace

__thread Block block = {ks_idle_items, idle_state, idle_site, 0, idle_waves, nullptr, 0, {}, {}};

extern "C" __attribute__((visibility("hidden"))) void ks_stack_entry();
// Where a switch to a new stack arrives: rsi is the work-item, whose rbx is the kernel's entry. The stack pointer is a
// multiple of 16 before the call, as the ABI demands; a null rbp ends backtraces.
asm(R"(
    .text
    .hidden ks_stack_entry
    .globl ks_stack_entry
    .type ks_stack_entry, @function
ks_stack_entry:
    .cfi_startproc
    .cfi_undefined rip
    movq %rsi, %rdi
    xorl %ebp, %ebp
    callq *24(%rsi)
    ud2
    .cfi_endproc
    .size ks_stack_entry, . - ks_stack_entry
)");

namespace {

/// Where a stack begins, up to a line of the cache. Tops of stacks that lie whole pages apart would share a few sets of the
/// cache: they are spread.
[[maybe_unused]] char *top_of(void *stack) {
    const size_t number = reinterpret_cast<uintptr_t>(stack) / kStackBytes;
    const size_t colour = number * 832 & 0xfc0;
    return static_cast<char *>(stack) + kStackBytes - 128 - colour;
}

} // namespace

void note_frame(uintptr_t stack_pointer) { worker.shift = (worker.shift - stack_pointer) % 64; }

void prepare_stack(WorkItem *item) {
#ifdef KS_TRACE
    // Each work-item its own, and all alike, so that an address tells whose variable it is.
    item->stack = worker.stacks + item->index.ks_linear * kStackBytes;
    item->stack_pointer = static_cast<char *>(item->stack) + kStackBytes - 64;
#else
    item->stack = worker.free_stacks[--worker.free_count];
    sanitizer::begin_stack(item->stack, kStackBytes);
    item->stack_pointer = top_of(item->stack) + worker.shift;
#endif
    item->resume = reinterpret_cast<void *>(&ks_stack_entry);
    item->rbx = reinterpret_cast<void *>(worker.entry);
}

void prepare_launch(const Launch &launch) {
    if (launch.mode != Mode::kFibers) {
        return;
    }
    const Launch *const before = worker.launch;
    worker.launch = &launch; // For the message where there is not enough memory.
    if (storage == nullptr) {
        storage = allocate<Storage>(1);
    }
    reserve(launch.block.x * launch.block.y * launch.block.z);
    fill_items(launch.block, launch.wave_size);
    worker.launch = before;
}

void begin_launch(const Launch &launch) {
    worker.launch = &launch;
    block.body = launch.body;
    block.size = launch.block.x * launch.block.y * launch.block.z;
    worker.wave_size = launch.wave_size;
    worker.waves = (block.size + launch.wave_size - 1) / launch.wave_size;
    worker.divergence_reported = false;
    sanitizer::begin_launch(launch);
    if (launch.mode != Mode::kFibers) {
        return;
    }
    prepare_launch(launch);
    block.items = worker.items;
    block.state = storage->state;
    block.site = storage->site;
    block.waves = storage->waves;
}

void end_launch() {
    sanitizer::end_launch();
    worker.launch = nullptr;
    block = {ks_idle_items, idle_state, idle_site, 0, idle_waves, nullptr, 0, {}, {}};
}

} // namespace ks
