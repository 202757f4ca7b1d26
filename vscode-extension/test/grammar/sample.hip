#include <hip/hip_runtime.h>
// __global__ in a comment is a comment, and so is threadIdx.x
const char* said = "__shared__ threadIdx.x <<<1, 2>>>";

constexpr int TILE = 16;

template <typename T, int N>
__global__ __launch_bounds__(256) void scale(const T* __restrict__ in, T* out, int n) {
  __shared__ float tile[TILE][TILE + 1];
  extern __shared__ char dynamic[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && (n >> 3) > 2 && n << 2 < 5) out[i] = in[i] * T(2);
  __syncthreads();
  float sum = __shfl_down(tile[0][0], 32, 64);
  float4 four = make_float4(0, 0, 0, 0);
  auto acc = __builtin_amdgcn_mfma_f32_32x32x8f16({}, {}, {}, 0, 0, 0);
  atomicAdd(&tile[0][0], warpSize);
}

__device__ __forceinline__ float square(float x) { return x * x; }

int main() {
  float* x = nullptr;
  hipError_t error = hipMalloc(&x, 1 << 20);
  if (error != hipSuccess) return 1;
  hipMemcpy(x, x, 4, hipMemcpyDeviceToDevice);
  hipStream_t stream;
  hipStreamCreate(&stream);
  scale<float, 4><<<dim3(4, 4), 256, 0, stream>>>(x, x, 1024);
  plain<<<n / 256, 256>>>(x);
  hipLaunchKernelGGL(square, dim3(1), dim3(64), 0, 0, x);
  for (int i = 0; i < 10; ++i) { x[i] = i; }
  return 0;
}
