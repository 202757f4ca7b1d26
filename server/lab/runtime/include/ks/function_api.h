// Kernels as values: launches through pointers, attributes, occupancy.
#pragma once
#pragma clang system_header
#include <ks/api_types.h>
#include <ks/launch.h>
#include <string.h>
#include <utility>

namespace ks {

/// How a kernel is launched whose type is known only where its address was taken.
struct PointerLaunch {
    const char *kernel;
    hipError_t (*launch)(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                         hipStream_t stream);
};
extern "C" void ks_register_kernel(const void *address, PointerLaunch how);

/// How this unit runs kernels that are known by their address alone: its work-items' indices are the unit's own variables.
/// `body` is what the library made of kernel and arguments.
extern "C" void ks_call_untyped(const void *body);
extern "C" void ks_offer_runner(void (*run_blocks)(const Launch &, uint64_t, uint64_t), unsigned wave_size,
                                bool for_all_units);
namespace {
struct UntypedCall {
    void operator()() const { ks_call_untyped(this); }
};
__attribute__((constructor, used)) void offer_runner() {
#ifdef KS_SEVERAL_UNITS
    constexpr bool for_all_units = true;
#else
    constexpr bool for_all_units = false;
#endif
    ks_offer_runner(&run_blocks_on_fibers<UntypedCall>, kWaveSize, for_all_units);
}
} // namespace

template <class... P, size_t... i>
hipError_t launch_with_pointers(void (*kernel)(P...), const char *name, dim3 grid, dim3 block, void **arguments,
                                size_t shared_bytes, hipStream_t stream, std::index_sequence<i...>) {
    const auto caller = [kernel](auto &&...values) { kernel(values...); };
    Launch launch{grid, block, shared_bytes, stream, Mode::kFibers, name, nullptr, nullptr, nullptr,
                  reinterpret_cast<const void *>(kernel)};
    return Configured<Mode::kFibers, decltype(caller)>(caller, launch)
        .template run<P...>(*static_cast<std::remove_reference_t<P> *>(arguments[i])...);
}

/// The address of a kernel, remembered with the types of its parameters. A name that is null leaves a known one.
template <class... P> void *kernel_address(void (*kernel)(P...), const char *name = nullptr) {
    void *address = reinterpret_cast<void *>(kernel);
    ks_register_kernel(address, {name, [](const void *kernel, dim3 grid, dim3 block, void **arguments,
                                          size_t shared_bytes, hipStream_t stream) {
                                     return launch_with_pointers(
                                         reinterpret_cast<void (*)(P...)>(const_cast<void *>(kernel)), nullptr, grid,
                                         block, arguments, shared_bytes, stream, std::index_sequence_for<P...>());
                                 }});
    return address;
}

/// The address of a kernel, usable wherever the API takes one as `const void *`. `reinterpret_cast<const void *>(k)`
/// would lose the parameters' types, which a launch needs; this remembers them.
template <class ConstantQuestion, class... P>
void *kernel_pointer(const ConstantQuestion &constant, void (*kernel)(P...), const char *text) {
    return kernel_address(kernel, constant_name<decltype(answer<ConstantQuestion, NoConstant>(constant))>(text));
}
/// What is no kernel after all is cast as it stands in the source.
template <class ConstantQuestion, class T>
void *kernel_pointer(const ConstantQuestion &, T *pointer, const char *) {
    return (void *)pointer;
}

} // namespace ks

/// `reinterpret_cast<const void *>(kernel)`, with the kernel in parentheses.
#define KS_KERNEL_POINTER(kernel)                                                                                      \
    ::ks::kernel_pointer([&](auto ks_probe) -> decltype(ks_probe.template constant<kernel>()) { return {}; }, kernel,  \
                         #kernel)

extern "C" {
/// `function` comes from KS_KERNEL_POINTER; any other is hipErrorInvalidDeviceFunction and told as a fault.
hipError_t ks_launch_pointer(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                             hipStream_t stream);
/// The same for a cooperative launch: hipErrorCooperativeLaunchTooLarge where not all blocks can be resident at once.
hipError_t hipLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                      unsigned shared_bytes, hipStream_t stream);
/// There is one device, so a list of one launch.
hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams *launches, int count, unsigned flags);
hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams *launches, int count, unsigned flags);
/// A launch between two events, either of which may be null.
hipError_t hipExtLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                              hipStream_t stream, hipEvent_t start, hipEvent_t stop, int flags);
hipError_t ks_function_attributes(hipFuncAttributes *attributes, const void *function);
/// `is_kernel`: whether the call named one; else hipErrorInvalidDeviceFunction. Blocks beyond the device's limit: none fit.
hipError_t ks_occupancy_blocks(int *blocks, bool is_kernel, int block_size, size_t shared_bytes);
hipError_t ks_occupancy_block_size(int *grid_size, int *block_size, bool is_kernel, size_t shared_bytes, int limit);
}
namespace ks {
/// Whether a call was given a kernel: programs pass NULL and nullptr too.
template <class F> constexpr bool is_kernel(F function) { return function != F{}; }
} // namespace ks

static inline hipError_t hipLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                         size_t shared_bytes = 0, hipStream_t stream = nullptr) {
    return ks_launch_pointer(function, grid, block, arguments, shared_bytes, stream);
}
template <class... P>
static inline hipError_t hipLaunchKernel(void (*function)(P...), dim3 grid, dim3 block, void **arguments,
                                         size_t shared_bytes = 0, hipStream_t stream = nullptr) {
    return ::ks::launch_with_pointers(function, nullptr, grid, block, arguments, shared_bytes, stream,
                                      std::index_sequence_for<P...>());
}

template <class... P>
static inline hipError_t hipLaunchCooperativeKernel(void (*function)(P...), dim3 grid, dim3 block, void **arguments,
                                                    unsigned shared_bytes, hipStream_t stream) {
    return hipLaunchCooperativeKernel(::ks::kernel_address(function), grid, block, arguments, shared_bytes, stream);
}
template <class... P>
static inline hipError_t hipExtLaunchKernel(void (*function)(P...), dim3 grid, dim3 block, void **arguments,
                                            size_t shared_bytes, hipStream_t stream, hipEvent_t start, hipEvent_t stop,
                                            int flags) {
    return hipExtLaunchKernel(static_cast<const void *>(::ks::kernel_address(function)), grid, block, arguments,
                              shared_bytes, stream, start, stop, flags);
}

template <class F> static inline hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, F function) {
    // The pointer may be used for launches later, without its type.
    if constexpr (std::is_function_v<std::remove_pointer_t<F>>) {
        if (function != nullptr) (void)::ks::kernel_address(function);
    }
    return ks_function_attributes(attributes, reinterpret_cast<const void *>(function));
}
template <class F> static inline hipError_t hipFuncSetCacheConfig(F function, hipFuncCache_t) {
    return function == nullptr ? hipErrorInvalidDeviceFunction : hipSuccess;
}
template <class F> static inline hipError_t hipFuncSetSharedMemConfig(F function, hipSharedMemConfig) {
    return function == nullptr ? hipErrorInvalidDeviceFunction : hipSuccess;
}
template <class F> static inline hipError_t hipFuncSetAttribute(F function, hipFuncAttribute attribute, int value) {
    if (function == nullptr) return hipErrorInvalidDeviceFunction;
    const bool too_much = attribute == hipFuncAttributeMaxDynamicSharedMemorySize &&
                          (value < 0 || value > static_cast<int>(::ks::kMaxSharedBytes));
    return too_much ? hipErrorInvalidValue : hipSuccess;
}

template <class F>
static inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F function, int block_size,
                                                                      size_t shared_bytes) {
    return ks_occupancy_blocks(blocks, ::ks::is_kernel(function), block_size, shared_bytes);
}
template <class F>
static inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, F function, int block_size,
                                                                               size_t shared_bytes, unsigned) {
    return ks_occupancy_blocks(blocks, ::ks::is_kernel(function), block_size, shared_bytes);
}
/// The largest block that fills a multiprocessor best, where dynamic shared memory depends on the block's size.
template <class S, class F>
static inline hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid_size, int *block_size, F function,
                                                                                S shared_bytes, int limit = 0,
                                                                                unsigned = 0) {
    if (grid_size == nullptr || block_size == nullptr || limit < 0) return hipErrorInvalidValue;
    const int most = static_cast<int>(::ks::kMaxBlockSize), largest = limit > 0 && limit < most ? limit : most;
    int best_items = 0, best = largest, best_grid = 0;
    for (int size = largest; size > 0; size -= size % warpSize != 0 ? size % warpSize : warpSize) {
        int blocks = 0, any = size, grid = 0;
        const hipError_t error = ks_occupancy_blocks(&blocks, ::ks::is_kernel(function), size, shared_bytes(size));
        if (error != hipSuccess) return error;
        if (blocks * size > best_items) {
            (void)ks_occupancy_block_size(&grid, &any, true, shared_bytes(size), size);
            best_items = blocks * size, best = size, best_grid = grid;
        }
    }
    *block_size = best;
    *grid_size = best_grid;
    return hipSuccess;
}
template <class S, class F>
static inline hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMem(int *grid_size, int *block_size, F function,
                                                                       S shared_bytes, int limit = 0) {
    return hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid_size, block_size, function, shared_bytes, limit);
}
template <class F>
static inline hipError_t hipOccupancyMaxPotentialBlockSizeWithFlags(int *grid_size, int *block_size, F function,
                                                                    size_t shared_bytes = 0, int limit = 0,
                                                                    unsigned = 0) {
    return ks_occupancy_block_size(grid_size, block_size, ::ks::is_kernel(function), shared_bytes, limit);
}
template <class F>
static inline hipError_t hipOccupancyMaxPotentialBlockSize(int *grid_size, int *block_size, F function,
                                                           size_t shared_bytes = 0, int limit = 0) {
    return ks_occupancy_block_size(grid_size, block_size, ::ks::is_kernel(function), shared_bytes, limit);
}
