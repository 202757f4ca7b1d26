// sanitize: thread
// The second barrier of the loop is missing: the next tile is written while others still read this one.
#include <hip/hip_runtime.h>

constexpr int N = 32, T = 16;

__global__ void multiply(const float *a, const float *b, float *c) {
    __shared__ float at[T][T], bt[T][T];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * T + y, column = blockIdx.x * T + x;
    float sum = 0;
    for (int tile = 0; tile < N / T; ++tile) {
        at[y][x] = a[row * N + tile * T + x];      // FAULT: race
        bt[y][x] = b[(tile * T + y) * N + column]; // FAULT: race
        __syncthreads();
        for (int k = 0; k < T; ++k) {
            sum += at[y][k] * bt[k][x]; // FAULT: race
        }
    }
    c[row * N + column] = sum;
}

int main() {
    float *m;
    (void)hipMalloc(&m, 3 * N * N * sizeof(float));
    (void)hipMemset(m, 0, 3 * N * N * sizeof(float));
    multiply<<<dim3(N / T, N / T), dim3(T, T)>>>(m, m + N * N, m + 2 * N * N);
    (void)hipFree(m);
}
