// A program of a hundred lines as people write them: what it takes to compile is measured with it.
#include <cmath>
#include <cstdio>
#include <hip/hip_runtime.h>
#include <vector>

#define TILE 16
#define HIP_CHECK(call)                                                                                                \
    if ((call) != hipSuccess) {                                                                                        \
        std::fprintf(stderr, "%s failed\n", #call);                                                                    \
        return 1;                                                                                                      \
    }

__device__ float gelu(float x) { return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x))); }

// c = gelu(a * b + bias), row major.
// One work-item an element, tiles in shared memory.
__global__ void linear_gelu(const float *a, const float *b, const float *bias, float *c, int m, int n, int k) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
        const int inner = t * TILE + threadIdx.x, outer = t * TILE + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < m && inner < k ? a[row * k + inner] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = outer < k && column < n ? b[outer * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = gelu(sum + bias[column]);
}

// Mean and variance of each row, by a tree in shared memory; then the row is scaled.
// One block a row, and a block of a power of two.
__global__ void normalise(const float *in, float *out, int width, float epsilon) {
    __shared__ float sums[256], squares[256];
    const float *row = in + blockIdx.x * width;
    float sum = 0, square = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        sum += row[i];
        square += row[i] * row[i];
    }
    sums[threadIdx.x] = sum;
    squares[threadIdx.x] = square;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            squares[threadIdx.x] += squares[threadIdx.x + half];
        }
        __syncthreads();
    }
    const float mean = sums[0] / width;
    const float scale = 1.0f / sqrtf(squares[0] / width - mean * mean + epsilon);
    for (int i = threadIdx.x; i < width; i += blockDim.x) out[blockIdx.x * width + i] = (row[i] - mean) * scale;
}

int main() {
    const int m = 96, n = 80, k = 112;
    std::vector<float> a(m * k), b(k * n), bias(n), c(m * n), normal(m * n);
    for (size_t i = 0; i < a.size(); ++i) a[i] = std::sin(0.1f * i);
    for (size_t i = 0; i < b.size(); ++i) b[i] = std::cos(0.3f * i) * 0.1f;
    for (size_t i = 0; i < bias.size(); ++i) bias[i] = 0.01f * i;

    float *d_a, *d_b, *d_bias, *d_c, *d_normal;
    HIP_CHECK(hipMalloc(reinterpret_cast<void **>(&d_a), a.size() * sizeof(float)));
    HIP_CHECK(hipMalloc(reinterpret_cast<void **>(&d_b), b.size() * sizeof(float)));
    HIP_CHECK(hipMalloc(reinterpret_cast<void **>(&d_bias), bias.size() * sizeof(float)));
    HIP_CHECK(hipMalloc(reinterpret_cast<void **>(&d_c), c.size() * sizeof(float)));
    HIP_CHECK(hipMalloc(reinterpret_cast<void **>(&d_normal), c.size() * sizeof(float)));
    HIP_CHECK(hipMemcpy(d_a, a.data(), a.size() * sizeof(float), hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(d_b, b.data(), b.size() * sizeof(float), hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(d_bias, bias.data(), bias.size() * sizeof(float), hipMemcpyHostToDevice));

    const dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    hipLaunchKernelGGL(linear_gelu, grid, block, 0, nullptr, d_a, d_b, d_bias, d_c, m, n, k);
    hipLaunchKernelGGL(normalise, dim3(m), dim3(256), 0, nullptr, d_c, d_normal, n, 1e-5f);
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipMemcpy(c.data(), d_c, c.size() * sizeof(float), hipMemcpyDeviceToHost));
    HIP_CHECK(hipMemcpy(normal.data(), d_normal, normal.size() * sizeof(float), hipMemcpyDeviceToHost));

    for (int row : {0, 17, m - 1}) {
        float mean = 0;
        for (int column = 0; column < n; ++column) {
            double sum = bias[column];
            for (int i = 0; i < k; ++i) sum += double(a[row * k + i]) * b[i * n + column];
            const double expected = 0.5 * sum * (1 + std::tanh(0.7978845608 * (sum + 0.044715 * sum * sum * sum)));
            if (std::fabs(c[row * n + column] - expected) > 1e-4) {
                std::fprintf(stderr, "row %d, column %d: %g, expected %g\n", row, column, c[row * n + column], expected);
                return 1;
            }
            mean += normal[row * n + column] / n;
        }
        if (std::fabs(mean) > 1e-3f) return 1;
    }
    std::puts("right");
    for (float *memory : {d_a, d_b, d_bias, d_c, d_normal}) (void)hipFree(memory);
    return 0;
}
