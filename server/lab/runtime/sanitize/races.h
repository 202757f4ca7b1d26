// Who wrote and who read each word of shared and global memory last.
#pragma once
#include "order.h"
#include "pages.h"

namespace ks::sanitizer {

/// How an access was made.
enum : unsigned { kPlain = 0, kAtomic = 1, kVolatile = 2, kCompared = 4 };

class Races {
  public:
    Order order;

    /// Memory whose accesses are looked at.
    void add_range(uintptr_t begin, uintptr_t end);
    /// An access of the running work-item, before it is made.
    void access(uintptr_t address, size_t bytes, bool writes, unsigned flags, uintptr_t pc);
    /// Another work-item runs, or none.
    void leave();
    /// The access before has been made: whether it changed what was there is known now.
    void settle() {
        if (__builtin_expect(same_value_.bytes != 0, 0)) {
            settle_same_value();
        }
    }

  private:
    /// The last write, the last atomic one, and reads of two work-items: whoever writes next differs from one of them.
    struct Cell {
        Stamp write, atomic_write, reads[2];
    };
    static constexpr size_t kWord = 4;
    /// Words are told apart; bytes of a word are from the first time that one is accessed by itself.
    struct CellPage {
        bool partial; ///< not all of it is looked at
        Cell words[kPageBytes / kWord];
        Cell *bytes;
        uint8_t split[kPageBytes / kWord / 8];
    };
    /// Two work-items have written the same place; whether the same value is seen when the second has been made.
    struct SameValue {
        uintptr_t address;
        size_t bytes;
        char before[16];
        Stamp first, second;
        bool in_shared;
    };

    /// A plain read beside atomic writes. It is harmless where the work-item goes on to compare and swap there: old
    /// versions of an update that is tried again until nobody came between begin so.
    struct LooseRead {
        uintptr_t address;
        size_t bytes;
        Stamp before, now;
        bool in_shared;
    };

    CellPage *page_of(uintptr_t address);
    bool is_looked_at(uintptr_t address) const;
    void forgive_reads(uintptr_t address);
    bool is_split(const CellPage &page, size_t word) const { return (page.split[word / 8] >> word % 8 & 1) != 0; }
    void split(CellPage &page, size_t word);
    void access_cell(Cell &cell, uintptr_t address, size_t bytes, bool writes, const Stamp &stamp);
    bool conflicts(const Stamp &before, const Stamp &now) const;
    void found(uintptr_t address, size_t bytes, const Stamp &before, bool wrote, const Stamp &now, bool writes);
    void settle_same_value();

    PageTable<CellPage> pages_;
    std::vector<std::pair<uintptr_t, uintptr_t>> ranges_;
    SameValue same_value_{};
    std::vector<LooseRead> loose_reads_;
    bool leaving_ = false;
    bool in_shared_ = false; ///< where the access under way is
};
extern Races races;

} // namespace ks::sanitizer
