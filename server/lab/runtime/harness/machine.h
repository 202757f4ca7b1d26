// What this machine can do at the very most: a time below that is not believed.
#pragma once

#include <algorithm>
#include <thread>
#include <vector>

#include "clock.h"

namespace ks_harness __attribute__((visibility("hidden"))) {

struct Machine {
    double bytes_per_s = 0;  // reads from the nearest cache, all hardware threads together
    double flops_per_s = 0;  // single-precision multiply-adds, counted as two, all hardware threads together
};

using Lanes = float __attribute__((vector_size(64)));

inline double best_rate(double work, void (*body)()) {
    double best = 1e30;
    for (int attempt = 0; attempt < 5; attempt++) {
        const double start = clock_ns();
        body();
        best = std::min(best, clock_ns() - start);
    }
    return work / best * 1e9;
}

inline void read_cache() {
    static Lanes data[256];  // 16 KiB
    Lanes sum[8] = {};
    for (int round = 0; round < 1000; round++) {
        asm volatile("" ::: "memory");
        for (int index = 0; index < 256; index += 8) {
            for (int lane = 0; lane < 8; lane++) sum[lane] += data[index + lane];
        }
    }
    for (auto& lane : sum) asm volatile("" ::"r"(&lane) : "memory");
}

inline void multiply_add() {
    Lanes sum[12] = {};
    Lanes factor = sum[0] + 0.5f;
    for (int round = 0; round < 10000; round++) {
        for (auto& lane : sum) lane = lane * factor + factor;
        asm volatile("" : "+m"(factor));
    }
    for (auto& lane : sum) asm volatile("" ::"r"(&lane) : "memory");
}

inline Machine measure_machine() {
    const double threads = std::max(1u, std::thread::hardware_concurrency());
    return {threads * best_rate(1000.0 * 256 * sizeof(Lanes), read_cache),
            threads * best_rate(10000.0 * 12 * 16 * 2, multiply_add)};
}

}  // namespace ks_harness
