// Random numbers of the harness: splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#pragma once

#include <cstdint>

namespace ks_harness __attribute__((visibility("hidden"))) {

inline uint64_t mix(uint64_t value) {
    value ^= value >> 30;
    value *= 0xbf58476d1ce4e5b9u;
    value ^= value >> 27;
    value *= 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

// A stream of random words; the n-th word is a function of the seed and n alone.
class Random {
  public:
    explicit Random(uint64_t seed) : state_(mix(seed + 0x9e3779b97f4a7c15u)) {}

    uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }

    // A number from 0 to limit - 1 (the bias for limits far below 2^64 is immaterial here).
    uint64_t below(uint64_t limit) { return limit == 0 ? 0 : next() % limit; }

    // A number in [0, 1).
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    // Mean 0, deviation 1, as the sum of four uniform numbers: close to normal, and bounded at 3.5 deviations.
    double normal() {
        uint64_t word = next();
        double sum = 0;
        for (int part = 0; part < 4; part++, word >>= 16) sum += static_cast<double>(word & 0xffff);
        return (sum * 0x1p-16 - 2.0 + 0x1p-15) * 1.7320508075688772;
    }

  private:
    uint64_t state_;
};

}  // namespace ks_harness
