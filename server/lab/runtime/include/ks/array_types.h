// Types of arrays, of copies in three dimensions, and of what textures and surfaces read.
#pragma once
#pragma clang system_header
#include <ks/api_types.h>

/// Where an array's elements are is not told: copies and textures get at them.
typedef struct hipArray *hipArray_t;
typedef const struct hipArray *hipArray_const_t;
/// There are none: see hipMallocMipmappedArray.
typedef struct hipMipmappedArray *hipMipmappedArray_t;
typedef const struct hipMipmappedArray *hipMipmappedArray_const_t;

enum hipChannelFormatKind {
    hipChannelFormatKindSigned = 0,
    hipChannelFormatKindUnsigned = 1,
    hipChannelFormatKindFloat = 2,
    hipChannelFormatKindNone = 3,
};
/// The bits of an element's up to four channels.
struct hipChannelFormatDesc {
    int x, y, z, w;
    hipChannelFormatKind f;
};
enum hipArray_Format {
    HIP_AD_FORMAT_UNSIGNED_INT8 = 0x01,
    HIP_AD_FORMAT_UNSIGNED_INT16 = 0x02,
    HIP_AD_FORMAT_UNSIGNED_INT32 = 0x03,
    HIP_AD_FORMAT_SIGNED_INT8 = 0x08,
    HIP_AD_FORMAT_SIGNED_INT16 = 0x09,
    HIP_AD_FORMAT_SIGNED_INT32 = 0x0a,
    HIP_AD_FORMAT_HALF = 0x10,
    HIP_AD_FORMAT_FLOAT = 0x20,
};
/// Width and so on count elements.
struct HIP_ARRAY_DESCRIPTOR {
    size_t Width, Height;
    hipArray_Format Format;
    unsigned NumChannels;
};
struct HIP_ARRAY3D_DESCRIPTOR {
    size_t Width, Height, Depth;
    hipArray_Format Format;
    unsigned NumChannels, Flags;
};

#define hipArrayDefault 0x00
#define hipArrayLayered 0x01
#define hipArraySurfaceLoadStore 0x02
#define hipArrayCubemap 0x04
#define hipArrayTextureGather 0x08

/// Pitched memory: `pitch` is the bytes from one row to the next, `xsize` and `ysize` a slice's width and rows.
struct hipPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};
/// `width` counts elements where an array takes part, else bytes.
struct hipExtent {
    size_t width, height, depth;
};
struct hipPos {
    size_t x, y, z;
};
static inline hipPitchedPtr make_hipPitchedPtr(void *pointer, size_t pitch, size_t xsize, size_t ysize) {
    return {pointer, pitch, xsize, ysize};
}
static inline hipExtent make_hipExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
static inline hipPos make_hipPos(size_t x, size_t y, size_t z) { return {x, y, z}; }

/// Of each pair, either the array or the pointer is set. A position in an array counts elements, else bytes.
struct hipMemcpy3DParms {
    hipArray_t srcArray;
    hipPos srcPos;
    hipPitchedPtr srcPtr;
    hipArray_t dstArray;
    hipPos dstPos;
    hipPitchedPtr dstPtr;
    hipExtent extent;
    hipMemcpyKind kind;
};
struct hip_Memcpy2D {
    size_t srcXInBytes, srcY;
    hipMemoryType srcMemoryType;
    const void *srcHost;
    hipDeviceptr_t srcDevice;
    hipArray_t srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    hipMemoryType dstMemoryType;
    void *dstHost;
    hipDeviceptr_t dstDevice;
    hipArray_t dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
};
struct HIP_MEMCPY3D {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    hipMemoryType srcMemoryType;
    const void *srcHost;
    hipDeviceptr_t srcDevice;
    hipArray_t srcArray;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    hipMemoryType dstMemoryType;
    void *dstHost;
    hipDeviceptr_t dstDevice;
    hipArray_t dstArray;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
};
