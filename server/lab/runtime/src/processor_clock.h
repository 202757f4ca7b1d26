// Processor time of the process, read so rarely that launches of less than a microsecond can be timed.
#pragma once
#include <stdint.h>

namespace ks {

/// Nanoseconds of the monotonic clock.
uint64_t wall_ns();

/// Processor time of all threads. Asking the system for it costs most of a microsecond. So for a short stretch after each
/// reading it is taken to go on with the clock on the wall: that is true of a thread that nobody displaces, and who is
/// displaced is away for longer than such a stretch. Where a reading shows that other threads of the program are at
/// work, too, the system is asked each time from then on.
///
/// Not for several threads at once.
class ProcessorClock {
  public:
    /// Processor time of the process in nanoseconds, at the wall time `now`.
    uint64_t at(uint64_t now);
    /// Threads of the runtime were at work up to `now`, and may look for more for a while.
    void others_worked(uint64_t now);

  private:
    uint64_t read(uint64_t now);

    uint64_t wall_ = 0, processor_ = 0; ///< the last reading
    uint64_t quiet_from_ = 0;           ///< wall time from which the runtime's own threads sleep
    bool alone_ = true;                 ///< no other thread of the program was seen at work
};

} // namespace ks
