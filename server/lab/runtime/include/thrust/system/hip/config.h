// Thrust decides here, by __HIP_DEVICE_COMPILE__, whether algorithms may launch kernels. In the one pass that there is its
// algorithms must be the host's, which launch kernels: the device's are sequential.
#pragma once
#if __has_include_next(<thrust/system/hip/config.h>)
#pragma push_macro("__HIP_DEVICE_COMPILE__")
#undef __HIP_DEVICE_COMPILE__
#include_next <thrust/system/hip/config.h>
#pragma pop_macro("__HIP_DEVICE_COMPILE__")
#else
#error "the headers of rocThrust are not on the include path: add their folder (-I), or time this program on a device"
#endif
