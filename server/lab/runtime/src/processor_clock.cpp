#include "processor_clock.h"
#include <time.h>

namespace ks {
namespace {

/// How long a reading holds. Systems let a process that they displace wait for longer.
constexpr uint64_t kStretch = 20'000;
/// More processor time than wall time by this much cannot be the work of one thread: what the two clocks may differ by.
constexpr uint64_t kNoticeable = 1'000;
/// Idle threads of the runtime look for the next launch for a few dozen microseconds before they sleep; more on a busy machine.
constexpr uint64_t kUntilAsleep = 1'000'000;

uint64_t read_ns(clockid_t clock) {
    timespec t;
    clock_gettime(clock, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

} // namespace

uint64_t wall_ns() { return read_ns(CLOCK_MONOTONIC); }

uint64_t ProcessorClock::at(uint64_t now) {
    const bool holds = alone_ && now >= quiet_from_ && now - wall_ < kStretch;
    return holds ? processor_ + (now - wall_) : read(now);
}

void ProcessorClock::others_worked(uint64_t now) { quiet_from_ = now + kUntilAsleep; }

uint64_t ProcessorClock::read(uint64_t now) {
    // Under a limit on its processor time (RLIMIT_CPU), Linux adds a thread's time to its process's only now and then. A
    // look at the thread's own clock brings it up to date.
    read_ns(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t processor = read_ns(CLOCK_PROCESS_CPUTIME_ID);
    // Between two readings that found the runtime's threads asleep, only the program's own can have worked. The wall time
    // goes from before the earlier reading to after this one, as anything may come between the two clocks.
    const bool was_quiet = wall_ != 0 && wall_ >= quiet_from_;
    if (was_quiet && processor - processor_ > wall_ns() - wall_ + kNoticeable) {
        alone_ = false;
    }
    wall_ = now;
    processor_ = processor;
    return processor;
}

} // namespace ks
