// The plainest program: a kernel that runs as a loop, over a grid whose last block is not full.
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main() {
    const int n = 1000;
    std::vector<float> a(n), b(n);
    for (int i = 0; i < n; ++i) {
        a[i] = 0.5f * i;
        b[i] = 3.0f - i;
    }
    DeviceArray<float> da(a), db(b), dc(n + 24);
    add<<<(n + 255) / 256, 256>>>(da.get(), db.get(), dc.get(), n);
    HIP_OK(hipGetLastError());
    const std::vector<float> c = dc.values();
    for (int i = 0; i < n; ++i) CHECK(c[i] == a[i] + b[i]);
    for (int i = n; i < n + 24; ++i) CHECK(c[i] == 0.0f);
    std::printf("sum %.1f\n", [&] {
        double sum = 0;
        for (float v : c) sum += v;
        return sum;
    }());
}
