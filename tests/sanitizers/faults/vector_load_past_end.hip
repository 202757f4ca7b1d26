// sanitize: address
// The last float4 is only half there.
#include <hip/hip_runtime.h>

__global__ void add_up(const float4 *in, float *out, int n) {
    const int i = threadIdx.x;
    if (4 * i < n) {
        const float4 four = in[i]; // FAULT: out_of_bounds
        out[i] = four.x + four.y + four.z + four.w;
    }
}

int main() {
    const int n = 98;
    float *in, *out;
    (void)hipMalloc(&in, n * sizeof(float)); // OTHER: out_of_bounds
    (void)hipMalloc(&out, 32 * sizeof(float));
    (void)hipMemset(in, 0, n * sizeof(float));
    add_up<<<1, 32>>>(reinterpret_cast<const float4 *>(in), out, n);
    (void)hipFree(in);
    (void)hipFree(out);
}
