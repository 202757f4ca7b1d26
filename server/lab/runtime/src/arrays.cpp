// Creation of arrays, and what can be asked about them.
#include "arrays.h"
#include "allocations.h"
#include "errors.h"
#include "texture_limits.h"
#include <ks/array_api.h>

namespace ks {
namespace {

bool is_array(hipMemoryType type) { return type == hipMemoryTypeArray; }

bool valid_extent(const hipExtent &extent, unsigned flags) {
    const size_t side = kMaxTextureSide;
    if (extent.width == 0 || extent.width > side || extent.height > side) {
        return false;
    }
    if ((flags & hipArrayLayered) != 0) {
        return extent.depth != 0 && extent.depth <= kMaxTextureLayers;
    }
    return extent.depth == 0 || (extent.height != 0 && extent.depth <= kMaxTextureDepth);
}

bool valid_flags(const hipExtent &extent, unsigned flags) {
    const unsigned known = hipArrayLayered | hipArraySurfaceLoadStore | hipArrayTextureGather | hipArrayCubemap;
    const bool two_dimensions = extent.height != 0 && extent.depth == 0;
    return (flags & ~known) == 0 && ((flags & hipArrayTextureGather) == 0 || two_dimensions);
}

std::optional<hipChannelFormatDesc> descriptor_of(hipArray_Format format, unsigned channels) {
    int bits = 0;
    hipChannelFormatKind kind = hipChannelFormatKindNone;
    switch (format) {
    case HIP_AD_FORMAT_UNSIGNED_INT8: bits = 8, kind = hipChannelFormatKindUnsigned; break;
    case HIP_AD_FORMAT_UNSIGNED_INT16: bits = 16, kind = hipChannelFormatKindUnsigned; break;
    case HIP_AD_FORMAT_UNSIGNED_INT32: bits = 32, kind = hipChannelFormatKindUnsigned; break;
    case HIP_AD_FORMAT_SIGNED_INT8: bits = 8, kind = hipChannelFormatKindSigned; break;
    case HIP_AD_FORMAT_SIGNED_INT16: bits = 16, kind = hipChannelFormatKindSigned; break;
    case HIP_AD_FORMAT_SIGNED_INT32: bits = 32, kind = hipChannelFormatKindSigned; break;
    case HIP_AD_FORMAT_HALF: bits = 16, kind = hipChannelFormatKindFloat; break;
    case HIP_AD_FORMAT_FLOAT: bits = 32, kind = hipChannelFormatKindFloat; break;
    default: return std::nullopt;
    }
    if (channels == 0 || channels > 4) {
        return std::nullopt;
    }
    return hipChannelFormatDesc{bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};
}

hipArray_Format format_name(const ElementFormat &format) {
    if (format.kind == hipChannelFormatKindFloat) {
        return format.bits == 16 ? HIP_AD_FORMAT_HALF : HIP_AD_FORMAT_FLOAT;
    }
    const bool is_signed = format.kind == hipChannelFormatKindSigned;
    switch (format.bits) {
    case 8: return is_signed ? HIP_AD_FORMAT_SIGNED_INT8 : HIP_AD_FORMAT_UNSIGNED_INT8;
    case 16: return is_signed ? HIP_AD_FORMAT_SIGNED_INT16 : HIP_AD_FORMAT_UNSIGNED_INT16;
    default: return is_signed ? HIP_AD_FORMAT_SIGNED_INT32 : HIP_AD_FORMAT_UNSIGNED_INT32;
    }
}

hipError_t create_by_format(hipArray_t *out, hipArray_Format format, unsigned channels, hipExtent extent,
                            unsigned flags) {
    const std::optional<hipChannelFormatDesc> descriptor = descriptor_of(format, channels);
    return descriptor ? arrays().create(out, &*descriptor, extent, flags) : remember(hipErrorInvalidValue);
}

} // namespace

hipChannelFormatDesc ElementFormat::descriptor() const {
    const int b = static_cast<int>(bits);
    return {b, channels > 1 ? b : 0, channels > 2 ? b : 0, channels > 3 ? b : 0, kind};
}

std::optional<ElementFormat> element_format(const hipChannelFormatDesc &d) {
    const int bits[4] = {d.x, d.y, d.z, d.w};
    unsigned channels = 0;
    while (channels < 4 && bits[channels] != 0) {
        ++channels;
    }
    for (unsigned i = 0; i < 4; ++i) {
        if (bits[i] != (i < channels ? d.x : 0)) {
            return std::nullopt;
        }
    }
    const bool integer = d.f == hipChannelFormatKindSigned || d.f == hipChannelFormatKindUnsigned;
    const bool known = d.x == 16 || d.x == 32 || (d.x == 8 && integer);
    if (!known || channels == 3 || (!integer && d.f != hipChannelFormatKindFloat)) {
        return std::nullopt;
    }
    return ElementFormat{d.f, static_cast<unsigned>(d.x), channels};
}

hipError_t Arrays::create(hipArray_t *out, const hipChannelFormatDesc *descriptor, hipExtent extent, unsigned flags) {
    if (out == nullptr || descriptor == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    const std::optional<ElementFormat> format = element_format(*descriptor);
    if (!format || !valid_extent(extent, flags) || !valid_flags(extent, flags)) {
        return remember(hipErrorInvalidValue);
    }
    if ((flags & hipArrayCubemap) != 0) {
        return remember(hipErrorNotSupported);
    }
    hipArray array{*format, extent, flags, nullptr};
    void *data = nullptr;
    const hipError_t error = allocations().allocate(&data, array.bytes(), hipMemoryTypeArray, flags);
    if (error != hipSuccess) {
        return error;
    }
    array.data = static_cast<char *>(data);
    *out = new hipArray(array);
    const std::lock_guard<std::mutex> lock(mutex_);
    live_.insert(*out);
    return hipSuccess;
}

hipError_t Arrays::destroy(hipArray_t array) {
    if (array == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (live_.erase(array) == 0) {
            return remember(hipErrorContextIsDestroyed);
        }
    }
    const hipError_t error = allocations().release(array->data, is_array);
    delete array;
    return error;
}

bool Arrays::exists(const hipArray *array) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return live_.count(array) != 0;
}

Arrays &arrays() {
    // Never destroyed: static objects of the program may still free their arrays.
    static Arrays *const all = new Arrays;
    return *all;
}

} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipMallocArray(hipArray_t *array, const hipChannelFormatDesc *desc, size_t width, size_t height,
                          unsigned flags) {
    if ((flags & (hipArrayLayered | hipArrayCubemap)) != 0) {
        return remember(hipErrorInvalidValue);
    }
    return arrays().create(array, desc, {width, height, 0}, flags);
}
hipError_t hipMalloc3DArray(hipArray_t *array, const hipChannelFormatDesc *desc, hipExtent extent, unsigned flags) {
    return arrays().create(array, desc, extent, flags);
}
hipError_t hipArrayCreate(hipArray_t *array, const HIP_ARRAY_DESCRIPTOR *d) {
    if (d == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    return create_by_format(array, d->Format, d->NumChannels, {d->Width, d->Height, 0}, hipArrayDefault);
}
hipError_t hipArray3DCreate(hipArray_t *array, const HIP_ARRAY3D_DESCRIPTOR *d) {
    if (d == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    return create_by_format(array, d->Format, d->NumChannels, {d->Width, d->Height, d->Depth}, d->Flags);
}
hipError_t hipFreeArray(hipArray_t array) { return arrays().destroy(array); }
hipError_t hipArrayDestroy(hipArray_t array) { return arrays().destroy(array); }

hipError_t hipArrayGetInfo(hipChannelFormatDesc *desc, hipExtent *extent, unsigned *flags, hipArray_t array) {
    if (!arrays().exists(array)) {
        return remember(hipErrorInvalidHandle);
    }
    if (desc != nullptr) {
        *desc = array->format.descriptor();
    }
    if (extent != nullptr) {
        *extent = array->extent;
    }
    if (flags != nullptr) {
        *flags = array->flags;
    }
    return hipSuccess;
}
hipError_t hipArray3DGetDescriptor(HIP_ARRAY3D_DESCRIPTOR *d, hipArray_t array) {
    if (d == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (!arrays().exists(array)) {
        return remember(hipErrorInvalidHandle);
    }
    *d = {array->extent.width,         array->extent.height, array->extent.depth,
          format_name(array->format), array->format.channels, array->flags};
    return hipSuccess;
}
hipError_t hipArrayGetDescriptor(HIP_ARRAY_DESCRIPTOR *d, hipArray_t array) {
    if (d == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (!arrays().exists(array)) {
        return remember(hipErrorInvalidHandle);
    }
    *d = {array->extent.width, array->extent.height, format_name(array->format), array->format.channels};
    return hipSuccess;
}
hipError_t hipGetChannelDesc(hipChannelFormatDesc *desc, hipArray_const_t array) {
    if (desc == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (!arrays().exists(array)) {
        return remember(hipErrorInvalidHandle);
    }
    *desc = array->format.descriptor();
    return hipSuccess;
}

hipError_t hipMallocMipmappedArray(hipMipmappedArray_t *, const hipChannelFormatDesc *, hipExtent, unsigned, unsigned) {
    return remember(hipErrorNotSupported);
}
hipError_t hipFreeMipmappedArray(hipMipmappedArray_t) { return remember(hipErrorNotSupported); }
hipError_t hipGetMipmappedArrayLevel(hipArray_t *, hipMipmappedArray_const_t, unsigned) {
    return remember(hipErrorNotSupported);
}
hipError_t hipMipmappedArrayCreate(hipMipmappedArray_t *, HIP_ARRAY3D_DESCRIPTOR *, unsigned) {
    return remember(hipErrorNotSupported);
}
hipError_t hipMipmappedArrayDestroy(hipMipmappedArray_t) { return remember(hipErrorNotSupported); }
hipError_t hipMipmappedArrayGetLevel(hipArray_t *, hipMipmappedArray_t, unsigned) {
    return remember(hipErrorNotSupported);
}
}
#pragma GCC visibility pop
