// What the runtime asks of the tracing build (`trace/`), which has KS_TRACE. Nothing in every other build.
#pragma once
#ifdef KS_TRACE
#include <ks/launch.h>

namespace ks::trace {

/// Runs a launch: some of its blocks are recorded, and all are run if that does not take too long.
void run(const Launch &launch);

} // namespace ks::trace
#endif
