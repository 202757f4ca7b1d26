// HIP on NVIDIA: a HIP program built by nvcc. The host API is names (hip_runtime_api.h); the kernel language is CUDA's, with
// what HIP spells otherwise added here. Vector types, mathematics and atomics come from CUDA.
//
// What differs from an AMD GPU, and a kernel must expect: a wave has 32 lanes (`warpSize`), ballots fill the low half of
// their 64 bits, and shuffles and votes wait for all 32 lanes, so none may be called where lanes of the wave took
// another branch. AMD's builtins (__builtin_amdgcn_*), the memory-scope atomics (__hip_atomic_*) and 8-bit floats do not exist.
#pragma once
#include <hip/hip_runtime_api.h>
#include <hip/hip_vector_types.h>

#if defined(__CUDACC__)

#define hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, ...)                                                     \
  do {                                                                                                                         \
    kernel<<<(grid), (block), (shared_bytes), (stream)>>>(__VA_ARGS__);                                                        \
  } while (0)
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

#define KS_EVERY_LANE 0xffffffffu
template <class T> __device__ __forceinline__ T __shfl(T value, int lane, int width = 32) {
  return __shfl_sync(KS_EVERY_LANE, value, lane, width);
}
template <class T> __device__ __forceinline__ T __shfl_up(T value, unsigned by, int width = 32) {
  return __shfl_up_sync(KS_EVERY_LANE, value, by, width);
}
template <class T> __device__ __forceinline__ T __shfl_down(T value, unsigned by, int width = 32) {
  return __shfl_down_sync(KS_EVERY_LANE, value, by, width);
}
template <class T> __device__ __forceinline__ T __shfl_xor(T value, int mask, int width = 32) {
  return __shfl_xor_sync(KS_EVERY_LANE, value, mask, width);
}
// CUDA still declares these three, for targets that had them; as macros they mean HIP's everywhere.
#define __ballot(predicate) ((unsigned long long)__ballot_sync(KS_EVERY_LANE, (predicate)))
#define __any(predicate) __any_sync(KS_EVERY_LANE, (predicate))
#define __all(predicate) __all_sync(KS_EVERY_LANE, (predicate))
template <class T> __device__ __forceinline__ unsigned long long __match_any(T value) { return __match_any_sync(KS_EVERY_LANE, value); }
template <class T> __device__ __forceinline__ unsigned long long __match_all(T value, int *all) {
  return __match_all_sync(KS_EVERY_LANE, value, all);
}
__device__ __forceinline__ unsigned __lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

/// Nanoseconds of a clock that does not follow the multiprocessor's; HIP's own ticks at the rate of
/// hipDeviceAttributeWallClockRate, which is 1,000,000 kHz here.
__device__ __forceinline__ long long wall_clock64() {
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return (long long)nanoseconds;
}

/// CUDA's atomicAdd is the hardware's; HIP's name says that the caller accepts that on AMD.
template <class T> __device__ __forceinline__ T unsafeAtomicAdd(T *address, T value) { return atomicAdd(address, value); }
template <class T> __device__ __forceinline__ T safeAtomicAdd(T *address, T value) { return atomicAdd(address, value); }
template <class T> __device__ __forceinline__ void atomicAddNoRet(T *address, T value) { (void)atomicAdd(address, value); }

#define __builtin_nontemporal_load(pointer) __ldcs(pointer)
#define __builtin_nontemporal_store(value, pointer) __stcs((pointer), (value))

#endif // __CUDACC__
