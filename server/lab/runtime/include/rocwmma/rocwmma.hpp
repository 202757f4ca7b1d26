// rocWMMA is made of headers alone: those of an installation that is in the include path are used as they are.
#pragma once
#include <hip/hip_runtime.h>

#if __has_include_next(<rocwmma/rocwmma.hpp>)
// Its operators for __half are for the host, beside HIP's for the device. Host and device are one here, where the two would
// be ambiguous: it is told to leave __half out (its hfloat16_t). Its float16_t is there.
#ifdef HIP_NO_HALF
#include_next <rocwmma/rocwmma.hpp>
#else
#define HIP_NO_HALF
#include_next <rocwmma/rocwmma.hpp>
#undef HIP_NO_HALF
#endif
#else
#error "rocWMMA's headers are not in the include path: name the folder that holds rocwmma/rocwmma.hpp, it needs no library"
#endif
