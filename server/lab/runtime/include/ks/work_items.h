// Work-items as fibers: how one waits, and how the thread goes on with the next.
//
// All work-items of a block live on one thread. Each that has begun and not ended owns a stack; the thread jumps
// from stack to stack whenever a work-item has to wait for others (at a barrier, or for the values of its wave).
// A work-item that never waits costs no switch: the next one then starts on the same stack.
#pragma once
#pragma clang system_header
#include <ks/index.h>
#include <stddef.h>
#include <stdint.h>

namespace ks {

/// The wave's size in this program. The runtime library serves both: what is stored for a wave has room for the larger.
inline constexpr unsigned kWaveSize = KS_WAVE_SIZE;
inline constexpr unsigned kMaxWaveSize = 64;
inline constexpr unsigned kMaxWaves = 32;
inline constexpr unsigned kMaxBlockSize = 1024;
inline constexpr unsigned kMaxSharedBytes = 65536;

/// What a work-item waits for. Everything up to kReady can be run.
enum State : uint8_t { kNew, kReady, kWave, kBarrier, kDone };

/// A work-item of the block that this thread runs: one cache line, which is all that a switch touches besides the
/// kernel's own variables. The first four members are valid while it waits; the assembly below knows their places.
struct alignas(64) WorkItem {
    void *stack_pointer;
    void *resume; ///< address of the instruction to go on at
    void *rbp;
    void *rbx;
    ItemIndex index; ///< its threadIdx
    void *stack;     ///< lowest address of its stack, or null when it has none
    uint8_t *state;  ///< a State; that of its neighbour in the wave follows
#ifdef KS_TRACE
    uint64_t *cursor; ///< where its next record goes
#endif
};
static_assert(offsetof(WorkItem, stack_pointer) == 0 && offsetof(WorkItem, resume) == 8 &&
              offsetof(WorkItem, rbp) == 16 && offsetof(WorkItem, rbx) == 24);
#ifndef KS_TRACE
static_assert(sizeof(WorkItem) == 64);
#endif

/// From the states of one wave to those of the next. What lies between them is kDone: nobody follows on a wave's last.
inline constexpr unsigned kStateStride = 2 * kMaxWaveSize;

/// Items that may be read past the last one of a block, see `suspend`.
inline constexpr unsigned kItemsAhead = 6;

/// What the work-items of a wave share to exchange values. `in` and `votes_in` are written before waiting; when all that can
/// arrive have arrived the scheduler copies them to `out` and `votes`, which stay unchanged until each has read them.
struct alignas(64) Wave {
    uint64_t active;    ///< the work-items that take part in the exchange under way
    uint64_t votes;     ///< their predicates, one bit each
    uint64_t votes_in;
    uint64_t ran_at;    ///< sites recently released, see scheduler.cpp
    alignas(64) uint64_t in[kMaxWaveSize];
    alignas(64) uint64_t out[kMaxWaveSize];
};

/// A reduction over a block's predicates, for __syncthreads_count, _and, _or.
struct Predicates {
    unsigned arrived, true_count;
};

/// The block that this thread runs.
struct Block {
    WorkItem *items;
    uint8_t *state;        ///< a State each, in rows of kStateStride for each wave
    uint32_t *site;        ///< where in the source each waits for its wave: line << 10 | column
    uint32_t barrier_site; ///< and where those wait that are at the barrier
    Wave *waves;
    const void *body; ///< the kernel and its arguments
    uint32_t size;
    Predicates predicates_in, predicates;
};

#define KS_RUNTIME_TLS extern __thread __attribute__((visibility("default"), tls_model("initial-exec")))
KS_RUNTIME_TLS Block block;

/// Dynamic shared memory of the block that this thread runs.
#ifdef KS_TRACE
extern "C" __attribute__((visibility("default"))) char ks_dynamic_shared[];
#else
extern "C" KS_RUNTIME_TLS char ks_dynamic_shared[];
#endif

/// Chooses who runs after work-item `linear` has set its state; releases waiters where all have arrived.
/// Ends the process with a message where the kernel was launched as a plain loop, since nobody can wait there.
extern "C" WorkItem *ks_pick_next(uint32_t linear);

/// Called before a work-item waits at another barrier than the one before it: the first of its block to arrive, or two
/// wait at different ones, which is told.
extern "C" void ks_other_barrier(uint32_t site);

/// Called on a stack whose work-item has ended and whose neighbour in the wave is not simply the next to begin.
/// Returns a work-item to begin on this same stack, or never.
extern "C" WorkItem *ks_finish_slowly(WorkItem *item);

#ifdef __AVX512F__
#define KS_CLOBBER_AVX512                                                                                              \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",       \
        "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define KS_CLOBBER_AVX512
#endif

/// The work-item that runs. Waiting goes from here to its neighbour by adding a constant; that this chain is short (a
/// store, a load, an addition) is what makes a barrier cheap. Where nobody can wait it is an idle item, see worker.cpp.
extern "C" __attribute__((visibility("default"))) WorkItem ks_idle_items[];
inline __thread __attribute__((visibility("hidden"), tls_model("initial-exec"))) WorkItem *current = ks_idle_items;

/// Leaves `from`'s stack for `to`'s; returns when somebody switches back, with the item that was switched to: `from`.
///
/// It is inlined where the kernel waits and ends in an indirect jump. A call would end in `ret`, and the processor's
/// return predictor would be wrong each time, as the stacks change under it. Every register is declared as
/// overwritten, so the compiler saves exactly what is alive here; only rbp and rbx cannot be declared and are kept in
/// the item. Nothing is pushed, so what the compiler keeps below the stack pointer (the red zone) stays as it is.
static KS_INLINE WorkItem *switch_stack(WorkItem *from, WorkItem *to) {
    asm volatile("leaq 1f(%%rip), %%rax\n\t"
                 "movq %%rsp, (%0)\n\t"
                 "movq %%rax, 8(%0)\n\t"
                 "movq %%rbp, 16(%0)\n\t"
                 "movq %%rbx, 24(%0)\n\t"
                 "movq (%1), %%rsp\n\t"
                 "jmpq *8(%1)\n"
                 "1:\tmovq 16(%1), %%rbp\n\t"
                 "movq 24(%1), %%rbx"
                 : "+D"(from), "+S"(to)
                 :
                 : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "st",
                   "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "xmm0", "xmm1", "xmm2", "xmm3",
                   "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                   "xmm15" KS_CLOBBER_AVX512);
    return to;
}

#ifdef KS_TRACE
/// Waits for `why` at `site`, in code that is instrumented.
static KS_INLINE void suspend(State why, uint32_t site) {
    if (why == kBarrier) {
        ks_trace_barrier(site);
    } else {
        ks_trace_wave_barrier(site);
    }
}
/// Where instrumented code writes its records, and where it stops to. Not thread-local: one thread runs kernels.
extern "C" __attribute__((visibility("default"))) uint64_t *ks_trace_cursor, *ks_trace_limit;
/// A work-item goes on.
void ks_trace_resume(WorkItem *item);
#define KS_SUSPEND switch_items
#else
#define KS_SUSPEND suspend
#endif

/// Waits for `why` at `site`; other work-items run meanwhile.
static KS_INLINE void KS_SUSPEND(State why, uint32_t site) {
    WorkItem *me = current;
    uint8_t *state = me->state;
#ifdef KS_SANITIZE
    const bool is_noted = true;
#else
    const bool is_noted = why != kBarrier;
    if (!is_noted && __builtin_expect(block.barrier_site != site, 0)) ks_other_barrier(site);
#endif
    if (is_noted) block.site[me->index.ks_linear] = site;
    state[0] = why;
    WorkItem *next = me + 1;
#ifdef KS_TRACE
    me->cursor = ks_trace_cursor;
#endif
#ifdef KS_SANITIZE
    next = ks_pick_next(me->index.ks_linear); // The library must know who runs.
#else
    // The common case, decided without a call: the neighbour in the same wave can go on.
    if (__builtin_expect(state[1] != kReady, 0)) {
        next = ks_pick_next(me->index.ks_linear);
    }
#endif
    if (__builtin_expect(next != me, 1)) {
        // The stacks of a large block do not fit into the first level of the cache: call for one ahead of time.
        __builtin_prefetch(me[kItemsAhead].stack_pointer);
        me = switch_stack(me, next);
        current = me;
#ifdef KS_TRACE
        ks_trace_resume(me);
#else
        threadIdx = me->index;
#endif
    }
}

/// Ends `item` and returns the one to begin on the same stack.
static KS_INLINE WorkItem *finish(WorkItem *item) {
    uint8_t *state = item->state;
    state[0] = kDone;
#if !defined(KS_SANITIZE) && !defined(KS_TRACE)
    if (__builtin_expect(state[1] == kNew, 1)) {
        WorkItem *next = item + 1;
        state[1] = kReady;
        next->stack = item->stack;
        return next;
    }
#endif
    return ks_finish_slowly(item);
}

static KS_INLINE unsigned lane() { return threadIdx.ks_linear % kWaveSize; }
static KS_INLINE Wave &wave() { return block.waves[threadIdx.ks_linear / kWaveSize]; }

} // namespace ks

/// The place in the source of the call that has this as a default argument.
#define KS_SITE (static_cast<uint32_t>(__builtin_LINE()) << 10 | (static_cast<uint32_t>(__builtin_COLUMN()) & 1023u))
