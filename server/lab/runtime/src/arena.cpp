#include "arena.h"
#include "sanitizer.h"
#include <algorithm>
#include <sys/mman.h>

namespace ks {
namespace {

constexpr size_t kChunkBytes = 16 << 20;
constexpr size_t kPageBytes = 4096;
/// From this size on the pages of a freed range go back to the system.
constexpr size_t kReturnBytes = 1 << 20;

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

} // namespace

void *Arena::allocate(size_t bytes) {
    if (bytes > SIZE_MAX / 2) {
        return nullptr;
    }
    const size_t size = round_up(bytes, kAlignment);
    const auto fits = [size](const auto &range) { return range.second >= size; };
    auto found = std::find_if(free_.begin(), free_.end(), fits);
    if (found == free_.end()) {
        if (!grow(size)) {
            return nullptr;
        }
        found = std::find_if(free_.begin(), free_.end(), fits);
    }
    const auto [begin, available] = *found;
    free_.erase(found);
    if (available > size) {
        free_[begin + size] = available - size;
    }
    return reinterpret_cast<void *>(begin);
}

void Arena::release(void *memory, size_t bytes) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
    const size_t size = round_up(bytes, kAlignment);
    if (size >= kReturnBytes) {
        const uintptr_t first = round_up(begin, kPageBytes), last = (begin + size) / kPageBytes * kPageBytes;
        madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
    }
    add_free(begin, size);
}

bool Arena::owns(const void *address) const {
    const uintptr_t at = reinterpret_cast<uintptr_t>(address);
    const auto after = chunks_.upper_bound(at);
    return after != chunks_.begin() && at < std::prev(after)->first + std::prev(after)->second;
}

#ifdef KS_TRACE
/// A trace's caches are met by address: where nothing else lies there, chunks have the same addresses in each run, so that
/// the same code comes to the same forecast.
static void *next_place(size_t bytes) {
    constexpr uintptr_t kFirst = uintptr_t{0x20} << 40, kApart = uintptr_t{1} << 30;
    static uintptr_t next = kFirst;
    const uintptr_t place = next;
    next += (bytes / kApart + 1) * kApart;
    return reinterpret_cast<void *>(place);
}
#else
static void *next_place(size_t) { return nullptr; }
#endif

bool Arena::grow(size_t bytes) {
    // A page after each chunk is never accessible, so that running over its end is noticed.
    const size_t size = round_up(std::max(bytes, kChunkBytes), kPageBytes);
    void *memory = mmap(next_place(size + kPageBytes), size + kPageBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    mprotect(static_cast<char *>(memory) + size, kPageBytes, PROT_NONE);
    sanitizer::reserved(memory, size);
    chunks_[reinterpret_cast<uintptr_t>(memory)] = size;
    add_free(reinterpret_cast<uintptr_t>(memory), size);
    return true;
}

void Arena::add_free(uintptr_t begin, size_t size) {
    auto after = free_.lower_bound(begin);
    if (after != free_.end() && begin + size == after->first) {
        size += after->second;
        after = free_.erase(after);
    }
    if (after != free_.begin()) {
        const auto before = std::prev(after);
        if (before->first + before->second == begin) {
            before->second += size;
            return;
        }
    }
    free_[begin] = size;
}

} // namespace ks
