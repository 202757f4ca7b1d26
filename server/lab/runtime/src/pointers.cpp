#include "allocations.h"
#include "errors.h"
#include <ks/pointer_api.h>
#include <string.h>

namespace ks {
namespace {

template <class T> hipError_t give(void *data, T value) {
    memcpy(data, &value, sizeof value);
    return hipSuccess;
}

hipError_t get(void *data, hipPointer_attribute attribute, void *pointer) {
    uintptr_t base = 0;
    const Allocation found = allocations().find(pointer, &base);
    const bool known = found.bytes != 0;
    // Each writes its own type, also where the answer is an error.
    const auto answer = [data, known](auto value) {
        (void)give(data, known ? value : decltype(value){});
        return known ? hipSuccess : hipErrorInvalidValue;
    };
    switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return answer(static_cast<uint32_t>(found.type == hipMemoryTypeHost ? hipMemoryTypeHost : hipMemoryTypeDevice));
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER: return answer(pointer);
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
        if (known && found.type == hipMemoryTypeDevice) {
            (void)give<void *>(data, nullptr);
            return hipErrorInvalidValue;
        }
        return answer(pointer);
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID: return answer(static_cast<uint32_t>(base / 256));
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS: return answer(false);
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED: return answer(found.type == hipMemoryTypeManaged);
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        (void)give(data, known ? 0 : hipInvalidDeviceId);
        return known ? hipSuccess : hipErrorInvalidValue;
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: return answer(reinterpret_cast<void *>(base));
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE: return answer(found.bytes);
    case HIP_POINTER_ATTRIBUTE_MAPPED: return give(data, known);
    default: return hipErrorNotSupported;
    }
}

} // namespace
} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipPointerGetAttribute(void *data, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
    if (data == nullptr || pointer == nullptr || attribute < HIP_POINTER_ATTRIBUTE_CONTEXT ||
        attribute > HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE) {
        return remember(hipErrorInvalidValue);
    }
    return remember(get(data, attribute, pointer));
}
hipError_t hipDrvPointerGetAttributes(unsigned count, hipPointer_attribute *attributes, void **data,
                                      hipDeviceptr_t pointer) {
    if (count == 0 || attributes == nullptr || data == nullptr || pointer == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    for (unsigned i = 0; i < count; ++i) {
        if (data[i] == nullptr) {
            return remember(hipErrorInvalidValue);
        }
        if (get(data[i], attributes[i], pointer) == hipErrorNotSupported) {
            return remember(hipErrorNotSupported);
        }
    }
    return hipSuccess;
}
}
#pragma GCC visibility pop
