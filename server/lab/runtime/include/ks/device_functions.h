// What else device code may call: loads, clocks, traps; and all of AMD's builtins.
#pragma once
#pragma clang system_header
#include <ks/arithmetic_builtins.h>
#include <ks/builtins.h>
#include <ks/cross_lane.h>
#include <ks/integer_intrinsics.h>
#include <ks/lane_permutations.h>
#include <ks/math.h>
#include <ks/matrix.h>
#include <ks/memory_builtins.h>
#include <ks/nvidia_dot_products.h>
#include <ks/stopping.h>
#include <ks/synchronize.h>
#include <ks/wave_functions.h>

template <class T> static KS_INLINE T __ldg(const T *address) { return *address; }
template <class T> static KS_INLINE T __ldcg(const T *address) { return *address; }
template <class T> static KS_INLINE T __ldca(const T *address) { return *address; }
template <class T> static KS_INLINE T __ldcs(const T *address) { return *address; }
template <class T> static KS_INLINE void __stcg(T *address, T value) { *address = value; }
template <class T> static KS_INLINE void __stcs(T *address, T value) { *address = value; }

// clock() is the C library's: processor time in microseconds. These two count finer.
static KS_INLINE long long clock64() { return static_cast<long long>(__builtin_readcyclecounter()); }
static KS_INLINE long long __clock64() { return clock64(); }
static KS_INLINE long long __clock() { return clock64(); }
static KS_INLINE long long wall_clock64() { return ks_wall_clock(); }

static KS_INLINE void __nanosleep(unsigned) { __builtin_ia32_pause(); }
