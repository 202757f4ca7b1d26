// Variables with static storage and local arrays, by address: what an overrun is an overrun of.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string>

namespace ks::sanitizer {

/// What clang writes about a global (its ABI, version 8).
struct GlobalDescriptor {
    uintptr_t begin, bytes, bytes_with_redzone;
    const char *name;
    const char *unit;
    uintptr_t has_dynamic_init, location, odr_indicator;
};

/// A variable near a bad address.
struct Variable {
    std::string name; ///< empty: not known
    uintptr_t begin = 0;
    size_t bytes = 0;
};

void add_globals(const GlobalDescriptor *begin, const GlobalDescriptor *end);
void remove_globals(const GlobalDescriptor *begin, const GlobalDescriptor *end);
/// The global whose redzone `address` lies in.
Variable global_near(uintptr_t address);
/// The local variable that an access to the stack's redzone at `address` overran, from the description that clang
/// leaves at the bottom of each frame.
Variable local_near(uintptr_t address);

} // namespace ks::sanitizer
