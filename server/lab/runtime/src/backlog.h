// Work that cannot run yet. Streams run what they are given at once; only behind hipStreamWaitValue, whose value the host
// writes later, does work have to wait, and all that depends on it.
#pragma once
#include "work.h"
#include <atomic>
#include <list>
#include <mutex>

namespace ks {

/// Whether a piece of work is done. Null: it is.
using Ticket = std::shared_ptr<const std::atomic<bool>>;
inline bool is_done(const Ticket &ticket) { return ticket == nullptr || ticket->load(std::memory_order_acquire); }

class Backlog {
  public:
    /// Whether everything that was issued is done.
    bool empty() const { return count_.load(std::memory_order_acquire) == 0; }
    /// Adds work that runs when all in `after` are done and `condition` holds, if there is one.
    Ticket add(Work work, std::vector<Ticket> after, std::function<bool()> condition);
    /// Runs what can run, in the order in which it was issued.
    void advance();
    /// Advances until `ticket`, or everything, is done.
    void wait_for(const Ticket &ticket);
    void wait_for_all();

  private:
    struct Entry {
        Work work;
        std::vector<Ticket> after;
        std::function<bool()> condition;
        std::shared_ptr<std::atomic<bool>> done;
    };
    bool advance_once();

    std::recursive_mutex mutex_; ///< host functions that run under it may issue work
    std::list<Entry> entries_;
    std::atomic<size_t> count_{0};
    bool running_ = false;
};

/// The process's own.
Backlog &backlog();

} // namespace ks
