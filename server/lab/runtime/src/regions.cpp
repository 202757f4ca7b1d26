// What work-items keep between the regions of a split kernel.
#include "fault.h"
#include <ks/regions.h>
#include <sys/mman.h>

namespace ks {
namespace {

/// As much as the stacks of 1024 fibers. Pages that are not touched cost nothing.
constexpr size_t kBytes = 64 << 20;
constexpr size_t kLine = 64;
/// Added to each allocation, so that arrays of the same work-item do not all fall into the same sets of the cache where
/// a block's worth of values is a power of two.
constexpr size_t kShift = 3 * kLine;

__thread char *bottom;
__thread char *top;
__thread char *highest; ///< the end of what was ever in use

constexpr size_t kPage = 4096;

void reserve() {
    void *memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        fail("out_of_memory", "the runtime cannot map 64 MiB for the variables of a block's work-items; use fewer threads "
                              "(KS_THREADS) or raise the memory limit");
    }
    bottom = top = highest = static_cast<char *>(memory);
}

} // namespace

/// Gives the kept variables of this thread other pages of the machine's memory; to be called between launches only. A load
/// waits for an earlier store that it has nothing to do with where both addresses agree in their lowest bits, those of the
/// physical page included. So a split kernel's speed depends on the pages that its process was given (a tiled SGEMM is 16% or
/// 40% slower on one page in sixteen). `chance` decides how many free pages are passed over.
extern "C" __attribute__((visibility("default"))) void ks_move_kept(unsigned chance) {
    constexpr size_t kMost = 16;
    if (highest == bottom) {
        return;
    }
    void *passed_over = mmap(nullptr, kMost * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (passed_over == MAP_FAILED) {
        return; // The pages stay: no harm.
    }
    madvise(bottom, static_cast<size_t>(highest - bottom), MADV_DONTNEED);
    for (size_t page = 0; page < chance % kMost; ++page) {
        static_cast<volatile char *>(passed_over)[page * kPage] = 1;
    }
    // Touched now, so that no launch pays for it.
    for (volatile char *page = bottom; page < highest; page += kPage) {
        *page = 0;
    }
    munmap(passed_over, kMost * kPage);
}

extern "C" __attribute__((visibility("default"))) void *ks_keep(size_t bytes) {
    if (__builtin_expect(bottom == nullptr, 0)) {
        reserve();
    }
    const size_t taken = (bytes + kLine - 1) / kLine * kLine + kShift;
    if (__builtin_expect(taken > static_cast<size_t>(bottom + kBytes - top), 0)) {
        fail("out_of_memory", "the variables of a block's work-items need more than 64 MiB; use smaller blocks or smaller "
                              "local arrays");
    }
    char *memory = top;
    top += taken;
    highest = top > highest ? top : highest;
    return memory;
}

extern "C" __attribute__((visibility("default"))) void ks_release(void *memory) { top = static_cast<char *>(memory); }

} // namespace ks
