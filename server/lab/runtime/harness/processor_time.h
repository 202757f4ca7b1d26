// Processor time: what a busy machine does to wall time, it does not do to this.
//
// Read by the system calls themselves: a library call can be replaced or patched by code under test.
#pragma once

#include <cstdint>
#include <ctime>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ks_harness __attribute__((visibility("hidden"))) {

inline long system_call(long number, long first, void* second) {
#if defined(__x86_64__)
    long result;
    asm volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second) : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 asm("x8") = number;
    register long x0 asm("x0") = first;
    register void* x1 asm("x1") = second;
    asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
    return x0;
#else
    return syscall(number, first, second);
#endif
}

// Processor time used so far, and how often the thread that asks had to give way to another process.
struct ProcessorTime {
    double thread_ns = 0;   // of this thread
    double process_ns = 0;  // of all threads of the process, those that have ended included
    long displaced = 0;

    // What this process's other threads used.
    double others_ns() const { return process_ns - thread_ns; }
};

inline double read_clock_ns(clockid_t clock) {
    timespec now{};
    system_call(SYS_clock_gettime, clock, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// The thread's time is read next to the code that is timed: before it last, after it first. And before the process's:
// under a limit on processor time (RLIMIT_CPU), Linux adds a thread's time to its process's only now and then, and a look at
// the thread's own clock brings it up to date.
inline ProcessorTime processor_time_before() {
    ProcessorTime time;
    rusage usage{};
    system_call(SYS_getrusage, RUSAGE_THREAD, &usage);
    time.displaced = usage.ru_nivcsw;
    read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    time.process_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    time.thread_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return time;
}

inline ProcessorTime processor_time_after() {
    ProcessorTime time;
    time.thread_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    time.process_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    rusage usage{};
    system_call(SYS_getrusage, RUSAGE_THREAD, &usage);
    time.displaced = usage.ru_nivcsw;
    return time;
}

}  // namespace ks_harness
