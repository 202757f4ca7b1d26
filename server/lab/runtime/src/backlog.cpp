#include "backlog.h"
#include <algorithm>
#include <unistd.h>

namespace ks {
namespace {
/// How long a thread that waits sleeps between looks at memory that another one writes. Microseconds.
constexpr unsigned kLookEvery = 50;
} // namespace

Ticket Backlog::add(Work work, std::vector<Ticket> after, std::function<bool()> condition) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    auto done = std::make_shared<std::atomic<bool>>(false);
    entries_.push_back({std::move(work), std::move(after), std::move(condition), done});
    count_.fetch_add(1, std::memory_order_acq_rel);
    return done;
}

bool Backlog::advance_once() {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
        const bool free = std::all_of(entry->after.begin(), entry->after.end(), is_done);
        if (!free || (entry->condition && !entry->condition())) {
            continue;
        }
        const Work work = std::move(entry->work);
        const auto done = entry->done;
        entries_.erase(entry);
        (void)run(work);
        done->store(true, std::memory_order_release);
        count_.fetch_sub(1, std::memory_order_acq_rel);
        return true;
    }
    return false;
}

void Backlog::advance() {
    if (empty()) {
        return;
    }
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    if (running_) {
        return; // A host function issued work: it comes after that function.
    }
    running_ = true;
    while (advance_once()) {
    }
    running_ = false;
}

void Backlog::wait_for(const Ticket &ticket) {
    for (advance(); !is_done(ticket); advance()) {
        usleep(kLookEvery);
    }
}

void Backlog::wait_for_all() {
    for (advance(); !empty(); advance()) {
        usleep(kLookEvery);
    }
}

Backlog &backlog() {
    static Backlog *const all = new Backlog;
    return *all;
}

} // namespace ks
