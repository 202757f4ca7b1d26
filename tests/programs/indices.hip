// threadIdx, blockIdx, blockDim and gridDim in three dimensions, in a loop and on fibers, and their conversions.
#include "check.h"

struct Place {
    unsigned tx, ty, tz, bx, by, bz;
};

__device__ Place here() { return {threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z}; }
__device__ unsigned linear() {
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned item = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    return block * (blockDim.x * blockDim.y * blockDim.z) + item;
}
__global__ void without_barrier(Place *out) { out[linear()] = here(); }
__global__ void with_barrier(Place *out) {
    const unsigned before = linear();
    __syncthreads();
    out[before] = here(); // The indices are this work-item's own again after it has waited.
}
__global__ void converted(unsigned *out) {
    const dim3 d = blockDim;
    const uint3 t = threadIdx;
    if (hipThreadIdx_x == 1) {
        out[0] = d.x * 100 + d.y * 10 + d.z;
        out[1] = t.x;
        out[2] = hipBlockIdx_x * 1000 + hipBlockDim_x * 100 + hipGridDim_x;
    }
}

static void check(const std::vector<Place> &places, dim3 grid, dim3 block) {
    size_t at = 0;
    for (unsigned bz = 0; bz < grid.z; ++bz)
        for (unsigned by = 0; by < grid.y; ++by)
            for (unsigned bx = 0; bx < grid.x; ++bx)
                for (unsigned tz = 0; tz < block.z; ++tz)
                    for (unsigned ty = 0; ty < block.y; ++ty)
                        for (unsigned tx = 0; tx < block.x; ++tx) {
                            const Place &p = places[at++];
                            CHECK(p.tx == tx && p.ty == ty && p.tz == tz && p.bx == bx && p.by == by && p.bz == bz);
                        }
}

int main() {
    const dim3 grid(5, 3, 2), block(7, 3, 5);
    const size_t count = 5 * 3 * 2 * 7 * 3 * 5;
    DeviceArray<Place> a(count), b(count);
    without_barrier<<<grid, block>>>(a.get());
    check(a.values(), grid, block);
    with_barrier<<<grid, block>>>(b.get());
    check(b.values(), grid, block);

    DeviceArray<unsigned> c(3);
    converted<<<1, dim3(4, 2)>>>(c.get());
    CHECK(c.values()[0] == 421 && c.values()[1] == 1 && c.values()[2] == 401);
}
