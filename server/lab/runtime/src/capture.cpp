#include "capture.h"
#include "errors.h"
#include "graph.h"
#include <algorithm>

namespace ks {
namespace {

/// The captures under way.
struct Captures {
    std::mutex mutex;
    std::vector<std::shared_ptr<Capture>> active;
    std::atomic<unsigned> count{0};
    unsigned long long last_id = 0;
};
Captures &captures() {
    static auto *const all = new Captures;
    return *all;
}

/// How this thread wants unsafe calls to be judged.
thread_local hipStreamCaptureMode thread_mode = hipStreamCaptureModeGlobal;

void begin(const std::shared_ptr<Capture> &capture) {
    Captures &all = captures();
    const std::lock_guard<std::mutex> lock(all.mutex);
    capture->id = ++all.last_id;
    all.active.push_back(capture);
    all.count.store(static_cast<unsigned>(all.active.size()));
}

/// Lets all streams and events of the capture go; the graph stays with whoever wants it.
void end(const std::shared_ptr<Capture> &capture) {
    Captures &all = captures();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.active.erase(std::remove(all.active.begin(), all.active.end(), capture), all.active.end());
    all.count.store(static_cast<unsigned>(all.active.size()));
    for (ihipStream_t *stream : std::set<ihipStream_t *>(capture->streams)) {
        stream->tips.clear();
        stream->capture = nullptr;
    }
    capture->graph = nullptr;
}

/// Invalidates the captures for which `concerned` holds; whether there was one.
template <class F> bool invalidate_where(F concerned) {
    Captures &all = captures();
    if (all.count.load() == 0) {
        return false;
    }
    const std::lock_guard<std::mutex> lock(all.mutex);
    bool any = false;
    for (const auto &capture : all.active) {
        if (concerned(*capture)) {
            capture->invalidated = true;
            any = true;
        }
    }
    return any;
}

bool all_joined(const Capture &capture) {
    const std::vector<hipGraphNode_t> &tips = capture.origin->tips;
    for (const auto &node : capture.graph->nodes) {
        const bool joined = !node->after.empty() || capture.loose.count(node.get()) != 0 ||
                            std::find(tips.begin(), tips.end(), node.get()) != tips.end();
        if (!joined) {
            return false;
        }
    }
    return true;
}

hipError_t begin_capture(hipStream_t handle, hipStreamCaptureMode mode, hipGraph_t graph, ihipStream_t **out) {
    ihipStream_t *stream = find_stream(handle);
    if (stream == nullptr) {
        return hipErrorContextIsDestroyed;
    }
    if (is_legacy(stream)) {
        return hipErrorStreamCaptureUnsupported;
    }
    if (mode < hipStreamCaptureModeGlobal || mode > hipStreamCaptureModeRelaxed) {
        return hipErrorInvalidValue;
    }
    if (stream->capture != nullptr) {
        return hipErrorIllegalState;
    }
    auto capture = std::make_shared<Capture>();
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->origin = stream;
    capture->streams.insert(stream);
    capture->given_graph = graph != nullptr;
    if (graph == nullptr) {
        auto made = std::make_shared<ihipGraph>();
        graph = made.get();
        keep_for_program(std::move(made));
    }
    for (const auto &node : graph->nodes) {
        capture->loose.insert(node.get());
    }
    capture->graph = graph;
    stream->capture = capture;
    begin(capture);
    *out = stream;
    return hipSuccess;
}

hipError_t end_capture(hipStream_t handle, hipGraph_t *graph) {
    ihipStream_t *stream = find_stream(handle);
    if (stream == nullptr) {
        return hipErrorContextIsDestroyed;
    }
    const std::shared_ptr<Capture> capture = stream->capture;
    if (capture == nullptr) {
        return hipErrorIllegalState;
    }
    if (capture->origin != stream) {
        return hipErrorStreamCaptureUnmatched;
    }
    if (capture->mode != hipStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id()) {
        return hipErrorStreamCaptureWrongThread;
    }
    const hipGraph_t made = capture->graph;
    const hipError_t error = capture->invalidated       ? hipErrorStreamCaptureInvalidated
                             : !all_joined(*capture)    ? hipErrorStreamCaptureUnjoined
                                                        : hipSuccess;
    const bool drop = error != hipSuccess && !capture->given_graph;
    end(capture);
    if (drop) {
        (void)hipGraphDestroy(made);
    }
    *graph = error == hipSuccess ? made : nullptr;
    return error;
}

hipStreamCaptureStatus status_of(const ihipStream_t &stream) {
    return stream.capture == nullptr      ? hipStreamCaptureStatusNone
           : stream.capture->invalidated ? hipStreamCaptureStatusInvalidated
                                          : hipStreamCaptureStatusActive;
}

/// The stream, for questions about its capture. The legacy stream cannot be asked while another captures.
hipError_t find_for_question(hipStream_t handle, ihipStream_t **stream) {
    *stream = find_stream(handle);
    if (*stream == nullptr) {
        return remember(hipErrorContextIsDestroyed);
    }
    const bool blocked = is_legacy(*stream) && capturing();
    return blocked ? remember(hipErrorStreamCaptureImplicit) : hipSuccess;
}

} // namespace

bool capturing() { return captures().count.load() != 0; }
void invalidate(Capture &capture) { capture.invalidated = true; }

void forget_stream(ihipStream_t *stream) {
    const std::shared_ptr<Capture> capture = stream->capture;
    const hipGraph_t graph = capture->graph;
    const bool drop = !capture->given_graph;
    end(capture);
    if (drop) {
        (void)hipGraphDestroy(graph);
    }
}

hipError_t capture_work(ihipStream_t &stream, Work work) {
    Capture &capture = *stream.capture;
    if (capture.invalidated) {
        return hipErrorStreamCaptureInvalidated;
    }
    stream.tips = {capture.graph->add(std::move(work), stream.tips)};
    return hipSuccess;
}

hipError_t join_capture(ihipStream_t &stream, const std::shared_ptr<Capture> &capture,
                        const std::vector<hipGraphNode_t> &tips) {
    if (is_legacy(&stream)) {
        invalidate(*capture);
        return hipErrorStreamCaptureImplicit;
    }
    if (stream.capture != nullptr && stream.capture != capture) {
        invalidate(*capture);
        invalidate(*stream.capture);
        return hipErrorStreamCaptureMerge;
    }
    if (capture->invalidated) {
        return hipErrorStreamCaptureInvalidated;
    }
    stream.capture = capture;
    capture->streams.insert(&stream);
    for (hipGraphNode_t tip : tips) {
        if (nodes().contains(tip) && std::find(stream.tips.begin(), stream.tips.end(), tip) == stream.tips.end()) {
            stream.tips.push_back(tip);
        }
    }
    return hipSuccess;
}

hipError_t check_synchronous_call() {
    const bool any = invalidate_where([](const Capture &) { return true; });
    return any ? remember(hipErrorStreamCaptureImplicit) : hipSuccess;
}
hipError_t check_unsafe_call() {
    if (thread_mode == hipStreamCaptureModeRelaxed) {
        return hipSuccess;
    }
    const std::thread::id self = std::this_thread::get_id();
    const bool any = invalidate_where([self](const Capture &capture) {
        const bool own = capture.thread == self && capture.mode != hipStreamCaptureModeRelaxed;
        return own || (thread_mode == hipStreamCaptureModeGlobal && capture.mode == hipStreamCaptureModeGlobal);
    });
    return any ? remember(hipErrorStreamCaptureUnsupported) : hipSuccess;
}
hipError_t check_device_wide_call() {
    const bool any = invalidate_where([](const Capture &) { return true; });
    return any ? remember(hipErrorStreamCaptureUnsupported) : hipSuccess;
}

} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
    ihipStream_t *found = nullptr;
    return remember(begin_capture(stream, mode, nullptr, &found));
}
hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t *dependencies,
                                        const hipGraphEdgeData *dependency_data, size_t count,
                                        hipStreamCaptureMode mode) {
    if (dependency_data != nullptr) {
        return remember(hipErrorNotSupported);
    }
    if (graph == nullptr || !graphs().contains(graph) || (dependencies == nullptr) != (count == 0)) {
        return remember(hipErrorInvalidValue);
    }
    for (size_t i = 0; i < count; ++i) {
        if (dependencies[i] == nullptr || !nodes().contains(dependencies[i]) || dependencies[i]->graph != graph) {
            return remember(hipErrorInvalidValue);
        }
    }
    ihipStream_t *found = nullptr;
    if (const hipError_t error = begin_capture(stream, mode, graph, &found); error != hipSuccess) {
        return remember(error);
    }
    found->tips.assign(dependencies, dependencies + count);
    return hipSuccess;
}
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph) {
    return remember(graph == nullptr ? hipErrorInvalidValue : end_capture(stream, graph));
}
hipError_t hipStreamIsCapturing(hipStream_t handle, hipStreamCaptureStatus *status) {
    ihipStream_t *stream = nullptr;
    if (status == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (const hipError_t error = find_for_question(handle, &stream); error != hipSuccess) {
        return error;
    }
    *status = status_of(*stream);
    return hipSuccess;
}
hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *status, unsigned long long *id) {
    return hipStreamGetCaptureInfo_v2(stream, status, id);
}
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t handle, hipStreamCaptureStatus *status, unsigned long long *id,
                                      hipGraph_t *graph, const hipGraphNode_t **dependencies, size_t *count) {
    ihipStream_t *stream = nullptr;
    if (status == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (const hipError_t error = find_for_question(handle, &stream); error != hipSuccess) {
        return error;
    }
    *status = status_of(*stream);
    if (*status != hipStreamCaptureStatusActive) {
        return hipSuccess;
    }
    if (id != nullptr) {
        *id = stream->capture->id;
    }
    if (graph != nullptr) {
        *graph = stream->capture->graph;
    }
    if (dependencies != nullptr) {
        *dependencies = stream->tips.data();
    }
    if (count != nullptr) {
        *count = stream->tips.size();
    }
    return hipSuccess;
}
hipError_t hipStreamUpdateCaptureDependencies(hipStream_t handle, hipGraphNode_t *dependencies, size_t count,
                                              unsigned flags) {
    ihipStream_t *stream = find_stream(handle);
    if (stream == nullptr) {
        return remember(hipErrorContextIsDestroyed);
    }
    if (status_of(*stream) != hipStreamCaptureStatusActive) {
        return remember(hipErrorIllegalState);
    }
    if ((dependencies == nullptr && count != 0) || flags > hipStreamSetCaptureDependencies) {
        return remember(hipErrorInvalidValue);
    }
    std::vector<hipGraphNode_t> wanted;
    for (size_t i = 0; i < count; ++i) {
        const bool known = dependencies[i] != nullptr && nodes().contains(dependencies[i]);
        if (!known || dependencies[i]->graph != stream->capture->graph) {
            return remember(hipErrorInvalidValue);
        }
        wanted.push_back(dependencies[i]);
    }
    if (flags == hipStreamSetCaptureDependencies) {
        stream->capture->loose.insert(stream->tips.begin(), stream->tips.end());
        stream->tips.clear();
    }
    for (hipGraphNode_t node : wanted) {
        if (std::find(stream->tips.begin(), stream->tips.end(), node) == stream->tips.end()) {
            stream->tips.push_back(node);
        }
    }
    return hipSuccess;
}
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode) {
    if (mode == nullptr || *mode < hipStreamCaptureModeGlobal || *mode > hipStreamCaptureModeRelaxed) {
        return remember(hipErrorInvalidValue);
    }
    std::swap(*mode, thread_mode);
    return hipSuccess;
}
}
#pragma GCC visibility pop
