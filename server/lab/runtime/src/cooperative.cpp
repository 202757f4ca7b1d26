#include "cooperative.h"
#include "fault.h"
#include "worker.h"
#include <condition_variable>
#include <mutex>
#include <stdio.h>

namespace ks {
namespace {

/// Counts the blocks of the launch under way: each either waits, has ended, or runs.
class Grid {
  public:
    void enter(uint64_t blocks) {
        const std::lock_guard<std::mutex> lock(mutex_);
        blocks_ = blocks;
        waiting_ = ended_ = 0;
    }
    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        ++waiting_;
        if (!all_arrived()) {
            const uint64_t mine = round_;
            changed_.wait(lock, [&] { return round_ != mine; });
            return;
        }
        waiting_ = 0;
        ++round_;
        changed_.notify_all();
    }
    void leave() {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++ended_;
        (void)all_arrived();
    }

  private:
    /// Whether nobody is left to wait for. On a device a block that ends keeps those that wait from ever going on.
    bool all_arrived() {
        if (waiting_ + ended_ < blocks_) {
            return false;
        }
        if (waiting_ > 0 && ended_ > 0) {
            char text[200];
            snprintf(text, sizeof text,
                     "%llu blocks wait at the grid's barrier and %llu have ended without reaching it: on a GPU it never "
                     "opens; make every block reach the same this_grid().sync()",
                     static_cast<unsigned long long>(waiting_), static_cast<unsigned long long>(ended_));
            fail("grid_barrier_divergence", text);
        }
        return true;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    uint64_t blocks_ = 0, waiting_ = 0, ended_ = 0, round_ = 0;
};
Grid &grid() {
    static Grid *const only = new Grid;
    return *only;
}

/// Work-items of this thread's block that have arrived at the grid's barrier.
__thread unsigned arrived;

} // namespace

void enter_grid(const Launch &launch) { grid().enter(uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z); }
void leave_grid() { grid().leave(); }

} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

bool ks_grid_is_cooperative() { return worker.launch != nullptr && worker.launch->cooperative; }

void ks_grid_arrive(unsigned members) {
    if (!ks_grid_is_cooperative()) {
        fail("grid_barrier_not_cooperative",
             "this_grid().sync() in a kernel that was not launched with hipLaunchCooperativeKernel: its blocks need not "
             "be on the device at the same time");
    }
    if (++arrived == members) {
        arrived = 0;
        grid().wait();
    }
}
}
#pragma GCC visibility pop
