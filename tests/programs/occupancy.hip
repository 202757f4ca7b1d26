// What the occupancy calls and functions' attributes say: MI300's limits for work-items, blocks and shared memory.
#include "check.h"

__global__ void kernel(float *p) { p[threadIdx.x] = 1; }

static int expected_blocks(int block, size_t shared) {
    int blocks = std::min(32, 2048 / block);
    return shared > 0 ? std::min(blocks, (int)(65536 / shared)) : blocks;
}

int main() {
    hipDeviceProp_t properties;
    HIP_OK(hipGetDeviceProperties(&properties, 0));
    for (int block : {1, 63, 64, 100, 256, 777, 1024}) {
        for (size_t shared : {size_t{0}, size_t{1000}, size_t{20000}, size_t{65536}}) {
            int blocks = -1;
            HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block, shared));
            CHECK(blocks == expected_blocks(block, shared));
            HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, kernel, block, shared,
                                                                         hipOccupancyDefault));
            CHECK(blocks == expected_blocks(block, shared));
        }
    }
    int grid = 0, block = 0, blocks = 0;
    HIP_OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, kernel, 0, 0));
    CHECK(block == 1024 && grid == 2 * properties.multiProcessorCount);
    HIP_OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, kernel, 0, 256));
    CHECK(block == 256 && grid == 8 * properties.multiProcessorCount);
    // 60 bytes for each work-item: one block of 1024 fits, but two of 512, four of 256 are as many; the largest wins.
    HIP_OK(hipOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, kernel, [](int size) { return size * 60; }));
    int best = 0, best_block = 0;
    for (int size = 1024; size > 0; size -= 64) {
        const int items = size * expected_blocks(size, size * 60);
        if (items > best) best = items, best_block = size;
    }
    CHECK(block == best_block && grid == best / best_block * properties.multiProcessorCount);

    CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 0, 0) == hipErrorInvalidValue);
    HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 1025, 0)); // allowed, but none fits
    CHECK(blocks == 0);
    CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, NULL, 64, 0) == hipErrorInvalidDeviceFunction);
    CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &block, NULL, 0, 0) == hipErrorInvalidDeviceFunction);
    CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &block, nullptr, 0, 0) == hipErrorInvalidDeviceFunction);
    CHECK(hipGetLastError() == hipErrorInvalidDeviceFunction);
    CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, kernel, 64, 0) == hipErrorInvalidValue);

    // Attributes remember the kernel by its address as well: it can be launched without its type from here on.
    hipFuncAttributes attributes;
    HIP_OK(hipFuncGetAttributes(&attributes, kernel));
    CHECK(attributes.maxThreadsPerBlock == 1024 && attributes.maxDynamicSharedSizeBytes == 65536);
    HIP_OK(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, 65536));
    CHECK(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, 65537) == hipErrorInvalidValue);
    HIP_OK(hipFuncSetCacheConfig(kernel, hipFuncCachePreferL1));
    DeviceArray<float> out(64);
    float *pointer = out.get();
    void *arguments[] = {&pointer};
    void (*typed)(float *) = kernel;
    const void *untyped = (const void *)typed;
    HIP_OK(hipLaunchKernel(untyped, dim3(1), dim3(64), arguments, 0, nullptr));
    CHECK(out.values() == std::vector<float>(64, 1));
}
