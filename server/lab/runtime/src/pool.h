// The threads that blocks are spread over.
#pragma once
#include <ks/launch.h>

namespace ks {

/// How many threads run blocks: KS_THREADS, or one for each processor that the process may use.
unsigned thread_count();
/// Runs all blocks of the launch and returns when they are done: of a cooperative launch each on a thread of its own, so
/// that blocks can wait for each other. One launch at a time. Tells whether other threads than the caller had a part in it.
bool run_on_pool(const Launch &launch);

} // namespace ks
