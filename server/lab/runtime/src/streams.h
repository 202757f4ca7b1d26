// Streams, for calls that take one.
#pragma once
#include "backlog.h"
#include <ks/api_types.h>

namespace ks {
struct Capture;
}

struct ihipStream_t {
    unsigned flags;
    int priority;
    ks::Ticket last = {};                      ///< of the work issued last
    std::shared_ptr<ks::Capture> capture = {}; ///< the capture that the stream is part of
    std::vector<hipGraphNode_t> tips = {};     ///< what the next captured node depends on
    std::vector<uint32_t> unit_mask = {};      ///< of compute units, as the program gave it; empty: all
};

namespace ks {

/// The stream that a handle stands for, or null. The default streams have one too.
ihipStream_t *find_stream(hipStream_t handle);
bool is_legacy(const ihipStream_t *stream);

/// Issues work: into the graph if the stream is capturing, else to run as soon as all before it is done, which nearly always is
/// now, so that its error is returned.
hipError_t submit(hipStream_t stream, Work work);
/// Whether work on this stream would run at once. If not, hipSuccess or why it must not be issued at all.
bool runs_at_once(hipStream_t stream, hipError_t *error);
/// Makes what is issued to `stream` from now on wait for `ticket` and, if there is one, for `condition`.
void hold(ihipStream_t &stream, const Ticket &ticket, std::function<bool()> condition);

/// For a call that acts at once and cannot be captured: ends a capture that its stream is part of, and waits until all work
/// before it is done. hipErrorContextIsDestroyed for a stream that was destroyed or never created.
hipError_t check_stream(hipStream_t stream);
/// What a call without a stream waits for. Refused where a capture forbids such calls.
hipError_t begin_synchronous();

} // namespace ks
