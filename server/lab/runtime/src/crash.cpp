#include "crash.h"
#include "fault.h"
#include "output.h"
#include "report.h"
#include "sanitizer.h"
#include "worker.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace ks {
namespace {

constexpr size_t kSignalStackBytes = 64 << 10;
bool reported_why = false;

bool in_guard(const void *address) {
    const char *at = static_cast<const char *>(address);
    return worker.stacks != nullptr && at >= worker.stacks && at < worker.stacks + worker.capacity * kStackBytes;
}

const char *describe(int signal, const void *address) {
    switch (signal) {
    case SIGSEGV:
        return in_guard(address)
                   ? "a work-item needs more than 60 KiB of stack; make its local arrays smaller or put them in "
                     "shared memory"
                   : "invalid memory access (SIGSEGV); check the indices that this kernel computes";
    case SIGBUS: return "invalid memory access (SIGBUS)";
    case SIGFPE: return "integer division by zero (SIGFPE)";
    case SIGILL: return "trap or invalid instruction (SIGILL)";
    default: return "abort (SIGABRT)";
    }
}

void on_signal(int signal, siginfo_t *info, void *) {
    const char *message = describe(signal, signal == SIGSEGV ? info->si_addr : nullptr);
    const char *kernel = worker.launch != nullptr ? worker.launch->kernel : nullptr;
    if (signal == SIGSEGV || signal == SIGBUS) {
        sanitizer::crashed(info->si_addr);
    }
    if (!reported_why) {
        write_fault("crash", message, kernel);
        char text[512];
        const int size = snprintf(text, sizeof text, "%s%s%s\n", kernel != nullptr ? "in kernel " : "",
                                  kernel != nullptr ? kernel : "", kernel != nullptr ? ": " : "");
        if (kernel != nullptr && size > 1) {
            (void)!write(STDERR_FILENO, text, static_cast<size_t>(size) - 1);
            (void)!write(STDERR_FILENO, message, strlen(message));
            (void)!write(STDERR_FILENO, "\n", 1);
        }
    }
    write_launches();
    // The action is back at its default (SA_RESETHAND): returning repeats the fault, which then ends the program.
    if (signal == SIGABRT || info->si_code <= 0) {
        raise(signal);
    }
}

__attribute__((constructor)) void install() {
    if (!reporting() && getenv("KS_REPORT_CRASHES") == nullptr) {
        return; // A program run by hand keeps the system's behaviour.
    }
    use_signal_stack();
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
        struct sigaction action = {};
        action.sa_sigaction = on_signal;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
        sigaction(signal, &action, nullptr);
    }
}

} // namespace

void use_signal_stack() {
    stack_t stack = {};
    stack.ss_size = kSignalStackBytes;
    stack.ss_sp = malloc(stack.ss_size);
    if (stack.ss_sp != nullptr) {
        sigaltstack(&stack, nullptr);
    }
}

void report_fault(const char *kind, const char *message) {
    const char *kernel = worker.launch != nullptr ? worker.launch->kernel : nullptr;
    write_fault(kind, message, kernel);
    fprintf(stderr, "HIP on the CPU: %s%s%s%s\n", kernel != nullptr ? "kernel " : "", kernel != nullptr ? kernel : "",
            kernel != nullptr ? ": " : "", message);
}

void fail(const char *kind, const char *message) {
    flush_output_before_end();
    report_fault(kind, message);
    _exit(1);
}

} // namespace ks

extern "C" {

/// assert() in a kernel and on the host. Stands before the C library's.
__attribute__((visibility("default"), noreturn)) void __assert_fail(const char *expression, const char *file,
                                                                    unsigned line, const char *function) {
    const bool device = ks::worker.launch != nullptr;
    ks::flush_output_before_end();
    char text[1024];
    snprintf(text, sizeof text, "%s:%u: %s: %sAssertion `%s' failed.", file, line, function,
             device ? "Device-side " : "", expression);
    if (device) {
        ks::report_fault("assert", text);
        ks::reported_why = true;
    } else {
        fprintf(stderr, "%s\n", text);
    }
    abort();
}

/// __trap() and abort() in a kernel.
__attribute__((visibility("default"), noreturn)) void ks_trap() {
    ks::flush_output_before_end();
    ks::report_fault("trap", "the kernel stopped itself with __trap() or abort()");
    ks::reported_why = true;
    abort();
}
}
