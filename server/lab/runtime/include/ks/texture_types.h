// Types and host calls of texture and surface objects.
#pragma once
#pragma clang system_header
#include <ks/array_types.h>

typedef struct __hip_texture *hipTextureObject_t;
typedef struct __hip_surface *hipSurfaceObject_t;

#define hipTextureType1D 0x01
#define hipTextureType2D 0x02
#define hipTextureType3D 0x03
#define hipTextureTypeCubemap 0x0C
#define hipTextureType1DLayered 0xF1
#define hipTextureType2DLayered 0xF2
#define hipTextureTypeCubemapLayered 0xFC

enum hipResourceType {
    hipResourceTypeArray = 0,
    hipResourceTypeMipmappedArray = 1, ///< hipErrorNotSupported when a texture is created
    hipResourceTypeLinear = 2,
    hipResourceTypePitch2D = 3,
};
enum hipTextureAddressMode {
    hipAddressModeWrap = 0,
    hipAddressModeClamp = 1,
    hipAddressModeMirror = 2,
    hipAddressModeBorder = 3,
};
enum hipTextureFilterMode { hipFilterModePoint = 0, hipFilterModeLinear = 1 };
enum hipTextureReadMode { hipReadModeElementType = 0, hipReadModeNormalizedFloat = 1 };
enum hipSurfaceBoundaryMode { hipBoundaryModeZero = 0, hipBoundaryModeTrap = 1, hipBoundaryModeClamp = 2 };

/// What a texture reads: an array, device memory as one row, or rows of pitched device memory.
struct hipResourceDesc {
    hipResourceType resType;
    union {
        struct {
            hipArray_t array;
        } array;
        struct {
            hipMipmappedArray_t mipmap;
        } mipmap;
        struct {
            void *devPtr;
            hipChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            hipChannelFormatDesc desc;
            size_t width, height; ///< in elements
            size_t pitchInBytes;
        } pitch2D;
    } res;
};
struct hipTextureDesc {
    hipTextureAddressMode addressMode[3];
    hipTextureFilterMode filterMode;
    hipTextureReadMode readMode;
    int sRGB; ///< for 8-bit unsigned elements that are read as floats: decode all channels but the fourth
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy; ///< must be 0
    hipTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias; ///< must be 0
    float minMipmapLevelClamp, maxMipmapLevelClamp;
};
enum hipResourceViewFormat {
    hipResViewFormatNone = 0x00,
    hipResViewFormatUnsignedChar1 = 0x01, hipResViewFormatUnsignedChar2 = 0x02, hipResViewFormatUnsignedChar4 = 0x03,
    hipResViewFormatSignedChar1 = 0x04, hipResViewFormatSignedChar2 = 0x05, hipResViewFormatSignedChar4 = 0x06,
    hipResViewFormatUnsignedShort1 = 0x07, hipResViewFormatUnsignedShort2 = 0x08, hipResViewFormatUnsignedShort4 = 0x09,
    hipResViewFormatSignedShort1 = 0x0a, hipResViewFormatSignedShort2 = 0x0b, hipResViewFormatSignedShort4 = 0x0c,
    hipResViewFormatUnsignedInt1 = 0x0d, hipResViewFormatUnsignedInt2 = 0x0e, hipResViewFormatUnsignedInt4 = 0x0f,
    hipResViewFormatSignedInt1 = 0x10, hipResViewFormatSignedInt2 = 0x11, hipResViewFormatSignedInt4 = 0x12,
    hipResViewFormatHalf1 = 0x13, hipResViewFormatHalf2 = 0x14, hipResViewFormatHalf4 = 0x15,
    hipResViewFormatFloat1 = 0x16, hipResViewFormatFloat2 = 0x17, hipResViewFormatFloat4 = 0x18,
};
/// A view that changes nothing; others are hipErrorNotSupported when a texture is created.
struct hipResourceViewDesc {
    hipResourceViewFormat format;
    size_t width, height, depth;
    unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
};

extern "C" {
/// Addresses must be multiples of hipDeviceProp_t::textureAlignment, pitches of texturePitchAlignment.
/// Mipmapped arrays, views of another format, anisotropy: hipErrorNotSupported. Linear filtering needs elements that are
/// read as floats.
hipError_t hipCreateTextureObject(hipTextureObject_t *texture, const hipResourceDesc *resource,
                                  const hipTextureDesc *description, const hipResourceViewDesc *view);
hipError_t hipDestroyTextureObject(hipTextureObject_t texture);
hipError_t hipGetTextureObjectResourceDesc(hipResourceDesc *resource, hipTextureObject_t texture);
hipError_t hipGetTextureObjectTextureDesc(hipTextureDesc *description, hipTextureObject_t texture);
/// The resource must be an array.
hipError_t hipCreateSurfaceObject(hipSurfaceObject_t *surface, const hipResourceDesc *resource);
hipError_t hipDestroySurfaceObject(hipSurfaceObject_t surface);
}
