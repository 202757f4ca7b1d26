// Qualifiers and identification macros: what hipcc knows as keywords, said in plain C++.
#pragma once
#pragma clang system_header

// MI300 is the device that is emulated: waves of 64 work-items. A program that is meant for waves of 32 is compiled with
// -DKS_WAVE_SIZE=32, all of its units alike.
#ifndef KS_WAVE_SIZE
#define KS_WAVE_SIZE 64
#endif
#if KS_WAVE_SIZE != 32 && KS_WAVE_SIZE != 64
#error "KS_WAVE_SIZE must be 32 or 64"
#endif

// Programs choose their HIP branch by these. There is one compilation pass, in which host and device code are the
// same code; `__HIP_DEVICE_COMPILE__` is therefore always set, so that what only a kernel may contain is seen.
#define __HIP__ 1
#define __HIPCC__ 1
#if defined(KS_TRACE) && KS_WAVE_SIZE == 32
// What is traced for an NVIDIA device takes the way that it takes there.
#define __HIP_PLATFORM_NVIDIA__ 1
#define __HIP_PLATFORM_NVCC__ 1
#else
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_PLATFORM_HCC__ 1
#endif
#define __HIP_DEVICE_COMPILE__ 1
// By this Thrust knows that the qualifiers below are there, and does not take them away again.
#define HIP_INCLUDE_HIP_AMD_DETAIL_HOST_DEFINES_H
/// This runtime's own mark.
#define __KS_CPU_RUNTIME__ 1

#if KS_WAVE_SIZE == 64
// Device code asks for the architecture by these, and often leaves a kernel empty for others. clang itself defines
// __AMDGCN__ and __AMDGPU__ too: they are not, since the processor is not one that runs GPU assembly.
#define __gfx942__ 1
#define __GFX9__ 1
#endif
#define __AMDGCN_WAVEFRONT_SIZE KS_WAVE_SIZE
#define __AMDGCN_WAVEFRONT_SIZE__ KS_WAVE_SIZE

#define __HIP_ARCH_HAS_GLOBAL_INT32_ATOMICS__ 1
#define __HIP_ARCH_HAS_GLOBAL_FLOAT_ATOMIC_EXCH__ 1
#define __HIP_ARCH_HAS_SHARED_INT32_ATOMICS__ 1
#define __HIP_ARCH_HAS_SHARED_FLOAT_ATOMIC_EXCH__ 1
#define __HIP_ARCH_HAS_FLOAT_ATOMIC_ADD__ 1
#define __HIP_ARCH_HAS_GLOBAL_INT64_ATOMICS__ 1
#define __HIP_ARCH_HAS_SHARED_INT64_ATOMICS__ 1
#define __HIP_ARCH_HAS_DOUBLES__ 1
#define __HIP_ARCH_HAS_WARP_VOTE__ 1
#define __HIP_ARCH_HAS_WARP_BALLOT__ 1
#define __HIP_ARCH_HAS_WARP_SHUFFLE__ 1
#define __HIP_ARCH_HAS_WARP_FUNNEL_SHIFT__ 0
#define __HIP_ARCH_HAS_THREAD_FENCE_SYSTEM__ 1
#define __HIP_ARCH_HAS_SYNC_THREAD_EXT__ 1
#define __HIP_ARCH_HAS_SURFACE_FUNCS__ 0
#define __HIP_ARCH_HAS_3DGRID__ 1
#define __HIP_ARCH_HAS_DYNAMIC_PARALLEL__ 0

#ifdef KS_TRACE
// The section tells kernels from other functions, the annotation constant memory from other variables. A kernel begins with
// what a launch gives it: nothing of the caller may be known in it.
#define __global__ __attribute__((noinline, section("ks_kernel")))
#define __constant__ __attribute__((annotate("ks_constant")))
#else
#define __global__
#define __constant__
#endif
#define __device__
#define __host__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)

// A block runs on one thread from start to end, so a thread's static storage is exactly a block's shared memory.
#if defined(KS_SANITIZE) || defined(KS_TRACE)
// Blocks run one after another on one thread. Thread-local variables would get no redzones; the section tells shared memory
// from other variables. Used: no compiler may take what is never written for a constant.
#ifdef KS_SANITIZE
// A name with a dot: clang leaves variables in sections whose names are identifiers without redzones.
#define __shared__ static __attribute__((section(".ks_shared"), used))
#else
#define __shared__ static __attribute__((section("ks_shared"), used, aligned(16)))
#endif
#else
// Whole cache lines: where the arrays lie in a thread's storage differs from process to process, and vectors that cross lines
// would make the same kernel slower in some.
#define __shared__ static __attribute__((aligned(64))) thread_local
#endif

#define __forceinline__ inline __attribute__((always_inline))
// libstdc++ writes `__attribute__((__noinline__))`, so the word must stay valid inside an attribute list too. `inline`
// is valid in both places: a specifier here, an ignored attribute there. Only an optimisation hint is lost.
#define __noinline__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))

#include <ks/trace.h>

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(symbol) symbol

#define KS_INLINE inline __attribute__((always_inline))
#define KS_UNPAREN(...) __VA_ARGS__
