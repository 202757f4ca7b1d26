// Kernels that were split at their barriers: the rewriting puts each stretch between two barriers into a loop over the
// work-items of the block. A call of such a kernel runs a whole block.
#pragma once
#pragma clang system_header
#include <ks/index.h>
#include <new>
#include <stddef.h>
#include <stdint.h>
#include <type_traits>
#include <utility>

namespace ks {

/// Memory of this thread for what work-items keep between two regions: a stack of allocations, aligned to cache lines.
/// `malloc` tells the compiler that nothing else points to it.
extern "C" __attribute__((malloc, returns_nonnull)) void *ks_keep(size_t bytes);
extern "C" void ks_release(void *memory);

/// How a variable is kept, by its type as written: its value...
template <class T> using Stored = std::remove_const_t<T>;
/// ...or, for a reference, the address.
template <class T> using Referred = std::remove_reference_t<T> *;

/// One variable of all work-items of the block.
template <class T> class Kept {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                  "only values that can be copied as bytes are kept across a barrier");

  public:
    KS_INLINE explicit Kept(const Extent &block)
        : items_(static_cast<T *>(ks_keep(size_t{block.x} * block.y * block.z * sizeof(T)))) {}
    Kept(const Kept &) = delete;
    KS_INLINE ~Kept() { ks_release(items_); }
    KS_INLINE T &operator[](unsigned item) const { return items_[item]; }
    /// Begins the variable of `item` with the value `first`.
    KS_INLINE T &put(unsigned item, const T &first) const {
        __builtin_memcpy(&items_[item], &first, sizeof(T));
        return items_[item];
    }

  private:
    T *items_;
};

/// Which work-items have returned.
class Left {
  public:
    KS_INLINE explicit Left(const Extent &block)
        : count_(block.x * block.y * block.z), left_(static_cast<bool *>(ks_keep(count_))) {
        __builtin_memset(left_, 0, count_);
    }
    Left(const Left &) = delete;
    KS_INLINE ~Left() { ks_release(left_); }
    KS_INLINE bool operator[](unsigned item) const { return left_[item]; }
    KS_INLINE void leave(unsigned item) const { left_[item] = true; }
    KS_INLINE bool all() const {
        unsigned left = 0;
        for (unsigned item = 0; item < count_; ++item) left += left_[item];
        return left == count_;
    }

  private:
    unsigned count_;
    bool *left_;
};

/// The turns of a loop that each work-item goes through on its own, by a step that is the same for the block: all take one
/// turn before any takes the next. So work-items that walk through an array side by side read it in its order.
class Turns {
  public:
    KS_INLINE explicit Turns(const Extent &block)
        : count_(block.x * block.y * block.z), goes_on_(static_cast<bool *>(ks_keep(count_))) {
        __builtin_memset(goes_on_, 1, count_);
    }
    Turns(const Turns &) = delete;
    KS_INLINE ~Turns() { ks_release(goes_on_); }
    /// Whether any work-item has not left the loop.
    KS_INLINE bool any() const {
        unsigned left = 0;
        for (unsigned item = 0; item < count_; ++item) left += goes_on_[item];
        return left != 0;
    }
    KS_INLINE bool operator[](unsigned item) const { return goes_on_[item]; }
    KS_INLINE void leave(unsigned item) const { goes_on_[item] = false; }

    template <class T> KS_INLINE void advance(T step) {
        static_assert(std::is_integral_v<T>, "only whole numbers add up to the same whichever way they are added");
        ahead_ += static_cast<uint64_t>(step);
    }
    template <class T> KS_INLINE void retreat(T step) {
        static_assert(std::is_integral_v<T>, "only whole numbers add up to the same whichever way they are added");
        ahead_ -= static_cast<uint64_t>(step);
    }
    /// What a variable that began as `first` is in this turn. Sums of whole numbers are those of their lowest bits.
    template <class T> KS_INLINE T at(T first) const {
        static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>, "see advance");
        return static_cast<T>(static_cast<uint64_t>(first) + ahead_);
    }

  private:
    unsigned count_;
    bool *goes_on_;
    uint64_t ahead_ = 0;
};

} // namespace ks

/// Begins a split kernel. Where it was launched on fibers after all, the block's first work-item does the work of all.
#define KS_SPLIT                                                                                                       \
    if (threadIdx.ks_linear != 0) return;                                                                              \
    const ::ks::Extent ks_extent = blockDim
/// The same where work-items return early.
#define KS_SPLIT_LEAVING                                                                                               \
    KS_SPLIT;                                                                                                          \
    const ::ks::Left ks_left(ks_extent)
/// Where a barrier stood: all work-items have arrived, and go on together.
#define KS_SPLIT_BARRIER static_cast<void>(0)
/// The statement that follows, for each work-item. Iterations are independent, as no work-item may rely on another one
/// between two barriers. Rows of a block are often short: without interleaving, 8 or 16 work-items fill a vector.
#define KS_ITEMS                                                                                                       \
    for (unsigned ks_z = 0, ks_row = 0; ks_z < ks_extent.z; ++ks_z)                                                    \
        for (unsigned ks_y = 0; ks_y < ks_extent.y; ++ks_y, ks_row += ks_extent.x)                                     \
            _Pragma("clang loop vectorize(assume_safety) interleave_count(1)")                                         \
            for (unsigned ks_x = 0; ks_x < ks_extent.x; ++ks_x)                                                        \
                if (const unsigned ks_i = ks_row + ks_x; (threadIdx = ::ks::ItemIndex{ks_x, ks_y, ks_z, ks_i}, true))
