// fma and integer powers of _Float16, minima of a named type, __fp16 as a parameter, volatile bit patterns of halves.
#include "check.h"
#include <cstring>
#include <hip/hip_fp16.h>
#include <random>
#include <type_traits>

static_assert(std::is_same_v<decltype(fma(_Float16(1), _Float16(1), _Float16(1))), _Float16>);
static_assert(std::is_same_v<decltype(fma(_Float16(1), _Float16(1), 1)), double>);
static_assert(std::is_same_v<decltype(fma(1.0f, 1.0f, 1.0f)), float>);
static_assert(std::is_same_v<decltype(pow(_Float16(1), 2)), _Float16>);
static_assert(std::is_same_v<decltype(pow(2.0f, 2)), double> && std::is_same_v<decltype(min<short>(1, 2)), short>);
static_assert(std::is_assignable_v<__half &, volatile __half_raw &> && std::is_assignable_v<__half &, volatile __half_raw>);

struct Out {
    _Float16 fused, power;
    double mixed, power_double;
    float power_float;
    short lower, upper;
    float half_lower, half_upper;
};

__global__ void compute(const _Float16 *x, Out *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const _Float16 a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];
    out[i].fused = fma(a, b, c);
    out[i].mixed = fma(a, b, i);
    out[i].power = pow(a, 3);
    out[i].power_float = powif(static_cast<float>(a), -2);
    out[i].power_double = powi(b, 5);
    out[i].lower = min<short>(i, 70);
    out[i].upper = max<short>(i, 70);
    out[i].half_lower = min<__fp16>(static_cast<float>(a), static_cast<float>(b));
    out[i].half_upper = max<__fp16>(static_cast<float>(a), static_cast<float>(b));
}

/// The half next to a number, a tie to the even one, for normal numbers: by its definition.
double nearest_half(long double value) {
    int exponent;
    std::frexp(value, &exponent);
    const long double unit = std::ldexp(1.0L, std::max(exponent - 11, -24));
    return static_cast<double>(std::nearbyint(value / unit) * unit);
}

int main() {
    constexpr int kCount = 1024;
    std::mt19937 random(5);
    std::uniform_real_distribution<float> numbers(-8, 8);
    std::vector<_Float16> x(3 * kCount);
    for (_Float16 &value : x) value = static_cast<_Float16>(numbers(random));
    // 1 + 2^-10 squared is a half and a tie but for a third term: two roundings would lose that.
    x[0] = x[1] = static_cast<_Float16>(1 + 0x1p-10), x[2] = static_cast<_Float16>(-0x1p-24);
    DeviceArray<_Float16> in(x);
    DeviceArray<Out> out(kCount);
    compute<<<kCount / 256, 256>>>(in.get(), out.get());
    const std::vector<Out> all = out.values();
    for (int i = 0; i < kCount; ++i) {
        const long double a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];
        CHECK(static_cast<double>(all[i].fused) == nearest_half(a * b + c));
        CHECK(all[i].mixed == static_cast<double>(a * b + i));
        CHECK(std::fabs(static_cast<double>(all[i].power) - static_cast<double>(a * a * a)) <= 0x1p-10 * std::fabs(static_cast<double>(a * a * a)) + 0x1p-24);
        CHECK(std::fabs(all[i].power_float * static_cast<double>(a * a) - 1) < 1e-6);
        CHECK(std::fabs(all[i].power_double - static_cast<double>(b * b * b * b * b)) <= 1e-14 * std::fabs(all[i].power_double));
        CHECK(all[i].lower == (i < 70 ? i : 70) && all[i].upper == (i < 70 ? 70 : i));
        CHECK(all[i].half_lower == static_cast<float>(a < b ? a : b) && all[i].half_upper == static_cast<float>(a < b ? b : a));
    }
    volatile __half_raw bits;
    bits.x = 0x4248;
    __half half;
    half = bits;
    CHECK(__half2float(half) == 3.140625f);
}
