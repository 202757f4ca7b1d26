// Ends the process when one sample takes too long, and says whose it was. The lab's own limit on the whole process stands
// behind it, for code that blocks the signal.
#pragma once

#include <string>

namespace ks_harness __attribute__((visibility("hidden"))) {

class Watchdog {
  public:
    // From now on until the destructor; `which` and `shape` are for the report.
    Watchdog(const std::string& which, int shape, double limit_s);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
};

}  // namespace ks_harness
