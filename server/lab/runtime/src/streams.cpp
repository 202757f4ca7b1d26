#include "streams.h"
#include "capture.h"
#include "errors.h"
#include "handles.h"
#include "pool.h"
#include <algorithm>
#include <ks/stream_api.h>

namespace ks {
namespace {

constexpr int kLeastPriority = 1, kGreatestPriority = -1;

Handles<ihipStream_t> &streams() {
    static auto *const all = new Handles<ihipStream_t>;
    return *all;
}
ihipStream_t *legacy_stream() {
    static auto *const stream = new ihipStream_t{hipStreamDefault, 0};
    return stream;
}
/// The calling thread's default stream, which lives on after the thread: its events may still be asked.
ihipStream_t *thread_stream() {
    static __thread ihipStream_t *stream;
    if (stream == nullptr) {
        stream = streams().add(new ihipStream_t{hipStreamDefault, 0});
    }
    return stream;
}

hipError_t find(hipStream_t handle, ihipStream_t **stream) {
    *stream = find_stream(handle);
    return *stream != nullptr ? hipSuccess : remember(hipErrorContextIsDestroyed);
}

hipError_t create_stream(hipStream_t *stream, unsigned flags, int priority) {
    if (stream == nullptr || (flags != hipStreamDefault && flags != hipStreamNonBlocking)) {
        return remember(hipErrorInvalidValue);
    }
    priority = priority > kLeastPriority ? kLeastPriority : priority < kGreatestPriority ? kGreatestPriority : priority;
    *stream = streams().add(new ihipStream_t{flags, priority});
    return hipSuccess;
}

/// What work on this stream comes after: the stream's own, and across the legacy stream and all that are not non-blocking.
std::vector<Ticket> work_before(const ihipStream_t &stream) {
    std::vector<Ticket> before;
    const auto add = [&before](const ihipStream_t &other) {
        if (!is_done(other.last)) {
            before.push_back(other.last);
        }
    };
    add(stream);
    if (is_legacy(&stream)) {
        streams().for_each([&add](const ihipStream_t *other) {
            if (other->flags != hipStreamNonBlocking) {
                add(*other);
            }
        });
    } else if (stream.flags != hipStreamNonBlocking) {
        add(*legacy_stream());
    }
    return before;
}

/// Asking for a stream's state, while another one's capture forbids that: not part of it, and not the legacy stream.
hipError_t check_waiting(hipStream_t handle) {
    const ihipStream_t *stream = find_stream(handle);
    const bool concerned = stream != nullptr && stream->capture == nullptr && !is_legacy(stream);
    return concerned ? check_unsafe_call() : hipSuccess;
}

/// Adds to the backlog and runs what has become ready.
void put_off(ihipStream_t &stream, Work work, std::vector<Ticket> after, std::function<bool()> condition) {
    for (Ticket &ticket : work_before(stream)) {
        after.push_back(std::move(ticket));
    }
    stream.last = backlog().add(std::move(work), std::move(after), std::move(condition));
    backlog().advance();
}

/// Waits until everything is done that a call on this stream comes after.
void finish(const ihipStream_t &stream) {
    for (const Ticket &ticket : work_before(stream)) {
        backlog().wait_for(ticket);
    }
}

} // namespace

ihipStream_t *find_stream(hipStream_t handle) {
    if (handle == nullptr || handle == hipStreamLegacy) {
        return legacy_stream();
    }
    if (handle == hipStreamPerThread) {
        return thread_stream();
    }
    return streams().contains(handle) ? handle : nullptr;
}
bool is_legacy(const ihipStream_t *stream) { return stream == legacy_stream(); }

bool runs_at_once(hipStream_t handle, hipError_t *error) {
    ihipStream_t *stream = nullptr;
    *error = find(handle, &stream);
    if (*error == hipSuccess && is_legacy(stream)) {
        *error = check_synchronous_call();
    }
    return *error == hipSuccess && stream->capture == nullptr && backlog().empty();
}

hipError_t submit(hipStream_t handle, Work work) {
    hipError_t error = hipSuccess;
    if (runs_at_once(handle, &error)) {
        return run(work);
    }
    if (error != hipSuccess) {
        return error;
    }
    ihipStream_t &stream = *find_stream(handle);
    if (stream.capture != nullptr) {
        return remember(capture_work(stream, std::move(work)));
    }
    put_off(stream, std::move(work), {}, {});
    return hipSuccess;
}

void hold(ihipStream_t &stream, const Ticket &ticket, std::function<bool()> condition) {
    put_off(stream, EmptyWork{}, {ticket}, std::move(condition));
}

hipError_t check_stream(hipStream_t handle) {
    ihipStream_t *stream = nullptr;
    if (const hipError_t error = find(handle, &stream); error != hipSuccess) {
        return error;
    }
    if (stream->capture != nullptr) {
        invalidate(*stream->capture);
        return remember(hipErrorStreamCaptureUnsupported);
    }
    finish(*stream);
    return hipSuccess;
}

hipError_t begin_synchronous() {
    const hipError_t error = check_synchronous_call();
    return error != hipSuccess ? error : check_stream(nullptr);
}

} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipStreamCreate(hipStream_t *stream) { return create_stream(stream, hipStreamDefault, 0); }
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) { return create_stream(stream, flags, 0); }
hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority) {
    return create_stream(stream, flags, priority);
}
hipError_t hipExtStreamCreateWithCUMask(hipStream_t *stream, uint32_t words, const uint32_t *mask) {
    if (words == 0 || mask == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    const hipError_t error = create_stream(stream, hipStreamDefault, 0);
    if (error == hipSuccess) {
        (*stream)->unit_mask.assign(mask, mask + words);
    }
    return error;
}
hipError_t hipExtStreamGetCUMask(hipStream_t handle, uint32_t words, uint32_t *mask) {
    const unsigned units = thread_count();
    if (mask == nullptr || words < (units + 31) / 32) {
        return remember(hipErrorInvalidValue);
    }
    const ihipStream_t *stream = find_stream(handle);
    if (stream == nullptr) {
        return remember(hipErrorContextIsDestroyed);
    }
    std::fill_n(mask, words, 0u);
    if (!stream->unit_mask.empty()) {
        std::copy_n(stream->unit_mask.begin(), std::min<size_t>(words, stream->unit_mask.size()), mask);
        return hipSuccess;
    }
    for (unsigned unit = 0; unit < units; ++unit) {
        mask[unit / 32] |= 1u << unit % 32;
    }
    return hipSuccess;
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
    if (stream == nullptr || stream == hipStreamLegacy || stream == hipStreamPerThread) {
        return remember(hipErrorInvalidResourceHandle);
    }
    if (!streams().contains(stream)) {
        return remember(hipErrorContextIsDestroyed);
    }
    if (stream->capture != nullptr) {
        if (stream->capture->origin != stream) {
            return remember(hipErrorStreamCaptureUnsupported);
        }
        forget_stream(stream);
    }
    finish(*stream);
    if (streams().remove(stream)) {
        delete stream;
    }
    return hipSuccess;
}
hipError_t hipStreamSynchronize(hipStream_t stream) {
    if (find_stream(stream) == find_stream(nullptr)) {
        if (const hipError_t error = check_device_wide_call(); error != hipSuccess) {
            return error;
        }
    }
    const hipError_t error = check_waiting(stream);
    return error != hipSuccess ? error : check_stream(stream);
}
hipError_t hipStreamQuery(hipStream_t handle) {
    ihipStream_t *stream = nullptr;
    if (const hipError_t error = find(handle, &stream); error != hipSuccess) {
        return error;
    }
    if (is_legacy(stream)) {
        if (const hipError_t error = check_synchronous_call(); error != hipSuccess) {
            return error;
        }
    }
    if (stream->capture != nullptr) {
        return check_stream(handle);
    }
    if (const hipError_t error = check_waiting(handle); error != hipSuccess) {
        return error;
    }
    backlog().advance();
    return work_before(*stream).empty() ? hipSuccess : hipErrorNotReady;
}
hipError_t hipStreamAttachMemAsync(hipStream_t stream, void *pointer, size_t, unsigned flags) {
    const bool one = flags == hipMemAttachGlobal || flags == hipMemAttachHost || flags == hipMemAttachSingle;
    if (pointer == nullptr || !one) {
        return remember(hipErrorInvalidValue);
    }
    return check_stream(stream);
}
hipError_t hipStreamGetFlags(hipStream_t handle, unsigned *flags) {
    ihipStream_t *stream = nullptr;
    if (flags == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (const hipError_t error = find(handle, &stream); error != hipSuccess) {
        return error;
    }
    *flags = stream->flags;
    return hipSuccess;
}
hipError_t hipStreamGetPriority(hipStream_t handle, int *priority) {
    ihipStream_t *stream = nullptr;
    if (priority == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (const hipError_t error = find(handle, &stream); error != hipSuccess) {
        return error;
    }
    *priority = stream->priority;
    return hipSuccess;
}
hipError_t hipStreamGetDevice(hipStream_t handle, hipDevice_t *device) {
    ihipStream_t *stream = nullptr;
    if (device == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *device = 0;
    return find(handle, &stream);
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *user_data, unsigned flags) {
    if (callback == nullptr || flags != 0) {
        return remember(hipErrorInvalidValue);
    }
    return submit(stream, CallWork{hipGraphNodeTypeHost, [=] {
                                       callback(stream, hipSuccess, user_data);
                                       return hipSuccess;
                                   }});
}
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void *user_data) {
    if (function == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    return submit(stream, HostWork{{function, user_data}});
}
}
#pragma GCC visibility pop
