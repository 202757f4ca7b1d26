// HIP bfloat16 on NVIDIA, under the names of ROCm 6 (__hip_bfloat16).
#pragma once
#include <cuda_bf16.h>
typedef __nv_bfloat16 __hip_bfloat16;
typedef __nv_bfloat162 __hip_bfloat162;
