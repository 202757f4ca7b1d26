// What is allocated, by address.
#pragma once
#include "arena.h"
#include <ks/api_types.h>
#include <map>
#include <mutex>

namespace ks {

struct Allocation {
    size_t bytes; ///< null: there is none
    hipMemoryType type;
    unsigned flags;
};

/// What is allocated, and memory that the program has registered. Failures are remembered for hipGetLastError.
class Allocations {
  public:
    /// hipErrorOutOfMemory beyond the device's memory.
    hipError_t allocate(void **out, size_t bytes, hipMemoryType type, unsigned flags);
    /// Frees an allocation of a type for which `accepts` holds. Null is fine; what is not an allocation's first address is
    /// hipErrorInvalidValue.
    hipError_t release(void *pointer, bool (*accepts)(hipMemoryType));
    hipError_t add_registered(void *pointer, size_t bytes, unsigned flags);
    hipError_t remove_registered(void *pointer);

    /// The allocation or registered range that `pointer` lies in, and where it begins.
    Allocation find(const void *pointer, uintptr_t *base);
    /// Whether `bytes` from `pointer` can be accessed as far as is known: within the allocation that they begin in, or
    /// in memory of the program's own.
    bool accessible(const void *pointer, size_t bytes);
    /// Calls `see` with the first address of each allocation and what it is.
    template <class F> void for_each(F see) {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const auto &[begin, allocation] : live_) {
            see(begin, allocation);
        }
    }
    /// Bytes that are allocated.
    size_t used();

  private:
    std::mutex mutex_;
    Arena arena_;
    std::map<uintptr_t, Allocation> live_, registered_;
    size_t used_ = 0;
};

/// The process's own.
Allocations &allocations();

} // namespace ks
