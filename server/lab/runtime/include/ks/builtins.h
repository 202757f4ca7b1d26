// The compiler's own names for a work-item's place, for barriers, fences, clocks, and for what steers a device's scheduler.
#pragma once
#pragma clang system_header
#include <ks/synchronize.h>

/// Ticks of 10 ns since some moment, as MI300's constant clock of 100 MHz.
extern "C" long long ks_wall_clock();

static KS_INLINE void __builtin_amdgcn_s_barrier(uint32_t ks_site = KS_SITE) { ::ks::suspend(::ks::kBarrier, ks_site); }
static KS_INLINE void __builtin_amdgcn_wave_barrier(uint32_t ks_site = KS_SITE) { __syncwarp(~0ull, ks_site); }
#define __builtin_amdgcn_fence(order, ...) __atomic_thread_fence(order)

// Hints and waits for a device's pipelines. One thread does everything in order here; that the compiler moves nothing
// across is what is left of them.
static KS_INLINE void __builtin_amdgcn_sched_barrier(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
static KS_INLINE void __builtin_amdgcn_sched_group_barrier(int, int, int) {}
static KS_INLINE void __builtin_amdgcn_iglp_opt(int) {}
static KS_INLINE void __builtin_amdgcn_s_setprio(int) {}
static KS_INLINE void __builtin_amdgcn_s_sleep(int) { __builtin_ia32_pause(); }
static KS_INLINE void __builtin_amdgcn_s_waitcnt(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
static KS_INLINE void __builtin_amdgcn_s_dcache_inv() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static KS_INLINE void __builtin_amdgcn_s_dcache_wb() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static KS_INLINE void __builtin_amdgcn_buffer_wbinvl1() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static KS_INLINE void __builtin_amdgcn_buffer_wbinvl1_vol() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#define KS_EACH_DIMENSION(X) X(x) X(y) X(z)
#define KS_PLACE(D)                                                                                                    \
    static KS_INLINE unsigned __builtin_amdgcn_workitem_id_##D() { return threadIdx.D; }                               \
    static KS_INLINE unsigned __builtin_amdgcn_workgroup_id_##D() { return blockIdx.D; }                               \
    static KS_INLINE unsigned short __builtin_amdgcn_workgroup_size_##D() {                                            \
        return static_cast<unsigned short>(blockDim.D);                                                                \
    }                                                                                                                  \
    static KS_INLINE unsigned __builtin_amdgcn_grid_size_##D() { return gridDim.D * blockDim.D; }
KS_EACH_DIMENSION(KS_PLACE)
#undef KS_PLACE
#undef KS_EACH_DIMENSION
static KS_INLINE unsigned __builtin_amdgcn_wavefrontsize() { return warpSize; }

// The processor's cycles, and the constant clock.
static KS_INLINE uint64_t __builtin_amdgcn_s_memtime() { return __builtin_readcyclecounter(); }
static KS_INLINE uint64_t __builtin_amdgcn_s_memrealtime() { return static_cast<uint64_t>(ks_wall_clock()); }
