// Streams that wait for a value in memory, or write one.
#include "allocations.h"
#include "errors.h"
#include "streams.h"
#include <ks/stream_api.h>

namespace ks {
namespace {

template <class T> bool holds(T found, T value, unsigned how) {
    switch (how) {
    case hipStreamWaitValueGte: return static_cast<std::make_signed_t<T>>(found - value) >= 0;
    case hipStreamWaitValueEq: return found == value;
    case hipStreamWaitValueAnd: return (found & value) != 0;
    default: return static_cast<T>(~(found | value)) != 0;
    }
}

template <class T> hipError_t wait_value(hipStream_t handle, void *pointer, T value, unsigned how, T mask) {
    if (pointer == nullptr || how > hipStreamWaitValueNor || !allocations().accessible(pointer, sizeof(T))) {
        return remember(hipErrorInvalidValue);
    }
    ihipStream_t *stream = find_stream(handle);
    if (stream == nullptr || stream->capture != nullptr) {
        return check_stream(handle);
    }
    hold(*stream, nullptr, [=] {
        return holds<T>(__atomic_load_n(static_cast<T *>(pointer), __ATOMIC_ACQUIRE) & mask, value & mask, how);
    });
    return hipSuccess;
}

template <class T> hipError_t write_value(hipStream_t handle, void *pointer, T value, unsigned flags) {
    if (pointer == nullptr || flags != 0 || !allocations().accessible(pointer, sizeof(T))) {
        return remember(hipErrorInvalidValue);
    }
    ihipStream_t *stream = find_stream(handle);
    if (stream == nullptr || stream->capture != nullptr) {
        return check_stream(handle);
    }
    return submit(handle, CallWork{hipGraphNodeTypeMemset, [=] {
                                       __atomic_store_n(static_cast<T *>(pointer), value, __ATOMIC_RELEASE);
                                       return hipSuccess;
                                   }});
}

} // namespace
} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipStreamWaitValue32(hipStream_t stream, void *pointer, uint32_t value, unsigned flags, uint32_t mask) {
    return wait_value<uint32_t>(stream, pointer, value, flags, mask);
}
hipError_t hipStreamWaitValue64(hipStream_t stream, void *pointer, uint64_t value, unsigned flags, uint64_t mask) {
    return wait_value<uint64_t>(stream, pointer, value, flags, mask);
}
hipError_t hipStreamWriteValue32(hipStream_t stream, void *pointer, uint32_t value, unsigned flags) {
    return write_value<uint32_t>(stream, pointer, value, flags);
}
hipError_t hipStreamWriteValue64(hipStream_t stream, void *pointer, uint64_t value, unsigned flags) {
    return write_value<uint64_t>(stream, pointer, value, flags);
}
}
#pragma GCC visibility pop
