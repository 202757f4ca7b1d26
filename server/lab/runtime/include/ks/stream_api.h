// Streams and events. Work is done in the order in which it is issued, and is done when its call returns. Only behind a
// wait for a value that is not there yet does work stay behind, and what depends on it: later work of that stream, streams
// that wait for its events, and the legacy default stream, as far as streams are not non-blocking.
#pragma once
#pragma clang system_header
#include <ks/api_types.h>

extern "C" {
hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags);
hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority);
hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest);
/// The mask of compute units changes nothing here.
hipError_t hipExtStreamCreateWithCUMask(hipStream_t *stream, uint32_t words, const uint32_t *mask);
/// The mask that the stream was created with, zeros after it; of other streams the bits of all multiprocessors. `words` must hold
/// a bit for each multiprocessor.
hipError_t hipExtStreamGetCUMask(hipStream_t stream, uint32_t words, uint32_t *mask);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags = 0);
/// Managed memory is reachable from everywhere anyway.
hipError_t hipStreamAttachMemAsync(hipStream_t stream, void *pointer, size_t bytes = 0, unsigned flags = hipMemAttachSingle);
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags);
hipError_t hipStreamGetPriority(hipStream_t stream, int *priority);
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device);
/// Work issued to the stream from now on waits until `*pointer & mask` compares with `value` as `flags` says.
hipError_t hipStreamWaitValue32(hipStream_t stream, void *pointer, uint32_t value, unsigned flags,
                                uint32_t mask = 0xffffffffu);
hipError_t hipStreamWaitValue64(hipStream_t stream, void *pointer, uint64_t value, unsigned flags,
                                uint64_t mask = 0xffffffffffffffffull);
hipError_t hipStreamWriteValue32(hipStream_t stream, void *pointer, uint32_t value, unsigned flags);
hipError_t hipStreamWriteValue64(hipStream_t stream, void *pointer, uint64_t value, unsigned flags);
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *user_data, unsigned flags);
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void *user_data);

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = nullptr);
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream = nullptr, unsigned flags = 0);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventQuery(hipEvent_t event);
/// Milliseconds on the host's monotonic clock between two recorded events.
hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop);
hipError_t hipEventDestroy(hipEvent_t event);
}
static inline hipError_t hipEventCreate(hipEvent_t *event, unsigned flags = hipEventDefault) {
    return hipEventCreateWithFlags(event, flags);
}
/// The device of a stream, -1 for what is no stream.
static inline int hipGetStreamDeviceId(hipStream_t stream) {
    hipDevice_t device = -1;
    return hipStreamGetDevice(stream, &device) == hipSuccess ? device : -1;
}
