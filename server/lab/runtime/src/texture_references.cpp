#include "errors.h"
#include <ks/array_api.h>
#include <ks/memory_api.h>
#include <ks/texture_references.h>

namespace ks {
namespace {

hipTextureDesc description_of(const textureReference &reference) {
    hipTextureDesc description{};
    for (int dimension = 0; dimension < 3; ++dimension) {
        description.addressMode[dimension] = reference.addressMode[dimension];
    }
    description.filterMode = reference.filterMode;
    description.readMode = reference.readMode;
    description.sRGB = reference.sRGB;
    description.normalizedCoords = reference.normalized;
    description.maxAnisotropy = reference.maxAnisotropy;
    description.mipmapFilterMode = reference.mipmapFilterMode;
    description.mipmapLevelBias = reference.mipmapLevelBias;
    description.minMipmapLevelClamp = reference.minMipmapLevelClamp;
    description.maxMipmapLevelClamp = reference.maxMipmapLevelClamp;
    return description;
}

/// HIP passes references as constants, but what they are bound to is kept in them.
hipTextureObject_t &object_of(const textureReference &reference) {
    return const_cast<textureReference &>(reference).textureObject;
}

hipError_t bind(const textureReference &reference, const hipResourceDesc &resource) {
    const hipTextureDesc description = description_of(reference);
    hipTextureObject_t object = nullptr;
    const hipError_t error = hipCreateTextureObject(&object, &resource, &description, nullptr);
    if (error != hipSuccess) {
        return error;
    }
    if (object_of(reference) != nullptr) {
        (void)hipDestroyTextureObject(object_of(reference));
    }
    object_of(reference) = object;
    return hipSuccess;
}

} // namespace
} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t ks_bind_texture(const textureReference *reference, const void *memory, const hipChannelFormatDesc *channels,
                           size_t bytes) {
    if (reference == nullptr || memory == nullptr || channels == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    char *const begin = static_cast<char *>(const_cast<void *>(memory));
    if (bytes == UINT_MAX) {
        hipDeviceptr_t base = nullptr;
        size_t all = 0;
        if (const hipError_t error = hipMemGetAddressRange(&base, &all, begin); error != hipSuccess) {
            return error;
        }
        bytes = all - static_cast<size_t>(begin - static_cast<char *>(base));
    }
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeLinear;
    resource.res.linear.devPtr = begin;
    resource.res.linear.desc = *channels;
    resource.res.linear.sizeInBytes = bytes;
    return bind(*reference, resource);
}
hipError_t ks_bind_texture_2d(const textureReference *reference, const void *memory, const hipChannelFormatDesc *channels,
                              size_t width, size_t height, size_t pitch) {
    if (reference == nullptr || memory == nullptr || channels == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    hipResourceDesc resource{};
    resource.resType = hipResourceTypePitch2D;
    resource.res.pitch2D.devPtr = const_cast<void *>(memory);
    resource.res.pitch2D.desc = *channels;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    return bind(*reference, resource);
}
hipError_t hipBindTextureToArray(const textureReference *reference, hipArray_const_t array,
                                 const hipChannelFormatDesc *channels) {
    if (reference == nullptr || array == nullptr || channels == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = const_cast<hipArray_t>(array);
    return bind(*reference, resource);
}
hipError_t hipUnbindTexture(const textureReference *reference) {
    if (reference == nullptr || reference->textureObject == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    const hipError_t error = hipDestroyTextureObject(reference->textureObject);
    object_of(*reference) = nullptr;
    return error;
}
hipError_t hipGetTextureAlignmentOffset(size_t *offset, const textureReference *reference) {
    if (offset == nullptr || reference == nullptr || reference->textureObject == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *offset = 0;
    return hipSuccess;
}
}
#pragma GCC visibility pop
