// Dynamic shared memory: several types from one array, in templates, beside static arrays, with attributes.
#include "check.h"

extern __shared__ double of_the_file[];
namespace inner {
extern __shared__ int of_the_namespace[];
__global__ void at_file_scope(double *out) {
    const int t = threadIdx.x;
    of_the_file[t] = t * 0.25;
    of_the_namespace[128 + t] = t; // the same memory: 64 doubles come first
    __syncthreads();
    out[t] = of_the_file[t ^ 1] + of_the_namespace[128 + (t ^ 2)];
}
} // namespace inner

__global__ void carve(float *out, int n) {
    extern __shared__ unsigned char room[];
    float *floats = reinterpret_cast<float *>(room);
    int *ints = reinterpret_cast<int *>(room + n * sizeof(float));
    const int t = threadIdx.x;
    floats[t] = t * 0.5f;
    ints[t] = t * 2;
    __syncthreads();
    out[t] = floats[n - 1 - t] + ints[(t + 1) % n];
}
template <class T> __global__ void reversed(T *data) {
    extern __shared__ __align__(16) T tile[];
    __shared__ T first;
    const int t = threadIdx.x;
    tile[t] = data[t];
    if (t == 0) first = data[0];
    __syncthreads();
    data[t] = tile[blockDim.x - 1 - t] + first;
}
__global__ void by_macro(int *out) {
    HIP_DYNAMIC_SHARED(int, values);
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x ^ 1];
}
__global__ void all_of_it(int *out) {
    extern __shared__ int words[];
    for (int i = threadIdx.x; i < 16384; i += blockDim.x) words[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        long sum = 0;
        for (int i = 0; i < 16384; ++i) sum += words[i];
        *out = sum == 16384l * 16383 / 2;
    }
}

template <class T> void check() {
    std::vector<T> in(96);
    for (int i = 0; i < 96; ++i) in[i] = T(i + 1);
    DeviceArray<T> data(in);
    reversed<T><<<1, 96, 96 * sizeof(T)>>>(data.get());
    for (int i = 0; i < 96; ++i) CHECK(data.values()[i] == T(96 - i + 1));
}

int main() {
    DeviceArray<float> out(64);
    carve<<<1, 64, 64 * 8>>>(out.get(), 64);
    for (int i = 0; i < 64; ++i) CHECK(out.values()[i] == (63 - i) * 0.5f + (i + 1) % 64 * 2);
    check<float>();
    check<double>();
    check<short>();
    DeviceArray<double> global(64);
    inner::at_file_scope<<<1, 64, 64 * 12>>>(global.get());
    for (int i = 0; i < 64; ++i) CHECK(global.values()[i] == (i ^ 1) * 0.25 + (i ^ 2));
    DeviceArray<int> pairs(64), flag(1);
    by_macro<<<1, 64, 64 * sizeof(int)>>>(pairs.get());
    for (int i = 0; i < 64; ++i) CHECK(pairs.values()[i] == (i ^ 1));
    all_of_it<<<1, 256, 65536>>>(flag.get());
    HIP_OK(hipGetLastError());
    CHECK(flag.values()[0] == 1);
}
