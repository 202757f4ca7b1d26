// Bit and integer intrinsics.
#pragma once
#pragma clang system_header
#include <ks/qualifiers.h>
#include <stdint.h>

static KS_INLINE unsigned __popc(unsigned x) { return static_cast<unsigned>(__builtin_popcount(x)); }
static KS_INLINE unsigned __popcll(unsigned long long x) { return static_cast<unsigned>(__builtin_popcountll(x)); }
static KS_INLINE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
static KS_INLINE int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
// The place of the lowest bit that is set, from 1; 0 if there is none.
static KS_INLINE unsigned __ffs(unsigned x) { return x == 0 ? 0 : static_cast<unsigned>(__builtin_ctz(x)) + 1; }
static KS_INLINE unsigned __ffs(int x) { return __ffs(static_cast<unsigned>(x)); }
static KS_INLINE unsigned __ffsll(unsigned long long x) {
    return x == 0 ? 0 : static_cast<unsigned>(__builtin_ctzll(x)) + 1;
}
static KS_INLINE unsigned __ffsll(unsigned long x) { return __ffsll(static_cast<unsigned long long>(x)); }
static KS_INLINE unsigned __ffsll(long long x) { return __ffsll(static_cast<unsigned long long>(x)); }
static KS_INLINE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
static KS_INLINE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

/// Four bytes chosen from the eight of `high` and `low`, as the four nibbles of `selector` say.
static KS_INLINE unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    const uint64_t bytes = uint64_t{high} << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned which = selector >> (4 * i) & 7;
        result |= static_cast<unsigned>(bytes >> (8 * which) & 0xff) << (8 * i);
    }
    return result;
}
static KS_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>(((uint64_t{high} << 32 | low) << (shift & 31)) >> 32);
}
static KS_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
static KS_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((uint64_t{high} << 32 | low) >> (shift & 31));
}
static KS_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

static KS_INLINE int __mulhi(int x, int y) { return static_cast<int>(static_cast<int64_t>(x) * y >> 32); }
static KS_INLINE unsigned __umulhi(unsigned x, unsigned y) { return static_cast<unsigned>(uint64_t{x} * y >> 32); }
static KS_INLINE long long __mul64hi(long long x, long long y) {
    return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}
static KS_INLINE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
// Products of the low 24 bits.
static KS_INLINE int __mul24(int x, int y) {
    const int a = static_cast<int>(static_cast<unsigned>(x) << 8) >> 8;
    const int b = static_cast<int>(static_cast<unsigned>(y) << 8) >> 8;
    return static_cast<int>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
}
static KS_INLINE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }

static KS_INLINE unsigned __sad(int x, int y, unsigned sum) {
    return sum + static_cast<unsigned>(x > y ? static_cast<int64_t>(x) - y : static_cast<int64_t>(y) - x);
}
static KS_INLINE unsigned __usad(unsigned x, unsigned y, unsigned sum) { return sum + (x > y ? x - y : y - x); }
static KS_INLINE int __hadd(int x, int y) { return static_cast<int>((static_cast<int64_t>(x) + y) >> 1); }
static KS_INLINE int __rhadd(int x, int y) { return static_cast<int>((static_cast<int64_t>(x) + y + 1) >> 1); }
static KS_INLINE unsigned __uhadd(unsigned x, unsigned y) { return static_cast<unsigned>((uint64_t{x} + y) >> 1); }
static KS_INLINE unsigned __urhadd(unsigned x, unsigned y) { return static_cast<unsigned>((uint64_t{x} + y + 1) >> 1); }

static KS_INLINE unsigned __lastbit_u32_u64(unsigned long long x) {
    return x == 0 ? ~0u : static_cast<unsigned>(__builtin_ctzll(x));
}
// A field that ends past the last bit is not cut off: the device's shifts take their distance modulo the width of x.
static KS_INLINE unsigned __bitextract_u32(unsigned x, unsigned offset, unsigned width) {
    offset &= 31;
    width &= 31;
    return width == 0 ? 0 : x << ((32 - offset - width) & 31) >> (32 - width);
}
static KS_INLINE uint64_t __bitextract_u64(uint64_t x, unsigned offset, unsigned width) {
    offset &= 63;
    width &= 63;
    return width == 0 ? 0 : x << ((64 - offset - width) & 63) >> (64 - width);
}
static KS_INLINE unsigned __bitinsert_u32(unsigned x, unsigned value, unsigned offset, unsigned width) {
    offset &= 31;
    width &= 31;
    const unsigned mask = (1u << width) - 1;
    return (x & ~(mask << offset)) | ((value & mask) << offset);
}
static KS_INLINE uint64_t __bitinsert_u64(uint64_t x, uint64_t value, unsigned offset, unsigned width) {
    offset &= 63;
    width &= 63;
    const uint64_t mask = (uint64_t{1} << width) - 1;
    return (x & ~(mask << offset)) | ((value & mask) << offset);
}
static KS_INLINE unsigned __lastbit_u32_u32(unsigned x) { return x == 0 ? ~0u : static_cast<unsigned>(__builtin_ctz(x)); }

namespace ks {

/// The place of the bit that is the `offset`-th set one of `mask`, counted from `base` upwards (downwards where `offset` is
/// negative; with 0, the one at `base` itself); -1 if there is none.
static KS_INLINE int find_nth_set(uint64_t mask, unsigned base, int offset) {
    const int step = offset < 0 ? -1 : 1;
    int left = offset == 0 ? 1 : offset < 0 ? -offset : offset;
    for (int at = static_cast<int>(base); at >= 0 && at < 64; at += step) {
        left -= static_cast<int>(mask >> at & 1);
        if (left == 0) return at;
        if (offset == 0) break;
    }
    return -1;
}

} // namespace ks

static KS_INLINE int __fns32(uint64_t mask, unsigned base, int offset) {
    return ::ks::find_nth_set(mask & 0xffffffffu, base, offset);
}
static KS_INLINE int __fns64(uint64_t mask, unsigned base, int offset) { return ::ks::find_nth_set(mask, base, offset); }
