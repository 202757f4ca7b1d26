// One step of a 7-point stencil on a 3D grid; the border is copied.
#include <hip/hip_runtime.h>

__global__ void stencil7(const float* in, float* out, int nx, int ny, int nz, float c0, float c1) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= nx * ny * nz) return;

    int x = index % nx;
    int y = (index / nx) % ny;
    int z = index / (nx * ny);
    if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
        out[index] = in[index];
        return;
    }
    float sum = in[index - 1] + in[index + 1] + in[index - nx] + in[index + nx] + in[index - nx * ny] + in[index + nx * ny];
    out[index] = c0 * in[index] + c1 * sum;
}

void stencil(const float* in, float* out, int nx, int ny, int nz, float c0, float c1) {
    int total = nx * ny * nz;
    int threads = 64;
    stencil7<<<(total + threads - 1) / threads, threads>>>(in, out, nx, ny, nz, c0, c1);
}
