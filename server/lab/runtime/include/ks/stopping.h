// How device code ends the program: __trap(), abort(), assert(). Each says which kernel, block and work-item it was.
#pragma once
#pragma clang system_header
#include <assert.h>
#include <ks/index.h>
#include <stdlib.h>

extern "C" {
[[noreturn]] void ks_trap(::ks::Extent block, ::ks::ItemIndex item);
/// Outside of kernels the C library's.
[[noreturn]] void ks_abort(::ks::Extent block, ::ks::ItemIndex item);
/// Outside of kernels it says what the C library's would.
[[noreturn]] void ks_assert_failed(const char *expression, const char *file, unsigned line, const char *function,
                                   ::ks::Extent block, ::ks::ItemIndex item);
/// A builtin got an operand that no device takes.
[[noreturn]] void ks_misuse(const char *message);
}

#ifndef KS_KEEP_LIBRARY_STOPS
// The C library declares these two. Here is a definition that calls are replaced by and that is never emitted itself: it
// knows the variables of this unit.
#define KS_REPLACE extern "C" inline __attribute__((gnu_inline, always_inline, noreturn))
KS_REPLACE void __assert_fail(const char *expression, const char *file, unsigned line, const char *function) noexcept {
    ks_assert_failed(expression, file, line, function, blockIdx, threadIdx);
}
KS_REPLACE void abort() noexcept { ks_abort(blockIdx, threadIdx); }
#undef KS_REPLACE
#endif

[[noreturn]] static KS_INLINE void __trap() { ks_trap(blockIdx, threadIdx); }
