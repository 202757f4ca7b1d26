#include "shared.h"
#include "fault.h"
#include <algorithm>

namespace ks::sanitizer {
namespace {

/// What a byte of shared memory holds.
enum : uint8_t { kUnwritten, kWritten, kReadEarly };

/// Different places that read unwritten memory in one block; more tell nothing new.
constexpr size_t kMostEarlyReads = 64;

} // namespace

Shared shared;

void Shared::add(uintptr_t begin, uintptr_t end) {
    for (const Range &range : ranges_) {
        if (range.begin == begin) {
            return;
        }
    }
    ranges_.push_back({begin, end, std::vector<uint8_t>(end - begin)});
}

Shared::Range *Shared::find(uintptr_t address) const {
    for (Range &range : ranges_) {
        if (address - range.begin < range.end - range.begin) {
            return &range;
        }
    }
    return nullptr;
}

void Shared::begin_block(size_t dynamic_bytes) {
    const uintptr_t dynamic = reinterpret_cast<uintptr_t>(ks_dynamic_shared);
    add(dynamic, dynamic + kMaxSharedBytes);
    for (Range &range : ranges_) {
        const size_t used = range.begin == dynamic ? dynamic_bytes : range.written.size();
        std::fill_n(range.written.begin(), used, uint8_t{kUnwritten});
    }
    early_.clear();
    explained_.clear();
}

void Shared::access(const Access &access) {
    Range *range = find(access.address);
    if (range == nullptr) {
        return;
    }
    const auto begin = range->written.begin() + static_cast<ptrdiff_t>(access.address - range->begin);
    const auto end = begin + static_cast<ptrdiff_t>(std::min(access.bytes, range->end - access.address));
    if (access.writes) {
        if (std::find(begin, end, uint8_t{kReadEarly}) != end) {
            note_late_write(access);
        }
        std::fill(begin, end, uint8_t{kWritten});
    } else if (std::find(begin, end, uint8_t{kWritten}) == end && begin != end) {
        std::fill(begin, end, uint8_t{kReadEarly});
        note_early_read(access);
    }
}

void Shared::note_early_read(const Access &access) {
    const auto same_place = [&](const EarlyRead &read) { return read.access.pc == access.pc; };
    if (early_.size() < kMostEarlyReads && std::none_of(early_.begin(), early_.end(), same_place) &&
        std::find(explained_.begin(), explained_.end(), access.pc) == explained_.end()) {
        early_.push_back({access, state.item, 0, kNobody});
    }
}

void Shared::note_late_write(const Access &access) {
    for (EarlyRead &read : early_) {
        const bool overlaps = access.address < read.access.address + read.access.bytes &&
                              read.access.address < access.address + access.bytes;
        // An atomic update reads and writes: that is no write of somebody else's.
        if (overlaps && read.written_pc == 0 && access.pc != read.access.pc) {
            read.written_pc = access.pc;
            read.writer = state.item;
        }
    }
}

void Shared::explained(uintptr_t pc) {
    const auto same_place = [pc](const EarlyRead &read) { return read.access.pc == pc; };
    early_.erase(std::remove_if(early_.begin(), early_.end(), same_place), early_.end());
    explained_.push_back(pc);
}

void Shared::end_block() {
    for (const EarlyRead &read : early_) {
        if (!is_new_fault("uninitialised_shared", read.access.pc, read.written_pc)) {
            continue;
        }
        std::string message = item_text(read.item) + " reads " + std::to_string(read.access.bytes) +
                              " bytes of shared memory that no work-item of the block has written";
        if (read.written_pc == 0) {
            message += "; shared memory begins with arbitrary values: write it first";
        } else if (read.writer == read.item) {
            message += " yet; it writes them later itself";
        } else {
            message += " yet; " + item_text(read.writer) + " writes them later: put __syncthreads() between the write "
                       "and the read, or write them earlier";
        }
        tell("uninitialised_shared", message, {read.access.pc, read.item, state.block, "read here"},
             {read.written_pc, read.writer, state.block, "written here, too late"});
    }
}

} // namespace ks::sanitizer

extern "C" __attribute__((visibility("default"))) void ks_register_shared(char *begin, char *end) {
    ks::sanitizer::on_register_shared(begin);
    ks::sanitizer::shared.add(reinterpret_cast<uintptr_t>(begin), reinterpret_cast<uintptr_t>(end));
}
