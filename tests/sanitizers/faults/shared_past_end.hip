// sanitize: address
// A halo for which the tile has no room on its right.
#include <hip/hip_runtime.h>

__global__ void blur(const float *in, float *out, int n) {
    __shared__ float tile[64 + 1];
    const int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t + 1] = i < n ? in[i] : 0;
    if (t == 0) {
        tile[0] = i > 0 ? in[i - 1] : 0;
    }
    if (t == 63) {
        tile[t + 2] = i + 1 < n ? in[i + 1] : 0; // FAULT: out_of_bounds
    }
    __syncthreads();
    if (i < n) {
        out[i] = tile[t] + tile[t + 1] + tile[t + 2]; // FAULT: out_of_bounds
    }
}

int main() {
    float *in, *out;
    (void)hipMalloc(&in, 128 * sizeof(float));
    (void)hipMalloc(&out, 128 * sizeof(float));
    (void)hipMemset(in, 0, 128 * sizeof(float));
    blur<<<2, 64>>>(in, out, 128);
    (void)hipFree(in);
    (void)hipFree(out);
}
