// expect: does not compile: there is no main function
#include <hip/hip_runtime.h>

__global__ void fill(float *data) { data[threadIdx.x] = 1.0f; }
