// The compiler's own names for memory: buffers with a bound, loads into shared memory, atomic operations.
#pragma once
#pragma clang system_header
#include <ks/atomics.h>
#include <ks/stopping.h>
#include <ks/work_items.h>
#include <string.h>

/// What __builtin_amdgcn_make_buffer_rsrc makes: an address and the bytes that may be reached from it.
struct __amdgpu_buffer_rsrc_t {
    char *ks_base;
    unsigned ks_bytes;
};

namespace ks {

typedef unsigned TwoWords __attribute__((ext_vector_type(2)));
typedef unsigned ThreeWords __attribute__((ext_vector_type(3)));
typedef unsigned FourWords __attribute__((ext_vector_type(4)));

/// Where a buffer access goes, or null where it leaves the buffer.
static KS_INLINE char *buffer_address(__amdgpu_buffer_rsrc_t buffer, int offset, int scalar_offset, unsigned bytes) {
    const uint64_t at = uint64_t{static_cast<unsigned>(offset)} + static_cast<unsigned>(scalar_offset);
    return at + bytes <= buffer.ks_bytes ? buffer.ks_base + at : nullptr;
}
/// Each word of 4 bytes is in the buffer or not by itself; what is not reads as 0 and is not written.
template <class T> static KS_INLINE T buffer_load(__amdgpu_buffer_rsrc_t buffer, int offset, int scalar_offset) {
    constexpr unsigned part = sizeof(T) < 4 ? sizeof(T) : 4;
    T value{};
    for (unsigned i = 0; i + part <= sizeof(T); i += part) {
        const char *from = buffer_address(buffer, offset, scalar_offset + static_cast<int>(i), part);
        if (from != nullptr) memcpy(reinterpret_cast<char *>(&value) + i, from, part);
    }
    return value;
}
template <class T, unsigned bytes = sizeof(T)>
static KS_INLINE void buffer_store(T value, __amdgpu_buffer_rsrc_t buffer, int offset, int scalar_offset) {
    constexpr unsigned part = bytes < 4 ? bytes : 4;
    for (unsigned i = 0; i + part <= bytes; i += part) {
        char *to = buffer_address(buffer, offset, scalar_offset + static_cast<int>(i), part);
        if (to != nullptr) memcpy(to, reinterpret_cast<const char *>(&value) + i, part);
    }
}
/// Two numbers of 16 bits are added to as one.
template <class Pair, class F> static KS_INLINE Pair add_pairs(void *address, Pair value, F add) {
    const unsigned before = atomic_update(static_cast<unsigned *>(address), [&](unsigned bits) {
        return __builtin_bit_cast(unsigned, add(__builtin_bit_cast(Pair, bits), value));
    });
    return __builtin_bit_cast(Pair, before);
}
typedef _Float16 AtomicHalfPair __attribute__((ext_vector_type(2)));
typedef short AtomicBfloatPair __attribute__((ext_vector_type(2)));
static KS_INLINE short add_bfloats(short a, short b) {
    const auto widen = [](short x) {
        return __builtin_bit_cast(float, static_cast<unsigned>(static_cast<unsigned short>(x)) << 16);
    };
    const float sum = widen(a) + widen(b);
    const unsigned bits = __builtin_bit_cast(unsigned, sum);
    return static_cast<short>(sum != sum ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

} // namespace ks

static KS_INLINE __amdgpu_buffer_rsrc_t __builtin_amdgcn_make_buffer_rsrc(void *base, short, int bytes, int) {
    return {static_cast<char *>(base), static_cast<unsigned>(bytes)};
}
#define KS_BUFFER(BITS, T, BYTES)                                                                                      \
    static KS_INLINE T __builtin_amdgcn_raw_buffer_load_b##BITS(__amdgpu_buffer_rsrc_t buffer, int offset,             \
                                                                int scalar_offset, int) {                              \
        return ::ks::buffer_load<T>(buffer, offset, scalar_offset);                                                    \
    }                                                                                                                  \
    static KS_INLINE void __builtin_amdgcn_raw_buffer_store_b##BITS(T value, __amdgpu_buffer_rsrc_t buffer,            \
                                                                    int offset, int scalar_offset, int) {              \
        ::ks::buffer_store<T, BYTES>(value, buffer, offset, scalar_offset);                                            \
    }
KS_BUFFER(8, unsigned char, 1)
KS_BUFFER(16, unsigned short, 2)
KS_BUFFER(32, unsigned, 4)
KS_BUFFER(64, ::ks::TwoWords, 8)
KS_BUFFER(96, ::ks::ThreeWords, 12)
KS_BUFFER(128, ::ks::FourWords, 16)
#undef KS_BUFFER

/// A word from each work-item's own address to its place in a row in shared memory, which begins at `shared` for all.
template <class Global, class Shared>
static KS_INLINE void __builtin_amdgcn_global_load_lds(Global *global, Shared *shared, unsigned bytes, int offset,
                                                       unsigned) {
    if (bytes != 4) ks_misuse("__builtin_amdgcn_global_load_lds is there for 4 bytes only on the CPU; load words");
    memcpy((char *)shared + offset + 4 * ::ks::lane(), (const char *)global + offset, 4);
}

// Additions by address; the pointers may be of any address space. All are atomic and return what was there.
#define KS_ATOMIC_BUILTIN(NAME, T, EXPRESSION)                                                                         \
    template <class P> static KS_INLINE T __builtin_amdgcn_##NAME(P *pointer, T value) {                               \
        T *const address = (T *)pointer;                                                                               \
        return EXPRESSION;                                                                                             \
    }
#define KS_ATOMIC_EVERYWHERE(NAME, T, EXPRESSION)                                                                      \
    KS_ATOMIC_BUILTIN(global_atomic_##NAME, T, EXPRESSION)                                                             \
    KS_ATOMIC_BUILTIN(flat_atomic_##NAME, T, EXPRESSION)
#define KS_ATOMIC_WITH_SHARED(NAME, T, EXPRESSION)                                                                     \
    KS_ATOMIC_EVERYWHERE(NAME, T, EXPRESSION)                                                                          \
    KS_ATOMIC_BUILTIN(ds_atomic_##NAME, T, EXPRESSION)
KS_ATOMIC_WITH_SHARED(fadd_f32, float, ::ks::atomic_add(address, value))
KS_ATOMIC_WITH_SHARED(fadd_f64, double, ::ks::atomic_add(address, value))
KS_ATOMIC_WITH_SHARED(fadd_v2f16, ::ks::AtomicHalfPair,
                      ::ks::add_pairs(address, value, [](auto a, auto b) { return a + b; }))
KS_ATOMIC_WITH_SHARED(fadd_v2bf16, ::ks::AtomicBfloatPair, ::ks::add_pairs(address, value, [](auto a, auto b) {
                          return ::ks::AtomicBfloatPair{::ks::add_bfloats(a[0], b[0]), ::ks::add_bfloats(a[1], b[1])};
                      }))
KS_ATOMIC_EVERYWHERE(fmin_f64, double, ::ks::atomic_min(address, value))
KS_ATOMIC_EVERYWHERE(fmax_f64, double, ::ks::atomic_max(address, value))
#undef KS_ATOMIC_WITH_SHARED
#undef KS_ATOMIC_EVERYWHERE
#undef KS_ATOMIC_BUILTIN

// With an order, a scope and whether the access is volatile, none of which changes what the host does.
#define KS_ATOMIC_SHARED_FLOAT(NAME, FUNCTION)                                                                         \
    template <class P> static KS_INLINE float __builtin_amdgcn_##NAME(P *pointer, float value, int, int, bool) {       \
        return ::ks::FUNCTION((float *)pointer, value);                                                                \
    }
KS_ATOMIC_SHARED_FLOAT(ds_faddf, atomic_add)
KS_ATOMIC_SHARED_FLOAT(ds_fminf, atomic_min)
KS_ATOMIC_SHARED_FLOAT(ds_fmaxf, atomic_max)
#undef KS_ATOMIC_SHARED_FLOAT
#define KS_ATOMIC_WRAP(BITS, T)                                                                                        \
    template <class P>                                                                                                 \
    static KS_INLINE T __builtin_amdgcn_atomic_inc##BITS(P *pointer, T value, unsigned, const char *) {                \
        return ::ks::atomic_update((T *)pointer, [value](T before) { return before >= value ? T{0} : before + 1; });   \
    }                                                                                                                  \
    template <class P>                                                                                                 \
    static KS_INLINE T __builtin_amdgcn_atomic_dec##BITS(P *pointer, T value, unsigned, const char *) {                \
        return ::ks::atomic_update((T *)pointer,                                                                       \
                                   [value](T before) { return before == 0 || before > value ? value : before - 1; });  \
    }
KS_ATOMIC_WRAP(32, uint32_t)
KS_ATOMIC_WRAP(64, uint64_t)
#undef KS_ATOMIC_WRAP
