// What kernels of the tracing build call (KS_TRACE, for a forecast of a device's time; see `trace/`). There a kernel's
// code goes through a GPU's optimiser and is then instrumented, so what a device has an instruction or a register for
// must be a call with the right promises here, never the runtime's own memory or inline assembly.
#pragma once
#pragma clang system_header
#include <stddef.h>
#include <stdint.h>

#ifdef KS_TRACE

// An optimiser for AMD's devices makes OpenCL's printf of calls of this name, on the host too.
extern "C" int printf(const char *__restrict format, ...) __asm__("ks_trace_printf");

/// The same for a work-item from its first line to its last.
#define KS_TRACE_CONSTANT __attribute__((const, nothrow))
/// An exchange of values orders no memory, and is not moved into or out of branches.
#define KS_TRACE_EXCHANGE __attribute__((pure, nothrow, convergent))
/// Orders memory, and is not moved into or out of branches.
#define KS_TRACE_WAIT __attribute__((nothrow, convergent))

extern "C" {
KS_TRACE_CONSTANT unsigned ks_trace_thread_x();
KS_TRACE_CONSTANT unsigned ks_trace_thread_y();
KS_TRACE_CONSTANT unsigned ks_trace_thread_z();
/// The work-item's number in its block.
KS_TRACE_CONSTANT unsigned ks_trace_thread_linear();
KS_TRACE_CONSTANT unsigned ks_trace_block_x();
KS_TRACE_CONSTANT unsigned ks_trace_block_y();
KS_TRACE_CONSTANT unsigned ks_trace_block_z();
KS_TRACE_CONSTANT unsigned ks_trace_block_dim_x();
KS_TRACE_CONSTANT unsigned ks_trace_block_dim_y();
KS_TRACE_CONSTANT unsigned ks_trace_block_dim_z();
KS_TRACE_CONSTANT unsigned ks_trace_grid_dim_x();
KS_TRACE_CONSTANT unsigned ks_trace_grid_dim_y();
KS_TRACE_CONSTANT unsigned ks_trace_grid_dim_z();

KS_TRACE_WAIT void ks_trace_barrier(uint32_t site);
/// A barrier; how many arrived in the upper half, and for how many of them `predicate` holds in the lower half.
KS_TRACE_WAIT uint64_t ks_trace_barrier_count(bool predicate, uint32_t site);
/// Waits for the wave.
KS_TRACE_WAIT void ks_trace_wave_barrier(uint32_t site);

/// The value of lane `source`; `otherwise` where that one does not take part.
KS_TRACE_EXCHANGE uint64_t ks_trace_exchange(uint64_t value, unsigned source, uint64_t otherwise, uint32_t site);
/// The predicates of those that take part, one bit each.
KS_TRACE_EXCHANGE uint64_t ks_trace_vote(bool predicate, uint32_t site);
/// Shows the value to the wave; returns the lanes that take part.
KS_TRACE_EXCHANGE uint64_t ks_trace_gather(uint64_t value, uint32_t site);
/// What `lane` showed in the exchange that gave `active`.
KS_TRACE_EXCHANGE uint64_t ks_trace_gathered(uint64_t active, unsigned lane);

/// What an atomic update finds, and what it leaves: the first is the access, nothing comes between the two.
__attribute__((nothrow)) uint32_t ks_trace_atomic_4(void *address);
__attribute__((nothrow)) uint64_t ks_trace_atomic_8(void *address);
__attribute__((nothrow)) void ks_trace_put_4(void *address, uint32_t value);
__attribute__((nothrow)) void ks_trace_put_8(void *address, uint64_t value);
}

#endif

/// A function that is one operation of a device: `LINKAGE R NAME PARAMETERS { return EXPRESSION; }`. Traced code calls
/// it as ks_op_NAME, by which a forecast knows it.
#ifdef KS_TRACE
#ifdef KS_DEFINE_OPERATIONS
#define KS_OPERATION_BODY(R, NAME, PARAMETERS, EXPRESSION)                                                             \
    extern "C" __attribute__((visibility("default"), const, nothrow)) R ks_op_##NAME PARAMETERS { return EXPRESSION; }
#else
#define KS_OPERATION_BODY(R, NAME, PARAMETERS, EXPRESSION)                                                             \
    extern "C" KS_TRACE_CONSTANT R ks_op_##NAME PARAMETERS;
#endif
#define KS_OPERATION(LINKAGE, R, NAME, PARAMETERS, ARGUMENTS, EXPRESSION)                                              \
    KS_OPERATION_BODY(R, NAME, PARAMETERS, EXPRESSION)                                                                 \
    LINKAGE KS_INLINE R NAME PARAMETERS noexcept { return ks_op_##NAME ARGUMENTS; }
#else
#define KS_OPERATION(LINKAGE, R, NAME, PARAMETERS, ARGUMENTS, EXPRESSION)                                              \
    LINKAGE KS_INLINE R NAME PARAMETERS noexcept { return EXPRESSION; }
#endif
