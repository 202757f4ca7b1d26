// __constant__, __device__ and __managed__ variables, and the calls that reach them.
#include "check.h"

__constant__ float weights[8];
__constant__ int factor = 3;
__device__ int counter;
__device__ double table[4] = {0.5, 1.5, 2.5, 3.5};
__device__ int *target;
__managed__ int shared_with_host = 5;
static __device__ int private_one[2];

__global__ void use(float *out) {
    const int t = threadIdx.x;
    out[t] = weights[t] * factor + table[t % 4];
    atomicAdd(&counter, 2);
    if (t == 0) {
        shared_with_host *= 4;
        *target = 77;
        private_one[1] = 6;
    }
}

int main() {
    float values[8];
    for (int i = 0; i < 8; ++i) values[i] = i * 1.25f;
    HIP_OK(hipMemcpyToSymbol(weights, values, sizeof values));
    const double more[2] = {10, 20};
    HIP_OK(hipMemcpyToSymbol(HIP_SYMBOL(table), more, sizeof more, 2 * sizeof(double)));
    DeviceArray<int> cell(1);
    int *pointer = cell.get();
    HIP_OK(hipMemcpyToSymbol(target, &pointer, sizeof pointer));

    DeviceArray<float> out(8);
    use<<<1, 8>>>(out.get());
    const double expected_table[] = {0.5, 1.5, 10, 20};
    for (int i = 0; i < 8; ++i) CHECK(out.values()[i] == values[i] * 3 + expected_table[i % 4]);
    int count = 0;
    HIP_OK(hipMemcpyFromSymbol(&count, counter, sizeof count));
    CHECK(count == 16 && shared_with_host == 20 && cell.values()[0] == 77);
    int second = 0;
    HIP_OK(hipMemcpyFromSymbolAsync(&second, private_one, sizeof second, sizeof(int), hipMemcpyDeviceToHost, nullptr));
    CHECK(second == 6);

    void *address = nullptr;
    size_t size = 0;
    HIP_OK(hipGetSymbolAddress(&address, HIP_SYMBOL(table)));
    HIP_OK(hipGetSymbolSize(&size, HIP_SYMBOL(table)));
    CHECK(size == 32);
    double last = 0;
    HIP_OK(hipMemcpy(&last, static_cast<double *>(address) + 3, sizeof last, hipMemcpyDeviceToHost));
    CHECK(last == 20);
    // By its address, and too much of it.
    count = 9;
    HIP_OK(hipMemcpyToSymbol(&counter, &count, sizeof count));
    count = 0;
    HIP_OK(hipMemcpyFromSymbol(&count, HIP_SYMBOL(counter), sizeof count));
    CHECK(count == 9);
    CHECK(hipMemcpyToSymbol(weights, values, sizeof values, 4) == hipErrorInvalidValue);
    (void)hipGetLastError();
}
