// Who runs next. The states of a wave's work-items are one vector register: each question is one comparison. Where waves
// have 32 work-items, the register's upper half is kDone.
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
    memcpy(&states, block.state + wave * kStateStride, sizeof states);
    return states;
}
uint64_t mask(MaskVector vector) { return __builtin_bit_cast(uint64_t, vector); }
uint64_t runnable(unsigned wave) {
    const StateVector ready = static_cast<uint8_t>(kReady);
    return mask(__builtin_convertvector(states_of(wave) <= ready, MaskVector));
}
uint64_t in_state(unsigned wave, State state) {
    const StateVector wanted = static_cast<uint8_t>(state);
    return mask(__builtin_convertvector(states_of(wave) == wanted, MaskVector));
}
WorkItem *first_of(unsigned wave, uint64_t items) {
    return block.items + wave * worker.wave_size + __builtin_ctzll(items);
}

void set_ready(unsigned wave, uint64_t items) {
    const StateVector ready = static_cast<uint8_t>(kReady);
    const MaskVector chosen = __builtin_bit_cast(MaskVector, items);
    const StateVector states = __builtin_convertvector(chosen, StateVector) != 0 ? ready : states_of(wave);
    memcpy(block.state + wave * kStateStride, &states, sizeof states);
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

#ifdef KS_SANITIZE
/// Tells of work-items of `waiting` that wait at another barrier than `first`.
void look_for_divergence(unsigned wave, uint64_t waiting, WorkItem *first) {
    SiteVector sites;
    memcpy(&sites, block.site + wave * worker.wave_size, sizeof sites);
    const SiteVector known = block.site[first - block.items];
    const uint64_t elsewhere = mask(__builtin_convertvector(sites != known, MaskVector)) & waiting;
    if (elsewhere != 0) {
        worker.divergence_reported = true;
        sanitizer::diverged(static_cast<uint32_t>(first - block.items),
                            static_cast<uint32_t>(first_of(wave, elsewhere) - block.items));
    }
}
#endif

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
#ifdef KS_SANITIZE
        if (!worker.divergence_reported) {
            look_for_divergence(wave, waiting, first);
        }
#endif
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

void begin(WorkItem *item) { *item->state = kReady; }
bool is_new(const WorkItem *item) { return item != &worker.main && *item->state == kNew; }

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
        if (linear == 0) {
            // Above what this function has pushed and its return address stands the frame of the one that waits.
            note_frame(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) + 16);
        }
        prepare_stack(next);
    }
    tell_who_runs(next);
    return next;
}

// HIP leaves it undefined when the work-items of a block wait at different barriers. Here all are released together, and the
// first case in a launch is told.
extern "C" __attribute__((visibility("default"))) void ks_other_barrier(uint32_t site) {
    if (worker.launch == nullptr || worker.launch->mode != Mode::kFibers) {
        return; // Nobody can wait here, as ks_pick_next will say.
    }
    bool anyone = false;
    for (unsigned wave = 0; wave < worker.waves; ++wave) {
        anyone |= in_state(wave, kBarrier) != 0;
    }
    if (!anyone) {
        block.barrier_site = site;
    } else if (!worker.divergence_reported) {
        worker.divergence_reported = true;
        const uint32_t sites[2] = {block.barrier_site, site};
        char text[160];
        snprintf(text, sizeof text,
                 "work-items of one block wait at different barriers, lines %u and %u: undefined on a GPU; make every "
                 "work-item of the block reach the same __syncthreads()",
                 sites[0] >> 10, sites[1] >> 10);
        report_fault("barrier_divergence", text, sites);
    }
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
    memset(block.state, kDone, worker.waves * kStateStride);
    for (unsigned first = 0, wave = 0; first < block.size; first += worker.wave_size, ++wave) {
        const unsigned left = block.size - first;
        memset(block.state + wave * kStateStride, kNew, left < worker.wave_size ? left : worker.wave_size);
    }
    sanitizer::begin_block();
    WorkItem *first = block.items;
    begin(first);
    prepare_stack(first);
    switch_stack(&worker.main, first);
}

} // namespace ks
