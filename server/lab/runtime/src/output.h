// What kernels print: kept per piece of the grid, and written in the order of the blocks when the launch has ended.
#pragma once
#include <stdint.h>

namespace ks {

/// Files what this thread's kernel printed under the number of the first block of the piece it came from.
void collect_output(uint64_t first_block);
/// Writes everything collected to stdout, in order.
void flush_output();
/// Writes what there is, this thread's unfiled text last: the program is about to end.
void flush_output_before_end();

} // namespace ks
