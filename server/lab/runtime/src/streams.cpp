#include "errors.h"
#include "streams.h"
#include <ks/stream_api.h>
#include <mutex>
#include <set>
#include <time.h>

struct ihipStream_t {
    unsigned flags;
    int priority;
};
struct ihipEvent_t {
    unsigned flags;
    bool recorded;
    timespec at;
};

namespace ks {
namespace {

constexpr int kLeastPriority = 1, kGreatestPriority = -1;

/// Handles that are alive, so that a destroyed or invented one is told and not followed.
template <class T> class Handles {
  public:
    T *add(T *handle) {
        const std::lock_guard<std::mutex> lock(mutex_);
        alive_.insert(handle);
        return handle;
    }
    bool contains(T *handle) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return alive_.count(handle) != 0;
    }
    bool remove(T *handle) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return alive_.erase(handle) != 0;
    }

  private:
    std::mutex mutex_;
    std::set<T *> alive_;
};
Handles<ihipStream_t> &streams() {
    static auto *const all = new Handles<ihipStream_t>;
    return *all;
}
Handles<ihipEvent_t> &events() {
    static auto *const all = new Handles<ihipEvent_t>;
    return *all;
}

bool is_default(hipStream_t stream) {
    return stream == nullptr || stream == hipStreamLegacy || stream == hipStreamPerThread;
}
hipError_t check(hipStream_t stream) {
    return is_default(stream) || streams().contains(stream) ? hipSuccess : remember(hipErrorInvalidHandle);
}
hipError_t check(hipEvent_t event) {
    return event != nullptr && events().contains(event) ? hipSuccess : remember(hipErrorInvalidHandle);
}

hipError_t create_stream(hipStream_t *stream, unsigned flags, int priority) {
    if (stream == nullptr || (flags != hipStreamDefault && flags != hipStreamNonBlocking)) {
        return remember(hipErrorInvalidValue);
    }
    priority = priority > kLeastPriority ? kLeastPriority : priority < kGreatestPriority ? kGreatestPriority : priority;
    *stream = streams().add(new ihipStream_t{flags, priority});
    return hipSuccess;
}

double milliseconds(timespec t) { return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6; }

} // namespace

hipError_t check_stream(hipStream_t stream) { return check(stream); }

} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipStreamCreate(hipStream_t *stream) { return create_stream(stream, hipStreamDefault, 0); }
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) { return create_stream(stream, flags, 0); }
hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority) {
    return create_stream(stream, flags, priority);
}
hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least != nullptr) {
        *least = kLeastPriority;
    }
    if (greatest != nullptr) {
        *greatest = kGreatestPriority;
    }
    return hipSuccess;
}
hipError_t hipStreamDestroy(hipStream_t stream) {
    if (stream == nullptr || !streams().remove(stream)) {
        return remember(hipErrorInvalidHandle);
    }
    delete stream;
    return hipSuccess;
}
hipError_t hipStreamSynchronize(hipStream_t stream) { return check(stream); }
hipError_t hipStreamQuery(hipStream_t stream) { return check(stream); }
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
    if (flags != 0) {
        return remember(hipErrorInvalidValue);
    }
    const hipError_t error = check(stream);
    return error != hipSuccess ? error : check(event);
}
hipError_t hipStreamAttachMemAsync(hipStream_t stream, void *pointer, size_t, unsigned flags) {
    if (pointer == nullptr || flags == 0 || flags > (hipMemAttachGlobal | hipMemAttachHost | hipMemAttachSingle)) {
        return remember(hipErrorInvalidValue);
    }
    return check(stream);
}
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags) {
    if (flags == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (const hipError_t error = check(stream); error != hipSuccess) {
        return error;
    }
    *flags = is_default(stream) ? hipStreamDefault : stream->flags;
    return hipSuccess;
}
hipError_t hipStreamGetPriority(hipStream_t stream, int *priority) {
    if (priority == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (const hipError_t error = check(stream); error != hipSuccess) {
        return error;
    }
    *priority = is_default(stream) ? 0 : stream->priority;
    return hipSuccess;
}
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device) {
    if (device == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *device = 0;
    return check(stream);
}
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *user_data, unsigned flags) {
    if (callback == nullptr || flags != 0) {
        return remember(hipErrorInvalidValue);
    }
    if (const hipError_t error = check(stream); error != hipSuccess) {
        return error;
    }
    callback(stream, hipSuccess, user_data);
    return hipSuccess;
}
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void *user_data) {
    if (function == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (const hipError_t error = check(stream); error != hipSuccess) {
        return error;
    }
    function(user_data);
    return hipSuccess;
}

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
    constexpr unsigned known = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess |
                               hipEventReleaseToDevice | hipEventReleaseToSystem | hipEventDisableSystemFence;
    if (event == nullptr || (flags & ~known) != 0) {
        return remember(hipErrorInvalidValue);
    }
    *event = events().add(new ihipEvent_t{flags, false, {}});
    return hipSuccess;
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
    if (const hipError_t error = check(event); error != hipSuccess) {
        return error;
    }
    if (const hipError_t error = check(stream); error != hipSuccess) {
        return error;
    }
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    event->recorded = true;
    return hipSuccess;
}
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned flags) {
    return flags == 0 ? hipEventRecord(event, stream) : remember(hipErrorInvalidValue);
}
hipError_t hipEventSynchronize(hipEvent_t event) { return check(event); }
hipError_t hipEventQuery(hipEvent_t event) { return check(event); }
hipError_t hipEventElapsedTime(float *out, hipEvent_t start, hipEvent_t stop) {
    if (out == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (check(start) != hipSuccess || check(stop) != hipSuccess) {
        return hipErrorInvalidHandle;
    }
    if (!start->recorded || !stop->recorded || ((start->flags | stop->flags) & hipEventDisableTiming) != 0) {
        return remember(hipErrorInvalidHandle);
    }
    *out = static_cast<float>(milliseconds(stop->at) - milliseconds(start->at));
    return hipSuccess;
}
hipError_t hipEventDestroy(hipEvent_t event) {
    if (event == nullptr || !events().remove(event)) {
        return remember(hipErrorInvalidHandle);
    }
    delete event;
    return hipSuccess;
}
}
#pragma GCC visibility pop
