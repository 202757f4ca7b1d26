// Template kernels: explicit, deduced and non-type arguments, specialisations, launches from templates.
#include "check.h"

template <class T> __global__ void fill(T *out, T value, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}
template <int size, bool twice, class T> __global__ void prefix(T *data) {
    __shared__ T tile[size];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    for (int d = 1; d < size; d *= 2) {
        const T left = threadIdx.x >= d ? tile[threadIdx.x - d] : T(0);
        __syncthreads();
        tile[threadIdx.x] += left;
        __syncthreads();
    }
    data[threadIdx.x] = twice ? 2 * tile[threadIdx.x] : tile[threadIdx.x];
}
template <class T> __global__ void which(int *out) { *out = 1; }
template <> __global__ void which<double>(int *out) { *out = 2; }
template <class Operation> __global__ void apply(int *data, Operation operation) {
    data[threadIdx.x] = operation(data[threadIdx.x]);
}
struct AddN {
    int n;
    __device__ int operator()(int x) const { return x + n; }
};
template <class T> T run(T value, int n) {
    DeviceArray<T> out(n);
    fill<T><<<dim3((n + 31) / 32), dim3(32)>>>(out.get(), value, n);
    fill<<<1, 1>>>(out.get(), static_cast<T>(value + 1), 1); // deduced
    T sum = 0;
    for (T v : out.values()) sum += v;
    return sum;
}
namespace inner {
template <class T, int n> struct Kernels {
    static __global__ void add(T *out) { out[threadIdx.x] += n; }
    template <class U> static __global__ void cast(U *out) { out[threadIdx.x] = U(n) / 2; }
};
} // namespace inner

int main() {
    CHECK(run<int>(3, 100) == 301);
    CHECK(run<double>(0.5, 64) == 33);
    std::vector<int> ones(128, 1);
    DeviceArray<int> a(ones);
    prefix<128, false><<<1, 128>>>(a.get());
    for (int i = 0; i < 128; ++i) CHECK(a.values()[i] == i + 1);
    DeviceArray<float> b(std::vector<float>(64, 0.5f));
    hipLaunchKernelGGL(HIP_KERNEL_NAME(prefix<64, true, float>), dim3(1), dim3(64), 0, nullptr, b.get());
    CHECK(b.values()[63] == 64);
    DeviceArray<int> w(1);
    which<float><<<1, 1>>>(w.get());
    CHECK(w.values()[0] == 1);
    which<double><<<1, 1>>>(w.get());
    CHECK(w.values()[0] == 2);
    apply<<<1, 128>>>(a.get(), AddN{1000});
    CHECK(a.values()[5] == 1006);
    inner::Kernels<int, 7>::add<<<1, 128>>>(a.get());
    CHECK(a.values()[5] == 1013);
    inner::Kernels<int, 7>::cast<float><<<1, 64>>>(b.get());
    CHECK(b.values()[9] == 3.5f);
}
