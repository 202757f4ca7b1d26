// The report channel: JSON lines on the descriptor that KS_REPORT_FD names.
#pragma once
#include <ks/launch.h>
#include <string>

namespace ks {

/// Whether somebody listens.
bool reporting();
/// What a launch took, in nanoseconds.
struct LaunchTime {
    uint64_t wall;
    uint64_t processor; ///< of all threads of the process
};
/// Remembers what a launch took.
void record_launch(const Launch &launch, LaunchTime time);
/// Writes a fault line at once. Async-signal-safe without `sites`: two places in the source, as KS_SITE packs them.
void write_fault(const char *kind, const char *message, const char *kernel, const uint32_t *sites = nullptr);
/// A fault that the program can also learn from a return value. It is written only if the program never asks.
void hold_fault(const char *kind, const std::string &message, const char *kernel);
/// The program has asked.
void drop_held_faults();
/// Writes the faults that are still held and what record_launch remembered, once.
void write_launches();

} // namespace ks
