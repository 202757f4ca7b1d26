// The types of hip_fp8.h: one, two and four numbers of each 8-bit format. They convert and do no arithmetic; converting
// to them saturates.
#pragma once
#pragma clang system_header
#include <ks/conversions.h>
#include <ks/fp8_conversions.h>

namespace ks {

/// What all formats' types have in common.
template <__hip_fp8_interpretation_t kFormat, unsigned kExponentBits> struct Fp8Type {
    static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;
    static constexpr __hip_fp8_interpretation_t __default_interpret = kFormat;
    static constexpr unsigned __we = kExponentBits;
    static constexpr unsigned __wm = 7 - kExponentBits;

  protected:
    static KS_INLINE __hip_fp8_storage_t encode(float x) { return __hip_cvt_float_to_fp8(x, __HIP_SATFINITE, kFormat); }
    static KS_INLINE __hip_fp8_storage_t encode(double x) {
        return __hip_cvt_double_to_fp8(x, __HIP_SATFINITE, kFormat);
    }
    /// The code at `index` of those that are packed in `codes`.
    static KS_INLINE float decode(unsigned codes, int index = 0) {
        return fp8_to_float(static_cast<__hip_fp8_storage_t>(codes >> (8 * index)), kFormat);
    }
    /// Towards zero; out of range gives the nearest end and NaN gives 0.
    template <class I> static KS_INLINE I integer(unsigned code) { return to_integer<I>(__builtin_truncf(decode(code))); }
    template <class V> static KS_INLINE unsigned encode_pair(const V &v) { return fp8_pair(encode(v.x), encode(v.y)); }
};

} // namespace ks

#define KS_FP8_FROM(NAME, T)                                                                                           \
    NAME(T value) : __x(encode(static_cast<float>(value))) {}
#define KS_FP8_TO_INTEGER(I)                                                                                           \
    operator I() const { return integer<I>(__x); }
#define KS_FP8_TYPES(SUFFIX, FORMAT, EXPONENT_BITS)                                                                    \
    struct __hip_fp8_##SUFFIX : ::ks::Fp8Type<FORMAT, EXPONENT_BITS> {                                                 \
        __hip_fp8_storage_t __x;                                                                                       \
                                                                                                                       \
        __hip_fp8_##SUFFIX() = default;                                                                                \
        __hip_fp8_##SUFFIX(double value) : __x(encode(value)) {}                                                       \
        __hip_fp8_##SUFFIX(float value) : __x(encode(value)) {}                                                        \
        __hip_fp8_##SUFFIX(__half value) : __x(encode(__half2float(value))) {}                                         \
        __hip_fp8_##SUFFIX(__hip_bfloat16 value) : __x(encode(__bfloat162float(value))) {}                             \
        KS_FP8_FROM(__hip_fp8_##SUFFIX, long)                                                                          \
        KS_FP8_FROM(__hip_fp8_##SUFFIX, int)                                                                           \
        KS_FP8_FROM(__hip_fp8_##SUFFIX, short)                                                                         \
        KS_FP8_FROM(__hip_fp8_##SUFFIX, unsigned long)                                                                 \
        KS_FP8_FROM(__hip_fp8_##SUFFIX, unsigned)                                                                      \
        KS_FP8_FROM(__hip_fp8_##SUFFIX, unsigned short)                                                                \
                                                                                                                       \
        operator float() const { return decode(__x); }                                                                 \
        operator double() const { return decode(__x); }                                                                \
        operator __half() const { return __float2half(decode(__x)); }                                                  \
        operator __hip_bfloat16() const { return __float2bfloat16(decode(__x)); }                                      \
        operator bool() const { return decode(__x) != 0; }                                                             \
        KS_FP8_TO_INTEGER(char)                                                                                        \
        KS_FP8_TO_INTEGER(signed char)                                                                                 \
        KS_FP8_TO_INTEGER(unsigned char)                                                                               \
        KS_FP8_TO_INTEGER(short)                                                                                       \
        KS_FP8_TO_INTEGER(unsigned short)                                                                              \
        KS_FP8_TO_INTEGER(int)                                                                                         \
        KS_FP8_TO_INTEGER(unsigned)                                                                                    \
        KS_FP8_TO_INTEGER(long)                                                                                        \
        KS_FP8_TO_INTEGER(unsigned long)                                                                               \
        KS_FP8_TO_INTEGER(long long)                                                                                   \
        KS_FP8_TO_INTEGER(unsigned long long)                                                                          \
    };                                                                                                                 \
    struct __hip_fp8x2_##SUFFIX : ::ks::Fp8Type<FORMAT, EXPONENT_BITS> {                                               \
        __hip_fp8x2_storage_t __x;                                                                                     \
                                                                                                                       \
        __hip_fp8x2_##SUFFIX() = default;                                                                              \
        __hip_fp8x2_##SUFFIX(double2 v) : __x(encode_pair(v)) {}                                                       \
        __hip_fp8x2_##SUFFIX(float2 v) : __x(encode_pair(v)) {}                                                        \
        __hip_fp8x2_##SUFFIX(__half2 v) : __x(encode_pair(__half22float2(v))) {}                                       \
        __hip_fp8x2_##SUFFIX(__hip_bfloat162 v) : __x(encode_pair(__bfloat1622float2(v))) {}                           \
        operator float2() const { return {decode(__x), decode(__x, 1)}; }                                              \
        operator __half2() const { return __floats2half2_rn(decode(__x), decode(__x, 1)); }                            \
    };                                                                                                                 \
    struct __hip_fp8x4_##SUFFIX : ::ks::Fp8Type<FORMAT, EXPONENT_BITS> {                                               \
        __hip_fp8x4_storage_t __x;                                                                                     \
                                                                                                                       \
        __hip_fp8x4_##SUFFIX() = default;                                                                              \
        __hip_fp8x4_##SUFFIX(double4 v) : __x(pack(make_double2(v.x, v.y), make_double2(v.z, v.w))) {}                 \
        __hip_fp8x4_##SUFFIX(float4 v) : __x(pack(make_float2(v.x, v.y), make_float2(v.z, v.w))) {}                    \
        __hip_fp8x4_##SUFFIX(__half2 low, __half2 high) : __x(pack(__half22float2(low), __half22float2(high))) {}      \
        __hip_fp8x4_##SUFFIX(__hip_bfloat162 low, __hip_bfloat162 high)                                                \
            : __x(pack(__bfloat1622float2(low), __bfloat1622float2(high))) {}                                          \
        operator float4() const { return {decode(__x), decode(__x, 1), decode(__x, 2), decode(__x, 3)}; }              \
                                                                                                                       \
      private:                                                                                                         \
        template <class V> static unsigned pack(V low, V high) { return encode_pair(low) | encode_pair(high) << 16; }  \
    };
KS_FP8_TYPES(e4m3_fnuz, __HIP_E4M3_FNUZ, 4)
KS_FP8_TYPES(e5m2_fnuz, __HIP_E5M2_FNUZ, 5)
KS_FP8_TYPES(e4m3, __HIP_E4M3, 4)
KS_FP8_TYPES(e5m2, __HIP_E5M2, 5)
#undef KS_FP8_TYPES
#undef KS_FP8_TO_INTEGER
#undef KS_FP8_FROM
