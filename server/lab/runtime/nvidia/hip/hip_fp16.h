// HIP half precision on NVIDIA: CUDA has the same types and functions.
#pragma once
#include <cuda_fp16.h>
