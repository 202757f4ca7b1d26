// rocRAND's host library is not there. Its header of generators for kernels takes types from here, and only those.
#pragma once
#if defined(KS_ROCRAND_IN_KERNELS) && __has_include_next(<rocrand/rocrand.h>)
#include_next <rocrand/rocrand.h>
#else
#error "the library rocRAND is not supported by the CPU runtime (only rocrand_kernel.h is): time this program on a device instead"
#endif
