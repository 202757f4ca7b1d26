// Signals that end a program: tell what kernel ran, write the timings, then let the signal do its work.
#pragma once

namespace ks {

/// Gives this thread a stack for signal handlers, so that an overflown work-item's stack can still be told.
void use_signal_stack();

} // namespace ks
