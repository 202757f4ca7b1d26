// Where things are in memory.
#pragma once
#include <stdint.h>
#include <vector>

namespace ks::trace {

enum class Kind : uint32_t { kGlobal = 0, kConstant = 1, kShared = 2, kScratch = 3 };

/// As it stands in the file.
struct Region {
    uint64_t begin, end;
    uint32_t kind;
    uint32_t item_bytes; ///< of scratch
};

/// All of them at this moment, by address.
std::vector<Region> regions();

} // namespace ks::trace
