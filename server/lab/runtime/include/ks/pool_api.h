// Memory pools. Memory from a pool is the device's like any other; what a pool adds here is its books.
#pragma once
#pragma clang system_header
#include <ks/api_types.h>

enum hipMemPoolAttr {
    hipMemPoolReuseFollowEventDependencies = 1,
    hipMemPoolReuseAllowOpportunistic = 2,
    hipMemPoolReuseAllowInternalDependencies = 3,
    hipMemPoolAttrReleaseThreshold = 4,
    hipMemPoolAttrReservedMemCurrent = 5,
    hipMemPoolAttrReservedMemHigh = 6,
    hipMemPoolAttrUsedMemCurrent = 7,
    hipMemPoolAttrUsedMemHigh = 8,
};
enum hipMemLocationType { hipMemLocationTypeInvalid = 0, hipMemLocationTypeDevice = 1 };
struct hipMemLocation {
    hipMemLocationType type;
    int id;
};
enum hipMemAccessFlags {
    hipMemAccessFlagsProtNone = 0,
    hipMemAccessFlagsProtRead = 1,
    hipMemAccessFlagsProtReadWrite = 3,
};
struct hipMemAccessDesc {
    hipMemLocation location;
    hipMemAccessFlags flags;
};
enum hipMemAllocationType {
    hipMemAllocationTypeInvalid = 0,
    hipMemAllocationTypePinned = 1,
    hipMemAllocationTypeMax = 0x7fffffff,
};
enum hipMemAllocationHandleType {
    hipMemHandleTypeNone = 0,
    hipMemHandleTypePosixFileDescriptor = 1,
    hipMemHandleTypeWin32 = 2,
    hipMemHandleTypeWin32Kmt = 4,
};
struct hipMemPoolProps {
    hipMemAllocationType allocType;
    hipMemAllocationHandleType handleTypes;
    hipMemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned char reserved[56];
};

extern "C" {
hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *pool, int device);
hipError_t hipDeviceGetMemPool(hipMemPool_t *pool, int device);
hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool);
hipError_t hipMemPoolCreate(hipMemPool_t *pool, const hipMemPoolProps *properties);
/// What was allocated from the pool stays valid until it is freed.
hipError_t hipMemPoolDestroy(hipMemPool_t pool);
hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t bytes);
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void *value);
hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void *value);
hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc *list, size_t count);
hipError_t hipMemPoolGetAccess(hipMemAccessFlags *flags, hipMemPool_t pool, hipMemLocation *location);
hipError_t ks_malloc_from_pool(void **pointer, size_t bytes, hipMemPool_t pool, hipStream_t stream);
hipError_t ks_malloc_async(void **pointer, size_t bytes, hipStream_t stream);
}
template <class T>
static inline hipError_t hipMallocFromPoolAsync(T **pointer, size_t bytes, hipMemPool_t pool, hipStream_t stream) {
    return ks_malloc_from_pool(reinterpret_cast<void **>(pointer), bytes, pool, stream);
}
template <class T>
static inline hipError_t hipMallocAsync(T **pointer, size_t bytes, hipMemPool_t pool, hipStream_t stream) {
    return ks_malloc_from_pool(reinterpret_cast<void **>(pointer), bytes, pool, stream);
}
template <class T> static inline hipError_t hipMallocAsync(T **pointer, size_t bytes, hipStream_t stream) {
    return ks_malloc_async(reinterpret_cast<void **>(pointer), bytes, stream);
}
