// Device memory by address, alive and freed, for `--sanitize address`.
#pragma once
#include <deque>
#include <map>
#include <mutex>
#include <stddef.h>
#include <stdint.h>

namespace ks::sanitizer {

struct MemoryBlock {
    uintptr_t begin;
    size_t bytes;
    const char *kind; ///< "device memory" and the like
    uintptr_t allocated_pc, freed_pc;
    bool freed;
};

class Blocks {
  public:
    void add(const MemoryBlock &block);
    /// Keeps the block in quarantine.
    void free(uintptr_t begin, uintptr_t pc);
    /// A block that has been in quarantine for long enough, by size of all that came after it; `bytes` 0: none.
    MemoryBlock take_released();
    /// The block that `address` lies in, else the nearest one beside it; `bytes` 0: none.
    MemoryBlock nearest(uintptr_t address);

  private:
    std::mutex mutex_;
    std::map<uintptr_t, MemoryBlock> all_;
    std::deque<uintptr_t> quarantine_;
    size_t quarantined_ = 0;
};

} // namespace ks::sanitizer
