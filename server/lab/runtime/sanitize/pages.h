// Something for each 64 KiB of the address space, made when it is first wanted.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ks::sanitizer {

inline constexpr unsigned kPageBits = 16;
inline constexpr uintptr_t kPageBytes = uintptr_t{1} << kPageBits;

/// Memory of zeros that is touched in part; the program ends where there is none.
inline void *map_zeros(size_t bytes) {
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "HIP on the CPU: the sanitizer has no memory left for its tables; use smaller inputs or raise "
                        "the memory limit (--memory)\n");
        _exit(1);
    }
    return memory;
}

/// Two levels: 4 GiB, then 64 KiB. Zeroed pages; none for addresses that user programs cannot have.
template <class Page> class PageTable {
  public:
    Page *find(uintptr_t address) const {
        const uintptr_t high = address >> 32;
        if (__builtin_expect(high >= kRoots || roots_[high] == nullptr, 0)) {
            return nullptr;
        }
        return roots_[high][address >> kPageBits & 0xffff];
    }
    Page *make(uintptr_t address) {
        const uintptr_t high = address >> 32;
        if (high >= kRoots) {
            return nullptr;
        }
        if (roots_[high] == nullptr) {
            roots_[high] = static_cast<Page **>(map_zeros(sizeof(Page *) << 16));
        }
        Page *&page = roots_[high][address >> kPageBits & 0xffff];
        if (page == nullptr) {
            page = static_cast<Page *>(map_zeros(sizeof(Page)));
        }
        return page;
    }

  private:
    static constexpr uintptr_t kRoots = 1 << 15;
    Page **roots_[kRoots];
};

} // namespace ks::sanitizer
