#include "state.h"
#include "../src/sanitizer.h"
#include "fault.h"
#include "shared.h"
#include <string.h>

namespace ks::sanitizer {

State state;

std::string item_text(uint32_t item) {
    const dim3 extent = state.launch->block;
    const uint32_t row = item / extent.x;
    std::string text = "work-item ";
    if (extent.y == 1 && extent.z == 1) {
        return text + std::to_string(item);
    }
    text += "(" + std::to_string(item % extent.x) + "," + std::to_string(row % extent.y);
    return text + (extent.z == 1 ? "" : "," + std::to_string(row / extent.y)) + ")";
}

void begin_launch(const Launch &launch) {
    state.launch = &launch;
    memset(state.orders_memory, 0, sizeof state.orders_memory);
    on_begin_launch(launch);
}

void end_launch() { state.launch = nullptr; }

// begin_block counts on from here.
void begin_piece(uint64_t first_block) { state.block = first_block - 1; }

void begin_block() {
    state.block += 1;
    state.item = 0;
    shared.begin_block(state.launch->shared_bytes);
    on_begin_block();
}

void end_block() {
    on_switch();
    on_end_block();
    shared.end_block();
}

void runs(uint32_t linear) {
    on_switch();
    state.item = linear;
}

void waits(uint32_t linear, const void *pc) { state.wait_pc[linear] = pc; }

void barrier() {
    on_switch();
    on_barrier();
}

void exchanged(unsigned wave, uint64_t active) {
    on_switch();
    uint64_t *orders = state.orders_memory + wave * worker.wave_size;
    // Tiles of one wave wait at the same place, each for itself.
    for (uint64_t left = active; left != 0;) {
        const unsigned first = static_cast<unsigned>(__builtin_ctzll(left));
        const uint64_t group = orders[first] & left;
        if (group != 0) {
            on_wave_order(wave, group);
        }
        for (uint64_t done = left & (group | uint64_t{1} << first); done != 0; done &= done - 1) {
            orders[__builtin_ctzll(done)] = 0;
        }
        left &= ~(group | uint64_t{1} << first);
    }
}

void diverged(uint32_t first, uint32_t other) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(state.wait_pc[first]);
    const uintptr_t also = reinterpret_cast<uintptr_t>(state.wait_pc[other]);
    if (!is_new_fault("barrier_divergence", at, also)) {
        return;
    }
    tell("barrier_divergence",
         item_text(first) + " and " + item_text(other) +
             " of one block wait at different barriers: undefined on a GPU; make every work-item of the block reach "
             "the same __syncthreads()",
         {at, first, state.block, "waits here"}, {also, other, state.block, "waits here"});
}

} // namespace ks::sanitizer

/// The exchange that the running work-item is about to wait for orders memory among these lanes of its wave.
extern "C" __attribute__((visibility("default"))) void ks_wave_orders_memory(uint64_t lanes) {
    if (ks::sanitizer::in_kernel()) {
        ks::sanitizer::state.orders_memory[ks::sanitizer::state.item] = lanes;
    }
}
