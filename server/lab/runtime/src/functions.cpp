#include "errors.h"
#include "fault.h"
#include "functions.h"
#include "pool.h"
#include "report.h"
#include <algorithm>
#include <ks/function_api.h>
#include <map>
#include <mutex>
#include <stdio.h>
#include <string.h>

namespace ks {
namespace {

/// A compute unit of MI300 holds 2048 work-items of up to 32 blocks, and 64 KiB of shared memory.
constexpr int kItemsPerUnit = 2048;
constexpr int kBlocksPerUnit = 32;

struct Registry {
    std::mutex mutex;
    std::map<const void *, PointerLaunch> kernels;
};
Registry &registry() {
    static Registry *const all = new Registry;
    return *all;
}

/// The kernel whose pointer launch is under way on this thread, for its name.
__thread const char *launched_name;

int blocks_per_unit(int block_size, size_t shared_bytes) {
    int blocks = std::min(kBlocksPerUnit, kItemsPerUnit / block_size);
    if (shared_bytes > 0) {
        blocks = std::min<int>(blocks, static_cast<int>(kMaxSharedBytes / shared_bytes));
    }
    return blocks;
}

} // namespace

const char *name_of_pointer_launch() { return launched_name != nullptr ? launched_name : "a kernel by pointer"; }

} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

void ks_register_kernel(const void *address, PointerLaunch how) {
    Registry &all = registry();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.kernels[address] = how;
}

hipError_t ks_launch_pointer(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                             hipStream_t stream) {
    PointerLaunch how{};
    {
        Registry &all = registry();
        const std::lock_guard<std::mutex> lock(all.mutex);
        const auto found = all.kernels.find(function);
        if (found != all.kernels.end()) {
            how = found->second;
        }
    }
    if (how.launch == nullptr) {
        report_fault("unknown_kernel_pointer",
                     "hipLaunchKernel got a pointer whose kernel is not known; pass the kernel itself, or cast it to "
                     "void* where it is named");
        return remember(hipErrorInvalidDeviceFunction);
    }
    launched_name = how.kernel;
    const hipError_t error = how.launch(function, grid, block, arguments, shared_bytes, stream);
    launched_name = nullptr;
    return error;
}

hipError_t ks_function_attributes(hipFuncAttributes *attributes, const void *function) {
    if (attributes == nullptr || function == nullptr) {
        return remember(attributes == nullptr ? hipErrorInvalidValue : hipErrorInvalidDeviceFunction);
    }
    // Register and memory use are figures of device code, which there is none of here.
    memset(attributes, 0, sizeof *attributes);
    attributes->maxThreadsPerBlock = kMaxBlockSize;
    attributes->maxDynamicSharedSizeBytes = kMaxSharedBytes;
    return hipSuccess;
}

hipError_t ks_occupancy_blocks(int *blocks, int block_size, size_t shared_bytes) {
    if (blocks == nullptr || block_size <= 0 || block_size > static_cast<int>(kMaxBlockSize)) {
        return remember(hipErrorInvalidValue);
    }
    *blocks = blocks_per_unit(block_size, shared_bytes);
    return hipSuccess;
}

hipError_t ks_occupancy_block_size(int *grid_size, int *block_size, size_t shared_bytes, int limit) {
    if (grid_size == nullptr || block_size == nullptr || limit < 0) {
        return remember(hipErrorInvalidValue);
    }
    *block_size = limit > 0 ? std::min(limit, static_cast<int>(kMaxBlockSize)) : static_cast<int>(kMaxBlockSize);
    *grid_size = static_cast<int>(thread_count()) * std::max(1, blocks_per_unit(*block_size, shared_bytes));
    return hipSuccess;
}
}
#pragma GCC visibility pop
