// Kernels that are known by nothing but their address.
#pragma once
#include <ks/function_api.h>

namespace ks {

/// How to launch the kernel at `function`, found from its name in the program's symbols, which for C++ functions tells the
/// parameters' types. False where that says too little: parameters that are structures, kernels with C linkage, programs
/// without symbols.
bool find_kernel(const void *function, PointerLaunch *out);

} // namespace ks
