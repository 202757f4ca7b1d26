// The barrier of a grid whose blocks are all resident.
#pragma once
#include <ks/launch.h>

namespace ks {

/// A cooperative launch begins, before its first block.
void enter_grid(const Launch &launch);
/// A block of it has ended.
void leave_grid();

} // namespace ks
