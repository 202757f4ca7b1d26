// The generators that kernels call are a library of headers: the user's own is taken (rocRAND's host library is not there).
// Without one the program must hear it at once.
#pragma once
#if __has_include_next(<rocrand/rocrand_kernel.h>)
#define KS_ROCRAND_IN_KERNELS
#include_next <rocrand/rocrand_kernel.h>
#else
#error "the headers of rocRAND are not on the include path: add their folder (-I), or time this program on a device"
#endif
