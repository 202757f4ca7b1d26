#include "errors.h"
#include "fault.h"
#include "functions.h"
#include "kernel_types.h"
#include "pool.h"
#include "report.h"
#include "work.h"
#include <algorithm>
#include <ks/function_api.h>
#include <ks/stream_api.h>
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

/// The pointer launch that is under way on this thread.
__thread const char *launched_name;
__thread bool launched_cooperative;
/// Where a launch's description goes instead of being run.
__thread std::unique_ptr<KernelWork> *description;

int blocks_per_unit(int block_size, size_t shared_bytes) {
    int blocks = std::min(kBlocksPerUnit, kItemsPerUnit / block_size);
    if (shared_bytes > 0) {
        blocks = std::min<int>(blocks, static_cast<int>(kMaxSharedBytes / shared_bytes));
    }
    return blocks;
}

} // namespace

const char *name_of_pointer_launch() { return launched_name != nullptr ? launched_name : "a kernel by pointer"; }
bool pointer_launch_is_cooperative() { return launched_cooperative; }
bool take_description(const Launch &launch) {
    if (description == nullptr) {
        return false;
    }
    *description = std::make_unique<KernelWork>(launch);
    return true;
}
hipError_t describe_launch(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                           std::unique_ptr<KernelWork> *out) {
    description = out;
    const hipError_t error = ks_launch_pointer(function, grid, block, arguments, shared_bytes, nullptr);
    description = nullptr;
    return error;
}
uint64_t resident_blocks(unsigned block_size, size_t shared_bytes) {
    return uint64_t{thread_count()} * static_cast<unsigned>(blocks_per_unit(static_cast<int>(block_size), shared_bytes));
}

} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

void ks_register_kernel(const void *address, PointerLaunch how) {
    Registry &all = registry();
    const std::lock_guard<std::mutex> lock(all.mutex);
    PointerLaunch &known = all.kernels[address];
    known.launch = how.launch;
    known.kernel = how.kernel != nullptr ? how.kernel : known.kernel;
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
    if (how.launch == nullptr && find_kernel(function, &how)) {
        ks_register_kernel(function, how);
    }
    if (how.launch == nullptr) {
        report_fault("unknown_kernel_pointer",
                     "a kernel was launched by a pointer to void, and what it takes cannot be told from its name: it has "
                     "structures as parameters or C linkage, or the program no symbols or several units; launch it with <<<>>>");
        return remember(hipErrorInvalidDeviceFunction);
    }
    launched_name = how.kernel;
    const hipError_t error = how.launch(function, grid, block, arguments, shared_bytes, stream);
    launched_name = nullptr;
    return error;
}

hipError_t hipLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                      unsigned shared_bytes, hipStream_t stream) {
    launched_cooperative = true;
    const hipError_t error = ks_launch_pointer(function, grid, block, arguments, shared_bytes, stream);
    launched_cooperative = false;
    return error;
}
hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams *launches, int count, unsigned flags) {
    constexpr unsigned known = hipCooperativeLaunchMultiDeviceNoPreSync | hipCooperativeLaunchMultiDeviceNoPostSync;
    if (launches == nullptr || count != 1 || (flags & ~known) != 0) {
        return remember(hipErrorInvalidValue);
    }
    const hipLaunchParams &only = launches[0];
    if (only.stream == nullptr) {
        return remember(hipErrorInvalidResourceHandle); // As HIP: the default stream is refused here.
    }
    return hipLaunchCooperativeKernel(only.func, only.gridDim, only.blockDim, only.args,
                                      static_cast<unsigned>(only.sharedMem), only.stream);
}
hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams *launches, int count, unsigned flags) {
    if (launches == nullptr || count != 1 || flags > 3) {
        return remember(hipErrorInvalidValue);
    }
    const hipLaunchParams &only = launches[0];
    return ks_launch_pointer(only.func, only.gridDim, only.blockDim, only.args, only.sharedMem, only.stream);
}
hipError_t hipExtLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                              hipStream_t stream, hipEvent_t start, hipEvent_t stop, int flags) {
    if ((flags & ~hipExtAnyOrderLaunch) != 0) {
        return remember(hipErrorInvalidValue);
    }
    if (start != nullptr) {
        if (const hipError_t error = hipEventRecord(start, stream); error != hipSuccess) {
            return error;
        }
    }
    const hipError_t error = ks_launch_pointer(function, grid, block, arguments, shared_bytes, stream);
    return error != hipSuccess || stop == nullptr ? error : hipEventRecord(stop, stream);
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

hipError_t ks_occupancy_blocks(int *blocks, bool is_kernel, int block_size, size_t shared_bytes) {
    if (blocks == nullptr || block_size <= 0) {
        return remember(hipErrorInvalidValue);
    }
    if (!is_kernel) {
        return remember(hipErrorInvalidDeviceFunction);
    }
    *blocks = block_size > static_cast<int>(kMaxBlockSize) ? 0 : blocks_per_unit(block_size, shared_bytes);
    return hipSuccess;
}

hipError_t ks_occupancy_block_size(int *grid_size, int *block_size, bool is_kernel, size_t shared_bytes, int limit) {
    if (grid_size == nullptr || block_size == nullptr || limit < 0) {
        return remember(hipErrorInvalidValue);
    }
    if (!is_kernel) {
        return remember(hipErrorInvalidDeviceFunction);
    }
    *block_size = limit > 0 ? std::min(limit, static_cast<int>(kMaxBlockSize)) : static_cast<int>(kMaxBlockSize);
    *grid_size = static_cast<int>(thread_count()) * std::max(1, blocks_per_unit(*block_size, shared_bytes));
    return hipSuccess;
}
}
#pragma GCC visibility pop
