// sanitize: thread
// Two work-items share a byte, not only a word.
#include <hip/hip_runtime.h>

__global__ void pack(const int *in, unsigned char *out) {
    const int t = threadIdx.x;
    out[t / 2] = (t & 1) == 0 ? in[t] & 15 : out[t / 2] | (in[t] & 15) << 4; // FAULT: race
}

int main() {
    int *in;
    unsigned char *out;
    (void)hipMallocManaged(&in, 64 * sizeof(int));
    (void)hipMalloc(&out, 32);
    (void)hipMemset(out, 0, 32);
    for (int i = 0; i < 64; ++i) {
        in[i] = i + 1;
    }
    pack<<<1, 64>>>(in, out);
    (void)hipDeviceSynchronize();
    (void)hipFree(in);
    (void)hipFree(out);
}
