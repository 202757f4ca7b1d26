// Who runs: launch, block, work-item. One thread runs kernels in sanitized builds.
#pragma once
#include "../src/worker.h"
#include <string>

namespace ks::sanitizer {

struct State {
    const Launch *launch = nullptr;
    uint64_t block = 0; ///< linear number in the grid
    uint32_t item = 0;  ///< linear number in the block
    const void *wait_pc[kMaxBlockSize];
    uint64_t orders_memory[kMaxBlockSize]; ///< lanes whose memory the exchange that it waits for orders; 0: none
};
extern State state;

/// Whether this thread runs a kernel now.
inline bool in_kernel() { return worker.launch != nullptr; }

// What the checkers do at these moments. Those that a build does not have are nothing (see checker.h of each).
void on_begin_launch(const Launch &launch);
void on_begin_block();
void on_end_block();
void on_barrier();
void on_wave_order(unsigned wave, uint64_t lanes);
void on_switch();
void on_register_shared(void *begin);

/// "work-item (3,0,0) of block (1,0,0)", for the text of messages.
std::string item_text(uint32_t item);

} // namespace ks::sanitizer
