// What the user must be told although no call can return it.
#pragma once

namespace ks {

/// Tells stderr and the report channel; the program goes on. `kind` is one word for programs to match.
void report_fault(const char *kind, const char *message);
/// The same, then ends the program with exit status 1.
[[noreturn]] void fail(const char *kind, const char *message);

} // namespace ks
