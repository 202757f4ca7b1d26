// HIP for the host: kernels are ordinary functions, run by this runtime's threads and fibers.
#pragma once
#pragma clang system_header
#include <ks/qualifiers.h>

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <hip/hip_runtime_api.h>
#include <ks/atomics.h>
#include <ks/cross_lane.h>
#include <ks/index.h>
#include <ks/launch.h>
#include <ks/libraries.h>
#include <ks/regions.h>
#include <ks/shared.h>
#include <ks/std_math.h>
#include <ks/synchronize.h>
#include <ks/texture_reading_by_reference.h>
#include <ks/textures.h>
#include <ks/vector_types.h>
#include <ks/work_items.h>
#include <ks/conversions.h>
#include <ks/device_functions.h>
#include <ks/float16_math.h>
#include <ks/fp8_builtins.h>
#include <ks/integer_intrinsics.h>
#include <ks/math.h>
