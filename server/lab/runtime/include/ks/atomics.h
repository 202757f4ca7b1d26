// Atomic operations of every width and scope. One host serves all scopes: a narrower one is simply as strong.
#pragma once
#pragma clang system_header
#include <ks/qualifiers.h>
#include <ks/trace.h>
#include <stdint.h>
#include <string.h>
#include <type_traits>

#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5

namespace ks {

// HIP's own are relaxed; stronger ones cost nothing on this host. A sanitizer must see what HIP promises.
#ifdef KS_SANITIZE
inline constexpr int kExchangeOrder = __ATOMIC_RELAXED, kFailureOrder = __ATOMIC_RELAXED;
#else
inline constexpr int kExchangeOrder = __ATOMIC_ACQ_REL, kFailureOrder = __ATOMIC_ACQUIRE;
#endif

/// Replaces *address by update(*address) and returns what was there.
template <class T, class F> static KS_INLINE T atomic_update(T *address, F update) {
#ifdef KS_TRACE
    // One operation on a device, and one thread here.
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    if constexpr (sizeof(T) == sizeof(Bits)) {
        Bits bits;
        if constexpr (sizeof(T) == 8) bits = ks_trace_atomic_8(address);
        else bits = ks_trace_atomic_4(address);
        T before;
        memcpy(&before, &bits, sizeof before);
        const T after = update(before);
        memcpy(&bits, &after, sizeof bits);
        if constexpr (sizeof(T) == 8) ks_trace_put_8(address, bits);
        else ks_trace_put_4(address, bits);
        return before;
    }
#endif
    T before;
    __atomic_load(address, &before, __ATOMIC_RELAXED);
    T after = update(before);
    while (!__atomic_compare_exchange(address, &before, &after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        after = update(before);
    }
    return before;
}
template <class T> static KS_INLINE T atomic_add(T *address, T value) {
#ifdef KS_TRACE
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
#endif
    if constexpr (std::is_floating_point_v<T>) {
        return atomic_update(address, [value](T before) { return before + value; });
    } else {
        return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
    }
}
template <class T> static KS_INLINE T atomic_exchange(T *address, T value) {
    T before;
    __atomic_exchange(address, &value, &before, kExchangeOrder);
    return before;
}
template <class T> static KS_INLINE T atomic_compare_and_swap(T *address, T expected, T value) {
    __atomic_compare_exchange(address, &expected, &value, false, kExchangeOrder, kFailureOrder);
    return expected;
}
template <class T> static KS_INLINE T atomic_min(T *address, T value) {
#ifdef KS_TRACE
    return __hip_atomic_fetch_min(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#endif
    return atomic_update(address, [value](T before) { return value < before ? value : before; });
}
template <class T> static KS_INLINE T atomic_max(T *address, T value) {
#ifdef KS_TRACE
    return __hip_atomic_fetch_max(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#endif
    return atomic_update(address, [value](T before) { return before < value ? value : before; });
}

} // namespace ks

// The types that HIP offers for each, in plain, system-wide and block-wide scope.
#define KS_ATOMIC_2(NAME, T, EXPRESSION)                                                                               \
    static KS_INLINE T NAME(T *address, T value) { return EXPRESSION; }                                                \
    static KS_INLINE T NAME##_system(T *address, T value) { return EXPRESSION; }                                       \
    static KS_INLINE T NAME##_block(T *address, T value) { return EXPRESSION; }
#define KS_ATOMIC_INTEGERS(NAME, EXPRESSION)                                                                           \
    KS_ATOMIC_2(NAME, int, EXPRESSION)                                                                                 \
    KS_ATOMIC_2(NAME, unsigned, EXPRESSION)                                                                            \
    KS_ATOMIC_2(NAME, unsigned long, EXPRESSION)                                                                       \
    KS_ATOMIC_2(NAME, unsigned long long, EXPRESSION)
#define KS_ATOMIC_SIGNED_64(NAME, EXPRESSION)                                                                          \
    KS_ATOMIC_2(NAME, long, EXPRESSION)                                                                                \
    KS_ATOMIC_2(NAME, long long, EXPRESSION)
#define KS_ATOMIC_FLOATS(NAME, EXPRESSION)                                                                             \
    KS_ATOMIC_2(NAME, float, EXPRESSION)                                                                               \
    KS_ATOMIC_2(NAME, double, EXPRESSION)

KS_ATOMIC_INTEGERS(atomicAdd, ::ks::atomic_add(address, value))
KS_ATOMIC_FLOATS(atomicAdd, ::ks::atomic_add(address, value))
KS_ATOMIC_INTEGERS(atomicSub, __atomic_fetch_sub(address, value, __ATOMIC_RELAXED))
KS_ATOMIC_FLOATS(atomicSub, ::ks::atomic_add(address, -value))
KS_ATOMIC_INTEGERS(atomicExch, ::ks::atomic_exchange(address, value))
KS_ATOMIC_FLOATS(atomicExch, ::ks::atomic_exchange(address, value))
KS_ATOMIC_INTEGERS(atomicMin, ::ks::atomic_min(address, value))
KS_ATOMIC_SIGNED_64(atomicMin, ::ks::atomic_min(address, value))
KS_ATOMIC_FLOATS(atomicMin, ::ks::atomic_min(address, value))
KS_ATOMIC_INTEGERS(atomicMax, ::ks::atomic_max(address, value))
KS_ATOMIC_SIGNED_64(atomicMax, ::ks::atomic_max(address, value))
KS_ATOMIC_FLOATS(atomicMax, ::ks::atomic_max(address, value))
KS_ATOMIC_INTEGERS(atomicAnd, __atomic_fetch_and(address, value, __ATOMIC_RELAXED))
KS_ATOMIC_INTEGERS(atomicOr, __atomic_fetch_or(address, value, __ATOMIC_RELAXED))
KS_ATOMIC_INTEGERS(atomicXor, __atomic_fetch_xor(address, value, __ATOMIC_RELAXED))
// Wraps: counts up to `value` and starts again at 0; down from 0 to `value`.
KS_ATOMIC_2(atomicInc, unsigned,
            ::ks::atomic_update(address, [value](unsigned before) { return before >= value ? 0u : before + 1; }))
KS_ATOMIC_2(atomicDec, unsigned, ::ks::atomic_update(address, [value](unsigned before) {
                return before == 0 || before > value ? value : before - 1;
            }))
#undef KS_ATOMIC_FLOATS
#undef KS_ATOMIC_SIGNED_64
#undef KS_ATOMIC_INTEGERS
#undef KS_ATOMIC_2

#define KS_ATOMIC_CAS(T)                                                                                               \
    static KS_INLINE T atomicCAS(T *address, T expected, T value) {                                                    \
        return ::ks::atomic_compare_and_swap(address, expected, value);                                                \
    }                                                                                                                  \
    static KS_INLINE T atomicCAS_system(T *address, T expected, T value) { return atomicCAS(address, expected, value); } \
    static KS_INLINE T atomicCAS_block(T *address, T expected, T value) { return atomicCAS(address, expected, value); }
KS_ATOMIC_CAS(unsigned short)
KS_ATOMIC_CAS(int)
KS_ATOMIC_CAS(unsigned)
KS_ATOMIC_CAS(unsigned long)
KS_ATOMIC_CAS(unsigned long long)
KS_ATOMIC_CAS(float)
KS_ATOMIC_CAS(double)
#undef KS_ATOMIC_CAS

// "Unsafe" means without the guarantees for fine-grained memory on a device; here they are the plain ones.
static KS_INLINE float unsafeAtomicAdd(float *address, float value) { return atomicAdd(address, value); }
static KS_INLINE double unsafeAtomicAdd(double *address, double value) { return atomicAdd(address, value); }
static KS_INLINE float safeAtomicAdd(float *address, float value) { return atomicAdd(address, value); }
static KS_INLINE double safeAtomicAdd(double *address, double value) { return atomicAdd(address, value); }
static KS_INLINE float unsafeAtomicMin(float *address, float value) { return atomicMin(address, value); }
static KS_INLINE double unsafeAtomicMin(double *address, double value) { return atomicMin(address, value); }
static KS_INLINE float unsafeAtomicMax(float *address, float value) { return atomicMax(address, value); }
static KS_INLINE double unsafeAtomicMax(double *address, double value) { return atomicMax(address, value); }
static KS_INLINE void atomicAddNoRet(float *address, float value) { atomicAdd(address, value); }

// __hip_atomic_load and its kin, and __atomic_*, are clang's own builtins and work on the host as they are.
