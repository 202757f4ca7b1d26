#include "pool.h"
#include "crash.h"
#include "fault.h"
#include "output.h"
#include "worker.h"
#include <algorithm>
#include <atomic>
#include <stdlib.h>
#include <system_error>
#include <thread>

namespace ks {
namespace {

/// Pieces that each thread's share is cut into, so that a thread that was held up does not hold up the launch.
constexpr uint64_t kPiecesPerThread = 8;
/// How long an idle thread looks for the next launch before it sleeps: launches often come in rows.
constexpr int kSpins = 2000;

class Pool {
  public:
    void run(const Launch &launch) {
        const uint64_t blocks = uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
        const unsigned threads = static_cast<unsigned>(std::min<uint64_t>(thread_count(), blocks));
        launch_ = &launch;
        blocks_ = blocks;
        piece_ = std::max<uint64_t>(1, blocks / (threads * kPiecesPerThread));
        next_.store(0, std::memory_order_relaxed);
        if (threads == 1) {
            work();
            return;
        }
        start_threads(threads - 1);
        running_.store(started_, std::memory_order_relaxed);
        round_.fetch_add(1, std::memory_order_release);
        round_.notify_all();
        work();
        for (unsigned left; (left = running_.load(std::memory_order_acquire)) != 0;) {
            wait_for_change(running_, left);
        }
    }

  private:
    void start_threads(unsigned count) {
        while (started_ < count) {
            try {
                std::thread([this, seen = round_.load()]() mutable {
                    use_signal_stack();
                    for (;;) {
                        wait_for_change(round_, seen);
                        seen = round_.load(std::memory_order_acquire);
                        work();
                        if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                            running_.notify_one();
                        }
                    }
                }).detach();
            } catch (const std::system_error &) {
                fail("out_of_threads", "the system gives the runtime no further thread to run blocks on; set "
                                       "KS_THREADS=1 or raise the limit on processes");
            }
            ++started_;
        }
    }

    void work() {
        const Launch &launch = *launch_;
        uint64_t first = next_.fetch_add(piece_, std::memory_order_relaxed);
        if (first >= blocks_) {
            return;
        }
        begin_launch(launch);
        for (; first < blocks_; first = next_.fetch_add(piece_, std::memory_order_relaxed)) {
            launch.run_blocks(launch, first, std::min(first + piece_, blocks_));
            collect_output(first);
        }
        end_launch();
    }

    static void wait_for_change(std::atomic<unsigned> &value, unsigned known) {
        for (int i = 0; i < kSpins; ++i) {
            if (value.load(std::memory_order_acquire) != known) {
                return;
            }
            __builtin_ia32_pause();
        }
        value.wait(known, std::memory_order_acquire);
    }

    const Launch *launch_ = nullptr;
    uint64_t blocks_ = 0, piece_ = 1;
    unsigned started_ = 0;
    alignas(64) std::atomic<uint64_t> next_{0};
    alignas(64) std::atomic<unsigned> round_{0};
    alignas(64) std::atomic<unsigned> running_{0};
};

} // namespace

unsigned thread_count() {
    static const unsigned count = [] {
        const char *wanted = getenv("KS_THREADS");
        const int given = wanted != nullptr ? atoi(wanted) : 0;
        return given > 0 ? static_cast<unsigned>(given) : std::max(1u, std::thread::hardware_concurrency());
    }();
    return count;
}

void run_on_pool(const Launch &launch) {
    // Never destroyed: its threads outlive main.
    static Pool *const pool = new Pool;
    pool->run(launch);
}

} // namespace ks
