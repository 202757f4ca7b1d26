// Time, read twice: from the system's monotonic clock and from the processor's counter, which no library call stands for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

#include "processor_time.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace ks_harness __attribute__((visibility("hidden"))) {

inline double clock_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

inline uint64_t counter() {
#if defined(__x86_64__)
    unsigned core;
    return __rdtscp(&core);
#elif defined(__aarch64__)
    uint64_t ticks;
    asm volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return static_cast<uint64_t>(clock_ns());
#endif
}

// The processor's counter as a clock.
struct Ticks {
    double ns = 0;       // nanoseconds a tick
    double reading = 0;  // ticks that go by between the counter's readings and the clock's, at both ends of a span together
};

// Medians of a few short looks, taken before code under test is loaded.
inline Ticks measure_ticks() {
    double looks[7];
    for (double& look : looks) {
        const uint64_t first = counter();
        const double start = clock_ns();
        while (clock_ns() - start < 300e3) {
        }
        const double end = clock_ns();
        look = (end - start) / static_cast<double>(counter() - first);
    }
    std::sort(looks, looks + 7);
    Ticks ticks{looks[3]};
    double readings[101];
    for (double& reading : readings) {
        const uint64_t first = counter();
        const double start = clock_ns();
        const double end = clock_ns();
        reading = static_cast<double>(counter() - first) - (end - start) / ticks.ns;
    }
    std::sort(readings, readings + 101);
    ticks.reading = std::max(0.0, readings[50]);
    return ticks;
}

struct Span {
    double clock_ns = 0, counter_ns = 0;
    double processor_ns = 0;  // processor time of the thread
    double others_ns = 0;     // processor time of the process's other threads
    long displaced = 0;       // how often another process took the processor away
    double kernels_ns = 0;    // of the clock's time, what was spent in launches
};

class Stopwatch {
  public:
    explicit Stopwatch(const Ticks& ticks)
        : ticks_(ticks), used_(processor_time_before()), first_(counter()), start_ns_(clock_ns()) {}
    Span stop() const {
        Span span;
        span.clock_ns = clock_ns() - start_ns_;
        // Of a span as short as the readings themselves, the readings would be a good part.
        const double ticks = static_cast<double>(counter() - first_) - ticks_.reading;
        span.counter_ns = std::max(1.0, ticks) * ticks_.ns;
        const ProcessorTime used = processor_time_after();
        span.processor_ns = used.thread_ns - used_.thread_ns;
        // The two clocks are read one after the other, so nothing may come out as less than nothing.
        span.others_ns = std::max(0.0, used.others_ns() - used_.others_ns());
        span.displaced = used.displaced - used_.displaced;
        return span;
    }

  private:
    Ticks ticks_;
    ProcessorTime used_;
    uint64_t first_;
    double start_ns_;
};

}  // namespace ks_harness
