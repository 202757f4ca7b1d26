// All of what there is, and nothing more: every kind of memory to its ends, bytes side by side, vectors, rows with a
// pitch, structures with gaps, local arrays.
#include "../../programs/check.h"

struct Mixed {
    char tag;
    double value;
};

__constant__ int table[3];
__device__ char letters[5];

template <class T> __global__ void fill(T *x, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = static_cast<T>(i + 1);
}

__global__ void vectors(float4 *x, int n) {
    if (threadIdx.x < n) x[threadIdx.x] = make_float4(1, 2, 3, 4);
}

__global__ void rows(char *x, size_t pitch, int width, int height) {
    if (threadIdx.x < width && threadIdx.y < height) x[threadIdx.y * pitch + threadIdx.x] = 9;
}

__global__ void structures(double *out) {
    __shared__ Mixed all[64];
    const int t = threadIdx.x;
    all[t].tag = 'a';
    all[t].value = t;
    __syncthreads();
    const Mixed other = all[63 - t];
    out[t] = other.value + other.tag;
}

__global__ void variables(int *out) {
    const int t = threadIdx.x;
    if (t < 5) letters[t] = static_cast<char>('a' + t);
    __syncthreads();
    out[t] = table[t % 3] + letters[t % 5];
}

__global__ void local_arrays(int *out) {
    int digits[7] = {};
    for (int i = 0; i < 100; ++i) digits[(i + threadIdx.x) % 7] += i;
    int worst = 0;
    for (int digit : digits) worst = max(worst, digit);
    out[threadIdx.x] = worst;
}

int main() {
    for (int n : {1, 3, 63, 64, 65, 257, 1000}) {
        unsigned char *device;
        short *managed;
        int *pinned;
        HIP_OK(hipMalloc(&device, n));
        HIP_OK(hipMallocManaged(&managed, n * sizeof(short)));
        HIP_OK(hipHostMalloc(&pinned, n * sizeof(int)));
        fill<<<1, 64>>>(device, n);
        fill<<<1, 64>>>(managed, n);
        fill<<<1, 64>>>(pinned, n);
        HIP_OK(hipDeviceSynchronize());
        std::vector<unsigned char> host(n);
        HIP_OK(hipMemcpy(host.data(), device, n, hipMemcpyDeviceToHost));
        CHECK(host[n - 1] == static_cast<unsigned char>(n) && managed[n - 1] == n && pinned[n - 1] == n);
        HIP_OK(hipFree(device));
        HIP_OK(hipFree(managed));
        HIP_OK(hipHostFree(pinned));
    }
    DeviceArray<float4> four(37);
    vectors<<<1, 64>>>(four.get(), 37);
    CHECK(four.values()[36].w == 4);
    char *matrix;
    size_t pitch;
    HIP_OK(hipMallocPitch(&matrix, &pitch, 30, 12));
    rows<<<1, dim3(32, 16)>>>(matrix, pitch, 30, 12);
    HIP_OK(hipFree(matrix));
    DeviceArray<double> sums(64);
    structures<<<1, 64>>>(sums.get());
    CHECK(sums.values()[3] == 60 + 'a');
    const int host[3] = {1, 2, 3};
    HIP_OK(hipMemcpyToSymbol(HIP_SYMBOL(table), host, sizeof host));
    DeviceArray<int> out(64);
    variables<<<1, 64>>>(out.get());
    CHECK(out.values()[7] == 2 + 'c');
    local_arrays<<<1, 64>>>(out.get());
    CHECK(out.values()[0] > 0);
}
