// Mathematical functions for device code.
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>
