// Cooperative groups on NVIDIA: CUDA has the same names.
#pragma once
#include <cooperative_groups.h>
