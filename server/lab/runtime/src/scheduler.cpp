// Who runs next. The states of a wave's work-items are one vector register: each question is one comparison. Where waves
// have 32 work-items, the register's upper half belongs to the next wave and is masked out.
#include "fault.h"
#include "sanitizer.h"
#include "worker.h"
#include <stdio.h>
#include <string.h>

namespace ks {
namespace {

typedef uint8_t StateVector __attribute__((ext_vector_type(64)));
typedef uint32_t SiteVector __attribute__((ext_vector_type(64)));
typedef bool MaskVector __attribute__((ext_vector_type(64)));

StateVector states_of(unsigned wave) {
    StateVector states;
    memcpy(&states, block.state + wave * worker.wave_size, sizeof states);
    return states;
}
uint64_t mask(MaskVector vector) { return __builtin_bit_cast(uint64_t, vector); }
uint64_t runnable(unsigned wave) {
    const StateVector ready = static_cast<uint8_t>(kReady);
    return mask(__builtin_convertvector(states_of(wave) <= ready, MaskVector)) & worker.lanes;
}
uint64_t in_state(unsigned wave, State state) {
    const StateVector wanted = static_cast<uint8_t>(state);
    return mask(__builtin_convertvector(states_of(wave) == wanted, MaskVector)) & worker.lanes;
}
WorkItem *first_of(unsigned wave, uint64_t items) {
    return block.items + wave * worker.wave_size + __builtin_ctzll(items);
}

void set_ready(unsigned wave, uint64_t items) {
    const StateVector ready = static_cast<uint8_t>(kReady);
    const MaskVector chosen = __builtin_bit_cast(MaskVector, items);
    const StateVector states = __builtin_convertvector(chosen, StateVector) != 0 ? ready : states_of(wave);
    memcpy(block.state + wave * worker.wave_size, &states, sizeof states);
}

/// Lets those of `waiting` go on that wait at the earliest place in the source; the values they brought are now
/// readable. Returns the first of them.
WorkItem *release_exchange(unsigned number, uint64_t waiting) {
    SiteVector sites;
    memcpy(&sites, block.site + number * worker.wave_size, sizeof sites);
    const SiteVector never = UINT32_MAX;
    const MaskVector waits = __builtin_bit_cast(MaskVector, waiting);
    const SiteVector candidates = __builtin_convertvector(waits, SiteVector) != 0 ? sites : never;
    const SiteVector earliest = __builtin_reduce_min(candidates);
    const uint64_t active = mask(__builtin_convertvector(candidates == earliest, MaskVector));
    set_ready(number, active);
    sanitizer::exchanged(number, active);
    Wave &wave = block.waves[number];
    wave.active = active;
    wave.votes = wave.votes_in & active;
    memcpy(wave.out, wave.in, sizeof wave.out);
    return first_of(number, active);
}

/// HIP leaves it undefined when the work-items of a block wait at different barriers. Here all are released, and
/// the first case in a launch is told.
void report_divergence([[maybe_unused]] uint32_t one, [[maybe_unused]] uint32_t another) {
    worker.divergence_reported = true;
#ifdef KS_SANITIZE
    sanitizer::diverged(one, another);
#else
    const uint32_t sites[2] = {block.site[one], block.site[another]};
    char text[160];
    snprintf(text, sizeof text,
             "work-items of one block wait at different barriers, lines %u and %u: undefined on a GPU; make every "
             "work-item of the block reach the same __syncthreads()",
             sites[0] >> 10, sites[1] >> 10);
    report_fault("barrier_divergence", text, sites);
#endif
}

/// The site of the barrier at which the first work-item of those in `waiting` waits, and the first that waits elsewhere.
void look_for_divergence(unsigned wave, uint64_t waiting, WorkItem *first) {
    SiteVector sites;
    memcpy(&sites, block.site + wave * worker.wave_size, sizeof sites);
    const SiteVector known = block.site[first - block.items];
    const uint64_t elsewhere = mask(__builtin_convertvector(sites != known, MaskVector)) & waiting;
    if (elsewhere != 0) {
        report_divergence(static_cast<uint32_t>(first - block.items),
                          static_cast<uint32_t>(first_of(wave, elsewhere) - block.items));
    }
}

/// Lets everybody at the barrier go on. Returns the first, or null when nobody waits.
WorkItem *release_barrier() {
    sanitizer::barrier();
    WorkItem *first = nullptr;
    for (unsigned wave = 0; wave < worker.waves; ++wave) {
        const uint64_t waiting = in_state(wave, kBarrier);
        if (waiting == 0) {
            continue;
        }
        set_ready(wave, waiting);
        if (first == nullptr) {
            first = first_of(wave, waiting);
        }
        if (!worker.divergence_reported) {
            look_for_divergence(wave, waiting, first);
        }
    }
    block.predicates = block.predicates_in;
    block.predicates_in = {};
    return first;
}

/// The next to run after work-item `linear`: its own wave first, so that values are exchanged while they are in the
/// cache; then the waves that follow; at last the barrier, or the thread's own stack when all have ended.
WorkItem *choose(uint32_t linear) {
    unsigned wave = linear / worker.wave_size;
    for (unsigned seen = 0; seen < worker.waves; ++seen) {
        if (const uint64_t items = runnable(wave); items != 0) {
            return first_of(wave, items);
        }
        if (const uint64_t waiting = in_state(wave, kWave); waiting != 0) {
            return release_exchange(wave, waiting);
        }
        wave = wave + 1 == worker.waves ? 0 : wave + 1;
    }
    WorkItem *first = release_barrier();
    return first != nullptr ? first : &worker.main;
}

[[noreturn]] void fail_outside_fibers() {
    if (worker.launch == nullptr) {
        fail("barrier_outside_kernel", "a barrier, shuffle or vote was reached outside a kernel; call it from device "
                                       "code only");
    }
    fail("barrier_in_loop", "a barrier, shuffle or vote was reached in a kernel that was taken to be free of them and "
                            "runs as a plain loop; launch it with hipLaunchKernelGGL, which makes no such assumption");
}

/// Leaves a stack for good. rsi carries the item, as `switch_stack` expects.
[[noreturn]] void jump_to(WorkItem *item) {
    asm volatile("movq (%0), %%rsp\n\t"
                 "jmpq *8(%0)"
                 :
                 : "S"(item)
                 : "memory");
    __builtin_unreachable();
}

void begin(WorkItem *item) { block.state[item->index.ks_linear] = kReady; }
bool is_new(const WorkItem *item) {
    return item != &worker.main && block.state[item->index.ks_linear] == kNew;
}

void tell_who_runs(const WorkItem *item) {
    if (item == &worker.main) {
        sanitizer::end_block();
    } else {
        sanitizer::runs(item->index.ks_linear);
    }
}

} // namespace

extern "C" __attribute__((visibility("default"))) WorkItem *ks_pick_next(uint32_t linear) {
    if (worker.launch == nullptr || worker.launch->mode != Mode::kFibers) {
        fail_outside_fibers();
    }
    sanitizer::waits(linear, __builtin_return_address(0));
    WorkItem *next = choose(linear);
    if (is_new(next)) {
        begin(next);
        prepare_stack(next);
    }
    tell_who_runs(next);
    return next;
}

extern "C" __attribute__((visibility("default"))) WorkItem *ks_finish_slowly(WorkItem *item) {
    WorkItem *next = choose(item->index.ks_linear);
    if (is_new(next)) {
        begin(next);
#ifdef KS_TRACE
        prepare_stack(next);
        jump_to(next);
#else
        next->stack = item->stack;
        sanitizer::begin_stack(item->stack, kStackBytes);
        tell_who_runs(next);
        return next;
#endif
    }
#ifndef KS_TRACE
    // Nobody can take this stack before the jump: only this thread gives it away.
    worker.free_stacks[worker.free_count++] = item->stack;
#endif
    tell_who_runs(next);
    jump_to(next);
}

extern "C" __attribute__((visibility("default"))) void ks_run_fibers(void (*entry)(WorkItem *)) {
    worker.entry = entry;
    memset(block.state, kDone, worker.waves * worker.wave_size);
    memset(block.state, kNew, block.size);
    sanitizer::begin_block();
    WorkItem *first = block.items;
    begin(first);
    prepare_stack(first);
    switch_stack(&worker.main, first);
}

} // namespace ks
