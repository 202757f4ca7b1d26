// Copies and fills of boxes: between arrays, pitched memory and plain rows.
#include "allocations.h"
#include "arrays.h"
#include "capture.h"
#include "copy_kind.h"
#include "errors.h"
#include "streams.h"
#include <ks/array_api.h>
#include <string.h>

namespace ks {
namespace {

/// Width in bytes.
struct Size {
    size_t width, height, depth;

    bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

/// Where a box lies: in an array, or in memory that is told by its pitch.
struct Place {
    const hipArray *array; ///< null: memory
    const void *memory;
    size_t pitch;       ///< 0: rows follow each other without gaps
    size_t slice_rows;  ///< 0: slices follow each other without gaps
    size_t x, y, z;     ///< x in bytes
};
Place in_array(const hipArray *array, size_t x, size_t y, size_t z) { return {array, nullptr, 0, 0, x, y, z}; }
Place in_memory(const void *memory, size_t pitch) { return {nullptr, memory, pitch, 0, 0, 0, 0}; }

/// A box's first byte, and the bytes to the next row and slice.
struct Box {
    char *first;
    size_t pitch, slice;
};

bool within(size_t offset, size_t length, size_t limit) { return offset <= limit && length <= limit - offset; }

hipError_t box_in_array(const Place &place, const Size &size, Box *box) {
    const hipArray &array = *place.array;
    if (!arrays().exists(place.array)) {
        return hipErrorContextIsDestroyed;
    }
    if (!within(place.x, size.width, array.row_bytes()) || !within(place.y, size.height, array.rows()) ||
        !within(place.z, size.depth, array.slices())) {
        return hipErrorInvalidValue;
    }
    const size_t slice = array.row_bytes() * array.rows();
    *box = {array.data + place.z * slice + place.y * array.row_bytes() + place.x, array.row_bytes(), slice};
    return hipSuccess;
}

hipError_t box_in_memory(const Place &place, const Size &size, Box *box) {
    const size_t limit = SIZE_MAX / 8;
    if (place.memory == nullptr || place.x > limit || size.width > limit) {
        return hipErrorInvalidValue;
    }
    const size_t pitch = place.pitch == 0 ? place.x + size.width : place.pitch;
    if (place.x + size.width > pitch) {
        return hipErrorInvalidPitchValue;
    }
    const size_t rows = place.slice_rows == 0 ? place.y + size.height : place.slice_rows;
    if (size.depth > 1 && !within(place.y, size.height, rows)) {
        return hipErrorInvalidValue;
    }
    size_t slice = 0, before = 0, rows_before = 0, span = 0, span_rows = 0;
    if (__builtin_mul_overflow(pitch, rows, &slice) || __builtin_mul_overflow(slice, place.z, &before) ||
        __builtin_mul_overflow(pitch, place.y, &rows_before) || __builtin_mul_overflow(slice, size.depth - 1, &span) ||
        __builtin_mul_overflow(pitch, size.height - 1, &span_rows) || before > limit || rows_before > limit ||
        span > limit || span_rows > limit) {
        return hipErrorInvalidValue;
    }
    char *first = static_cast<char *>(const_cast<void *>(place.memory)) + before + rows_before + place.x;
    if (!allocations().accessible(first, span + span_rows + size.width)) {
        return hipErrorInvalidValue;
    }
    *box = {first, pitch, slice};
    return hipSuccess;
}

hipError_t locate(const Place &place, const Size &size, Box *box) {
    return place.array != nullptr ? box_in_array(place, size, box) : box_in_memory(place, size, box);
}

hipError_t copy_box(const Place &to, const Place &from, const Size &size, hipMemcpyKind kind,
                    bool only_check = false) {
    if (!valid_kind(kind)) {
        return remember(hipErrorInvalidMemcpyDirection);
    }
    if (size.empty()) {
        return hipSuccess;
    }
    Box target{}, source{};
    hipError_t error = locate(to, size, &target);
    if (error == hipSuccess) {
        error = locate(from, size, &source);
    }
    if (error != hipSuccess || only_check) {
        return remember(error);
    }
    for (size_t z = 0; z < size.depth; ++z) {
        for (size_t y = 0; y < size.height; ++y) {
            memmove(target.first + z * target.slice + y * target.pitch,
                    source.first + z * source.slice + y * source.pitch, size.width);
        }
    }
    return hipSuccess;
}

/// A run of bytes of an array, which goes on from row to row; its first byte, or null.
char *run_in_array(const hipArray *array, size_t offset, size_t bytes) {
    return arrays().exists(array) && within(offset, bytes, array->bytes()) ? array->data + offset : nullptr;
}
hipError_t copy_run(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
    if (!valid_kind(kind)) {
        return remember(hipErrorInvalidMemcpyDirection);
    }
    if (!allocations().accessible(to, bytes) || !allocations().accessible(from, bytes)) {
        return remember(hipErrorInvalidValue);
    }
    memmove(to, from, bytes);
    return hipSuccess;
}
/// The offset of a place that is told by byte and row; out of every range if there is no such place.
size_t run_offset(const hipArray *array, size_t x, size_t y) {
    const bool inside = arrays().exists(array) && x < array->row_bytes() && y < array->rows();
    return inside ? y * array->row_bytes() + x : SIZE_MAX;
}

hipError_t copy_3d(const hipMemcpy3DParms &c, bool only_check) {
    if ((c.srcArray == nullptr) == (c.srcPtr.ptr == nullptr) || (c.dstArray == nullptr) == (c.dstPtr.ptr == nullptr)) {
        return remember(hipErrorInvalidValue);
    }
    size_t element = 1;
    for (const hipArray *array : {c.srcArray, c.dstArray}) {
        if (array != nullptr) {
            if (!arrays().exists(array)) {
                return remember(hipErrorContextIsDestroyed);
            }
            element = array->format.bytes();
        }
    }
    if (c.srcArray != nullptr && c.dstArray != nullptr && c.srcArray->format.bytes() != element) {
        return remember(hipErrorInvalidValue);
    }
    const auto place = [element](const hipArray *array, const hipPitchedPtr &memory, const hipPos &at) {
        return Place{array, memory.ptr, memory.pitch, memory.ysize, at.x * (array != nullptr ? element : 1), at.y, at.z};
    };
    return copy_box(place(c.dstArray, c.dstPtr, c.dstPos), place(c.srcArray, c.srcPtr, c.srcPos),
                    {c.extent.width * element, c.extent.height, c.extent.depth}, c.kind, only_check);
}

/// One side of a copy that is described as the driver interface does it. False for a type of memory that there is not.
bool driver_place(hipMemoryType type, const void *host, const void *device, const hipArray *array, Place *place) {
    switch (type) {
    case hipMemoryTypeHost: place->memory = host; return true;
    case hipMemoryTypeDevice:
    case hipMemoryTypeManaged:
    case hipMemoryTypeUnified: place->memory = device; return true;
    case hipMemoryTypeArray: place->array = array; return array != nullptr;
    default: return false;
    }
}
hipError_t copy_driver_3d(const HIP_MEMCPY3D *copy) {
    if (copy == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    const HIP_MEMCPY3D &c = *copy;
    Place to{nullptr, nullptr, c.dstPitch, c.dstHeight, c.dstXInBytes, c.dstY, c.dstZ};
    Place from{nullptr, nullptr, c.srcPitch, c.srcHeight, c.srcXInBytes, c.srcY, c.srcZ};
    if (!driver_place(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, &to) ||
        !driver_place(c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, &from)) {
        return remember(hipErrorInvalidValue);
    }
    return copy_box(to, from, {c.WidthInBytes, c.Height, c.Depth}, hipMemcpyDefault);
}
hipError_t copy_driver_2d(const hip_Memcpy2D *copy) {
    if (copy == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    const hip_Memcpy2D &c = *copy;
    HIP_MEMCPY3D all{};
    all.srcXInBytes = c.srcXInBytes, all.srcY = c.srcY, all.srcMemoryType = c.srcMemoryType, all.srcHost = c.srcHost;
    all.srcDevice = c.srcDevice, all.srcArray = c.srcArray, all.srcPitch = c.srcPitch;
    all.dstXInBytes = c.dstXInBytes, all.dstY = c.dstY, all.dstMemoryType = c.dstMemoryType, all.dstHost = c.dstHost;
    all.dstDevice = c.dstDevice, all.dstArray = c.dstArray, all.dstPitch = c.dstPitch;
    all.WidthInBytes = c.WidthInBytes, all.Height = c.Height, all.Depth = 1;
    return copy_driver_3d(&all);
}

template <class F> hipError_t on(hipStream_t stream, F work) {
    return submit(stream, CallWork{hipGraphNodeTypeMemcpy, work});
}
/// The same for a copy that is described by `*copy`, which may be gone when the stream comes to it.
template <class Copy> hipError_t on(hipStream_t stream, const Copy *copy, hipError_t (*run)(const Copy *)) {
    if (copy == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    return on(stream, [kept = *copy, run] { return run(&kept); });
}

} // namespace

hipError_t copy_box(const hipMemcpy3DParms &params, bool only_check) { return copy_3d(params, only_check); }

} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipMemcpy2DToArray(hipArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                              size_t height, hipMemcpyKind kind) {
    if (to == nullptr || from == nullptr) {
        return remember(to == nullptr ? hipErrorInvalidHandle : hipErrorInvalidValue);
    }
    if (width > pitch) {
        return remember(hipErrorInvalidPitchValue);
    }
    return copy_box(in_array(to, x, y, 0), in_memory(from, pitch), {width, height, 1}, kind);
}
hipError_t hipMemcpy2DToArrayAsync(hipArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                   size_t height, hipMemcpyKind kind, hipStream_t stream) {
    return on(stream, [=] { return hipMemcpy2DToArray(to, x, y, from, pitch, width, height, kind); });
}
hipError_t hipMemcpy2DFromArray(void *to, size_t pitch, hipArray_const_t from, size_t x, size_t y, size_t width,
                                size_t height, hipMemcpyKind kind) {
    if (to == nullptr || from == nullptr) {
        return remember(from == nullptr ? hipErrorInvalidHandle : hipErrorInvalidValue);
    }
    if (width > pitch) {
        return remember(hipErrorInvalidPitchValue);
    }
    return copy_box(in_memory(to, pitch), in_array(from, x, y, 0), {width, height, 1}, kind);
}
hipError_t hipMemcpy2DFromArrayAsync(void *to, size_t pitch, hipArray_const_t from, size_t x, size_t y, size_t width,
                                     size_t height, hipMemcpyKind kind, hipStream_t stream) {
    return on(stream, [=] { return hipMemcpy2DFromArray(to, pitch, from, x, y, width, height, kind); });
}
hipError_t hipMemcpy2DArrayToArray(hipArray_t to, size_t to_x, size_t to_y, hipArray_const_t from, size_t from_x,
                                   size_t from_y, size_t width, size_t height, hipMemcpyKind kind) {
    if (to == nullptr || from == nullptr) {
        return remember(hipErrorInvalidHandle);
    }
    return copy_box(in_array(to, to_x, to_y, 0), in_array(from, from_x, from_y, 0), {width, height, 1}, kind);
}
hipError_t hipMemcpyToArray(hipArray_t to, size_t x, size_t y, const void *from, size_t bytes, hipMemcpyKind kind) {
    return copy_run(run_in_array(to, run_offset(to, x, y), bytes), from, bytes, kind);
}
hipError_t hipMemcpyFromArray(void *to, hipArray_const_t from, size_t x, size_t y, size_t bytes, hipMemcpyKind kind) {
    return copy_run(to, run_in_array(from, run_offset(from, x, y), bytes), bytes, kind);
}
hipError_t hipMemcpyHtoA(hipArray_t to, size_t offset, const void *from, size_t bytes) {
    return copy_run(run_in_array(to, offset, bytes), from, bytes, hipMemcpyHostToDevice);
}
hipError_t hipMemcpyAtoH(void *to, hipArray_t from, size_t offset, size_t bytes) {
    return copy_run(to, run_in_array(from, offset, bytes), bytes, hipMemcpyDeviceToHost);
}
hipError_t hipMemcpyDtoA(hipArray_t to, size_t offset, hipDeviceptr_t from, size_t bytes) {
    return copy_run(run_in_array(to, offset, bytes), from, bytes, hipMemcpyDeviceToDevice);
}
hipError_t hipMemcpyAtoD(hipDeviceptr_t to, hipArray_t from, size_t offset, size_t bytes) {
    return copy_run(to, run_in_array(from, offset, bytes), bytes, hipMemcpyDeviceToDevice);
}
hipError_t hipMemcpyAtoA(hipArray_t to, size_t to_offset, hipArray_t from, size_t from_offset, size_t bytes) {
    return copy_run(run_in_array(to, to_offset, bytes), run_in_array(from, from_offset, bytes), bytes,
                    hipMemcpyDeviceToDevice);
}

hipError_t hipMalloc3D(hipPitchedPtr *pointer, hipExtent extent) {
    if (pointer == nullptr || extent.width > SIZE_MAX / 2) {
        return remember(hipErrorInvalidValue);
    }
    const size_t pitch = (extent.width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    size_t slice = 0, bytes = 0;
    if (__builtin_mul_overflow(pitch, extent.height, &slice) || __builtin_mul_overflow(slice, extent.depth, &bytes)) {
        return remember(hipErrorOutOfMemory);
    }
    void *memory = nullptr;
    const hipError_t error = allocations().allocate(&memory, bytes, hipMemoryTypeDevice, 0);
    if (error == hipSuccess) {
        *pointer = {memory, pitch, extent.width, extent.height};
    }
    return error;
}
hipError_t hipMemset3D(hipPitchedPtr pointer, int value, hipExtent extent) {
    const Size size{extent.width, extent.height, extent.depth};
    if (size.empty()) {
        return hipSuccess;
    }
    Box box{};
    const hipError_t error = box_in_memory({nullptr, pointer.ptr, pointer.pitch, pointer.ysize, 0, 0, 0}, size, &box);
    if (error != hipSuccess) {
        return remember(hipErrorInvalidValue);
    }
    for (size_t z = 0; z < size.depth; ++z) {
        for (size_t y = 0; y < size.height; ++y) {
            memset(box.first + z * box.slice + y * box.pitch, value, size.width);
        }
    }
    return hipSuccess;
}
hipError_t hipMemset3DAsync(hipPitchedPtr pointer, int value, hipExtent extent, hipStream_t stream) {
    return submit(stream, CallWork{hipGraphNodeTypeMemset, [=] { return hipMemset3D(pointer, value, extent); }});
}
hipError_t hipMemcpy3D(const hipMemcpy3DParms *copy) {
    if (copy == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    const hipError_t error = begin_synchronous();
    return error != hipSuccess ? error : copy_3d(*copy, false);
}
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms *copy, hipStream_t stream) {
    if (copy == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    const hipError_t error = copy_3d(*copy, true);
    return error != hipSuccess ? error : submit(stream, BoxWork{*copy});
}
hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D *copy) { return copy_driver_3d(copy); }
hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D *copy, hipStream_t stream) {
    return on(stream, copy, copy_driver_3d);
}
hipError_t hipMemcpyParam2D(const hip_Memcpy2D *copy) { return copy_driver_2d(copy); }
hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D *copy) { return copy_driver_2d(copy); }
hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D *copy, hipStream_t stream) {
    return on(stream, copy, copy_driver_2d);
}
}
#pragma GCC visibility pop
