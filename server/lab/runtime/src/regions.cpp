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

void reserve() {
    void *memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        fail("out_of_memory", "the runtime cannot map 64 MiB for the variables of a block's work-items; use fewer threads "
                              "(KS_THREADS) or raise the memory limit");
    }
    bottom = top = static_cast<char *>(memory);
}

} // namespace

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
    return memory;
}

extern "C" __attribute__((visibility("default"))) void ks_release(void *memory) { top = static_cast<char *>(memory); }

} // namespace ks
