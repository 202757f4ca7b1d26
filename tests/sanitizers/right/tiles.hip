// Tiles of matrices: a padded transpose, a product with one buffer and with two, arrays side by side in dynamic memory.
#include "../../programs/check.h"

constexpr int N = 48, T = 16;

__global__ void transpose(const float *in, float *out) {
    __shared__ float tile[T][T + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[(blockIdx.y * T + y) * N + blockIdx.x * T + x];
    __syncthreads();
    out[(blockIdx.x * T + y) * N + blockIdx.y * T + x] = tile[x][y];
}

__global__ void multiply(const float *a, const float *b, float *c) {
    __shared__ float at[T][T], bt[T][T];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, column = blockIdx.x * T + x;
    float sum = 0;
    for (int tile = 0; tile < N / T; ++tile) {
        at[y][x] = a[row * N + tile * T + x];
        bt[y][x] = b[(tile * T + y) * N + column];
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += at[y][k] * bt[k][x];
        __syncthreads();
    }
    c[row * N + column] = sum;
}

// While one half is read, the next tile goes to the other: one barrier a turn is enough.
__global__ void multiply_two_buffers(const float *a, const float *b, float *c) {
    extern __shared__ float memory[];
    float(*at)[T][T] = reinterpret_cast<float(*)[T][T]>(memory);
    float(*bt)[T][T] = reinterpret_cast<float(*)[T][T]>(memory + 2 * T * T);
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, column = blockIdx.x * T + x;
    at[0][y][x] = a[row * N + x];
    bt[0][y][x] = b[y * N + column];
    float sum = 0;
    for (int tile = 0; tile < N / T; ++tile) {
        __syncthreads();
        const int now = tile & 1;
        if (tile + 1 < N / T) {
            at[1 - now][y][x] = a[row * N + (tile + 1) * T + x];
            bt[1 - now][y][x] = b[((tile + 1) * T + y) * N + column];
        }
        for (int k = 0; k < T; ++k) sum += at[now][y][k] * bt[now][k][x];
    }
    c[row * N + column] = sum;
}

// Keys of bytes behind values of four, in one piece of memory.
__global__ void sort_pairs(const int *values, const unsigned char *keys, int *out) {
    extern __shared__ int memory[];
    unsigned char *own_keys = reinterpret_cast<unsigned char *>(memory + blockDim.x);
    const int t = threadIdx.x, n = blockDim.x;
    memory[t] = values[t];
    own_keys[t] = keys[t];
    __syncthreads();
    int place = 0;
    for (int i = 0; i < n; ++i) place += own_keys[i] < own_keys[t] || (own_keys[i] == own_keys[t] && i < t);
    out[place] = memory[t];
}

int main() {
    std::vector<float> a(N * N), b(N * N);
    for (int i = 0; i < N * N; ++i) a[i] = i % 13 - 6, b[i] = i % 7 - 3;
    DeviceArray<float> da(a), db(b), dc(N * N);
    transpose<<<dim3(N / T, N / T), dim3(T, T)>>>(da.get(), dc.get());
    for (int i = 0; i < N * N; ++i) CHECK(dc.values()[i] == a[i % N * N + i / N]);
    for (int which = 0; which < 2; ++which) {
        if (which == 0) multiply<<<dim3(N / T, N / T), dim3(T, T)>>>(da.get(), db.get(), dc.get());
        if (which == 1) multiply_two_buffers<<<dim3(N / T, N / T), dim3(T, T), 4 * T * T * sizeof(float)>>>(da.get(), db.get(), dc.get());
        const std::vector<float> c = dc.values();
        for (int i = 0; i < N * N; ++i) {
            float expected = 0;
            for (int k = 0; k < N; ++k) expected += a[i / N * N + k] * b[k * N + i % N];
            CHECK(c[i] == expected);
        }
    }
    std::vector<int> values(100);
    std::vector<unsigned char> keys(100);
    for (int i = 0; i < 100; ++i) values[i] = keys[i] = static_cast<unsigned char>(i * 37 % 100);
    DeviceArray<int> in(values), out(100);
    DeviceArray<unsigned char> key(keys);
    sort_pairs<<<1, 100, 100 * sizeof(int) + 100>>>(in.get(), key.get(), out.get());
    for (int i = 0; i < 100; ++i) CHECK(out.values()[i] == i);
}
