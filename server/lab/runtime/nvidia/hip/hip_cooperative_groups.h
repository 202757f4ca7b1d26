// Cooperative groups on NVIDIA: CUDA has the same names.
#pragma once
// CUDA's headers use two of hip_runtime.h's macros as names of their own.
#pragma push_macro("__any")
#pragma push_macro("__all")
#undef __any
#undef __all
#include <cooperative_groups.h>
#pragma pop_macro("__any")
#pragma pop_macro("__all")
