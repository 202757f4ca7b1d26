#include "sample.h"
#include <algorithm>

namespace ks::trace {

Sample::Sample(dim3 grid) : taken_(uint64_t{grid.x} * grid.y * grid.z) {
    const auto middle = [](unsigned extent, unsigned wanted) {
        return extent <= wanted ? 0 : std::min(extent / 2, extent - wanted);
    };
    const unsigned x = middle(grid.x, 4), y = middle(grid.y, 2), z = middle(grid.z, 2);
    const auto want = [&](unsigned bx, unsigned by, unsigned bz) {
        if (bx < grid.x && by < grid.y && bz < grid.z) {
            wanted_.push_back((uint64_t{bz} * grid.y + by) * grid.x + bx);
        }
    };
    want(x, y, z);
    want(x + 1, y, z);
    want(x, y + 1, z);
    want(x, y, z + 1);
    // Then some from anywhere: where blocks differ, those next to each other are no fair sample.
    for (int i = 0; i < 6; ++i) {
        wanted_.push_back(anywhere());
    }
    want(x + 2, y, z);
    want(x + 3, y, z);
    wanted_.push_back(0);
    wanted_.push_back(taken_.size() - 1);
}

uint64_t Sample::anywhere() {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return (random_ >> 33) % taken_.size();
}

int64_t Sample::next() {
    if (count_ == taken_.size()) {
        return -1;
    }
    uint64_t number = 0;
    do {
        if (at_ < wanted_.size()) {
            number = wanted_[at_++];
        } else {
            number = anywhere();
            // Where few are left, the next that is free.
            while (taken_[number]) {
                number = number + 1 == taken_.size() ? 0 : number + 1;
            }
        }
    } while (taken_[number]);
    taken_[number] = true;
    ++count_;
    return static_cast<int64_t>(number);
}

} // namespace ks::trace
