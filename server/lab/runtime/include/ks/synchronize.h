// Barriers, fences, and the predicates that a barrier can reduce.
#pragma once
#pragma clang system_header
#include <ks/work_items.h>

static KS_INLINE void __syncthreads(uint32_t ks_site = KS_SITE) { ::ks::suspend(::ks::kBarrier, ks_site); }

namespace ks {

/// A barrier that counts the work-items for which `predicate` holds.
static KS_INLINE Predicates barrier_with_predicate(bool predicate, uint32_t site) {
#ifdef KS_TRACE
    const uint64_t both = ks_trace_barrier_count(predicate, site);
    return {static_cast<unsigned>(both >> 32), static_cast<unsigned>(both)};
#else
    block.predicates_in.arrived += 1;
    block.predicates_in.true_count += predicate;
    suspend(kBarrier, site);
    return block.predicates;
#endif
}

} // namespace ks

static KS_INLINE int __syncthreads_count(int predicate, uint32_t ks_site = KS_SITE) {
    return static_cast<int>(::ks::barrier_with_predicate(predicate != 0, ks_site).true_count);
}
static KS_INLINE int __syncthreads_and(int predicate, uint32_t ks_site = KS_SITE) {
    const ::ks::Predicates all = ::ks::barrier_with_predicate(predicate != 0, ks_site);
    return all.true_count == all.arrived;
}
static KS_INLINE int __syncthreads_or(int predicate, uint32_t ks_site = KS_SITE) {
    return ::ks::barrier_with_predicate(predicate != 0, ks_site).true_count != 0;
}

#ifdef KS_SANITIZE
/// Tells that the exchange which follows orders memory among these lanes.
extern "C" void ks_wave_orders_memory(uint64_t lanes);
#else
static KS_INLINE void ks_wave_orders_memory(uint64_t) {}
#endif

/// Waits for the work-items of the wave that are still running.
static KS_INLINE void __syncwarp(unsigned long long lanes = ~0ull, uint32_t ks_site = KS_SITE) {
    ks_wave_orders_memory(lanes);
    ::ks::suspend(::ks::kWave, ks_site);
}

static KS_INLINE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static KS_INLINE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
// A block is one thread: only the compiler must not move accesses across.
static KS_INLINE void __threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
