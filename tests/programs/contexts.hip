// The driver interface's contexts and pointers, memory pools, and what one device says about peers.
#include "check.h"

static void contexts() {
    hipDevice_t device;
    hipCtx_t primary, made, found;
    HIP_OK(hipInit(0));
    HIP_OK(hipDeviceGet(&device, 0));
    HIP_OK(hipDevicePrimaryCtxRetain(&primary, device));
    HIP_OK(hipCtxGetCurrent(&found));
    CHECK(found == primary);
    HIP_OK(hipCtxCreate(&made, hipDeviceScheduleSpin, device));
    HIP_OK(hipCtxGetCurrent(&found));
    unsigned flags = 0;
    HIP_OK(hipCtxGetFlags(&flags));
    CHECK(found == made && made != primary && flags == hipDeviceScheduleSpin);
    HIP_OK(hipCtxPushCurrent(primary));
    HIP_OK(hipCtxPopCurrent(&found));
    CHECK(found == primary);
    HIP_OK(hipCtxSynchronize());
    HIP_OK(hipCtxDestroy(made));
    HIP_OK(hipCtxGetCurrent(&found));
    CHECK(found == primary && hipCtxPopCurrent(&found) == hipErrorInvalidContext);
    CHECK(hipCtxSetCurrent(made) == hipErrorInvalidContext);
    HIP_OK(hipDevicePrimaryCtxRelease(device));
    CHECK(hipCtxCreate(&made, 0, 1) == hipErrorInvalidDevice);
}

static void pointers() {
    char *device = nullptr, *host = nullptr, own = 0;
    HIP_OK(hipMalloc(&device, 4096));
    HIP_OK(hipHostMalloc(&host, 64));
    void *begin = nullptr;
    size_t bytes = 0;
    unsigned type = 9;
    bool managed = true;
    HIP_OK(hipPointerGetAttribute(&begin, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, device + 100));
    HIP_OK(hipPointerGetAttribute(&bytes, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, device + 100));
    HIP_OK(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, host));
    HIP_OK(hipPointerGetAttribute(&managed, HIP_POINTER_ATTRIBUTE_IS_MANAGED, device));
    CHECK(begin == device && bytes == 4096 && type == hipMemoryTypeHost && !managed);
    CHECK(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, &own) == hipErrorInvalidValue);
    hipPointer_attribute wanted[] = {HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, HIP_POINTER_ATTRIBUTE_HOST_POINTER};
    int ordinal = 5;
    void *address = nullptr;
    void *data[] = {&ordinal, &address};
    HIP_OK(hipDrvPointerGetAttributes(2, wanted, data, host + 3));
    CHECK(ordinal == 0 && address == host + 3);
    HIP_OK(hipFree(device));
    HIP_OK(hipHostFree(host));
}

static uint64_t used(hipMemPool_t pool, hipMemPoolAttr which) {
    uint64_t bytes = 0;
    HIP_OK(hipMemPoolGetAttribute(pool, which, &bytes));
    return bytes;
}

__global__ void fill(int *out, int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = i * 3;
}

static void pools() {
    hipMemPool_t usual, current, own;
    HIP_OK(hipDeviceGetDefaultMemPool(&usual, 0));
    HIP_OK(hipDeviceGetMemPool(&current, 0));
    CHECK(usual == current);
    hipMemPoolProps properties = {};
    properties.allocType = hipMemAllocationTypePinned;
    properties.location = {hipMemLocationTypeDevice, 0};
    HIP_OK(hipMemPoolCreate(&own, &properties));
    hipStream_t stream;
    HIP_OK(hipStreamCreate(&stream));
    int *a = nullptr, *b = nullptr, result[100];
    HIP_OK(hipMallocAsync(&a, 1000, stream));
    HIP_OK(hipMallocFromPoolAsync(&b, sizeof result, own, stream));
    CHECK(used(usual, hipMemPoolAttrUsedMemCurrent) == 1000 && used(own, hipMemPoolAttrUsedMemCurrent) == sizeof result);
    fill<<<1, 64, 0, stream>>>(b, 100);
    HIP_OK(hipMemcpyAsync(result, b, sizeof result, hipMemcpyDeviceToHost, stream));
    HIP_OK(hipFreeAsync(b, stream));
    HIP_OK(hipStreamSynchronize(stream));
    for (int i = 0; i < 100; ++i) CHECK(result[i] == 3 * i);
    CHECK(used(own, hipMemPoolAttrUsedMemCurrent) == 0 && used(own, hipMemPoolAttrUsedMemHigh) == sizeof result);
    CHECK(hipFreeAsync(b, stream) == hipErrorInvalidValue);
    HIP_OK(hipDeviceSetMemPool(0, own));
    HIP_OK(hipMallocAsync(&b, 64, stream));
    CHECK(used(own, hipMemPoolAttrUsedMemCurrent) == 64);
    HIP_OK(hipFree(b)); // the ordinary call takes them too
    HIP_OK(hipFree(a));
    CHECK(used(own, hipMemPoolAttrUsedMemCurrent) == 0 && used(usual, hipMemPoolAttrUsedMemCurrent) == 0);
    HIP_OK(hipMemPoolDestroy(own));
    HIP_OK(hipDeviceGetMemPool(&current, 0));
    CHECK(current == usual && hipMemPoolDestroy(usual) == hipErrorInvalidValue);
    HIP_OK(hipStreamDestroy(stream));
}

int main() {
    contexts();
    pointers();
    pools();
    int can = 1;
    HIP_OK(hipDeviceCanAccessPeer(&can, 0, 0));
    CHECK(can == 0 && hipDeviceEnablePeerAccess(0, 0) == hipErrorInvalidDevice);
    CHECK(hipDeviceEnablePeerAccess(0, 1) == hipErrorInvalidValue);
    CHECK(hipDeviceGetP2PAttribute(&can, hipDevP2PAttrAccessSupported, 0, 0) == hipErrorInvalidDevice);
}
