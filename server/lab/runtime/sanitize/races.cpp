#if KS_SANITIZE == 2
#include "races.h"
#include "fault.h"
#include "shared.h"
#include <algorithm>
#include <string.h>

namespace ks::sanitizer {
namespace {

std::string block_text(uint64_t block) {
    const dim3 grid = state.launch->grid;
    if (grid.y == 1 && grid.z == 1) {
        return "block " + std::to_string(block);
    }
    const uint64_t row = block / grid.x;
    return "block (" + std::to_string(block % grid.x) + "," + std::to_string(row % grid.y) + "," +
           std::to_string(row / grid.y) + ")";
}

std::string doing(bool writes, uint64_t flags) {
    return std::string(writes ? "writes" : "reads") + ((flags & kAtomic) != 0 ? " atomically" : "");
}

std::string advice(bool one_block, bool one_wave, bool in_shared, bool one_is_atomic) {
    if (!one_block) {
        return one_is_atomic ? "; blocks run in any order and at once: make both accesses atomic, or put __threadfence() "
                               "before the atomic operation that others wait for"
                             : "; blocks run in any order and at once: use atomic operations, or a second launch";
    }
    std::string text = one_wave ? "; work-items of a wave do not run in lockstep" : "";
    text += one_wave ? ": put __syncthreads() between them, or __syncwarp() if only one wave is concerned"
                     : "; put __syncthreads() between them";
    return text + (in_shared || !one_is_atomic ? "" : ", or make both atomic");
}

} // namespace

void Races::add_range(uintptr_t begin, uintptr_t end) { ranges_.push_back({begin, end}); }

Races::CellPage *Races::page_of(uintptr_t address) {
    CellPage *page = pages_.find(address);
    if (page != nullptr && !page->partial) {
        return page;
    }
    if (!is_looked_at(address)) {
        return nullptr;
    }
    if (page == nullptr) {
        page = pages_.make(address);
        const uintptr_t first = address / kPageBytes * kPageBytes, last = first + kPageBytes - 1;
        const auto covers = [=](const auto &range) { return range.first <= first && last < range.second; };
        page->partial = std::none_of(ranges_.begin(), ranges_.end(), covers);
    }
    return page;
}

bool Races::is_looked_at(uintptr_t address) const {
    const auto holds = [=](const auto &range) { return address - range.first < range.second - range.first; };
    return std::any_of(ranges_.begin(), ranges_.end(), holds);
}

void Races::split(CellPage &page, size_t word) {
    if (page.bytes == nullptr) {
        page.bytes = static_cast<Cell *>(map_zeros(kPageBytes * sizeof(Cell)));
    }
    std::fill_n(page.bytes + word * kWord, kWord, page.words[word]);
    page.split[word / 8] = static_cast<uint8_t>(page.split[word / 8] | 1u << word % 8);
}

void Races::access(uintptr_t address, size_t bytes, bool writes, unsigned flags, uintptr_t pc) {
    settle();
    const Stamp stamp = order.now(pc, flags);
    in_shared_ = shared.holds(address);
    const uintptr_t end = address + bytes;
    if ((flags & kCompared) != 0) {
        forgive_reads(address);
    }
    for (uintptr_t at = address; at < end;) {
        CellPage *page = page_of(at);
        if (page == nullptr) {
            at = (at / kWord + 1) * kWord;
            continue;
        }
        const size_t word = at % kPageBytes / kWord;
        const bool whole = at % kWord == 0 && end - at >= kWord;
        if (whole && !is_split(*page, word)) {
            access_cell(page->words[word], address, bytes, writes, stamp);
            at += kWord;
            continue;
        }
        if (!is_split(*page, word)) {
            split(*page, word);
        }
        const uintptr_t stop = std::min(end, (at / kWord + 1) * kWord);
        for (; at < stop; ++at) {
            access_cell(page->bytes[at % kPageBytes], address, bytes, writes, stamp);
        }
    }
}

bool Races::conflicts(const Stamp &before, const Stamp &now) const {
    if (!order.is_recent(before) || order.is_own(before)) {
        return false;
    }
    if (in_shared_ && order.block_of(before) != state.block) {
        return false; // Each block has its own.
    }
    if ((before.flags & now.flags & kAtomic) != 0 || order.happened_before(before)) {
        return false;
    }
    // Between blocks volatile accesses are what older code has for relaxed atomic ones.
    return before.flags == kPlain || now.flags == kPlain || order.block_of(before) == state.block;
}

void Races::access_cell(Cell &cell, uintptr_t address, size_t bytes, bool writes, const Stamp &stamp) {
    for (const Stamp *write : {&cell.write, &cell.atomic_write}) {
        if (conflicts(*write, stamp)) {
            found(address, bytes, *write, true, stamp, writes);
        }
    }
    if (writes) {
        for (Stamp &read : cell.reads) {
            if ((stamp.flags & kCompared) != 0 && order.is_own(read)) {
                read.flags = kAtomic;
            }
            if (conflicts(read, stamp)) {
                found(address, bytes, read, false, stamp, true);
            }
        }
        ((stamp.flags & kAtomic) != 0 ? cell.atomic_write : cell.write) = stamp;
        return;
    }
    Stamp &first = cell.reads[0], &second = cell.reads[1];
    const auto gives_way = [this](const Stamp &read) {
        return !order.is_recent(read) || order.is_own(read) || order.happened_before(read);
    };
    if (gives_way(first)) {
        first = stamp;
    } else if (gives_way(second)) {
        second = stamp;
    }
}

void Races::found(uintptr_t address, size_t bytes, const Stamp &before, bool wrote, const Stamp &now, bool writes) {
    shared.explained(before.pc);
    shared.explained(now.pc);
    const bool both_plain = before.flags == kPlain && now.flags == kPlain;
    if (wrote && writes && both_plain && bytes <= sizeof same_value_.before && same_value_.bytes == 0) {
        same_value_ = {address, bytes, {}, before, now, in_shared_};
        memcpy(same_value_.before, reinterpret_cast<const void *>(address), bytes);
        return;
    }
    if (wrote && writes && both_plain && same_value_.address == address) {
        return; // Another word of the same write.
    }
    if (!writes && wrote && now.flags == kPlain && (before.flags & kAtomic) != 0 && loose_reads_.size() < 64 && !leaving_) {
        loose_reads_.push_back({address, bytes, before, now, in_shared_});
        return;
    }
    const uint64_t other_block = order.block_of(before);
    const bool one_block = other_block == state.block;
    const char *kind = one_block ? "race" : "block_race";
    if (!is_new_fault(kind, now.pc, before.pc)) {
        return;
    }
    const bool one_wave = one_block && before.item / worker.wave_size == now.item / worker.wave_size;
    const std::string me = item_text(now.item), they = item_text(before.item);
    std::string message = they + (one_block ? "" : " of " + block_text(other_block)) + " " + doing(wrote, before.flags) +
                          " and " + me + (one_block ? "" : " of " + block_text(state.block)) + " " +
                          doing(writes, now.flags) + " the same " + std::to_string(bytes) + " bytes of " +
                          (in_shared_ ? "shared" : "global") + " memory in no order" +
                          advice(one_block, one_wave, in_shared_, ((before.flags | now.flags) & kAtomic) != 0);
    tell(kind, message, {now.pc, now.item, state.block, writes ? "written here" : "read here"},
         {before.pc, before.item, other_block, wrote ? "written here" : "read here"});
}

void Races::forgive_reads(uintptr_t address) {
    const auto is_there = [=](const LooseRead &read) { return read.address == address; };
    loose_reads_.erase(std::remove_if(loose_reads_.begin(), loose_reads_.end(), is_there), loose_reads_.end());
}

void Races::leave() {
    settle();
    leaving_ = true;
    for (const LooseRead &read : loose_reads_) {
        in_shared_ = read.in_shared;
        found(read.address, read.bytes, read.before, true, read.now, false);
    }
    leaving_ = false;
    loose_reads_.clear();
}

void Races::settle_same_value() {
    const SameValue seen = same_value_;
    same_value_.bytes = 0;
    same_value_.address = 0;
    // Where both write the same value it does not matter who comes last.
    if (memcmp(seen.before, reinterpret_cast<const void *>(seen.address), seen.bytes) != 0) {
        in_shared_ = seen.in_shared;
        same_value_.bytes = SIZE_MAX; // Not to be taken for a new one.
        found(seen.address, seen.bytes, seen.first, true, seen.second, true);
        same_value_.bytes = 0;
    }
}

} // namespace ks::sanitizer
#endif
