// Complex numbers as pairs.
#pragma once
#pragma clang system_header
#include <ks/vector_types.h>
#include <math.h>

typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;

#define KS_COMPLEX(C, T, SUFFIX, HYPOT)                                                                                \
    static KS_INLINE T hipCreal##SUFFIX(C z) { return z.x; }                                                           \
    static KS_INLINE T hipCimag##SUFFIX(C z) { return z.y; }                                                           \
    static KS_INLINE C hipConj##SUFFIX(C z) { return C{z.x, -z.y}; }                                                   \
    static KS_INLINE T hipCsqabs##SUFFIX(C z) { return z.x * z.x + z.y * z.y; }                                        \
    static KS_INLINE T hipCabs##SUFFIX(C z) { return HYPOT(z.x, z.y); }                                                \
    static KS_INLINE C hipCadd##SUFFIX(C p, C q) { return C{p.x + q.x, p.y + q.y}; }                                   \
    static KS_INLINE C hipCsub##SUFFIX(C p, C q) { return C{p.x - q.x, p.y - q.y}; }                                   \
    static KS_INLINE C hipCmul##SUFFIX(C p, C q) { return C{p.x * q.x - p.y * q.y, p.y * q.x + p.x * q.y}; }           \
    static KS_INLINE C hipCdiv##SUFFIX(C p, C q) {                                                                     \
        const T square = hipCsqabs##SUFFIX(q);                                                                         \
        return C{(p.x * q.x + p.y * q.y) / square, (p.y * q.x - p.x * q.y) / square};                                  \
    }
KS_COMPLEX(hipFloatComplex, float, f, hypotf)
KS_COMPLEX(hipDoubleComplex, double, , hypot)
#undef KS_COMPLEX

static KS_INLINE hipFloatComplex make_hipFloatComplex(float real, float imaginary) { return {real, imaginary}; }
static KS_INLINE hipDoubleComplex make_hipDoubleComplex(double real, double imaginary) { return {real, imaginary}; }
static KS_INLINE hipComplex make_hipComplex(float real, float imaginary) { return {real, imaginary}; }
static KS_INLINE hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z) {
    return {static_cast<float>(z.x), static_cast<float>(z.y)};
}
static KS_INLINE hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z) { return {z.x, z.y}; }
static KS_INLINE hipComplex hipCfmaf(hipComplex p, hipComplex q, hipComplex r) {
    return {p.x * q.x - p.y * q.y + r.x, p.y * q.x + p.x * q.y + r.y};
}
static KS_INLINE hipDoubleComplex hipCfma(hipDoubleComplex p, hipDoubleComplex q, hipDoubleComplex r) {
    return {p.x * q.x - p.y * q.y + r.x, p.y * q.x + p.x * q.y + r.y};
}
