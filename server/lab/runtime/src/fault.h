// What the user must be told although no call can return it.
#pragma once
#include <stdint.h>

namespace ks {

/// Tells stderr and the report channel; the program goes on. `kind` is one word for programs to match.
/// `sites`: the two places that it is about, as KS_SITE packs them, or null.
void report_fault(const char *kind, const char *message, const uint32_t *sites = nullptr);
/// The same, then ends the program with exit status 1.
[[noreturn]] void fail(const char *kind, const char *message);

} // namespace ks
