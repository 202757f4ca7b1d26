// Shared memory: where it is, and which of its bytes the running block has written.
#pragma once
#include "state.h"
#include <vector>

namespace ks::sanitizer {

/// A kernel's access to memory, as the compiler's hooks tell it.
struct Access {
    uintptr_t address;
    size_t bytes;
    bool writes;
    uintptr_t pc;
};

class Shared {
  public:
    /// The `__shared__` variables of a loaded object.
    void add(uintptr_t begin, uintptr_t end);
    /// Forgets what was written: a block begins.
    void begin_block(size_t dynamic_bytes);
    /// Tells the reads of what nobody had written: the block has ended.
    void end_block();
    /// Whether `address` lies in shared memory.
    bool holds(uintptr_t address) const { return find(address) != nullptr; }
    /// A write marks bytes as written; a read of bytes none of which is written is kept for the block's end, since
    /// a write that comes later says more about it.
    void access(const Access &access);
    /// A race explains the reads at `pc` in this block.
    void explained(uintptr_t pc);

  private:
    struct Range {
        uintptr_t begin, end;
        std::vector<uint8_t> written;
    };
    /// The first read of unwritten bytes at a place in this block, and who wrote them later.
    struct EarlyRead {
        Access access;
        uint32_t item;
        uintptr_t written_pc;
        uint32_t writer;
    };
    Range *find(uintptr_t address) const;
    void note_early_read(const Access &access);
    void note_late_write(const Access &access);

    mutable std::vector<Range> ranges_;
    std::vector<EarlyRead> early_;
    std::vector<uintptr_t> explained_;
};
extern Shared shared;

} // namespace ks::sanitizer
