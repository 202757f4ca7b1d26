// The report channel: JSON lines on the descriptor that KS_REPORT_FD names.
#pragma once
#include <ks/launch.h>

namespace ks {

/// Whether somebody listens.
bool reporting();
/// Remembers that a launch took `nanoseconds`.
void record_launch(const Launch &launch, uint64_t nanoseconds);
/// Writes a fault line at once. Async-signal-safe.
void write_fault(const char *kind, const char *message, const char *kernel);
/// Writes what record_launch remembered, once.
void write_launches();

} // namespace ks
