// Cooperative launches: a grid's barrier orders the work of all blocks, shared memory lives across it, and a grid that
// does not fit is refused.
#include "check.h"
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;

// Each round reads what other blocks wrote in the round before; a block's sum stays in its shared memory throughout.
__global__ void rounds(const int *input, int *a, int *b, long long *kept, int count, int turns) {
    __shared__ long long sum;
    extern __shared__ int own[];
    cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0) sum = 0;
    const int i = grid.thread_rank();
    a[i] = own[threadIdx.x] = input[i];
    grid.sync();
    for (int turn = 0; turn < turns; ++turn) {
        b[i] = a[(i + count / 2 + 1) % count] + 3 * own[threadIdx.x];
        atomicAdd((unsigned long long *)&sum, (unsigned long long)b[i]);
        grid.sync();
        a[i] = b[(i * 7 + 5) % count] - turn;
        cg::sync(grid);
    }
    __syncthreads();
    if (threadIdx.x == 0) kept[blockIdx.x] = sum;
}

// A barrier of some waves of a block only would let others run ahead: exits before the barrier do not count.
__global__ void early(int *out, int live) {
    if (threadIdx.x >= (unsigned)live) return;
    out[blockIdx.x] += 1;
    cg::this_grid().sync();
    if (threadIdx.x == 0) out[gridDim.x + blockIdx.x] = out[(blockIdx.x + 1) % gridDim.x];
}

__global__ void facts(unsigned *out) {
    auto grid = cg::this_grid();
    auto all = cg::this_multi_grid();
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned inside = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned rank = block * blockDim.x * blockDim.y * blockDim.z + inside;
    out[rank] = grid.thread_rank() == rank && grid.size() == gridDim.x * gridDim.y * gridDim.z * 12 &&
                grid.is_valid() && all.num_grids() == 1 && all.grid_rank() == 0 && all.thread_rank() == rank;
}
__global__ void ask(bool *valid) { *valid = cg::this_grid().is_valid(); }

int main() {
    int multiprocessors, per_unit, cooperative;
    HIP_OK(hipDeviceGetAttribute(&cooperative, hipDeviceAttributeCooperativeLaunch, 0));
    CHECK(cooperative == 1);
    HIP_OK(hipDeviceGetAttribute(&multiprocessors, hipDeviceAttributeMultiprocessorCount, 0));
    const int block = 96;
    HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, rounds, block, block * sizeof(int)));
    CHECK(per_unit >= 1);
    const int blocks = std::min(12, per_unit * multiprocessors);

    int count = blocks * block, turns = 5;
    std::vector<int> input(count);
    for (int i = 0; i < count; ++i) input[i] = (i * 2654435761u >> 7) % 1000 - 300;
    DeviceArray<int> in(input), a(count), b(count);
    DeviceArray<long long> kept(blocks);
    const int *in_p = in.get();
    int *a_p = a.get(), *b_p = b.get();
    long long *kept_p = kept.get();
    void *arguments[] = {&in_p, &a_p, &b_p, &kept_p, &count, &turns};
    for (int again = 0; again < 3; ++again) {
        HIP_OK(hipLaunchCooperativeKernel(reinterpret_cast<void *>(rounds), dim3(blocks), dim3(block), arguments,
                                          block * sizeof(int), nullptr));
        HIP_OK(hipDeviceSynchronize());
        std::vector<int> x = input, y(count);
        std::vector<long long> sums(blocks);
        for (int turn = 0; turn < turns; ++turn) {
            for (int i = 0; i < count; ++i) {
                y[i] = x[(i + count / 2 + 1) % count] + 3 * input[i];
                sums[i / block] += y[i];
            }
            for (int i = 0; i < count; ++i) x[i] = y[(i * 7 + 5) % count] - turn;
        }
        CHECK(a.values() == x && kept.values() == sums);
    }

    DeviceArray<int> flags(2 * blocks);
    int *flags_p = flags.get(), live = 1;
    void *early_arguments[] = {&flags_p, &live};
    HIP_OK(hipLaunchCooperativeKernel(early, dim3(blocks), dim3(block), early_arguments, 0, nullptr));
    CHECK(flags.values() == std::vector<int>(2 * blocks, 1));

    DeviceArray<unsigned> right(2 * 1 * 1 * 12);
    unsigned *right_p = right.get();
    void *facts_arguments[] = {&right_p};
    hipStream_t stream;
    HIP_OK(hipStreamCreate(&stream));
    hipLaunchParams launch = {reinterpret_cast<void *>(facts), dim3(2), dim3(2, 3, 2), facts_arguments, 0, stream};
    HIP_OK(hipLaunchCooperativeKernel(facts, dim3(2), dim3(2, 3, 2), facts_arguments, 0, stream));
    CHECK(right.values() == std::vector<unsigned>(24, 1));
    HIP_OK(hipMemset(right_p, 0, 24 * sizeof(unsigned)));
    HIP_OK(hipLaunchCooperativeKernelMultiDevice(&launch, 1, 0));
    CHECK(right.values() == std::vector<unsigned>(24, 1));
    HIP_OK(hipStreamDestroy(stream));

    int most;
    HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&most, ask, 1024, 0));
    DeviceArray<bool> valid(1);
    bool *valid_p = valid.get();
    void *ask_arguments[] = {&valid_p};
    HIP_OK(hipLaunchCooperativeKernel(ask, dim3(most * multiprocessors), dim3(1024), ask_arguments, 0, nullptr));
    CHECK(hipLaunchCooperativeKernel(ask, dim3(most * multiprocessors + 1), dim3(1024), ask_arguments, 0, nullptr) ==
          hipErrorCooperativeLaunchTooLarge);
    CHECK(hipGetLastError() == hipErrorCooperativeLaunchTooLarge);
    bool host = false;
    HIP_OK(hipMemcpy(&host, valid_p, 1, hipMemcpyDeviceToHost));
    CHECK(host);
    ask<<<1, 1>>>(valid_p);
    HIP_OK(hipMemcpy(&host, valid_p, 1, hipMemcpyDeviceToHost));
    CHECK(!host);
}
