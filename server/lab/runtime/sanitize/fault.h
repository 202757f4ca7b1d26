// What is found: each distinct pair of places once, with a count.
#pragma once
#include <stdint.h>
#include <string>

namespace ks::sanitizer {

inline constexpr uint32_t kNobody = UINT32_MAX;

/// A place in the program, and who was there.
struct Where {
    uintptr_t pc = 0;        ///< the address that the call of the hook returns to; 0: unknown
    uint32_t item = kNobody; ///< linear number in its block
    uint64_t block = 0;      ///< linear number in the grid
    const char *did = "";    ///< what happened there, as "written here"
};

/// Says whether a fault with these places is new, and counts it if it is not. Cheap, for faults that come by the thousand.
bool is_new_fault(const char *kind, uintptr_t at, uintptr_t other);
/// Writes a fault line. `other.pc` may be 0.
void tell(const char *kind, const std::string &message, const Where &at, const Where &other);

} // namespace ks::sanitizer
