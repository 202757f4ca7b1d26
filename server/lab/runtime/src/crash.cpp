// The C library's own names are meant here, not what replaces them in programs.
#define KS_KEEP_LIBRARY_STOPS
#include "crash.h"
#include "fault.h"
#include "output.h"
#include "report.h"
#include "sanitizer.h"
#include "worker.h"
#include <ks/stopping.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
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

void report_fault(const char *kind, const char *message, const uint32_t *sites) {
    const char *kernel = worker.launch != nullptr ? worker.launch->kernel : nullptr;
    write_fault(kind, message, kernel, sites);
    fprintf(stderr, "HIP on the CPU: %s%s%s%s\n", kernel != nullptr ? "kernel " : "", kernel != nullptr ? kernel : "",
            kernel != nullptr ? ": " : "", message);
}

void fail(const char *kind, const char *message) {
    flush_output_before_end();
    report_fault(kind, message);
    _exit(1);
}

} // namespace ks

namespace {

/// "block (1, 0, 0), thread (3, 0, 0)".
std::string place(ks::Extent block, ks::ItemIndex item) {
    char text[128];
    snprintf(text, sizeof text, "block (%u, %u, %u), thread (%u, %u, %u)", block.x, block.y, block.z, item.x, item.y,
             item.z);
    return text;
}
[[noreturn]] void stop_kernel(const char *kind, const std::string &message) {
    ks::flush_output_before_end();
    ks::report_fault(kind, message.c_str());
    ks::reported_why = true;
    abort();
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

[[noreturn]] void ks_assert_failed(const char *expression, const char *file, unsigned line, const char *function,
                                   ks::Extent block, ks::ItemIndex item) {
    const std::string where = std::string(file) + ":" + std::to_string(line) + ": " + function + ": ";
    const std::string what = std::string("ssertion `") + expression + "' failed.";
    if (ks::worker.launch != nullptr) {
        stop_kernel("assert", where + place(block, item) + ": Device-side a" + what);
    }
    ks::flush_output_before_end();
    fprintf(stderr, "%sA%s\n", where.c_str(), what.c_str());
    abort();
}

/// An assert() of a unit that does not include HIP's headers. Stands before the C library's.
void __assert_fail(const char *expression, const char *file, unsigned line, const char *function) noexcept {
    const std::string text = std::string(file) + ":" + std::to_string(line) + ": " + function + ": Assertion `" +
                             expression + "' failed.";
    if (ks::worker.launch != nullptr) {
        stop_kernel("assert", text);
    }
    ks::flush_output_before_end();
    fprintf(stderr, "%s\n", text.c_str());
    abort();
}

[[noreturn]] void ks_trap(ks::Extent block, ks::ItemIndex item) {
    stop_kernel("trap", place(block, item) + ": the kernel stopped itself with __trap()");
}

[[noreturn]] void ks_abort(ks::Extent block, ks::ItemIndex item) {
    if (ks::worker.launch != nullptr) {
        stop_kernel("trap", place(block, item) + ": the kernel stopped itself with abort()");
    }
    ks::flush_output_before_end();
    abort();
}

[[noreturn]] void ks_misuse(const char *message) { ks::fail("misused_builtin", message); }
}
#pragma GCC visibility pop
