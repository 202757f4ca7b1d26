// AMD's part of the HIP headers, all of which is in one place here.
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>
