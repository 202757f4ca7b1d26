// What else device code may call: loads, clocks, traps, and the simplest of AMD's builtins.
#pragma once
#pragma clang system_header
#include <ks/cross_lane.h>
#include <ks/integer_intrinsics.h>
#include <ks/math.h>
#include <ks/matrix.h>
#include <ks/synchronize.h>

/// Ends the program with a message that names the kernel.
extern "C" [[noreturn]] void ks_trap();
/// Ticks of 10 ns since some moment, as MI300's constant clock of 100 MHz.
extern "C" long long ks_wall_clock();

template <class T> static KS_INLINE T __ldg(const T *address) { return *address; }
template <class T> static KS_INLINE T __ldcg(const T *address) { return *address; }
template <class T> static KS_INLINE T __ldca(const T *address) { return *address; }
template <class T> static KS_INLINE T __ldcs(const T *address) { return *address; }
template <class T> static KS_INLINE void __stcg(T *address, T value) { *address = value; }
template <class T> static KS_INLINE void __stcs(T *address, T value) { *address = value; }

// clock() is the C library's: processor time in microseconds. These two count finer.
static KS_INLINE long long clock64() { return static_cast<long long>(__builtin_readcyclecounter()); }
static KS_INLINE long long __clock64() { return clock64(); }
static KS_INLINE long long wall_clock64() { return ks_wall_clock(); }

[[noreturn]] static inline void __trap() { ks_trap(); }
static KS_INLINE void __nanosleep(unsigned) { __builtin_ia32_pause(); }

static KS_INLINE void __builtin_amdgcn_s_barrier(uint32_t ks_site = KS_SITE) { ::ks::suspend(::ks::kBarrier, ks_site); }
static KS_INLINE void __builtin_amdgcn_wave_barrier(uint32_t ks_site = KS_SITE) { __syncwarp(~0ull, ks_site); }
// Orders for the scheduler and the memory system of a device; one thread does everything in order anyway.
#define __builtin_amdgcn_fence(order, ...) __atomic_thread_fence(order)
static KS_INLINE void __builtin_amdgcn_sched_barrier(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
static KS_INLINE void __builtin_amdgcn_s_sleep(int) { __builtin_ia32_pause(); }
static KS_INLINE void __builtin_amdgcn_s_setprio(int) {}
static KS_INLINE void __builtin_amdgcn_s_waitcnt(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

static KS_INLINE unsigned __builtin_amdgcn_workitem_id_x() { return threadIdx.x; }
static KS_INLINE unsigned __builtin_amdgcn_workitem_id_y() { return threadIdx.y; }
static KS_INLINE unsigned __builtin_amdgcn_workitem_id_z() { return threadIdx.z; }
static KS_INLINE unsigned __builtin_amdgcn_workgroup_id_x() { return blockIdx.x; }
static KS_INLINE unsigned __builtin_amdgcn_workgroup_id_y() { return blockIdx.y; }
static KS_INLINE unsigned __builtin_amdgcn_workgroup_id_z() { return blockIdx.z; }
static KS_INLINE unsigned __builtin_amdgcn_workgroup_size_x() { return blockDim.x; }
static KS_INLINE unsigned __builtin_amdgcn_workgroup_size_y() { return blockDim.y; }
static KS_INLINE unsigned __builtin_amdgcn_workgroup_size_z() { return blockDim.z; }
static KS_INLINE unsigned __builtin_amdgcn_wavefrontsize() { return warpSize; }
// The idiom for a work-item's number in its wave: bits set in `mask` below it, in the low and the high half.
static KS_INLINE unsigned __builtin_amdgcn_mbcnt_lo(unsigned mask, unsigned add) {
    const unsigned lane = ::ks::lane();
    return add + __popc(lane >= 32 ? mask : mask & ((1u << lane) - 1));
}
static KS_INLINE unsigned __builtin_amdgcn_mbcnt_hi(unsigned mask, unsigned add) {
    const unsigned lane = ::ks::lane();
    return add + (lane < 32 ? 0 : __popc(mask & ((1u << (lane - 32)) - 1)));
}
static KS_INLINE uint64_t __builtin_amdgcn_ballot_w64(bool predicate, uint32_t ks_site = KS_SITE) {
    return ::ks::vote(predicate, ks_site);
}
static KS_INLINE uint64_t __builtin_amdgcn_read_exec(uint32_t ks_site = KS_SITE) { return ::ks::vote(true, ks_site); }

static KS_INLINE float __builtin_amdgcn_rcpf(float x) { return 1.0f / x; }
static KS_INLINE double __builtin_amdgcn_rcp(double x) { return 1.0 / x; }
static KS_INLINE float __builtin_amdgcn_rsqf(float x) { return 1.0f / __builtin_sqrtf(x); }
static KS_INLINE float __builtin_amdgcn_sqrtf(float x) { return __builtin_sqrtf(x); }
static KS_INLINE float __builtin_amdgcn_exp2f(float x) { return exp2f(x); }
static KS_INLINE float __builtin_amdgcn_logf(float x) { return log2f(x); }
// The device's sine and cosine count in turns.
static KS_INLINE float __builtin_amdgcn_sinf(float turns) { return sinpif(2.0f * turns); }
static KS_INLINE float __builtin_amdgcn_cosf(float turns) { return cospif(2.0f * turns); }
static KS_INLINE float __builtin_amdgcn_fractf(float x) { return x - floorf(x); }
static KS_INLINE float __builtin_amdgcn_ldexpf(float x, int exponent) { return ldexpf(x, exponent); }
static KS_INLINE float __builtin_amdgcn_fmed3f(float a, float b, float c) {
    return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}
static KS_INLINE unsigned __builtin_amdgcn_ubfe(unsigned x, unsigned offset, unsigned width) {
    return __bitextract_u32(x, offset, width);
}
static KS_INLINE unsigned __builtin_amdgcn_alignbyte(unsigned high, unsigned low, unsigned bytes) {
    return __funnelshift_r(low, high, 8 * (bytes & 3));
}
static KS_INLINE uint64_t __builtin_amdgcn_s_memtime() { return static_cast<uint64_t>(clock64()); }
static KS_INLINE uint64_t __builtin_amdgcn_s_memrealtime() { return static_cast<uint64_t>(ks_wall_clock()); }
