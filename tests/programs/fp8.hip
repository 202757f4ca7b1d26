// 8-bit floating point: every code decoded, floats encoded, all four formats, types, packed words, MI300's builtins.
#include "check.h"
#include "small_float.h"
#include <hip/hip_fp8.h>

/// A format by its definition. `infinity` and `nan` are the codes without sign; -1: there is none.
struct Definition {
    __hip_fp8_interpretation_t name;
    SmallFloat numbers;
    bool fnuz;
    int infinity;
};
const Definition kFormats[] = {
    {__HIP_E4M3_FNUZ, {4, 3, 8, 0x7f}, true, -1},
    {__HIP_E5M2_FNUZ, {5, 2, 16, 0x7f}, true, -1},
    {__HIP_E4M3, {4, 3, 7, 0x7e}, false, -1},
    {__HIP_E5M2, {5, 2, 15, 0x7b}, false, 0x7c},
};

double value_of(const Definition &format, unsigned code) {
    if (format.fnuz) return code == 0x80 ? NAN : format.numbers.finite(code);
    const unsigned magnitude = code & 0x7f;
    if (magnitude <= format.numbers.largest) return format.numbers.finite(code);
    return static_cast<int>(magnitude) == format.infinity ? (code & 0x80 ? -INFINITY : INFINITY) : NAN;
}
/// Nearest of all numbers and of the one that would come next, by trying each.
unsigned nearest_of_all(const SmallFloat &numbers, double x) {
    if (x > numbers.magnitude(numbers.largest + 1)) return numbers.largest + 1;
    unsigned best = 0;
    for (unsigned code = 1; code <= numbers.largest + 1; ++code) {
        const double distance = std::fabs(numbers.magnitude(code) - x), least = std::fabs(numbers.magnitude(best) - x);
        if (distance < least || (distance == least && code % 2 == 0)) best = code;
    }
    return best;
}
unsigned encoded(const Definition &format, double x, bool saturate) {
    const unsigned sign = std::signbit(x) ? 0x80 : 0, largest = format.numbers.largest;
    if (std::isnan(x)) return format.fnuz ? 0x80 : sign | 0x7f;
    if (std::isinf(x) && format.fnuz) return 0x80;
    const unsigned code = std::isinf(x) ? largest + 1 : nearest_of_all(format.numbers, std::fabs(x));
    if (code > largest) return saturate ? sign | largest : format.fnuz ? 0x80 : sign | (largest + 1);
    return format.fnuz && code == 0 ? 0 : sign | code;
}
/// Codes are equal, or both stand for the same NaN.
bool equal_codes(const Definition &format, unsigned got, unsigned expected) {
    return got == expected || (std::isnan(value_of(format, got)) && std::isnan(value_of(format, expected)));
}

__global__ void decode(__hip_fp8_interpretation_t format, float *out) {
    const int i = threadIdx.x;
    out[2 * i] = __half2float(__hip_cvt_fp8_to_halfraw(i, format));
    const __half2 pair = __hip_cvt_fp8x2_to_halfraw2(static_cast<__hip_fp8x2_storage_t>(0x38 | i << 8), format);
    out[2 * i + 1] = __high2float(pair);
}
struct Encoded {
    unsigned char sat, nosat, from_double, from_half, from_bfloat16, second;
};
__global__ void encode(__hip_fp8_interpretation_t format, const float *x, Encoded *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const __half h = __float2half(x[i]);
    const __hip_bfloat16 b = __float2bfloat16(x[i]);
    out[i].sat = __hip_cvt_float_to_fp8(x[i], __HIP_SATFINITE, format);
    out[i].nosat = __hip_cvt_float_to_fp8(x[i], __HIP_NOSAT, format);
    out[i].from_double = __hip_cvt_double_to_fp8(x[i], __HIP_NOSAT, format);
    out[i].from_half = __hip_cvt_halfraw_to_fp8(h, __HIP_NOSAT, format);
    out[i].from_bfloat16 = __hip_cvt_bfloat16raw_to_fp8(b, __HIP_NOSAT, format);
    out[i].second = __hip_cvt_float2_to_fp8x2(make_float2(1, x[i]), __HIP_SATFINITE, format) >> 8;
}
void check_codes(const Definition &format) {
    DeviceArray<float> values(512);
    decode<<<1, 256>>>(format.name, values.get());
    const std::vector<float> all = values.values();
    for (unsigned code = 0; code < 256; ++code) {
        const double expected = value_of(format, code);
        for (float got : {all[2 * code], all[2 * code + 1]}) {
            CHECK(std::isnan(expected) ? std::isnan(got) : got == expected && std::signbit(got) == std::signbit(expected));
        }
        if (!std::isnan(expected) && !std::isinf(expected)) CHECK(encoded(format, expected, true) == code);
    }
    const std::vector<float> hard = hard_floats(format.numbers, 60000);
    const int n = static_cast<int>(hard.size());
    DeviceArray<float> in(hard);
    DeviceArray<Encoded> out(n);
    encode<<<(n + 255) / 256, 256>>>(format.name, in.get(), out.get(), n);
    const std::vector<Encoded> codes = out.values();
    for (int i = 0; i < n; ++i) {
        const float x = hard[i];
        const unsigned nosat = encoded(format, x, false);
        CHECK(equal_codes(format, codes[i].sat, encoded(format, x, true)));
        CHECK(equal_codes(format, codes[i].nosat, nosat) && equal_codes(format, codes[i].from_double, nosat));
        CHECK(codes[i].second == codes[i].sat);
        const double h = std::isnan(x) ? NAN : ieee_value(kHalf, ieee_nearest(kHalf, x, 0));
        const double b = std::isnan(x) ? NAN : ieee_value(kBfloat16, ieee_nearest(kBfloat16, x, 0));
        CHECK(equal_codes(format, codes[i].from_half, encoded(format, h, false)));
        CHECK(equal_codes(format, codes[i].from_bfloat16, encoded(format, b, false)));
    }
    // Doubles that float cannot tell from a middle.
    for (unsigned code = 0; code < format.numbers.largest; ++code) {
        const double middle = (format.numbers.magnitude(code) + format.numbers.magnitude(code + 1)) / 2;
        for (double x : {middle * (1 + 0x1p-50), middle * (1 - 0x1p-50), -middle}) {
            CHECK(__hip_cvt_double_to_fp8(x, __HIP_NOSAT, format.name) == encoded(format, x, false));
        }
    }
}

/// The types: what they convert to and from; one work-item for each code.
template <class One, class Two, class Four> __global__ void types(double *out, int *wrong) {
    One one;
    one.__x = threadIdx.x;
    const float x = one;
    int bad = 0;
    const bool nan = x != x;
    bad += !(nan || static_cast<double>(one) == x) + !(nan || __half2float(static_cast<__half>(one)) == x);
    bad += !(nan || static_cast<float>(static_cast<__hip_bfloat16>(one)) == x);
    bad += static_cast<bool>(one) != (x != 0);
    const double clamped = nan ? 0 : fmin(fmax(trunc(static_cast<double>(x)), -128.0), 127.0);
    bad += static_cast<signed char>(one) != clamped;
    bad += static_cast<int>(one) != (nan ? 0 : __builtin_isinf(x) ? (x > 0 ? 2147483647 : -2147483648.0) : trunc(static_cast<double>(x)));
    bad += static_cast<unsigned short>(one) != (nan || x <= 0 ? 0 : fmin(trunc(static_cast<double>(x)), 65535.0));
    if (!nan && !__builtin_isinf(x)) {
        bad += One(x).__x != one.__x || One(static_cast<double>(x)).__x != one.__x || One(__float2half(x)).__x != one.__x;
        bad += One(__float2bfloat16(x)).__x != one.__x;
        const Two two(make_float2(x, 1)), halves(__floats2half2_rn(x, 1)), brains(__floats2bfloat162_rn(x, 1));
        const float2 both = two;
        bad += both.x != x || both.y != 1 || halves.__x != two.__x || brains.__x != two.__x;
        bad += Two(make_double2(x, 1)).__x != two.__x || __low2float(static_cast<__half2>(two)) != x;
        const Four four(make_float4(1, x, 0.5f, -x)), again(__floats2half2_rn(1, x), __floats2half2_rn(0.5f, -x));
        const float4 all = four;
        bad += all.x != 1 || all.y != x || all.z != 0.5f || all.w != -x || again.__x != four.__x;
        bad += Four(make_double4(1, x, 0.5, -x)).__x != four.__x;
        bad += Four(__floats2bfloat162_rn(1, x), __floats2bfloat162_rn(0.5f, -x)).__x != four.__x;
    }
    out[threadIdx.x] = x;
    if (bad != 0) atomicAdd(wrong, bad);
}
template <class One, class Two, class Four> void check_types(const Definition &format) {
    static_assert(sizeof(One) == 1 && sizeof(Two) == 2 && sizeof(Four) == 4);
    DeviceArray<double> out(256);
    DeviceArray<int> wrong(1);
    types<One, Two, Four><<<1, 256>>>(out.get(), wrong.get());
    CHECK(wrong.values()[0] == 0);
    const std::vector<double> all = out.values();
    for (unsigned code = 0; code < 256; ++code) {
        const double expected = value_of(format, code);
        CHECK(std::isnan(expected) ? std::isnan(all[code]) : all[code] == expected);
    }
    CHECK(One(100000).__x == encoded(format, 100000, true) && One(-3).__x == encoded(format, -3, true));
    CHECK(One(7u).__x == encoded(format, 7, true) && One(short(-17)).__x == encoded(format, -17, true));
}

struct Words {
    float unpacked[4], pair[4];
    int low, high, byte[4];
};
template <bool bf8> __global__ void builtins(const int *words, const float *x, const int *random, Words *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int w = words[i];
    Words r;
#define WITH(NAME)                                                                                                     \
    r.unpacked[0] = __builtin_amdgcn_cvt_f32_##NAME(w, 0);                                                             \
    r.unpacked[1] = __builtin_amdgcn_cvt_f32_##NAME(w, 1);                                                             \
    r.unpacked[2] = __builtin_amdgcn_cvt_f32_##NAME(w, 2);                                                             \
    r.unpacked[3] = __builtin_amdgcn_cvt_f32_##NAME(w, 3);                                                             \
    const auto low = __builtin_amdgcn_cvt_pk_f32_##NAME(w, false), high = __builtin_amdgcn_cvt_pk_f32_##NAME(w, true); \
    r.pair[0] = low[0], r.pair[1] = low[1], r.pair[2] = high[0], r.pair[3] = high[1];                                  \
    r.low = __builtin_amdgcn_cvt_pk_##NAME##_f32(x[i], -x[i] / 2, w, false);                                           \
    r.high = __builtin_amdgcn_cvt_pk_##NAME##_f32(x[i], -x[i] / 2, w, true);                                           \
    r.byte[0] = __builtin_amdgcn_cvt_sr_##NAME##_f32(x[i], random[i], w, 0);                                           \
    r.byte[1] = __builtin_amdgcn_cvt_sr_##NAME##_f32(x[i], random[i], w, 1);                                           \
    r.byte[2] = __builtin_amdgcn_cvt_sr_##NAME##_f32(x[i], random[i], w, 2);                                           \
    r.byte[3] = __builtin_amdgcn_cvt_sr_##NAME##_f32(x[i], random[i], w, 3);
    if constexpr (bf8) {
        WITH(bf8)
    } else {
        WITH(fp8)
    }
    out[i] = r;
}
/// Up when the distance from the number below, in units of the last bit that is cut off, and the random bits of that
/// width reach one.
unsigned stochastic(const Definition &format, float x, uint32_t random) {
    const int cut = 23 - format.numbers.mantissa_bits;
    const double magnitude = std::fabs(x);
    const unsigned below = format.numbers.below(magnitude);
    if (std::isnan(x) || std::isinf(x) || below > format.numbers.largest) return 0x80;
    const double low = format.numbers.magnitude(below), step = format.numbers.magnitude(below + 1) - low;
    const double part = std::floor(std::ldexp((magnitude - low) / step, cut)), added = random >> (32 - cut);
    const unsigned code = part + added >= std::ldexp(1, cut) ? below + 1 : below;
    if (code > format.numbers.largest) return 0x80;
    return code == 0 ? 0 : code | (std::signbit(x) ? 0x80 : 0);
}
template <bool bf8> void check_builtins(const Definition &format) {
    const std::vector<float> x = hard_floats(format.numbers, 20000);
    const int n = static_cast<int>(x.size());
    std::vector<int> words(n), random(n);
    Random generator(17);
    for (int i = 0; i < n; ++i) words[i] = generator.next(), random[i] = generator.next();
    DeviceArray<float> dx(x);
    DeviceArray<int> dwords(words), drandom(random);
    DeviceArray<Words> out(n);
    builtins<bf8><<<(n + 127) / 128, 128>>>(dwords.get(), dx.get(), drandom.get(), out.get(), n);
    const std::vector<Words> results = out.values();
    for (int i = 0; i < n; ++i) {
        const Words &r = results[i];
        const uint32_t word = words[i];
        for (int byte = 0; byte < 4; ++byte) {
            const double expected = value_of(format, word >> (8 * byte) & 0xff);
            for (float got : {r.unpacked[byte], r.pair[byte]}) CHECK(std::isnan(expected) ? std::isnan(got) : got == expected);
            const uint32_t mask = 0xffu << (8 * byte);
            const uint32_t sr = stochastic(format, x[i], random[i]);
            CHECK(static_cast<uint32_t>(r.byte[byte]) == ((word & ~mask) | sr << (8 * byte)));
        }
        const uint32_t pair = encoded(format, x[i], false) | encoded(format, -x[i] / 2, false) << 8;
        CHECK(static_cast<uint32_t>(r.low) == ((word & 0xffff0000u) | pair));
        CHECK(static_cast<uint32_t>(r.high) == ((word & 0xffffu) | pair << 16));
    }
}

int main() {
    for (const Definition &format : kFormats) check_codes(format);
    check_types<__hip_fp8_e4m3_fnuz, __hip_fp8x2_e4m3_fnuz, __hip_fp8x4_e4m3_fnuz>(kFormats[0]);
    check_types<__hip_fp8_e5m2_fnuz, __hip_fp8x2_e5m2_fnuz, __hip_fp8x4_e5m2_fnuz>(kFormats[1]);
    check_types<__hip_fp8_e4m3, __hip_fp8x2_e4m3, __hip_fp8x4_e4m3>(kFormats[2]);
    check_types<__hip_fp8_e5m2, __hip_fp8x2_e5m2, __hip_fp8x4_e5m2>(kFormats[3]);
    check_builtins<false>(kFormats[0]);
    check_builtins<true>(kFormats[1]);
}
