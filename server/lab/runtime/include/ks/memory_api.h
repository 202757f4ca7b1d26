// Memory: allocation, copies, fills, symbols. "Device" memory is ordinary memory; a copy is done when its call returns,
// unless its stream waits for a value (ks/stream_api.h) or is captured.
#pragma once
#pragma clang system_header
#include <ks/api_types.h>
#include <type_traits>

extern "C" {
hipError_t hipFree(void *pointer);
hipError_t hipHostFree(void *pointer);
hipError_t hipFreeHost(void *pointer);
hipError_t hipFreeAsync(void *pointer, hipStream_t stream);
hipError_t hipHostRegister(void *pointer, size_t bytes, unsigned flags);
hipError_t hipHostUnregister(void *pointer);
hipError_t hipHostGetDevicePointer(void **device, void *host, unsigned flags);
hipError_t hipHostGetFlags(unsigned *flags, void *host);
hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream = nullptr);
hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void *from, size_t bytes);
hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes);
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes);
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void *from, size_t bytes, hipStream_t stream);
hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes, hipStream_t stream);
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes, hipStream_t stream);
hipError_t hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes);
hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                              hipStream_t stream = nullptr);
hipError_t hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                       hipMemcpyKind kind);
hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                            hipMemcpyKind kind, hipStream_t stream = nullptr);
hipError_t hipMemset(void *to, int value, size_t bytes);
hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream = nullptr);
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count);
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count, hipStream_t stream = nullptr);
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count);
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count, hipStream_t stream = nullptr);
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count);
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream = nullptr);
hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width, size_t height);
hipError_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                            hipStream_t stream = nullptr);
hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes, int device, hipStream_t stream = nullptr);
hipError_t hipMemAdvise(const void *pointer, size_t bytes, hipMemoryAdvise advice, int device);
hipError_t hipMemGetInfo(size_t *free, size_t *total);
hipError_t hipMemPtrGetInfo(void *pointer, size_t *bytes);
hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *bytes, hipDeviceptr_t pointer);
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *pointer);

// The untyped forms behind the templates below, which take a pointer to a pointer of any type.
hipError_t ks_malloc(void **pointer, size_t bytes);
hipError_t ks_malloc_pitch(void **pointer, size_t *pitch, size_t width, size_t height);
hipError_t ks_host_malloc(void **pointer, size_t bytes, unsigned flags);
hipError_t ks_malloc_managed(void **pointer, size_t bytes, unsigned flags);
hipError_t ks_copy_symbol(void *symbol, size_t symbol_bytes, const void *from, void *to, size_t bytes, size_t offset,
                          hipMemcpyKind kind, bool asynchronous, hipStream_t stream);
hipError_t ks_symbol_address(void **pointer, const void *symbol);
hipError_t ks_symbol_size(size_t *bytes, const void *symbol, size_t symbol_bytes);
}

template <class T> static inline hipError_t hipMalloc(T **pointer, size_t bytes) {
    return ks_malloc((void **)pointer, bytes);
}
/// There is one kind of memory; a signal has 8 bytes, as HIP demands.
template <class T> static inline hipError_t hipExtMallocWithFlags(T **pointer, size_t bytes, unsigned flags) {
    if (flags > hipDeviceMallocContiguous || (flags == hipMallocSignalMemory && bytes != 8)) return hipErrorInvalidValue;
    return ks_malloc((void **)pointer, bytes);
}
template <class T>
static inline hipError_t hipMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height) {
    return ks_malloc_pitch((void **)pointer, pitch, width, height);
}
template <class T>
static inline hipError_t hipHostMalloc(T **pointer, size_t bytes, unsigned flags = hipHostMallocDefault) {
    return ks_host_malloc((void **)pointer, bytes, flags);
}
template <class T> static inline hipError_t hipHostAlloc(T **pointer, size_t bytes, unsigned flags) {
    return ks_host_malloc((void **)pointer, bytes, flags);
}
template <class T> static inline hipError_t hipMallocHost(T **pointer, size_t bytes) {
    return ks_host_malloc((void **)pointer, bytes, hipHostMallocDefault);
}
template <class T> static inline hipError_t hipMemAllocHost(T **pointer, size_t bytes) {
    return ks_host_malloc((void **)pointer, bytes, hipHostMallocDefault);
}
template <class T>
static inline hipError_t hipMallocManaged(T **pointer, size_t bytes, unsigned flags = hipMemAttachGlobal) {
    return ks_malloc_managed((void **)pointer, bytes, flags);
}

// The same for `NULL`, from which no template can tell a type.
static inline hipError_t hipMalloc(void **pointer, size_t bytes) { return ks_malloc(pointer, bytes); }
static inline hipError_t hipMallocAsync(void **pointer, size_t bytes, hipStream_t) { return ks_malloc(pointer, bytes); }
static inline hipError_t hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    return ks_malloc_pitch(pointer, pitch, width, height);
}
static inline hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags = hipHostMallocDefault) {
    return ks_host_malloc(pointer, bytes, flags);
}
static inline hipError_t hipHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    return ks_host_malloc(pointer, bytes, flags);
}
static inline hipError_t hipMallocHost(void **pointer, size_t bytes) {
    return ks_host_malloc(pointer, bytes, hipHostMallocDefault);
}
static inline hipError_t hipMallocManaged(void **pointer, size_t bytes, unsigned flags = hipMemAttachGlobal) {
    return ks_malloc_managed(pointer, bytes, flags);
}

namespace ks {

/// A device variable: given as the variable itself, or by its address.
struct Symbol {
    void *address;
    size_t bytes;

    template <class T> KS_INLINE Symbol(T &&symbol) {
        using Bare = std::remove_cv_t<std::remove_reference_t<T>>;
        if constexpr (std::is_same_v<Bare, void *> || std::is_same_v<Bare, const void *>) {
            address = const_cast<void *>(static_cast<const void *>(symbol));
            bytes = SIZE_MAX;
        } else if constexpr (std::is_pointer_v<Bare> && !std::is_lvalue_reference_v<T>) {
            address = const_cast<void *>(static_cast<const volatile void *>(symbol));
            bytes = sizeof(*symbol);
        } else {
            address = const_cast<void *>(static_cast<const volatile void *>(&symbol));
            bytes = sizeof(symbol);
        }
    }
};

} // namespace ks

static inline hipError_t hipMemcpyToSymbol(::ks::Symbol symbol, const void *from, size_t bytes, size_t offset = 0,
                                           hipMemcpyKind kind = hipMemcpyHostToDevice) {
    return ks_copy_symbol(symbol.address, symbol.bytes, from, nullptr, bytes, offset, kind, false, nullptr);
}
static inline hipError_t hipMemcpyToSymbolAsync(::ks::Symbol symbol, const void *from, size_t bytes, size_t offset,
                                                hipMemcpyKind kind, hipStream_t stream = nullptr) {
    return ks_copy_symbol(symbol.address, symbol.bytes, from, nullptr, bytes, offset, kind, true, stream);
}
static inline hipError_t hipMemcpyFromSymbol(void *to, ::ks::Symbol symbol, size_t bytes, size_t offset = 0,
                                             hipMemcpyKind kind = hipMemcpyDeviceToHost) {
    return ks_copy_symbol(symbol.address, symbol.bytes, nullptr, to, bytes, offset, kind, false, nullptr);
}
static inline hipError_t hipMemcpyFromSymbolAsync(void *to, ::ks::Symbol symbol, size_t bytes, size_t offset,
                                                  hipMemcpyKind kind, hipStream_t stream = nullptr) {
    return ks_copy_symbol(symbol.address, symbol.bytes, nullptr, to, bytes, offset, kind, true, stream);
}
static inline hipError_t hipGetSymbolAddress(void **pointer, ::ks::Symbol symbol) {
    return ks_symbol_address(pointer, symbol.address);
}
static inline hipError_t hipGetSymbolSize(size_t *bytes, ::ks::Symbol symbol) {
    return ks_symbol_size(bytes, symbol.address, symbol.bytes);
}
