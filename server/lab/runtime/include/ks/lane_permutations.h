// The compiler's own names for exchanges inside a wave: lane reads, DPP, ds_swizzle, ds_permute, masks of lanes.
//
// Source: CDNA3 instruction set architecture, "Data parallel primitives" and "DS_SWIZZLE_B32"; LLVM's AMDGPU usage.
#pragma once
#pragma clang system_header
#include <ks/cross_lane.h>
#include <ks/integer_intrinsics.h>
#include <ks/stopping.h>

namespace ks {

/// The lane that DPP's control word makes `lane` read, or a negative number where there is none.
constexpr int dpp_source(int lane, int control) {
    const int row = lane & ~15, in_row = lane & 15, size = static_cast<int>(kWaveSize);
    const int amount = control & 15;
    if (control <= 0xff) return (lane & ~3) + (control >> (2 * (lane & 3)) & 3); // quad_perm
    if (control >= 0x101 && control <= 0x10f) return in_row + amount < 16 ? lane + amount : -1;        // row_shl
    if (control >= 0x111 && control <= 0x11f) return in_row - amount >= 0 ? lane - amount : -1;        // row_shr
    if (control >= 0x121 && control <= 0x12f) return row + ((in_row - amount) & 15);                   // row_ror
    if (control >= 0x150 && control <= 0x15f) return row + amount;                                     // row_newbcast
    switch (control) {
    case 0x130: return lane + 1 < size ? lane + 1 : -1;       // wave_shl
    case 0x134: return (lane + 1) % size;                     // wave_rol
    case 0x138: return lane - 1;                              // wave_shr
    case 0x13c: return (lane + size - 1) % size;              // wave_ror
    case 0x140: return row + 15 - in_row;                     // row_mirror
    case 0x141: return (lane & ~7) + 7 - (lane & 7);          // row_half_mirror
    case 0x142: return row - 1;                               // row_bcast15: the last of the row before
    case 0x143: return lane >= 32 ? 31 : -1;                  // row_bcast31
    default: return -2;
    }
}

/// `value` of the lane that the control word names. Where the masks leave this lane out it keeps `old`; where there is no
/// source, or it does not take part, it gets 0 with `zero_outside` and keeps `old` without.
template <class T>
static KS_INLINE T permute_dpp(T old, T value, int control, int row_mask, int bank_mask, bool zero_outside,
                               uint32_t site) {
    const int self = static_cast<int>(lane());
    const int source = dpp_source(self, control);
    if (__builtin_expect(source == -2, 0)) {
        ks_misuse("a DPP builtin got a control word that gfx942 does not have; see the instruction set's DPP_CTRL");
    }
    const T outside = zero_outside ? T() : old;
    const T received = exchange_or(value, static_cast<unsigned>(source < 0 ? self : source), outside, site);
    const bool written = (row_mask >> (self / 16) & 1) != 0 && (bank_mask >> (self % 16 / 4) & 1) != 0;
    return !written ? old : source < 0 ? outside : received;
}

/// The lane that ds_swizzle's pattern makes `lane` read. Patterns act on halves of 32 lanes, or on fours.
constexpr unsigned swizzle_source(unsigned lane, unsigned pattern) {
    const unsigned half = lane & 32u, low = pattern & 31u, in_half = lane & 31u;
    if (pattern >= 0xe000u) { // the order of a fast Fourier transform
        const unsigned kept = low == 31 ? 0 : static_cast<unsigned>(__builtin_popcount(low));
        return low == 31 ? lane : half | (lane & low) | (__builtin_bitreverse32(in_half) >> 27) >> kept;
    }
    if (pattern >= 0xc000u) { // rotation, of the bits that `low` does not keep
        const unsigned amount = pattern >> 5 & 31u, turned = (pattern & 0x400u) != 0 ? lane - amount : lane + amount;
        return half | (lane & low) | (turned & ~low & 31u);
    }
    if ((pattern & 0x8000u) != 0) return (lane & ~3u) + (pattern >> (2 * (lane & 3u)) & 3u);
    return half | (((in_half & low) | (pattern >> 5 & 31u)) ^ (pattern >> 10 & 31u));
}

/// Values pushed to lanes: each gets the value of the highest lane that names it, or 0.
static KS_INLINE int push(unsigned target, int value, uint32_t site) {
    const auto &w = gather(uint64_t{target} << 32 | static_cast<unsigned>(value), site);
    const unsigned self = lane();
    int received = 0;
    for (uint64_t left = w.active; left != 0; left &= left - 1) {
        const uint64_t sent = w.out[static_cast<unsigned>(__builtin_ctzll(left))];
        if (sent >> 32 == self) received = static_cast<int>(static_cast<uint32_t>(sent));
    }
    return received;
}

/// LLVM's numbers of comparisons, as the builtins take them.
template <class T> static KS_INLINE bool compare_integers(T a, T b, int predicate) {
    switch (predicate) {
    case 32: return a == b;
    case 33: return a != b;
    case 34:
    case 38: return a > b;
    case 35:
    case 39: return a >= b;
    case 36:
    case 40: return a < b;
    case 37:
    case 41: return a <= b;
    default: ks_misuse("a comparison builtin got a number that is no comparison of integers; use LLVM's, 32 to 41");
    }
}
/// Bits 0 to 3 of the number say whether it holds for equal, greater, less and unordered numbers.
template <class T> static KS_INLINE bool compare_floats(T a, T b, int predicate) {
    const int outcome = a == b ? 1 : a > b ? 2 : a < b ? 4 : 8;
    return (predicate & outcome) != 0;
}

} // namespace ks

static KS_INLINE int __builtin_amdgcn_readfirstlane(int value, uint32_t ks_site = KS_SITE) {
    const auto &w = ::ks::gather(value, ks_site);
    return static_cast<int>(w.out[static_cast<unsigned>(__builtin_ctzll(w.active))]);
}
static KS_INLINE int __builtin_amdgcn_readlane(int value, int source, uint32_t ks_site = KS_SITE) {
    return ::ks::exchange(value, static_cast<unsigned>(source), ks_site);
}
static KS_INLINE int __builtin_amdgcn_ds_bpermute(int byte_address, int value, uint32_t ks_site = KS_SITE) {
    return ::ks::exchange(value, static_cast<unsigned>(byte_address) / 4, ks_site);
}
static KS_INLINE int __builtin_amdgcn_ds_permute(int byte_address, int value, uint32_t ks_site = KS_SITE) {
    return ::ks::push(static_cast<unsigned>(byte_address) / 4 % ::ks::kWaveSize, value, ks_site);
}
static KS_INLINE int __builtin_amdgcn_ds_swizzle(int value, int pattern, uint32_t ks_site = KS_SITE) {
    return ::ks::exchange(value, ::ks::swizzle_source(::ks::lane(), static_cast<unsigned>(pattern) & 0xffffu), ks_site);
}
// Newer compilers take any type here, clang 19 an int: the type of the value decides.
template <class T>
static KS_INLINE T __builtin_amdgcn_update_dpp(std::common_type_t<T> old, T value, int control, int row_mask,
                                               int bank_mask, bool zero_outside, uint32_t ks_site = KS_SITE) {
    return ::ks::permute_dpp<T>(old, value, control, row_mask, bank_mask, zero_outside, ks_site);
}
// Without an old value, what is not written is undefined on a device; here it is 0.
template <class T>
static KS_INLINE T __builtin_amdgcn_mov_dpp(T value, int control, int row_mask, int bank_mask, bool zero_outside,
                                            uint32_t ks_site = KS_SITE) {
    return ::ks::permute_dpp<T>(T(), value, control, row_mask, bank_mask, zero_outside, ks_site);
}

// HIP's names for the same.
static KS_INLINE int __hip_ds_bpermute(int index, int value, uint32_t ks_site = KS_SITE) {
    return __builtin_amdgcn_ds_bpermute(index, value, ks_site);
}
static KS_INLINE float __hip_ds_bpermutef(int index, float value, uint32_t ks_site = KS_SITE) {
    return ::ks::exchange(value, static_cast<unsigned>(index) / 4, ks_site);
}
static KS_INLINE int __hip_ds_permute(int index, int value, uint32_t ks_site = KS_SITE) {
    return __builtin_amdgcn_ds_permute(index, value, ks_site);
}
static KS_INLINE float __hip_ds_permutef(int index, float value, uint32_t ks_site = KS_SITE) {
    return __builtin_bit_cast(float, __builtin_amdgcn_ds_permute(index, __builtin_bit_cast(int, value), ks_site));
}
template <int pattern> static KS_INLINE int __hip_ds_swizzle_N(int value, uint32_t ks_site = KS_SITE) {
    return __builtin_amdgcn_ds_swizzle(value, pattern, ks_site);
}
template <int pattern> static KS_INLINE float __hip_ds_swizzlef_N(float value, uint32_t ks_site = KS_SITE) {
    return __builtin_bit_cast(float, __builtin_amdgcn_ds_swizzle(__builtin_bit_cast(int, value), pattern, ks_site));
}
template <int control, int row_mask, int bank_mask, bool zero_outside>
static KS_INLINE int __hip_move_dpp_N(int value, uint32_t ks_site = KS_SITE) {
    return __builtin_amdgcn_mov_dpp(value, control, row_mask, bank_mask, zero_outside, ks_site);
}
#define __hip_ds_swizzle(value, pattern) __hip_ds_swizzle_N<(pattern)>((value))
#define __hip_ds_swizzlef(value, pattern) __hip_ds_swizzlef_N<(pattern)>((value))
#define __hip_move_dpp(value, control, row_mask, bank_mask, zero_outside)                                              \
    __hip_move_dpp_N<(control), (row_mask), (bank_mask), (zero_outside)>((value))

// The idiom for a work-item's number in its wave: bits set in `mask` below it, in the low and the high half.
static KS_INLINE unsigned __builtin_amdgcn_mbcnt_lo(unsigned mask, unsigned add) {
    const unsigned lane = ::ks::lane();
    return add + __popc(lane >= 32 ? mask : mask & ((1u << lane) - 1));
}
static KS_INLINE unsigned __builtin_amdgcn_mbcnt_hi(unsigned mask, unsigned add) {
    const unsigned lane = ::ks::lane();
    return add + (lane < 32 ? 0 : __popc(mask & ((1u << (lane - 32)) - 1)));
}

#if KS_WAVE_SIZE == 64
static KS_INLINE uint64_t __builtin_amdgcn_ballot_w64(bool predicate, uint32_t ks_site = KS_SITE) {
    return ::ks::vote(predicate, ks_site);
}
#else
static KS_INLINE uint32_t __builtin_amdgcn_ballot_w32(bool predicate, uint32_t ks_site = KS_SITE) {
    return static_cast<uint32_t>(::ks::vote(predicate, ks_site));
}
#endif
static KS_INLINE uint64_t __builtin_amdgcn_read_exec(uint32_t ks_site = KS_SITE) { return ::ks::vote(true, ks_site); }
static KS_INLINE unsigned __builtin_amdgcn_read_exec_lo(uint32_t ks_site = KS_SITE) {
    return static_cast<unsigned>(::ks::vote(true, ks_site));
}
static KS_INLINE unsigned __builtin_amdgcn_read_exec_hi(uint32_t ks_site = KS_SITE) {
    return static_cast<unsigned>(::ks::vote(true, ks_site) >> 32);
}
#define KS_COMPARE(NAME, T, COMPARE)                                                                                   \
    static KS_INLINE uint64_t __builtin_amdgcn_##NAME(T a, T b, int predicate, uint32_t ks_site = KS_SITE) {           \
        return ::ks::vote(::ks::COMPARE<T>(a, b, predicate), ks_site);                                                 \
    }
KS_COMPARE(uicmp, unsigned, compare_integers)
KS_COMPARE(sicmp, int, compare_integers)
KS_COMPARE(uicmpl, unsigned long, compare_integers)
KS_COMPARE(sicmpl, long, compare_integers)
KS_COMPARE(fcmpf, float, compare_floats)
KS_COMPARE(fcmp, double, compare_floats)
#undef KS_COMPARE
