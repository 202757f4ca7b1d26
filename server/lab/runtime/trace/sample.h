// The order in which blocks of a grid are recorded.
#pragma once
#include <ks/index.h>
#include <vector>

namespace ks::trace {

/// First a block in the middle and its neighbours, which share what they read; then blocks spread over the grid, always the
/// same.
class Sample {
  public:
    explicit Sample(dim3 grid);
    /// The number of the next block, x fastest; -1 when there is none left.
    int64_t next();
    bool was_taken(uint64_t number) const { return taken_[number]; }
    uint64_t taken() const { return count_; }
    uint64_t blocks() const { return taken_.size(); }

  private:
    uint64_t anywhere();

    std::vector<uint64_t> wanted_; ///< those with a reason
    size_t at_ = 0;
    uint64_t random_ = 0x9e3779b97f4a7c15;
    std::vector<bool> taken_;
    uint64_t count_ = 0;
};

} // namespace ks::trace
