// Events, for the work that records them.
#pragma once
#include <ks/api_types.h>

namespace ks {

/// Whether the event exists.
bool is_event(hipEvent_t event);
/// The event happens now. One that was destroyed since is left alone.
void stamp(hipEvent_t event);

} // namespace ks
