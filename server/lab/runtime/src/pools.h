// Memory pools, for calls that free memory.
#pragma once

namespace ks {

/// The allocation, if it was one of a pool's, is that no more.
void strike_out(void *pointer);

} // namespace ks
