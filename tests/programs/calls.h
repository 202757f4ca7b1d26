// For programs that check functions of one work-item: each is called on the device for a list of arguments and compared
// with what the C++ library, or plain arithmetic in a wider type, gives.
#pragma once
#include "check.h"
#include <cstring>
#include <limits>
#include <tuple>

template <class F, class To, class... From> __global__ void apply(To *out, const From *...in) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    out[i] = F::call(in[i]...);
}
/// F on the device for each set of arguments.
template <class F, class To, class... From> std::vector<To> values_of(const std::vector<From> &...in) {
    const int n = static_cast<int>(std::get<0>(std::tie(in...)).size());
    DeviceArray<To> out(n);
    const auto launch = [&](const auto &...arrays) {
        hipLaunchKernelGGL((apply<F, To, From...>), dim3(n), dim3(1), 0, 0, out.get(), arrays.get()...);
    };
    launch(DeviceArray<From>(in)...);
    return out.values();
}
[[noreturn]] inline void wrong(const char *name, int i, double given, double expected) {
    std::fprintf(stderr, "%s, case %d: %.17g, not %.17g\n", name, i, given, expected);
    std::exit(1);
}

/// One argument; EXPECTED is of x, a long double or the argument's own type, and may be off by RELATIVE.
#define UNARY(NAME, FROM, TO, RELATIVE, EXPECTED, ...)                                                                 \
    {                                                                                                                  \
        struct F {                                                                                                     \
            static __device__ TO call(FROM x) { return NAME(x); }                                                      \
        };                                                                                                             \
        const std::vector<FROM> in = {__VA_ARGS__};                                                                    \
        const std::vector<TO> out = values_of<F, TO>(in);                                                              \
        for (size_t i = 0; i < in.size(); ++i) {                                                                       \
            const auto x = in[i];                                                                                      \
            const long double expected = EXPECTED, given = out[i];                                                     \
            if (!(std::fabs(given - expected) <= RELATIVE * std::fabs(expected) + (RELATIVE > 0 ? 1e-30l : 0))) {      \
                wrong(#NAME, static_cast<int>(i), static_cast<double>(given), static_cast<double>(expected));          \
            }                                                                                                          \
        }                                                                                                              \
    }
#define BINARY(NAME, TO, A, B, EXPECTED)                                                                               \
    {                                                                                                                  \
        struct F {                                                                                                     \
            static __device__ TO call(A a, B b) { return NAME(a, b); }                                                 \
        };                                                                                                             \
        const std::vector<A> as = {static_cast<A>(12345), static_cast<A>(3), static_cast<A>(7), static_cast<A>(250), static_cast<A>(-100000)}; \
        const std::vector<B> bs = {static_cast<B>(7), static_cast<B>(1000000), static_cast<B>(3), static_cast<B>(-4), static_cast<B>(99999)}; \
        const std::vector<TO> out = values_of<F, TO>(as, bs);                                                          \
        for (size_t i = 0; i < as.size(); ++i) {                                                                       \
            const A a = as[i];                                                                                         \
            const B b = bs[i];                                                                                         \
            const TO expected = EXPECTED;                                                                              \
            if (out[i] != expected) wrong(#NAME, static_cast<int>(i), static_cast<double>(out[i]), static_cast<double>(expected)); \
        }                                                                                                              \
    }
#define TERNARY(NAME, TO, A, B, C, EXPECTED)                                                                           \
    {                                                                                                                  \
        struct F {                                                                                                     \
            static __device__ TO call(A a, B b, C c) { return NAME(a, b, c); }                                         \
        };                                                                                                             \
        const std::vector<A> as = {static_cast<A>(0x12345678), static_cast<A>(0xdeadbeef), static_cast<A>(77), static_cast<A>(-9)}; \
        const std::vector<B> bs = {static_cast<B>(5), static_cast<B>(11), static_cast<B>(1), static_cast<B>(30)};      \
        const std::vector<C> cs = {static_cast<C>(9), static_cast<C>(20), static_cast<C>(33), static_cast<C>(2)};      \
        const std::vector<TO> out = values_of<F, TO>(as, bs, cs);                                                      \
        for (size_t i = 0; i < as.size(); ++i) {                                                                       \
            const A a = as[i];                                                                                         \
            const B b = bs[i];                                                                                         \
            const C c = cs[i];                                                                                         \
            const TO expected = EXPECTED;                                                                              \
            if (out[i] != expected) wrong(#NAME, static_cast<int>(i), static_cast<double>(out[i]), static_cast<double>(expected)); \
        }                                                                                                              \
    }
