// The memory calls. Allocations are known by address, so that a wrong pointer or size is told as HIP tells it.
#include "allocations.h"
#include "copy_kind.h"
#include "errors.h"
#include "memory_size.h"
#include "capture.h"
#include "pools.h"
#include "streams.h"
#include <dlfcn.h>
#include <ks/memory_api.h>
#include <string.h>

namespace ks {
namespace {

hipError_t copy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
    if (const hipError_t error = check_synchronous_call(); error != hipSuccess) {
        return error;
    }
    if (const hipError_t error = check_copy(to, from, bytes, kind); error != hipSuccess || bytes == 0) {
        return remember(error);
    }
    if (const hipError_t error = check_stream(nullptr); error != hipSuccess) {
        return error;
    }
    memmove(to, from, bytes);
    return hipSuccess;
}

hipError_t copy_on(hipStream_t stream, void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
    const hipError_t error = check_copy(to, from, bytes, kind);
    return error != hipSuccess ? remember(error) : submit(stream, CopyWork{to, from, bytes, kind});
}

/// Issues a call that was checked, as a node of `type` where the stream is captured.
template <class Call> hipError_t call_on(hipStream_t stream, hipGraphNodeType type, Call call) {
    return submit(stream, CallWork{type, call});
}

/// The bytes from the first row's begin to the last row's end; more than any memory has where there is no such number.
size_t span(size_t pitch, size_t width, size_t height) {
    size_t bytes = 0;
    const bool fits = !__builtin_mul_overflow(pitch, height - 1, &bytes) && !__builtin_add_overflow(bytes, width, &bytes);
    return fits ? bytes : SIZE_MAX;
}

hipError_t check_rows(const void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                      size_t height, hipMemcpyKind kind) {
    if (!valid_kind(kind)) {
        return hipErrorInvalidMemcpyDirection;
    }
    if (width == 0 || height == 0) {
        return hipSuccess;
    }
    if (width > to_pitch || width > from_pitch) {
        return hipErrorInvalidPitchValue;
    }
    const bool right = allocations().accessible(to, span(to_pitch, width, height)) &&
                       allocations().accessible(from, span(from_pitch, width, height));
    return right ? hipSuccess : hipErrorInvalidValue;
}

hipError_t copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                     hipMemcpyKind kind) {
    const hipError_t error = check_rows(to, to_pitch, from, from_pitch, width, height, kind);
    if (error != hipSuccess || width == 0) {
        return remember(error);
    }
    for (size_t row = 0; row < height; ++row) {
        memmove(static_cast<char *>(to) + row * to_pitch, static_cast<const char *>(from) + row * from_pitch, width);
    }
    return hipSuccess;
}

template <class T> hipError_t fill(void *to, T value, size_t count) {
    if (count == 0) {
        return hipSuccess;
    }
    if (count > SIZE_MAX / sizeof(T) || !allocations().accessible(to, count * sizeof(T)) ||
        reinterpret_cast<uintptr_t>(to) % sizeof(T) != 0) {
        return remember(hipErrorInvalidValue);
    }
    T *out = static_cast<T *>(to);
    for (size_t i = 0; i < count; ++i) {
        out[i] = value;
    }
    return hipSuccess;
}
template <class T> hipError_t fill_on(hipStream_t stream, void *to, T value, size_t count) {
    if (count == 0) {
        return find_stream(stream) != nullptr ? hipSuccess : remember(hipErrorContextIsDestroyed);
    }
    const FillWork work{{to, sizeof(T), 1, count * sizeof(T), static_cast<unsigned>(value), count}};
    const bool aligned = reinterpret_cast<uintptr_t>(to) % sizeof(T) == 0;
    const hipError_t error = aligned ? check_fill(work.params) : hipErrorInvalidValue;
    return error != hipSuccess ? remember(error) : submit(stream, work);
}
template <class T> hipError_t fill_now(void *to, T value, size_t count) {
    const hipError_t error = begin_synchronous();
    return error != hipSuccess ? error : fill(to, value, count);
}

hipError_t fill_rows(void *to, size_t pitch, int value, size_t width, size_t height) {
    if (width == 0 || height == 0) {
        return hipSuccess;
    }
    if (width > pitch || !allocations().accessible(to, span(pitch, width, height))) {
        return remember(hipErrorInvalidValue);
    }
    for (size_t row = 0; row < height; ++row) {
        memset(static_cast<char *>(to) + row * pitch, value, width);
    }
    return hipSuccess;
}

/// Whether a device variable can be at `address`: it is the program's static data, never on a stack or allocated.
bool is_static_data(const void *address) {
    Dl_info info;
    return address != nullptr && dladdr(address, &info) != 0;
}

bool is_device(hipMemoryType type) { return type == hipMemoryTypeDevice || type == hipMemoryTypeManaged; }
bool is_host(hipMemoryType type) { return type == hipMemoryTypeHost; }

} // namespace
} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t ks_malloc(void **pointer, size_t bytes) {
    if (const hipError_t error = check_unsafe_call(); error != hipSuccess) {
        return error;
    }
    return allocations().allocate(pointer, bytes, hipMemoryTypeDevice, 0);
}
hipError_t ks_malloc_managed(void **pointer, size_t bytes, unsigned flags) {
    if (flags != hipMemAttachGlobal && flags != hipMemAttachHost) {
        return remember(hipErrorInvalidValue);
    }
    if (const hipError_t error = check_unsafe_call(); error != hipSuccess) {
        return error;
    }
    return allocations().allocate(pointer, bytes, hipMemoryTypeManaged, flags);
}
hipError_t ks_host_malloc(void **pointer, size_t bytes, unsigned flags) {
    constexpr unsigned kCoherence = hipHostMallocCoherent | hipHostMallocNonCoherent;
    constexpr unsigned kKnown = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined |
                                hipHostMallocNumaUser | kCoherence;
    if ((flags & ~kKnown) != 0 || (flags & kCoherence) == kCoherence) {
        if (pointer != nullptr) {
            *pointer = nullptr;
        }
        return remember(hipErrorInvalidValue);
    }
    if (const hipError_t error = check_unsafe_call(); error != hipSuccess) {
        return error;
    }
    return allocations().allocate(pointer, bytes, hipMemoryTypeHost, flags);
}
hipError_t ks_malloc_pitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    if (pointer == nullptr || pitch == nullptr || width > SIZE_MAX / 2) {
        return remember(hipErrorInvalidValue);
    }
    *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    if (height != 0 && *pitch > SIZE_MAX / height) {
        return remember(hipErrorOutOfMemory);
    }
    return ks_malloc(pointer, *pitch * height);
}
// Freeing waits for all work, as on devices.
hipError_t hipFree(void *pointer) {
    if (const hipError_t error = check_unsafe_call(); error != hipSuccess) {
        return error;
    }
    backlog().wait_for_all();
    const hipError_t error = allocations().release(pointer, is_device);
    if (error == hipSuccess) {
        strike_out(pointer);
    }
    return error;
}
hipError_t hipHostFree(void *pointer) {
    if (const hipError_t error = check_unsafe_call(); error != hipSuccess) {
        return error;
    }
    backlog().wait_for_all();
    return allocations().release(pointer, is_host);
}
hipError_t hipFreeHost(void *pointer) { return hipHostFree(pointer); }

hipError_t hipHostRegister(void *pointer, size_t bytes, unsigned flags) {
    return allocations().add_registered(pointer, bytes, flags);
}
hipError_t hipHostUnregister(void *pointer) { return allocations().remove_registered(pointer); }
hipError_t hipHostGetDevicePointer(void **device, void *host, unsigned) {
    uintptr_t base = 0;
    if (device == nullptr || !is_host(allocations().find(host, &base).type)) {
        return remember(hipErrorInvalidValue);
    }
    *device = host;
    return hipSuccess;
}
hipError_t hipHostGetFlags(unsigned *flags, void *host) {
    uintptr_t base = 0;
    const Allocation found = allocations().find(host, &base);
    if (flags == nullptr || !is_host(found.type)) {
        return remember(hipErrorInvalidValue);
    }
    *flags = found.flags;
    return hipSuccess;
}

hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
    return copy(to, from, bytes, kind);
}
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
    return copy_on(stream, to, from, bytes, kind);
}
hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
    const hipError_t error = check_stream(stream);
    return error != hipSuccess ? error : copy(to, from, bytes, kind);
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void *from, size_t bytes) {
    return copy(to, from, bytes, hipMemcpyHostToDevice);
}
hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes) {
    return copy(to, from, bytes, hipMemcpyDeviceToHost);
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
    return copy(to, from, bytes, hipMemcpyDeviceToDevice);
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void *from, size_t bytes, hipStream_t stream) {
    return copy_on(stream, to, from, bytes, hipMemcpyHostToDevice);
}
hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
    return copy_on(stream, to, from, bytes, hipMemcpyDeviceToHost);
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
    return copy_on(stream, to, from, bytes, hipMemcpyDeviceToDevice);
}
hipError_t hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    if (to_device != 0 || from_device != 0) {
        return remember(hipErrorInvalidDevice);
    }
    return copy(to, from, bytes, hipMemcpyDeviceToDevice);
}
hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                              hipStream_t stream) {
    if (to_device != 0 || from_device != 0) {
        return remember(hipErrorInvalidDevice);
    }
    return copy_on(stream, to, from, bytes, hipMemcpyDeviceToDevice);
}
hipError_t hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                       hipMemcpyKind kind) {
    const hipError_t error = begin_synchronous();
    return error != hipSuccess ? error : copy_rows(to, to_pitch, from, from_pitch, width, height, kind);
}
hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                            hipMemcpyKind kind, hipStream_t stream) {
    const hipError_t error = check_rows(to, to_pitch, from, from_pitch, width, height, kind);
    return error != hipSuccess ? remember(error) : call_on(stream, hipGraphNodeTypeMemcpy, [=] {
        return copy_rows(to, to_pitch, from, from_pitch, width, height, kind);
    });
}

hipError_t hipMemset(void *to, int value, size_t bytes) {
    if (const hipError_t error = begin_synchronous(); error != hipSuccess || bytes == 0) {
        return error;
    }
    if (!allocations().accessible(to, bytes)) {
        return remember(hipErrorInvalidValue);
    }
    memset(to, value, bytes);
    return hipSuccess;
}
hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream) {
    return fill_on(stream, to, static_cast<unsigned char>(value), bytes);
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) { return fill_now(to, value, count); }
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count, hipStream_t stream) {
    return fill_on(stream, to, value, count);
}
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) { return fill_now(to, value, count); }
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count, hipStream_t stream) {
    return fill_on(stream, to, value, count);
}
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) { return fill_now(to, value, count); }
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream) {
    return fill_on(stream, to, value, count);
}
hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    const hipError_t error = begin_synchronous();
    return error != hipSuccess ? error : fill_rows(to, pitch, value, width, height);
}
hipError_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
    if (width == 0 || height == 0) {
        return find_stream(stream) != nullptr ? hipSuccess : remember(hipErrorContextIsDestroyed);
    }
    const unsigned byte = static_cast<unsigned char>(value);
    const FillWork work{{to, 1, height, pitch, byte, width}};
    const hipError_t error = width > pitch ? hipErrorInvalidValue : check_fill(work.params);
    return error != hipSuccess ? remember(error) : submit(stream, work);
}

// Advice about where memory should be has no effect where there is one memory; what it is about must still exist.
hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes, int device, hipStream_t stream) {
    if (device != 0 && device != hipCpuDeviceId) {
        return remember(hipErrorInvalidDevice);
    }
    if (bytes == 0 || !allocations().accessible(pointer, bytes)) {
        return remember(hipErrorInvalidValue);
    }
    return check_stream(stream);
}
hipError_t hipMemAdvise(const void *pointer, size_t bytes, hipMemoryAdvise, int device) {
    if (device != 0 && device != hipCpuDeviceId) {
        return remember(hipErrorInvalidDevice);
    }
    return bytes != 0 && allocations().accessible(pointer, bytes) ? hipSuccess : remember(hipErrorInvalidValue);
}
hipError_t hipMemGetInfo(size_t *free, size_t *total) {
    if (free == nullptr || total == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *total = total_memory();
    const size_t used = allocations().used();
    *free = *total > used ? *total - used : 0;
    return hipSuccess;
}
hipError_t hipMemPtrGetInfo(void *pointer, size_t *bytes) {
    uintptr_t base = 0;
    const Allocation found = allocations().find(pointer, &base);
    if (bytes == nullptr || found.bytes == 0) {
        return remember(hipErrorInvalidValue);
    }
    *bytes = found.bytes;
    return hipSuccess;
}
hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *bytes, hipDeviceptr_t pointer) {
    uintptr_t begin = 0;
    const Allocation found = allocations().find(pointer, &begin);
    if (found.bytes == 0) {
        return remember(hipErrorNotFound);
    }
    if (base != nullptr) {
        *base = reinterpret_cast<void *>(begin);
    }
    if (bytes != nullptr) {
        *bytes = found.bytes;
    }
    return hipSuccess;
}
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *pointer) {
    if (attributes == nullptr || pointer == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    uintptr_t base = 0;
    const Allocation found = allocations().find(pointer, &base);
    if (found.bytes == 0) {
        *attributes = {};
        attributes->type = hipMemoryTypeUnregistered;
        attributes->device = hipInvalidDeviceId;
        return remember(hipErrorInvalidValue);
    }
    void *address = const_cast<void *>(pointer);
    *attributes = {};
    attributes->type = found.type;
    attributes->devicePointer = address;
    attributes->hostPointer = found.type == hipMemoryTypeDevice ? nullptr : address;
    attributes->isManaged = found.type == hipMemoryTypeManaged;
    attributes->allocationFlags = found.flags;
    return hipSuccess;
}

hipError_t ks_copy_symbol(void *symbol, size_t symbol_bytes, const void *from, void *to, size_t bytes, size_t offset,
                          hipMemcpyKind kind, bool asynchronous, hipStream_t stream) {
    if (!is_static_data(symbol)) {
        return remember(hipErrorInvalidSymbol);
    }
    if (offset > symbol_bytes || bytes > symbol_bytes - offset) {
        return remember(hipErrorInvalidValue);
    }
    const bool writes = from != nullptr;
    const hipMemcpyKind refused = writes ? hipMemcpyDeviceToHost : hipMemcpyHostToDevice;
    if (kind == refused || kind == hipMemcpyHostToHost || !valid_kind(kind)) {
        return remember(hipErrorInvalidMemcpyDirection);
    }
    char *at = static_cast<char *>(symbol) + offset;
    void *target = writes ? at : to;
    const void *source = writes ? from : at;
    return asynchronous ? copy_on(stream, target, source, bytes, kind) : copy(target, source, bytes, kind);
}
hipError_t ks_symbol_address(void **pointer, const void *symbol) {
    if (pointer == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (!is_static_data(symbol)) {
        return remember(hipErrorInvalidSymbol);
    }
    *pointer = const_cast<void *>(symbol);
    return hipSuccess;
}
hipError_t ks_symbol_size(size_t *bytes, const void *symbol, size_t symbol_bytes) {
    if (bytes == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (!is_static_data(symbol)) {
        return remember(hipErrorInvalidSymbol);
    }
    *bytes = symbol_bytes;
    return hipSuccess;
}
}
#pragma GCC visibility pop
