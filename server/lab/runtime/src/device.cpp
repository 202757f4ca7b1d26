#include "capture.h"
#include "errors.h"
#include "memory_size.h"
#include "texture_limits.h"
#include "pool.h"
#include "streams.h"
#include <algorithm>
#include <ks/device_api.h>
#include <ks/work_items.h>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

namespace ks {

size_t total_memory() {
    static const size_t bytes = [] {
        const size_t physical = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
        rlimit limit{};
        if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
            return std::min<size_t>(physical, limit.rlim_cur);
        }
        return physical;
    }();
    return bytes;
}

namespace {

/// The version of HIP whose interface this is: 6.2.
constexpr int kVersion = 60200000;
constexpr const char *kPciBusId = "0000:00:00.0";

std::string read_first(const char *path, const char *key) {
    std::string result;
    if (FILE *file = fopen(path, "r")) {
        char line[512];
        while (result.empty() && fgets(line, sizeof line, file) != nullptr) {
            if (strncmp(line, key, strlen(key)) == 0) {
                const char *value = strchr(line, ':');
                result = value != nullptr ? value + 1 : line;
            }
        }
        fclose(file);
    }
    const size_t begin = result.find_first_not_of(" \t"), end = result.find_last_not_of(" \t\n");
    return begin == std::string::npos ? "" : result.substr(begin, end - begin + 1);
}

int clock_rate_khz() {
    const std::string mhz = read_first("/proc/cpuinfo", "cpu MHz");
    return mhz.empty() ? 0 : static_cast<int>(atof(mhz.c_str()) * 1000);
}

/// What the program's units were compiled for; told before main begins.
unsigned program_wave_size = kMaxWaveSize;

void describe_textures(hipDeviceProp_t &p) {
    const int side = kMaxTextureSide, depth = kMaxTextureDepth, layers = kMaxTextureLayers;
    const int row[] = {side, layers}, area[] = {side, side, layers}, volume[] = {side, side, depth};
    p.maxTexture1D = p.maxSurface1D = side;
    p.maxTexture1DLinear = kMaxTextureLinear;
    p.maxTexture2DLinear[0] = p.maxTexture2DLinear[1] = side;
    p.maxTexture2DLinear[2] = INT32_MAX;
    std::copy_n(area, 2, p.maxTexture2D);
    std::copy_n(area, 2, p.maxTexture2DGather);
    std::copy_n(area, 2, p.maxSurface2D);
    std::copy_n(volume, 3, p.maxTexture3D);
    std::copy_n(volume, 3, p.maxSurface3D);
    std::copy_n(row, 2, p.maxTexture1DLayered);
    std::copy_n(row, 2, p.maxSurface1DLayered);
    std::copy_n(area, 3, p.maxTexture2DLayered);
    std::copy_n(area, 3, p.maxSurface2DLayered);
    p.textureAlignment = p.texturePitchAlignment = p.surfaceAlignment = kTextureAlignment;
}

/// Limits of the programming model are MI300's; sizes and counts are the host's. What does not exist (cube maps, mipmaps)
/// stays 0.
hipDeviceProp_t describe_device() {
    hipDeviceProp_t p;
    memset(&p, 0, sizeof p);
    const std::string processor = read_first("/proc/cpuinfo", "model name");
    snprintf(p.name, sizeof p.name, "CPU emulation of MI300 (%s)", processor.empty() ? "host" : processor.c_str());
    memcpy(p.uuid.bytes, "CPU-emulation-0", sizeof p.uuid.bytes);
    snprintf(p.gcnArchName, sizeof p.gcnArchName, "gfx942:cpu-emulation");
    p.gcnArch = 942;
    p.major = 9;
    p.minor = 4;
    p.totalGlobalMem = total_memory();
    p.totalConstMem = INT32_MAX;
    p.memPitch = INT32_MAX;
    p.sharedMemPerBlock = kMaxSharedBytes;
    p.sharedMemPerBlockOptin = kMaxSharedBytes;
    p.sharedMemPerMultiprocessor = kMaxSharedBytes;
    p.maxSharedMemoryPerMultiProcessor = kMaxSharedBytes;
    p.regsPerBlock = 65536;
    p.regsPerMultiprocessor = 65536;
    p.warpSize = static_cast<int>(program_wave_size);
    p.maxThreadsPerBlock = kMaxBlockSize;
    std::fill(p.maxThreadsDim, p.maxThreadsDim + 3, static_cast<int>(kMaxBlockSize));
    p.maxGridSize[0] = INT32_MAX;
    p.maxGridSize[1] = p.maxGridSize[2] = 65535;
    p.maxThreadsPerMultiProcessor = 2048;
    p.maxBlocksPerMultiProcessor = 2;
    p.multiProcessorCount = static_cast<int>(thread_count());
    p.clockRate = clock_rate_khz();
    p.clockInstructionRate = 100000;
    p.memoryClockRate = 0;
    p.memoryBusWidth = 64;
    p.l2CacheSize = static_cast<int>(std::max(0L, sysconf(_SC_LEVEL2_CACHE_SIZE)));
    p.computeMode = hipComputeModeDefault;
    p.concurrentKernels = 1;
    p.memoryPoolsSupported = 1;
    p.cooperativeLaunch = 1;
    p.cooperativeMultiDeviceLaunch = 1;
    p.canMapHostMemory = 1;
    p.integrated = 1;
    p.managedMemory = 1;
    p.concurrentManagedAccess = 1;
    p.directManagedMemAccessFromHost = 1;
    p.pageableMemoryAccess = 1;
    p.pageableMemoryAccessUsesHostPageTables = 1;
    p.unifiedAddressing = 1;
    p.hostNativeAtomicSupported = 1;
    p.canUseHostPointerForRegisteredMem = 1;
    p.hostRegisterSupported = 1;
    p.streamPrioritiesSupported = 1;
    p.singleToDoublePrecisionPerfRatio = 2;
    p.isLargeBar = 1;
    describe_textures(p);
    p.arch.hasGlobalInt32Atomics = p.arch.hasGlobalFloatAtomicExch = 1;
    p.arch.hasSharedInt32Atomics = p.arch.hasSharedFloatAtomicExch = 1;
    p.arch.hasFloatAtomicAdd = p.arch.hasGlobalInt64Atomics = p.arch.hasSharedInt64Atomics = 1;
    p.arch.hasDoubles = p.arch.hasWarpVote = p.arch.hasWarpBallot = p.arch.hasWarpShuffle = 1;
    p.arch.hasThreadFenceSystem = p.arch.hasSyncThreadsExt = p.arch.has3dGrid = 1;
    return p;
}
const hipDeviceProp_t &properties_of_device() {
    static const hipDeviceProp_t properties = describe_device();
    return properties;
}

hipError_t check_device(int device) { return device == 0 ? hipSuccess : remember(hipErrorInvalidDevice); }
/// Fills what the caller asked for, on the one device there is.
template <class T> hipError_t give(T *out, T value, int device = 0) {
    if (out == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (const hipError_t error = check_device(device); error != hipSuccess) {
        return error;
    }
    *out = value;
    return hipSuccess;
}
hipError_t give_text(char *out, int size, const char *text, int device) {
    if (out == nullptr || size <= 0) {
        return remember(hipErrorInvalidValue);
    }
    snprintf(out, static_cast<size_t>(size), "%s", text);
    return check_device(device);
}

unsigned device_flags = hipDeviceScheduleAuto;

} // namespace
} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

void ks_tell_wave_size(unsigned size) { program_wave_size = size; }

hipError_t hipInit(unsigned flags) { return flags == 0 ? hipSuccess : remember(hipErrorInvalidValue); }
hipError_t hipGetDeviceCount(int *count) { return give(count, 1); }
hipError_t hipSetDevice(int device) { return check_device(device); }
hipError_t hipGetDevice(int *device) { return give(device, 0); }
hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device) {
    return give(properties, properties_of_device(), device);
}
hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device) {
    const hipDeviceProp_t &p = properties_of_device();
    switch (attribute) {
#define KS_CASE(name, number, expression)                                                                              \
    case name: return give(value, static_cast<int>(expression), device);
        KS_FOR_EACH_ATTRIBUTE(KS_CASE)
#undef KS_CASE
    default: return remember(hipErrorInvalidValue);
    }
}
hipError_t hipChooseDevice(int *device, const hipDeviceProp_t *properties) {
    return properties == nullptr ? remember(hipErrorInvalidValue) : give(device, 0);
}
hipError_t hipDeviceGet(hipDevice_t *device, int ordinal) { return give(device, 0, ordinal); }
hipError_t hipDeviceGetName(char *name, int size, hipDevice_t device) {
    return give_text(name, size, properties_of_device().name, device);
}
hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device) {
    return give(uuid, properties_of_device().uuid, device);
}
hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device) {
    const hipError_t error = give(major, properties_of_device().major, device);
    return error != hipSuccess ? error : give(minor, properties_of_device().minor, device);
}
hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device) { return give(bytes, total_memory(), device); }
hipError_t hipDeviceGetPCIBusId(char *id, int size, int device) { return give_text(id, size, kPciBusId, device); }
hipError_t hipDeviceGetByPCIBusId(int *device, const char *id) {
    return id != nullptr && strcmp(id, kPciBusId) == 0 ? give(device, 0) : remember(hipErrorInvalidValue);
}

hipError_t hipDeviceSynchronize() {
    if (const hipError_t error = check_device_wide_call(); error != hipSuccess) {
        return error;
    }
    backlog().wait_for_all();
    return hipSuccess;
}
hipError_t hipDeviceReset() { return hipDeviceSynchronize(); }
hipError_t hipSetDeviceFlags(unsigned flags) {
    constexpr unsigned known = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
    if ((flags & ~known) != 0) {
        return remember(hipErrorInvalidValue);
    }
    device_flags = flags;
    return hipSuccess;
}
hipError_t hipGetDeviceFlags(unsigned *flags) { return give(flags, device_flags); }
hipError_t hipDeviceGetLimit(size_t *value, hipLimit_t limit) {
    switch (limit) {
    case hipLimitStackSize: return give<size_t>(value, 60 << 10);
    case hipLimitPrintfFifoSize:
    case hipLimitMallocHeapSize: return give(value, total_memory());
    }
    return remember(hipErrorUnsupportedLimit);
}
hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value) {
    size_t available = 0;
    const hipError_t error = hipDeviceGetLimit(&available, limit);
    return error != hipSuccess ? error : value <= available ? hipSuccess : remember(hipErrorInvalidValue);
}
// Preferences between cache and shared memory: hints, which devices may ignore too.
hipError_t hipDeviceGetCacheConfig(hipFuncCache_t *configuration) {
    return give(configuration, hipFuncCachePreferNone);
}
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) { return hipSuccess; }
hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig *configuration) {
    return give(configuration, hipSharedMemBankSizeFourByte);
}
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig) { return hipSuccess; }

hipError_t hipDeviceCanAccessPeer(int *can, int device, int peer) {
    if (const hipError_t error = check_device(device); error != hipSuccess) {
        return error;
    }
    return give(can, 0, peer); // A device is not its own peer.
}
hipError_t hipDeviceEnablePeerAccess(int, unsigned flags) {
    return remember(flags != 0 ? hipErrorInvalidValue : hipErrorInvalidDevice);
}
// Between a device and itself there is no link to ask about, and there is no second device.
hipError_t hipDeviceGetP2PAttribute(int *value, hipDeviceP2PAttr, int, int) {
    return remember(value == nullptr ? hipErrorInvalidValue : hipErrorInvalidDevice);
}
hipError_t hipDeviceDisablePeerAccess(int) { return remember(hipErrorPeerAccessNotEnabled); }
hipError_t hipDriverGetVersion(int *version) { return give(version, kVersion); }
hipError_t hipRuntimeGetVersion(int *version) { return give(version, kVersion); }

long long ks_wall_clock() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 100'000'000LL + t.tv_nsec / 10;
}
}
#pragma GCC visibility pop
