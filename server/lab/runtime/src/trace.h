// What the runtime asks of the tracing build (`trace/`), which has KS_TRACE. Nothing in every other build.
#pragma once
#ifdef KS_TRACE
#include <ks/launch.h>

namespace ks::trace {

/// Runs a launch: some of its blocks are recorded, and all are run if that does not take too long.
void run(const Launch &launch);

/// Fills `bytes` with a pattern of four bytes, in part by mapping it: benchmarks clear caches by filling what nobody reads.
/// False, with nothing done, where it is better written.
bool fill(char *at, size_t bytes, uint32_t pattern);

} // namespace ks::trace
#endif
