// Memory that only hipMalloc and its kin hand out, so that a pointer into it is either alive or wrong.
#pragma once
#include <map>
#include <stddef.h>
#include <stdint.h>

namespace ks {

/// Address ranges taken from the system in large chunks and never given back: an address that was once "device memory"
/// is never reused by the program's own allocator. Pages of large freed ranges are returned. Not synchronised.
class Arena {
  public:
    /// Alignment of every allocation. hipMalloc's on AMD devices; programs rely on it for vector loads.
#ifdef KS_TRACE
    /// As far apart as CUDA lays small ones: which parts of a cache an array's atomics meet in hangs on that.
    static constexpr size_t kAlignment = 512;
#else
    static constexpr size_t kAlignment = 256;
#endif

    /// Null when the system has no more.
    void *allocate(size_t bytes);
    /// `bytes` as they were asked for.
    void release(void *memory, size_t bytes);
    /// Whether the address is in a chunk.
    bool owns(const void *address) const;

  private:
    bool grow(size_t bytes);
    void add_free(uintptr_t begin, size_t size);

    std::map<uintptr_t, size_t> free_;
    std::map<uintptr_t, size_t> chunks_;
};

} // namespace ks
