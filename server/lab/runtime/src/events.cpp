#include "events.h"
#include "capture.h"
#include "errors.h"
#include "handles.h"
#include <atomic>
#include <ks/stream_api.h>
#include <time.h>

struct ks::EventRecord {
    std::atomic<bool> happened{false};
    timespec at = {};
};

struct ihipEvent_t {
    unsigned flags;
    std::shared_ptr<ks::EventRecord> record = std::make_shared<ks::EventRecord>();
    ks::Ticket ticket = {};                     ///< of the record, while it is put off
    std::shared_ptr<ks::Capture> capture = {};  ///< in which it was recorded last
    std::vector<hipGraphNode_t> tips = {};      ///< what it stands for there
};

namespace ks {
namespace {

Handles<ihipEvent_t> &events() {
    static auto *const all = new Handles<ihipEvent_t>;
    return *all;
}

hipError_t check(hipEvent_t event) {
    return event != nullptr && events().contains(event) ? hipSuccess : remember(hipErrorInvalidHandle);
}

/// An event of a capture that goes on has no time and no state.
hipError_t check_uncaptured(hipEvent_t event) {
    if (const hipError_t error = check(event); error != hipSuccess) {
        return error;
    }
    if (event->capture == nullptr || event->capture->graph == nullptr) {
        return hipSuccess;
    }
    invalidate(*event->capture);
    return remember(hipErrorCapturedEvent);
}

double milliseconds(timespec t) { return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6; }

hipError_t record(hipEvent_t event, hipStream_t handle, bool external) {
    if (const hipError_t error = check(event); error != hipSuccess) {
        return error;
    }
    ihipStream_t *stream = find_stream(handle);
    if (stream == nullptr) {
        return remember(hipErrorContextIsDestroyed);
    }
    if (stream->capture != nullptr && !external) {
        event->capture = stream->capture;
        event->tips = stream->tips;
        return hipSuccess;
    }
    event->capture = nullptr;
    event->tips.clear();
    const hipError_t error = submit(handle, RecordWork{event});
    event->ticket = stream->last;
    return error;
}

} // namespace

bool is_event(hipEvent_t event) { return event != nullptr && events().contains(event); }
std::shared_ptr<EventRecord> record_of(hipEvent_t event) { return event->record; }
void stamp(EventRecord &record) {
    clock_gettime(CLOCK_MONOTONIC, &record.at);
    record.happened = true;
}

} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
    constexpr unsigned releases = hipEventReleaseToDevice | hipEventReleaseToSystem | hipEventDisableSystemFence;
    constexpr unsigned known = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess | releases;
    const bool several = __builtin_popcount(flags & releases) > 1;
    const bool timed_for_others = (flags & hipEventInterprocess) != 0 && (flags & hipEventDisableTiming) == 0;
    if (event == nullptr || (flags & ~known) != 0 || several || timed_for_others) {
        return remember(hipErrorInvalidValue);
    }
    *event = events().add(new ihipEvent_t{flags});
    return hipSuccess;
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) { return record(event, stream, false); }
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned flags) {
    if (flags != hipEventRecordDefault && flags != hipEventRecordExternal) {
        return remember(hipErrorInvalidValue);
    }
    return record(event, stream, flags == hipEventRecordExternal);
}
hipError_t hipEventSynchronize(hipEvent_t event) {
    if (const hipError_t error = check_uncaptured(event); error != hipSuccess) {
        return error;
    }
    backlog().wait_for(event->ticket);
    return hipSuccess;
}
hipError_t hipEventQuery(hipEvent_t event) {
    if (const hipError_t error = check_uncaptured(event); error != hipSuccess) {
        return error;
    }
    backlog().advance();
    return is_done(event->ticket) ? hipSuccess : hipErrorNotReady;
}
hipError_t hipEventElapsedTime(float *out, hipEvent_t start, hipEvent_t stop) {
    if (out == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    for (const hipEvent_t event : {start, stop}) {
        if (const hipError_t error = check(event); error != hipSuccess) {
            return error;
        }
    }
    const bool issued = (start->record->happened || start->ticket != nullptr) &&
                        (stop->record->happened || stop->ticket != nullptr);
    if (!issued || ((start->flags | stop->flags) & hipEventDisableTiming) != 0) {
        return remember(hipErrorInvalidHandle);
    }
    backlog().advance();
    if (!is_done(start->ticket) || !is_done(stop->ticket)) {
        return hipErrorNotReady;
    }
    *out = static_cast<float>(milliseconds(stop->record->at) - milliseconds(start->record->at));
    return hipSuccess;
}
hipError_t hipEventDestroy(hipEvent_t event) {
    if (event == nullptr) {
        return remember(hipErrorInvalidHandle);
    }
    if (!events().remove(event)) {
        return remember(hipErrorContextIsDestroyed);
    }
    delete event;
    return hipSuccess;
}

hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event, unsigned flags) {
    if (flags != hipEventWaitDefault && flags != hipEventWaitExternal) {
        return remember(hipErrorInvalidValue);
    }
    if (const hipError_t error = check(event); error != hipSuccess) {
        return error;
    }
    ihipStream_t *stream = find_stream(handle);
    if (stream == nullptr) {
        return remember(hipErrorContextIsDestroyed);
    }
    if (flags == hipEventWaitExternal && stream->capture != nullptr) {
        return submit(handle, WaitWork{event});
    }
    if (event->capture != nullptr && event->capture->graph != nullptr) {
        return remember(join_capture(*stream, event->capture, event->tips));
    }
    if (stream->capture != nullptr) {
        if (!event->record->happened && event->ticket == nullptr) {
            return hipSuccess; // Never recorded: there is nothing to wait for.
        }
        invalidate(*stream->capture);
        return remember(hipErrorStreamCaptureIsolation);
    }
    if (!is_done(event->ticket)) {
        hold(*stream, event->ticket, {});
    }
    return hipSuccess;
}
}
#pragma GCC visibility pop
