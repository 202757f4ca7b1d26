// Streams that are being captured: what is issued to them becomes nodes of a graph.
#pragma once
#include "streams.h"
#include <set>
#include <thread>

namespace ks {

struct Capture {
    hipGraph_t graph;
    hipStreamCaptureMode mode;
    unsigned long long id;
    std::thread::id thread; ///< that began it
    ihipStream_t *origin;
    std::set<ihipStream_t *> streams; ///< that take part
    std::set<hipGraphNode_t> loose;   ///< nodes that need not be joined: older ones, and those that the program let go
    bool given_graph = false;         ///< whether the graph was there before
    bool invalidated = false;
};

/// Whether any stream is being captured.
bool capturing();
/// Adds work to the graph, behind the stream's tips.
hipError_t capture_work(ihipStream_t &stream, Work work);
/// The stream waits for an event that was recorded in a capture.
hipError_t join_capture(ihipStream_t &stream, const std::shared_ptr<Capture> &capture,
                        const std::vector<hipGraphNode_t> &tips);
/// A stream that takes part was destroyed, or must not go on.
void invalidate(Capture &capture);
void forget_stream(ihipStream_t *stream);

/// For calls that wait for the legacy stream, like hipMemcpy: hipErrorStreamCaptureImplicit during a capture, which it ends.
hipError_t check_synchronous_call();
/// For calls that may synchronise inside, like hipMalloc: hipErrorStreamCaptureUnsupported where the capture's mode forbids
/// it, which it ends.
hipError_t check_unsafe_call();
/// For calls that no capture allows, like hipDeviceSynchronize.
hipError_t check_device_wide_call();

} // namespace ks
