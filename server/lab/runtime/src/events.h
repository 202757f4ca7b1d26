// Events, for the work that records them.
#pragma once
#include <ks/api_types.h>
#include <memory>

namespace ks {

/// When an event happened. Work that records it keeps this alive, as the event may be destroyed before the work is done.
struct EventRecord;

/// Whether the event exists.
bool is_event(hipEvent_t event);
/// The record of an event that exists.
std::shared_ptr<EventRecord> record_of(hipEvent_t event);
/// The event happens now.
void stamp(EventRecord &record);

} // namespace ks
