// Functions of a whole wave beyond shuffles and votes: who has the same value, and reductions (HIP 6.2 and later).
#pragma once
#pragma clang system_header
#include <ks/cross_lane.h>

namespace ks {

/// The work-items of `mask` that take part and have the same bits of `value`.
template <class T> static KS_INLINE uint64_t match_any(uint64_t mask, T value, uint32_t site, uint64_t *active = nullptr) {
    const auto &w = gather(value, site);
    if (active != nullptr) *active = w.active;
    const uint64_t mine = w.out[lane()];
    uint64_t same = 0;
    for (uint64_t left = w.active & mask; left != 0; left &= left - 1) {
        const int other = __builtin_ctzll(left);
        same |= static_cast<uint64_t>(w.out[other] == mine) << other;
    }
    return same;
}
/// All of `mask` that take part if they have the same value, else none.
template <class T> static KS_INLINE uint64_t match_all(uint64_t mask, T value, int *all_equal, uint32_t site) {
    uint64_t active = 0;
    const uint64_t same = match_any(mask, value, site, &active), present = active & mask;
    *all_equal = same == present;
    return same == present ? present : 0;
}
/// Combines the values of those of `mask` that take part, in the order of their numbers.
template <class T, class F> static KS_INLINE T reduce(uint64_t mask, T value, F combine, uint32_t site) {
    const auto &w = gather(value, site);
    uint64_t left = w.active & mask;
    T result = value;
    for (bool first = true; left != 0; left &= left - 1, first = false) {
        T other;
        const uint64_t bits = w.out[static_cast<unsigned>(__builtin_ctzll(left))];
        memcpy(&other, &bits, sizeof other);
        result = first ? other : combine(result, other);
    }
    return result;
}

} // namespace ks

template <class T> static KS_INLINE unsigned long long __match_any(T value, uint32_t ks_site = KS_SITE) {
    return ::ks::match_any(~uint64_t{0}, value, ks_site);
}
template <class T>
static KS_INLINE unsigned long long __match_all(T value, int *all_equal, uint32_t ks_site = KS_SITE) {
    return ::ks::match_all(~uint64_t{0}, value, all_equal, ks_site);
}
template <class M, class T>
static KS_INLINE unsigned long long __match_any_sync(M mask, T value, uint32_t ks_site = KS_SITE) {
    KS_REQUIRE_WAVE64_MASK(M);
    return ::ks::match_any(static_cast<uint64_t>(mask), value, ks_site);
}
template <class M, class T>
static KS_INLINE unsigned long long __match_all_sync(M mask, T value, int *all_equal, uint32_t ks_site = KS_SITE) {
    KS_REQUIRE_WAVE64_MASK(M);
    return ::ks::match_all(static_cast<uint64_t>(mask), value, all_equal, ks_site);
}

#define KS_REDUCE(NAME, EXPRESSION)                                                                                    \
    template <class M, class T>                                                                                        \
    static KS_INLINE T __reduce_##NAME##_sync(M mask, T value, uint32_t ks_site = KS_SITE) {                           \
        KS_REQUIRE_WAVE64_MASK(M);                                                                                     \
        return ::ks::reduce(                                                                                           \
            static_cast<uint64_t>(mask), value, [](T a, T b) { return static_cast<T>(EXPRESSION); }, ks_site);         \
    }
KS_REDUCE(add, a + b)
KS_REDUCE(min, b < a ? b : a)
KS_REDUCE(max, a < b ? b : a)
KS_REDUCE(and, a & b)
KS_REDUCE(or, a | b)
KS_REDUCE(xor, a ^ b)
#undef KS_REDUCE
