// Texture references: global variables that a program binds to memory, as HIP had them before ROCm 6. Each holds a texture object.
#pragma once
#pragma clang system_header
#include <ks/channel_descriptor.h>
#include <ks/texture_types.h>
#include <limits.h>

/// How a reference samples; what is set takes effect when it is bound.
struct textureReference {
    int normalized; ///< whether coordinates run from 0 to 1
    hipTextureReadMode readMode;
    hipTextureFilterMode filterMode;
    hipTextureAddressMode addressMode[3];
    hipChannelFormatDesc channelDesc;
    int sRGB;
    unsigned maxAnisotropy; ///< must be 0
    hipTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias; ///< must be 0
    float minMipmapLevelClamp, maxMipmapLevelClamp;
    hipTextureObject_t textureObject; ///< null until it is bound
    int numChannels;
    hipArray_Format format;
};
template <class T, int dimensions = hipTextureType1D, hipTextureReadMode read_mode = hipReadModeElementType>
struct texture : textureReference {
    texture(int normalized_ = 0, hipTextureFilterMode filter = hipFilterModePoint,
            hipTextureAddressMode address = hipAddressModeClamp)
        : texture(normalized_, filter, address, hipCreateChannelDesc<T>()) {}
    texture(int normalized_, hipTextureFilterMode filter, hipTextureAddressMode address, hipChannelFormatDesc channels)
        : textureReference{normalized_, read_mode, filter, {address, address, address}, channels, 0, 0, hipFilterModePoint,
                           0,           0,         0,      nullptr,                     0,        {}} {}
};

extern "C" {
/// Binds a reference to `bytes` of memory, UINT_MAX for all that its allocation has from there. As for texture objects the address
/// must be a multiple of textureAlignment, so `*offset`, which may be null, becomes 0. A reference that is bound is bound anew.
hipError_t ks_bind_texture(const textureReference *reference, const void *memory, const hipChannelFormatDesc *channels,
                           size_t bytes);
/// `width` and `height` in elements, `pitch` in bytes.
hipError_t ks_bind_texture_2d(const textureReference *reference, const void *memory, const hipChannelFormatDesc *channels,
                              size_t width, size_t height, size_t pitch);
/// The array's own format counts.
hipError_t hipBindTextureToArray(const textureReference *reference, hipArray_const_t array,
                                 const hipChannelFormatDesc *channels);
/// hipErrorInvalidValue for one that is not bound.
hipError_t hipUnbindTexture(const textureReference *reference);
/// Always 0 bytes; hipErrorInvalidValue for a reference that is not bound.
hipError_t hipGetTextureAlignmentOffset(size_t *offset, const textureReference *reference);
}

static inline hipError_t hipBindTexture(size_t *offset, const textureReference *reference, const void *memory,
                                        const hipChannelFormatDesc *channels, size_t bytes = UINT_MAX) {
    if (offset != nullptr) *offset = 0;
    return ks_bind_texture(reference, memory, channels, bytes);
}
static inline hipError_t hipBindTexture2D(size_t *offset, const textureReference *reference, const void *memory,
                                          const hipChannelFormatDesc *channels, size_t width, size_t height, size_t pitch) {
    if (offset != nullptr) *offset = 0;
    return ks_bind_texture_2d(reference, memory, channels, width, height, pitch);
}
#define KS_OF_REFERENCE template <class T, int dimensions, hipTextureReadMode mode> static inline hipError_t
#define KS_REFERENCE const texture<T, dimensions, mode> &reference
KS_OF_REFERENCE hipBindTexture(size_t *offset, KS_REFERENCE, const void *memory, size_t bytes = UINT_MAX) {
    return hipBindTexture(offset, &reference, memory, &reference.channelDesc, bytes);
}
KS_OF_REFERENCE hipBindTexture(size_t *offset, KS_REFERENCE, const void *memory, const hipChannelFormatDesc &channels,
                               size_t bytes = UINT_MAX) {
    return hipBindTexture(offset, &reference, memory, &channels, bytes);
}
KS_OF_REFERENCE hipBindTexture2D(size_t *offset, KS_REFERENCE, const void *memory, size_t width, size_t height, size_t pitch) {
    return hipBindTexture2D(offset, &reference, memory, &reference.channelDesc, width, height, pitch);
}
KS_OF_REFERENCE hipBindTexture2D(size_t *offset, KS_REFERENCE, const void *memory, const hipChannelFormatDesc &channels,
                                 size_t width, size_t height, size_t pitch) {
    return hipBindTexture2D(offset, &reference, memory, &channels, width, height, pitch);
}
KS_OF_REFERENCE hipBindTextureToArray(KS_REFERENCE, hipArray_const_t array) {
    return hipBindTextureToArray(&reference, array, &reference.channelDesc);
}
KS_OF_REFERENCE hipBindTextureToArray(KS_REFERENCE, hipArray_const_t array, const hipChannelFormatDesc &channels) {
    return hipBindTextureToArray(&reference, array, &channels);
}
KS_OF_REFERENCE hipUnbindTexture(KS_REFERENCE) { return hipUnbindTexture(&reference); }
KS_OF_REFERENCE hipGetTextureAlignmentOffset(size_t *offset, KS_REFERENCE) {
    return hipGetTextureAlignmentOffset(offset, &reference);
}
#undef KS_REFERENCE
#undef KS_OF_REFERENCE
