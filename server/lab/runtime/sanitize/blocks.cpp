#include "blocks.h"

namespace ks::sanitizer {
namespace {

/// So much freed memory is kept from being given out again.
constexpr size_t kQuarantineBytes = 256 << 20;

/// Bytes between `address` and the block; 0 inside.
uintptr_t distance(const MemoryBlock &block, uintptr_t address) {
    if (address < block.begin) {
        return block.begin - address;
    }
    return address < block.begin + block.bytes ? 0 : address - (block.begin + block.bytes) + 1;
}

} // namespace

void Blocks::add(const MemoryBlock &block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    all_[block.begin] = block;
}

void Blocks::free(uintptr_t begin, uintptr_t pc) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = all_.find(begin);
    if (found == all_.end()) {
        return;
    }
    found->second.freed = true;
    found->second.freed_pc = pc;
    quarantine_.push_back(begin);
    quarantined_ += found->second.bytes;
}

MemoryBlock Blocks::take_released() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (quarantined_ <= kQuarantineBytes || quarantine_.empty()) {
        return {};
    }
    const auto found = all_.find(quarantine_.front());
    const MemoryBlock block = found->second;
    quarantine_.pop_front();
    quarantined_ -= block.bytes;
    all_.erase(found);
    return block;
}

MemoryBlock Blocks::nearest(uintptr_t address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto after = all_.upper_bound(address);
    if (after == all_.begin()) {
        return after == all_.end() ? MemoryBlock{} : after->second;
    }
    const MemoryBlock &before = std::prev(after)->second;
    if (after == all_.end() || distance(before, address) <= distance(after->second, address)) {
        return before;
    }
    return after->second;
}

} // namespace ks::sanitizer
