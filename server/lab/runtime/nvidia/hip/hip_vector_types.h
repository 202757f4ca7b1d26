// HIP's vector types on NVIDIA: CUDA's types, with the operators that HIP has for them besides: element by element, and with
// a scalar on either side.
#pragma once
#include <vector_types.h>

#if defined(__CUDACC__)
#define KS_BOTH __host__ __device__ __forceinline__
#define KS_VECTOR_OPERATOR(T, S, op, SPREAD, ...)                                                                              \
  KS_BOTH T operator op(const T &a, const T &b) { return T{__VA_ARGS__}; }                                                     \
  KS_BOTH T operator op(const T &a, S s) { return a op SPREAD(T, s); }                                                         \
  KS_BOTH T operator op(S s, const T &b) { return SPREAD(T, s) op b; }                                                         \
  KS_BOTH T &operator op##=(T &a, const T &b) { return a = a op b; }                                                           \
  KS_BOTH T &operator op##=(T &a, S s) { return a = a op s; }
#define KS_SPREAD2(T, s) (T{s, s})
#define KS_SPREAD3(T, s) (T{s, s, s})
#define KS_SPREAD4(T, s) (T{s, s, s, s})
#define KS_ELEMENT(S, op, e) S(a.e op b.e)
#define KS_VECTORS_OPERATOR(N, S, op)                                                                                          \
  KS_VECTOR_OPERATOR(N##2, S, op, KS_SPREAD2, KS_ELEMENT(S, op, x), KS_ELEMENT(S, op, y))                                      \
  KS_VECTOR_OPERATOR(N##3, S, op, KS_SPREAD3, KS_ELEMENT(S, op, x), KS_ELEMENT(S, op, y), KS_ELEMENT(S, op, z))                \
  KS_VECTOR_OPERATOR(N##4, S, op, KS_SPREAD4, KS_ELEMENT(S, op, x), KS_ELEMENT(S, op, y), KS_ELEMENT(S, op, z),                \
                     KS_ELEMENT(S, op, w))
#define KS_VECTORS(N, S) KS_VECTORS_OPERATOR(N, S, +) KS_VECTORS_OPERATOR(N, S, -) KS_VECTORS_OPERATOR(N, S, *) KS_VECTORS_OPERATOR(N, S, /)
KS_VECTORS(float, float)
KS_VECTORS(int, int)
KS_VECTORS(uint, unsigned)
#undef KS_VECTORS
#undef KS_VECTORS_OPERATOR
#undef KS_VECTOR_OPERATOR
#undef KS_ELEMENT
#undef KS_SPREAD2
#undef KS_SPREAD3
#undef KS_SPREAD4
#undef KS_BOTH
#endif // __CUDACC__
