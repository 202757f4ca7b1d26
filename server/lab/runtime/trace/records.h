// What instrumented code writes, and the file that it goes to.
//
// A work-item's record is a row of 8-byte events. Code writes them at `ks_trace_cursor`, which it moves on at the beginning
// of each stretch of code only where it is below `ks_trace_limit`: so nobody has to call anything, work-items that have written all
// they may go on writing to the same place, and so do those that are not recorded.
#pragma once
#include <ks/launch.h>

namespace ks::trace {

/// Where the block that runs is.
struct Place {
    dim3 block{0, 0, 0}, extent{0, 0, 0}, grid{0, 0, 0};
};
extern Place place;

/// Blocks that run from now on are recorded, or not.
void set_recording(bool on, unsigned items);
/// Where work-item `linear` begins to write, and where it stops to.
uint64_t *begin_item(uint32_t linear);
uint64_t *limit_of(uint32_t linear);
void end_item(uint32_t linear, uint64_t *cursor);

/// Events of the block that ended last; whether work-items of it were cut short.
uint64_t events_of_block();
bool block_was_cut();

/// The file. Everything that was written before is there when the process is killed, and a reader leaves out an end that is
/// cut off.
bool has_file();
void write_launch(const Launch &launch, uint32_t id);
void write_block(uint64_t number);
/// The launch's blocks are all written. `complete`: all blocks were run.
void write_end(bool complete, bool cut);
/// Launch `id` was made once more.
void write_repeat(uint32_t id);

} // namespace ks::trace
