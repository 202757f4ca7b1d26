// Values exchanged inside a wave: shuffles, ballots, votes.
//
// Work-items that wait at the same place in the source take part together. When all of a wave wait, the earliest
// place goes first: that reunites the branches of an `if` and the iterations of a loop, as the hardware does.
#pragma once
#pragma clang system_header
#include <ks/work_items.h>
#include <string.h>
#include <type_traits>

namespace ks {

#ifdef KS_TRACE
/// The values of a wave's work-items after an exchange, as `Wave` has them.
struct Gathered {
    struct Values {
        uint64_t active;
        KS_INLINE uint64_t operator[](unsigned lane) const { return ks_trace_gathered(active, lane); }
    };
    uint64_t active;
    Values out;
};
#else
using Gathered = const Wave &;
#endif

/// Shows each that takes part the values of all: `out` of the wave, for those in `active`.
template <class T> static KS_INLINE Gathered gather(T value, uint32_t site) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>,
                  "shuffles exchange values of up to 8 bytes; exchange a larger one in parts");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
#ifdef KS_TRACE
    const uint64_t active = ks_trace_gather(bits, site);
    return {active, {active}};
#else
    // Not through threadIdx, which was stored as a whole a moment ago: reading a part of that takes longer.
    const uint32_t linear = current->index.ks_linear;
    Wave &w = block.waves[linear / kWaveSize];
    w.in[linear % kWaveSize] = bits;
    suspend(kWave, site);
    return w;
#endif
}

/// `value` of work-item `source` of the wave; `otherwise` if that one does not take part.
template <class T> static KS_INLINE T exchange_or(T value, unsigned source, T otherwise, uint32_t site) {
#ifdef KS_TRACE
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>,
                  "shuffles exchange values of up to 8 bytes; exchange a larger one in parts");
    uint64_t bits = 0, others = 0;
    memcpy(&bits, &value, sizeof value);
    memcpy(&others, &otherwise, sizeof otherwise);
    bits = ks_trace_exchange(bits, source, others, site);
    T received;
    memcpy(&received, &bits, sizeof received);
    return received;
#else
    const Wave &w = gather(value, site);
    source %= kWaveSize;
    T received = otherwise;
    if ((w.active >> source & 1) != 0) memcpy(&received, &w.out[source], sizeof received);
    return received;
#endif
}

/// The same; 0 if the source does not take part, as ds_bpermute gives.
template <class T> static KS_INLINE T exchange(T value, unsigned source, uint32_t site) {
    return exchange_or(value, source, T(), site);
}

/// The predicates of the work-items that take part, one bit each.
static KS_INLINE uint64_t vote(bool predicate, uint32_t site) {
#ifdef KS_TRACE
    return ks_trace_vote(predicate, site);
#else
    Wave &w = wave();
    const uint64_t mine = uint64_t{1} << lane();
    w.votes_in = predicate ? w.votes_in | mine : w.votes_in & ~mine;
    suspend(kWave, site);
    return w.votes;
#endif
}

} // namespace ks

static KS_INLINE unsigned __lane_id() { return ::ks::lane(); }

// `width` divides the wave into groups that exchange among themselves; it is a power of two.
template <class T>
static KS_INLINE T __shfl(T value, int source, int width = warpSize, uint32_t ks_site = KS_SITE) {
    const int self = static_cast<int>(::ks::lane());
    return ::ks::exchange(value, (self & ~(width - 1)) + (source & (width - 1)), ks_site);
}
template <class T>
static KS_INLINE T __shfl_up(T value, unsigned delta, int width = warpSize, uint32_t ks_site = KS_SITE) {
    const int self = static_cast<int>(::ks::lane());
    const int source = self - static_cast<int>(delta);
    return ::ks::exchange(value, source < (self & ~(width - 1)) ? self : source, ks_site);
}
template <class T>
static KS_INLINE T __shfl_down(T value, unsigned delta, int width = warpSize, uint32_t ks_site = KS_SITE) {
    const int self = static_cast<int>(::ks::lane());
    const bool outside = (self & (width - 1)) + static_cast<int>(delta) >= width;
    return ::ks::exchange(value, outside ? self : self + static_cast<int>(delta), ks_site);
}
template <class T>
static KS_INLINE T __shfl_xor(T value, int mask, int width = warpSize, uint32_t ks_site = KS_SITE) {
    const int self = static_cast<int>(::ks::lane());
    const int source = self ^ mask;
    return ::ks::exchange(value, source >= ((self + width) & ~(width - 1)) ? self : source, ks_site);
}

static KS_INLINE unsigned long long __ballot(int predicate, uint32_t ks_site = KS_SITE) {
    return ::ks::vote(predicate != 0, ks_site);
}
static KS_INLINE unsigned long long __ballot64(int predicate, uint32_t ks_site = KS_SITE) {
    return ::ks::vote(predicate != 0, ks_site);
}
static KS_INLINE unsigned long long __activemask(uint32_t ks_site = KS_SITE) { return ::ks::vote(true, ks_site); }
static KS_INLINE int __any(int predicate, uint32_t ks_site = KS_SITE) {
    return ::ks::vote(predicate != 0, ks_site) != 0;
}
static KS_INLINE int __all(int predicate, uint32_t ks_site = KS_SITE) {
    return ::ks::vote(predicate == 0, ks_site) == 0;
}

// The _sync forms name who takes part. The mask must be of 64 bits, as HIP demands: a 32-bit one would silently leave out
// half of a wave of 64.
#define KS_REQUIRE_WAVE64_MASK(M)                                                                                      \
    static_assert(sizeof(M) == 8 || sizeof(M) * 8 == warpSize,                                                         \
                  "the mask must be a 64-bit integer: a wave has 64 work-items")
template <class M, class T>
static KS_INLINE T __shfl_sync(M, T value, int source, int width = warpSize, uint32_t ks_site = KS_SITE) {
    KS_REQUIRE_WAVE64_MASK(M);
    return __shfl(value, source, width, ks_site);
}
template <class M, class T>
static KS_INLINE T __shfl_up_sync(M, T value, unsigned delta, int width = warpSize, uint32_t ks_site = KS_SITE) {
    KS_REQUIRE_WAVE64_MASK(M);
    return __shfl_up(value, delta, width, ks_site);
}
template <class M, class T>
static KS_INLINE T __shfl_down_sync(M, T value, unsigned delta, int width = warpSize, uint32_t ks_site = KS_SITE) {
    KS_REQUIRE_WAVE64_MASK(M);
    return __shfl_down(value, delta, width, ks_site);
}
template <class M, class T>
static KS_INLINE T __shfl_xor_sync(M, T value, int mask, int width = warpSize, uint32_t ks_site = KS_SITE) {
    KS_REQUIRE_WAVE64_MASK(M);
    return __shfl_xor(value, mask, width, ks_site);
}
template <class M> static KS_INLINE unsigned long long __ballot_sync(M mask, int predicate, uint32_t ks_site = KS_SITE) {
    KS_REQUIRE_WAVE64_MASK(M);
    return ::ks::vote(predicate != 0, ks_site) & static_cast<uint64_t>(mask);
}
template <class M> static KS_INLINE int __any_sync(M mask, int predicate, uint32_t ks_site = KS_SITE) {
    KS_REQUIRE_WAVE64_MASK(M);
    return (::ks::vote(predicate != 0, ks_site) & static_cast<uint64_t>(mask)) != 0;
}
template <class M> static KS_INLINE int __all_sync(M mask, int predicate, uint32_t ks_site = KS_SITE) {
    KS_REQUIRE_WAVE64_MASK(M);
    return (::ks::vote(predicate == 0, ks_site) & static_cast<uint64_t>(mask)) == 0;
}
