// The device says what it is: an emulation, with MI300's programming model and the host's memory.
#include "check.h"
#include <cstring>

int main() {
    int count = 0, current = -1, value = 0;
    HIP_OK(hipGetDeviceCount(&count));
    CHECK(count == 1);
    HIP_OK(hipSetDevice(0));
    HIP_OK(hipGetDevice(&current));
    CHECK(current == 0);
    hipDeviceProp_t p;
    HIP_OK(hipGetDeviceProperties(&p, 0));
    CHECK(std::strstr(p.name, "CPU emulation") != nullptr);
    CHECK(std::strncmp(p.gcnArchName, "gfx942", 6) == 0 && std::strstr(p.gcnArchName, "emulation") != nullptr);
    CHECK(p.warpSize == 64 && warpSize == 64 && p.maxThreadsPerBlock == 1024 && p.sharedMemPerBlock == 65536);
    CHECK(p.multiProcessorCount >= 1 && p.totalGlobalMem > (64u << 20) && p.maxGridSize[0] > 1000000);
    CHECK(p.managedMemory == 1 && p.cooperativeLaunch == 1 && p.major == 9 && p.minor == 4);
    CHECK(p.arch.hasWarpShuffle && p.arch.hasDoubles && !p.arch.hasDynamicParallelism);

    const struct {
        hipDeviceAttribute_t attribute;
        int expected;
    } attributes[] = {
        {hipDeviceAttributeWarpSize, 64},
        {hipDeviceAttributeMaxThreadsPerBlock, 1024},
        {hipDeviceAttributeMaxBlockDimY, 1024},
        {hipDeviceAttributeMaxGridDimX, p.maxGridSize[0]},
        {hipDeviceAttributeMaxSharedMemoryPerBlock, 65536},
        {hipDeviceAttributeMultiprocessorCount, p.multiProcessorCount},
        {hipDeviceAttributeComputeCapabilityMajor, 9},
        {hipDeviceAttributeManagedMemory, 1},
        {hipDeviceAttributeCooperativeLaunch, 1},
        {hipDeviceAttributeImageSupport, 1},
        {hipDeviceAttributeMaxTexture2DWidth, p.maxTexture2D[0]},
        {hipDeviceAttributeWallClockRate, 100000},
    };
    for (const auto &a : attributes) {
        HIP_OK(hipDeviceGetAttribute(&value, a.attribute, 0));
        CHECK(value == a.expected);
    }
    CHECK(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 3) == hipErrorInvalidDevice);

    char name[256];
    HIP_OK(hipDeviceGetName(name, sizeof name, 0));
    CHECK(std::strcmp(name, p.name) == 0);
    int driver = 0, runtime = 0, can = -1;
    HIP_OK(hipDriverGetVersion(&driver));
    HIP_OK(hipRuntimeGetVersion(&runtime));
    CHECK(driver == HIP_VERSION && runtime >= 60000000);
    HIP_OK(hipDeviceCanAccessPeer(&can, 0, 0));
    CHECK(can == 0);
    size_t limit = 0;
    HIP_OK(hipDeviceGetLimit(&limit, hipLimitStackSize));
    CHECK(limit > 0);
    HIP_OK(hipDeviceSynchronize());
    HIP_OK(hipDeviceReset());
    (void)hipGetLastError();
}
