// A thread that runs blocks: its stacks, its work-items, the launch it works on.
#pragma once
#include <ks/launch.h>
#include <string>

namespace ks {

#if defined(KS_TRACE)
// No power of two, so that the tops of the stacks do not fall into the same sets of the cache.
inline constexpr size_t kStackBytes = (128 << 10) + 832;
#elif defined(KS_SANITIZE)
// With the page below that is not accessible.
// Instrumented code keeps more on the stack.
inline constexpr size_t kStackBytes = 256 << 10;
#else
// No power of two: the pages that are in use, one near each stack's top, would share a few sets of the processor's tables.
// With 64 KiB a switch takes 3 ns more in blocks of 1024.
inline constexpr size_t kStackBytes = 68 << 10;
#endif

/// Per-thread state of the scheduler. What kernels touch themselves is in `block`.
struct Worker {
    WorkItem main;            ///< the thread's own stack, while fibers run
    void (*entry)(WorkItem *); ///< where a work-item of this launch begins
    unsigned waves, wave_size;
    WorkItem *items;
    unsigned capacity;        ///< work-items for which there is storage
    ItemIndex extent;         ///< block extents that the items' indices are filled for, and the wave's size
    char *stacks;
    void **free_stacks;
    unsigned free_count;
    size_t shift;             ///< added to the tops of stacks, see note_frame
    const Launch *launch;     ///< null when no kernel runs on this thread
    bool divergence_reported;
};
extern __thread Worker worker __attribute__((tls_model("initial-exec")));

/// Gets this thread's stacks and work-items ready for launches like this one. `begin_launch` does it as well; done before the
/// clock starts, it is not taken for the kernel's time.
void prepare_launch(const Launch &launch);
/// Makes this thread ready for the launch: storage, dynamic shared memory, the waiting places of loop mode.
void begin_launch(const Launch &launch);
void end_launch();

/// A block's first work-item waits for the first time, with this stack pointer: from now on stacks begin such that those which
/// wait at the same place do so with a stack pointer at a border of the cache's lines, and fill few of them.
void note_frame(uintptr_t stack_pointer);
/// Gives a work-item that begins a stack, set up so that switching to it enters the kernel.
void prepare_stack(WorkItem *item);

} // namespace ks
