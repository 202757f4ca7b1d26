// What kernels call: where they are, how they wait, what they exchange. The waiting itself is the scheduler's.
#include "records.h"
#include "../src/worker.h"
#include <ks/trace.h>

#define KS_EXPORT __attribute__((visibility("default")))

namespace ks {

extern "C" {
KS_EXPORT uint64_t *ks_trace_cursor, *ks_trace_limit;
}

namespace trace {
Place place;
}

void ks_trace_resume(WorkItem *item) {
    ks_trace_cursor = item->cursor;
    ks_trace_limit = trace::limit_of(item->index.ks_linear);
}

extern "C" KS_EXPORT const void *ks_trace_begin(WorkItem *item) {
    current = item;
    item->cursor = trace::begin_item(item->index.ks_linear);
    ks_trace_resume(item);
    return block.body;
}

extern "C" KS_EXPORT void ks_trace_finish() {
    trace::end_item(current->index.ks_linear, ks_trace_cursor);
    finish(current);
    __builtin_unreachable(); // The stack is left for good.
}

extern "C" KS_EXPORT void ks_trace_run(const Launch &launch, uint64_t first, uint64_t last, void (*entry)(WorkItem *)) {
    trace::place.grid = launch.grid;
    trace::place.extent = launch.block;
    for (uint64_t number = first; number < last; ++number) {
        const uint64_t row = number / launch.grid.x;
        trace::place.block = dim3(static_cast<unsigned>(number % launch.grid.x), static_cast<unsigned>(row % launch.grid.y),
                                  static_cast<unsigned>(row / launch.grid.y));
        ks_run_fibers(entry);
    }
}

namespace {

/// Brings `value` to the exchange of the wave and waits for it.
const Wave &exchange(uint64_t value, uint32_t site) {
    const uint32_t linear = current->index.ks_linear;
    Wave &wave = block.waves[linear / worker.wave_size];
    wave.in[linear % worker.wave_size] = value;
    switch_items(kWave, site);
    return wave;
}

} // namespace

extern "C" {

KS_EXPORT unsigned ks_trace_thread_x() { return current->index.x; }
KS_EXPORT unsigned ks_trace_thread_y() { return current->index.y; }
KS_EXPORT unsigned ks_trace_thread_z() { return current->index.z; }
KS_EXPORT unsigned ks_trace_thread_linear() { return current->index.ks_linear; }
KS_EXPORT unsigned ks_trace_block_x() { return trace::place.block.x; }
KS_EXPORT unsigned ks_trace_block_y() { return trace::place.block.y; }
KS_EXPORT unsigned ks_trace_block_z() { return trace::place.block.z; }
KS_EXPORT unsigned ks_trace_block_dim_x() { return trace::place.extent.x; }
KS_EXPORT unsigned ks_trace_block_dim_y() { return trace::place.extent.y; }
KS_EXPORT unsigned ks_trace_block_dim_z() { return trace::place.extent.z; }
KS_EXPORT unsigned ks_trace_grid_dim_x() { return trace::place.grid.x; }
KS_EXPORT unsigned ks_trace_grid_dim_y() { return trace::place.grid.y; }
KS_EXPORT unsigned ks_trace_grid_dim_z() { return trace::place.grid.z; }

KS_EXPORT void ks_trace_barrier(uint32_t site) { switch_items(kBarrier, site); }

KS_EXPORT uint64_t ks_trace_barrier_count(bool predicate, uint32_t site) {
    block.predicates_in.arrived += 1;
    block.predicates_in.true_count += predicate;
    switch_items(kBarrier, site);
    return uint64_t{block.predicates.arrived} << 32 | block.predicates.true_count;
}

KS_EXPORT void ks_trace_wave_barrier(uint32_t site) { switch_items(kWave, site); }

KS_EXPORT uint64_t ks_trace_exchange(uint64_t value, unsigned source, uint64_t otherwise, uint32_t site) {
    const Wave &wave = exchange(value, site);
    source %= worker.wave_size;
    return (wave.active >> source & 1) != 0 ? wave.out[source] : otherwise;
}

KS_EXPORT uint64_t ks_trace_vote(bool predicate, uint32_t site) {
    const uint32_t linear = current->index.ks_linear;
    Wave &wave = block.waves[linear / worker.wave_size];
    const uint64_t mine = uint64_t{1} << linear % worker.wave_size;
    wave.votes_in = predicate ? wave.votes_in | mine : wave.votes_in & ~mine;
    switch_items(kWave, site);
    return wave.votes;
}

KS_EXPORT uint64_t ks_trace_gather(uint64_t value, uint32_t site) { return exchange(value, site).active; }

KS_EXPORT uint64_t ks_trace_gathered(uint64_t, unsigned lane) {
    return block.waves[current->index.ks_linear / worker.wave_size].out[lane % worker.wave_size];
}
}

} // namespace ks
