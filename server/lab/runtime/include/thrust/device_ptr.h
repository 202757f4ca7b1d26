// rocThrust is a library of headers: the user's own is taken. Without one the program must hear it at once.
#pragma once
#if __has_include_next(<thrust/device_ptr.h>)
#include_next <thrust/device_ptr.h>
#else
#error "the headers of rocThrust are not on the include path: add their folder (-I), or time this program on a device"
#endif
