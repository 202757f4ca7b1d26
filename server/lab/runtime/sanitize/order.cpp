#if KS_SANITIZE == 2
#include "order.h"
#include <algorithm>
#include <string.h>

namespace ks::sanitizer {

void Order::begin_launch(const Launch &launch) {
    if (phase_ > UINT32_MAX / 2) {
        phase_ = 0; // Half of the numbers are left for one launch; old stamps would take long to come up again.
    }
    first_phase_ = phase_ + 1;
    blocks_.clear();
    nodes_.clear();
    leaves_.clear();
    published_.clear();
    const uint64_t blocks = uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    for (levels_ = 1; levels_ < 16 && blocks >> 4 * levels_ != 0; ++levels_) {
    }
}

void Order::begin_block() {
    memset(items_, 0, sizeof(Item) * block.size);
    any_known_ = false;
    phase_ += 1;
    blocks_.push_back(static_cast<uint32_t>(state.block));
}

void Order::barrier() {
    phase_ += 1;
    blocks_.push_back(static_cast<uint32_t>(state.block));
    if (!any_known_) {
        return;
    }
    // Everybody now knows, and has behind a fence, what anybody did.
    Item all{};
    for (unsigned i = 0; i < block.size; ++i) {
        all.known = merge(all.known, items_[i].known);
        all.fenced = merge(all.fenced, items_[i].fenced);
        all.fenced_in_block = merge(all.fenced_in_block, items_[i].fenced_in_block);
    }
    std::fill_n(items_, block.size, all);
}

void Order::wave(unsigned wave, uint64_t active) {
    // All that take part publish their past to each other.
    Leaf past{phase_, {}};
    const void *known = nullptr;
    for (uint64_t left = active; left != 0; left &= left - 1) {
        const unsigned item = wave * worker.wave_size + static_cast<unsigned>(__builtin_ctzll(left));
        past.items.push_back({static_cast<uint16_t>(item), items_[item].step});
        known = merge(known, items_[item].known);
    }
    leaves_.push_back(std::move(past));
    const void *path = &leaves_.back();
    for (unsigned level = 0; level < levels_; ++level) {
        nodes_.push_back({});
        nodes_.back().children[state.block >> 4 * level & 15] = path;
        path = &nodes_.back();
    }
    known = merge(known, path);
    for (uint64_t left = active; left != 0; left &= left - 1) {
        Item &item = items_[wave * worker.wave_size + static_cast<unsigned>(__builtin_ctzll(left))];
        item.known = known;
        item.step += item.step != UINT16_MAX;
    }
    any_known_ = true;
}

bool Order::happened_before(const Stamp &stamp) const {
    const uint32_t where = block_of(stamp);
    if (where == state.block) {
        if (stamp.phase < phase_ || stamp.item == state.item) {
            return true;
        }
    }
    const Leaf *leaf = find(items_[state.item].known, where);
    if (leaf == nullptr || stamp.phase > leaf->phase) {
        return false;
    }
    if (stamp.phase < leaf->phase) {
        return true;
    }
    const auto found = std::lower_bound(leaf->items.begin(), leaf->items.end(), std::pair<uint16_t, uint16_t>{stamp.item, 0});
    return found != leaf->items.end() && found->first == stamp.item && stamp.step <= found->second;
}

void Order::fence(bool whole_device) {
    Item &item = items_[state.item];
    const void *past = merge(item.known, own_past());
    const void *&fenced = whole_device ? item.fenced : item.fenced_in_block;
    fenced = merge(fenced, past);
    item.step += item.step != UINT16_MAX;
    any_known_ = true;
}

void Order::publish(uintptr_t address) {
    const Item &item = items_[state.item];
    if (item.fenced == nullptr && item.fenced_in_block == nullptr) {
        return;
    }
    Published &published = published_[address];
    published.everywhere = merge(published.everywhere, item.fenced);
    if (item.fenced_in_block != nullptr) {
        const void *before = published.block == state.block ? published.in_block : nullptr;
        published.in_block = merge(before, item.fenced_in_block);
        published.block = state.block;
    }
}

void Order::learn(uintptr_t address) {
    if (published_.empty()) {
        return;
    }
    const auto found = published_.find(address);
    if (found == published_.end()) {
        return;
    }
    Item &item = items_[state.item];
    item.known = merge(item.known, found->second.everywhere);
    if (found->second.block == state.block) {
        item.known = merge(item.known, found->second.in_block);
    }
    any_known_ = true;
}

/// The running work-item's own past, and its block's up to the last barrier.
const void *Order::own_past() {
    leaves_.push_back({phase_, {{static_cast<uint16_t>(state.item), items_[state.item].step}}});
    const void *path = &leaves_.back();
    for (unsigned level = 0; level < levels_; ++level) {
        nodes_.push_back({});
        nodes_.back().children[state.block >> 4 * level & 15] = path;
        path = &nodes_.back();
    }
    return path;
}

const Order::Leaf *Order::find(const void *known, uint64_t block) const {
    for (unsigned level = levels_; level-- > 0 && known != nullptr;) {
        known = static_cast<const Node *>(known)->children[block >> 4 * level & 15];
    }
    return static_cast<const Leaf *>(known);
}

const void *Order::merge(const void *a, const void *b, unsigned level) {
    if (a == b || b == nullptr) {
        return a;
    }
    if (a == nullptr) {
        return b;
    }
    if (level == 0) {
        return merge_leaves(static_cast<const Leaf *>(a), static_cast<const Leaf *>(b));
    }
    const Node &first = *static_cast<const Node *>(a), &second = *static_cast<const Node *>(b);
    Node both;
    for (unsigned i = 0; i < 16; ++i) {
        both.children[i] = merge(first.children[i], second.children[i], level - 1);
    }
    if (memcmp(&both, &first, sizeof both) == 0) {
        return a;
    }
    if (memcmp(&both, &second, sizeof both) == 0) {
        return b;
    }
    nodes_.push_back(both);
    return &nodes_.back();
}

const void *Order::merge_leaves(const Leaf *a, const Leaf *b) {
    if (a->phase != b->phase) {
        return a->phase > b->phase ? a : b;
    }
    Leaf both{a->phase, {}};
    both.items.reserve(a->items.size() + b->items.size());
    auto first = a->items.begin();
    auto second = b->items.begin();
    while (first != a->items.end() || second != b->items.end()) {
        if (second == b->items.end() || (first != a->items.end() && first->first < second->first)) {
            both.items.push_back(*first++);
        } else if (first == a->items.end() || second->first < first->first) {
            both.items.push_back(*second++);
        } else {
            both.items.push_back({first->first, std::max(first->second, second->second)});
            ++first, ++second;
        }
    }
    if (both.items == a->items) {
        return a;
    }
    if (both.items == b->items) {
        return b;
    }
    leaves_.push_back(std::move(both));
    return &leaves_.back();
}

} // namespace ks::sanitizer
#endif
