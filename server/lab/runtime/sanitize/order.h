// What has happened before what, among the work-items of a launch.
//
// Ordered are: launches one after another; a block's work-items by __syncthreads(); a wave's by __syncwarp(); and, through
// an atomic operation on one address, what its writer did before a fence (`__threadfence()`, or a release order of the
// operation itself) with what the work-item does that then reads the address atomically. Shuffles and votes exchange values
// and order nothing. A reader's own fence is not asked for: code that is widely used leaves it out.
#pragma once
#include "state.h"
#include <deque>
#include <unordered_map>
#include <vector>

namespace ks::sanitizer {

/// When and by whom something was done.
struct Stamp {
    uint64_t pc : 48, flags : 16;
    uint32_t phase; ///< the time between two barriers of one block, numbered through all launches; 0: never
    uint16_t item;
    uint16_t step; ///< counts what the work-item has published in the phase
};
static_assert(sizeof(Stamp) == 16);

class Order {
  public:
    void begin_launch(const Launch &launch);
    void begin_block();
    void barrier();
    /// The work-items of a wave that `active` names have waited for each other.
    void wave(unsigned wave, uint64_t active);

    /// A stamp for the running work-item.
    Stamp now(uintptr_t pc, unsigned flags) const {
        return {pc, flags, phase_, static_cast<uint16_t>(state.item), items_[state.item].step};
    }
    /// Whether the stamp is of this launch.
    bool is_recent(const Stamp &stamp) const { return stamp.phase >= first_phase_; }
    /// Whether the running work-item itself is meant, in this block and phase.
    bool is_own(const Stamp &stamp) const { return stamp.phase == phase_ && stamp.item == state.item; }
    /// The block of a recent stamp.
    uint32_t block_of(const Stamp &stamp) const { return blocks_[stamp.phase - first_phase_]; }
    /// Whether what the recent stamp stands for has happened before the running work-item's present.
    bool happened_before(const Stamp &stamp) const;

    /// A fence; one of the block's scope orders nothing between blocks.
    void fence(bool whole_device);
    /// An atomic write to `address` publishes what lies before the last fence; an atomic read learns it.
    void publish(uintptr_t address);
    void learn(uintptr_t address);

  private:
    /// What is known of one block: all phases before `phase`, and steps of single work-items in it.
    struct Leaf {
        uint32_t phase;
        std::vector<std::pair<uint16_t, uint16_t>> items; ///< work-item and step, sorted
    };
    /// What is known, by block: a tree whose parts are shared and never changed.
    struct Node {
        const void *children[16];
    };
    struct Item {
        const void *known, *fenced, *fenced_in_block;
        uint16_t step;
    };
    struct Published {
        const void *everywhere, *in_block;
        uint64_t block;
    };

    const void *merge(const void *a, const void *b, unsigned level);
    const void *merge(const void *a, const void *b) { return merge(a, b, levels_); }
    const void *merge_leaves(const Leaf *a, const Leaf *b);
    const void *own_past();
    const Leaf *find(const void *known, uint64_t block) const;

    uint32_t phase_ = 0, first_phase_ = 1;
    unsigned levels_ = 1;
    std::vector<uint32_t> blocks_; ///< by phase, from first_phase_ on
    Item items_[kMaxBlockSize];
    bool any_known_ = false;
    std::deque<Node> nodes_;
    std::deque<Leaf> leaves_;
    std::unordered_map<uintptr_t, Published> published_;
};

} // namespace ks::sanitizer
