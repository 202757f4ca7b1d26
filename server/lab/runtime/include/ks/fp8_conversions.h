// The conversions of hip_fp8.h by name. One that saturates gives the largest number for what is too large.
#pragma once
#pragma clang system_header
#include <ks/bfloat16.h>
#include <ks/fp8_formats.h>
#include <ks/half.h>

// As for host code: both families are there. (In device code for MI300 only the fnuz formats are.)
#define HIP_FP8_TYPE_OCP 1
#define HIP_FP8_TYPE_FNUZ 1

enum __hip_fp8_interpretation_t {
    __HIP_E4M3 = 0,
    __HIP_E5M2 = 1,
    __HIP_E4M3_FNUZ = 2,
    __HIP_E5M2_FNUZ = 3,
};
enum __hip_saturation_t { __HIP_NOSAT = 0, __HIP_SATFINITE = 1 };
/// One, two and four codes; the first is in the lowest byte.
typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned __hip_fp8x4_storage_t;

static KS_INLINE __hip_fp8_storage_t __hip_cvt_float_to_fp8(float x, __hip_saturation_t saturation,
                                                            __hip_fp8_interpretation_t format) {
    const bool saturate = saturation == __HIP_SATFINITE;
    switch (format) {
    case __HIP_E4M3: return ::ks::Fp8E4m3::encode(x, saturate);
    case __HIP_E5M2: return ::ks::Fp8E5m2::encode(x, saturate);
    case __HIP_E4M3_FNUZ: return ::ks::Fp8E4m3Fnuz::encode(x, saturate);
    default: return ::ks::Fp8E5m2Fnuz::encode(x, saturate);
    }
}
static KS_INLINE __hip_fp8_storage_t __hip_cvt_double_to_fp8(double x, __hip_saturation_t saturation,
                                                             __hip_fp8_interpretation_t format) {
    // Rounding to odd is for numbers: infinity would become the largest float.
    const float odd = ::ks::to_float_odd(x);
    return __hip_cvt_float_to_fp8(__builtin_isfinite(x) ? odd : static_cast<float>(x), saturation, format);
}
static KS_INLINE __hip_fp8_storage_t __hip_cvt_halfraw_to_fp8(__half_raw x, __hip_saturation_t saturation,
                                                              __hip_fp8_interpretation_t format) {
    return __hip_cvt_float_to_fp8(static_cast<float>(x.data), saturation, format);
}
static KS_INLINE __hip_fp8_storage_t __hip_cvt_bfloat16raw_to_fp8(__hip_bfloat16_raw x, __hip_saturation_t saturation,
                                                                  __hip_fp8_interpretation_t format) {
    return __hip_cvt_float_to_fp8(::ks::bfloat16_to_float(x.x), saturation, format);
}

namespace ks {

static KS_INLINE float fp8_to_float(__hip_fp8_storage_t code, __hip_fp8_interpretation_t format) {
    switch (format) {
    case __HIP_E4M3: return Fp8E4m3::decode(code);
    case __HIP_E5M2: return Fp8E5m2::decode(code);
    case __HIP_E4M3_FNUZ: return Fp8E4m3Fnuz::decode(code);
    default: return Fp8E5m2Fnuz::decode(code);
    }
}
static KS_INLINE __hip_fp8x2_storage_t fp8_pair(__hip_fp8_storage_t first, __hip_fp8_storage_t second) {
    return static_cast<__hip_fp8x2_storage_t>(first | second << 8);
}

} // namespace ks

static KS_INLINE __hip_fp8x2_storage_t __hip_cvt_float2_to_fp8x2(float2 v, __hip_saturation_t saturation,
                                                                 __hip_fp8_interpretation_t format) {
    return ::ks::fp8_pair(__hip_cvt_float_to_fp8(v.x, saturation, format),
                          __hip_cvt_float_to_fp8(v.y, saturation, format));
}
static KS_INLINE __hip_fp8x2_storage_t __hip_cvt_double2_to_fp8x2(double2 v, __hip_saturation_t saturation,
                                                                  __hip_fp8_interpretation_t format) {
    return ::ks::fp8_pair(__hip_cvt_double_to_fp8(v.x, saturation, format),
                          __hip_cvt_double_to_fp8(v.y, saturation, format));
}
static KS_INLINE __hip_fp8x2_storage_t __hip_cvt_halfraw2_to_fp8x2(__half2_raw v, __hip_saturation_t saturation,
                                                                   __hip_fp8_interpretation_t format) {
    return __hip_cvt_float2_to_fp8x2(__half22float2(v), saturation, format);
}
static KS_INLINE __hip_fp8x2_storage_t __hip_cvt_bfloat16raw2_to_fp8x2(__hip_bfloat162_raw v,
                                                                       __hip_saturation_t saturation,
                                                                       __hip_fp8_interpretation_t format) {
    return __hip_cvt_float2_to_fp8x2(__hip_bfloat162(v), saturation, format);
}
static KS_INLINE __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t code, __hip_fp8_interpretation_t format) {
    return __float2half(::ks::fp8_to_float(code, format));
}
static KS_INLINE __half2_raw __hip_cvt_fp8x2_to_halfraw2(__hip_fp8x2_storage_t codes,
                                                         __hip_fp8_interpretation_t format) {
    return __floats2half2_rn(::ks::fp8_to_float(static_cast<__hip_fp8_storage_t>(codes), format),
                             ::ks::fp8_to_float(static_cast<__hip_fp8_storage_t>(codes >> 8), format));
}
