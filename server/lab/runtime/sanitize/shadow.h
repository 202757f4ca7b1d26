// Which bytes may be accessed: one byte of shadow for eight, in AddressSanitizer's code.
//
// 0: all eight; 1 to 7: the first so many; above: none, and why. Clang's instrumentation is told to reach the shadow
// through calls only (a mapping with offset 0 whose "addresses" are granule numbers), so the shadow needs no fixed place and
// no terabytes of address space.
#pragma once
#include "pages.h"
#include <stddef.h>
#include <string.h>

namespace ks::sanitizer {

inline constexpr uintptr_t kGranule = 8;

/// Why bytes must not be accessed. Those of clang's are its own.
enum Poison : uint8_t {
    kUnallocated = 0xe0,
    kFreed = 0xe1,
    kBeyondDynamicShared = 0xe2,
    kAllocaLeft = 0xca,
    kAllocaRight = 0xcb,
    kStackLeft = 0xf1,
    kStackMiddle = 0xf2,
    kStackRight = 0xf3,
    kStackAfterScope = 0xf8,
    kGlobalRedzone = 0xf9,
};

struct ShadowPage {
    uint8_t codes[kPageBytes / kGranule];
};

class Shadow {
  public:
    uint8_t code(uintptr_t address) const {
        const ShadowPage *page = pages_.find(address);
        return page == nullptr ? 0 : page->codes[address % kPageBytes / kGranule];
    }
    /// The first byte of [address, address + bytes) that must not be accessed, or 0.
    uintptr_t first_bad(uintptr_t address, size_t bytes) const {
        const uintptr_t end = address + bytes;
        for (uintptr_t at = address; at < end; at = (at / kGranule + 1) * kGranule) {
            const uint8_t code = this->code(at);
            if (__builtin_expect(code != 0, 0)) {
                const uintptr_t good_end = at / kGranule * kGranule + (code < kGranule ? code : 0);
                const uintptr_t bad = at > good_end ? at : good_end;
                const uintptr_t part_end = (at / kGranule + 1) * kGranule;
                if (bad < (end < part_end ? end : part_end)) {
                    return bad;
                }
            }
        }
        return 0;
    }
    void set(uintptr_t address, size_t bytes, uint8_t code) {
        const uintptr_t end = address + bytes;
        for (uintptr_t at = address; at < end;) {
            const uintptr_t page_end = (at / kPageBytes + 1) * kPageBytes, stop = end < page_end ? end : page_end;
            if (ShadowPage *page = code == 0 ? pages_.find(at) : pages_.make(at)) {
                memset(page->codes + at % kPageBytes / kGranule, code, (stop - at + kGranule - 1) / kGranule);
            }
            at = stop;
        }
    }
    /// Makes [address, address + bytes) accessible, and what follows up to the next granule not: `address` is aligned.
    void open(uintptr_t address, size_t bytes) {
        set(address, bytes / kGranule * kGranule, 0);
        if (bytes % kGranule != 0) {
            set(address + bytes / kGranule * kGranule, 1, static_cast<uint8_t>(bytes % kGranule));
        }
    }

  private:
    PageTable<ShadowPage> pages_;
};
extern Shadow shadow;

} // namespace ks::sanitizer
