// kernel: transpose
// ends: refused
// Leaves threads behind that keep the processors busy while the other version runs.
#include <hip/hip_runtime.h>
#include <atomic>
#include <thread>

__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
    __shared__ float tile[32][32];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    if (row < rows && col < cols) tile[threadIdx.y][threadIdx.x] = in[row * cols + col];
    __syncthreads();
    int out_col = blockIdx.y * 32 + threadIdx.x, out_row = blockIdx.x * 32 + threadIdx.y;
    if (out_row < cols && out_col < rows) out[out_row * rows + out_col] = tile[threadIdx.x][threadIdx.y];
}

static std::atomic<bool> mine{false};

void transpose(const float* in, float* out, int rows, int cols) {
    static bool started = [] {
        for (int thread = 0; thread < 4; thread++) {
            std::thread([] {
                for (volatile long count = 0;; count = count + 1) {
                    if (mine) std::this_thread::yield();
                }
            }).detach();
        }
        return true;
    }();
    mine = started;
    transpose_kernel<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 32)>>>(in, out, rows, cols);
    mine = false;
}
