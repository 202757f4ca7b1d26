#include "pool.h"
#include "cooperative.h"
#include "crash.h"
#include "fault.h"
#include "output.h"
#include "sanitizer.h"
#include "trace.h"
#include "worker.h"
#include <algorithm>
#include <atomic>
#include <linux/futex.h>
#include <mutex>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace ks {
namespace {

/// Pieces that each thread's share is cut into, so that a thread that was held up does not hold up the launch.
constexpr uint64_t kPiecesPerThread = 8;
/// How long an idle thread looks for the next launch before it sleeps: launches often come in rows.
constexpr int kSpins = 2000;

/// A number that threads can sleep on until it changes.
class Signal {
  public:
    unsigned get() const { return value_.load(std::memory_order_acquire); }
    /// Changes it without waking anybody; returns what it was.
    unsigned add(int change) { return value_.fetch_add(static_cast<unsigned>(change), std::memory_order_acq_rel); }
    void wake_all() { call(FUTEX_WAKE_PRIVATE, INT32_MAX); }
    void wait_while(unsigned known, int spins = kSpins) {
        for (int i = 0; i < spins; ++i) {
            if (get() != known) {
                return;
            }
            __builtin_ia32_pause();
        }
        while (get() == known) {
            call(FUTEX_WAIT_PRIVATE, known);
        }
    }

  private:
    void call(int operation, unsigned argument) {
        syscall(SYS_futex, reinterpret_cast<unsigned *>(&value_), operation, argument, nullptr, nullptr, 0);
    }
    std::atomic<unsigned> value_{0};
};

class Pool {
  public:
    /// Tells whether other threads had a part in it.
    bool run(const Launch &launch) {
        const uint64_t blocks = uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
        const unsigned threads =
            static_cast<unsigned>(launch.cooperative ? blocks : std::min<uint64_t>(thread_count(), blocks));
        launch_ = &launch;
        blocks_ = blocks;
        piece_ = launch.cooperative ? 1 : std::max<uint64_t>(1, blocks / (threads * kPiecesPerThread));
        // More threads than processors must not spin.
        spins_ = launch.cooperative ? 0 : kSpins;
        next_.store(0, std::memory_order_relaxed);
        if (threads == 1) {
            work();
            return false;
        }
        start_threads(threads - 1);
        set_open(true);
        round_.add(1);
        round_.wake_all();
        work();
        // A thread that has not woken up until now has nothing to do any more, and is not waited for.
        set_open(false);
        for (unsigned left; (left = running_.get()) != 0;) {
            running_.wait_while(left, spins_);
        }
        return true;
    }

  private:
    void start_threads(unsigned count) {
        while (started_ < count) {
            try {
                std::thread([this, seen = round_.get()]() mutable {
                    use_signal_stack();
                    for (;; work_and_tell()) {
                        round_.wait_while(seen, spins_);
                        seen = round_.get();
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
            sanitizer::begin_piece(first);
            launch.run_blocks(launch, first, std::min(first + piece_, blocks_));
            collect_output(first);
            if (launch.cooperative) {
                leave_grid();
            }
        }
        end_launch();
    }

    void set_open(bool open) {
        const std::lock_guard<std::mutex> lock(mutex_);
        open_ = open;
    }

    void work_and_tell() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (!open_) {
                return;
            }
            running_.add(1);
        }
        work();
        if (running_.add(-1) == 1) {
            running_.wake_all();
        }
    }

    const Launch *launch_ = nullptr;
    uint64_t blocks_ = 0, piece_ = 1;
    unsigned started_ = 0;
    std::atomic<int> spins_{kSpins};
    std::mutex mutex_;
    bool open_ = false; ///< whether threads may still join the launch under way
    alignas(64) std::atomic<uint64_t> next_{0};
    alignas(64) Signal round_;   ///< counts launches
    alignas(64) Signal running_; ///< threads that still work on this one
};

/// Processors that this process may use: fewer than there are under `taskset` or in a container.
unsigned usable_processors() {
    cpu_set_t set;
    const bool known = sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0;
    return known ? static_cast<unsigned>(CPU_COUNT(&set)) : std::max(1u, std::thread::hardware_concurrency());
}

} // namespace

unsigned thread_count() {
#if defined(KS_SANITIZE) || defined(KS_TRACE)
    return 1; // Blocks one after another: shared memory is not thread-local in this build, and results are the same each time.
#endif
    static const unsigned count = [] {
        const char *wanted = getenv("KS_THREADS");
        const int given = wanted != nullptr ? atoi(wanted) : 0;
        return given > 0 ? static_cast<unsigned>(given) : usable_processors();
    }();
    return count;
}

bool run_on_pool(const Launch &launch) {
#ifdef KS_TRACE
    trace::run(launch);
    return false;
#endif
    // Never destroyed: their threads outlive main.
    static Pool *const pool = new Pool;
    static Pool *const cooperative_pool = new Pool;
#ifdef KS_SANITIZE
    if (launch.cooperative && launch.grid.x * launch.grid.y * launch.grid.z > 1) {
        fail("cooperative_launch_in_sanitizer", "a cooperative launch of several blocks cannot be looked at by a sanitizer, "
                                                "under which blocks run one after another; launch it with one block");
    }
#endif
    if (launch.cooperative) {
        enter_grid(launch);
        return cooperative_pool->run(launch);
    }
    return pool->run(launch);
}

} // namespace ks
