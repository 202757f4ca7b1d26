// One comparison at one shape: fresh inputs, runs in random order, checks, samples.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "buffer.h"
#include "clock.h"
#include "object.h"
#include "plan.h"
#include "random.h"

namespace ks_harness __attribute__((visibility("hidden"))) {

// The buffers of one call. A sample of a tiny kernel takes several calls, each on a slot of its own, so that no call
// repeats another.
struct Slot {
    std::vector<Buffer> buffers;
    std::vector<int> positions;     // argument index of each buffer
    std::vector<void*> arguments;  // device pointers in the entry's order; null for scalars
};

class Session {
  public:
    Session(const Plan& plan, const Trusted& trusted, const std::vector<Object>& objects, const Shape& shape,
            const Ticks& ticks, Random& random);

    // Checks, calibrates and samples until the interval is narrow or `budget_ns` is spent. False where the code failed;
    // the report then says how.
    bool run(double budget_ns);

  private:
    void require_possible_launch() const;
    void add_slot();
    void renew();
    // Runs `which` once on every slot: uploads, times, and keeps the results hidden.
    bool timed_run(size_t which, Span& span);
    // Reports what HIP says of a run, if it is no good news.
    bool succeeded(size_t which, hipError_t status) const;
    bool inspect(size_t which);
    bool late_writes(size_t which);
    void run_reference(Slot& slot, std::vector<std::vector<char>>& expected);
    bool check_all();
    // Whether the tolerance would let zeros pass for every element, though not all of them are 0.
    bool is_loose(const Buffer& buffer, const std::vector<char>& expected) const;
    void report_wrong(size_t which, const Buffer& buffer, const Mismatch& found, size_t unwritten) const;
    // One round: fresh inputs, every object once in random order, results checked.
    bool round(bool must_check, std::vector<Span>& spans);
    bool calibrate();
    bool narrow_enough() const;
    size_t least_pairs(double spent_ns, double budget_ns) const;
    void flush_cache();
    void begin_run();
    void end_run();
    std::string place(size_t which, const Buffer& buffer) const;

    const Plan& plan_;
    const Trusted& trusted_;
    const std::vector<Object>& objects_;
    const Shape& shape_;
    const Ticks ticks_;
    Random& random_;
    std::vector<std::unique_ptr<Slot>> slots_;
    std::vector<std::vector<double>> samples_;  // processor time of each object's runs
    std::vector<char> flush_;
    struct Spot {
        size_t slot, buffer, offset, bytes;
        char value[8];
    };
    std::vector<Spot> spots_;
    size_t rounds_ = 0;
    double run_ns_ = 0, check_ns_ = 0;  // cost of the last round's parts
    // While nothing under test ran: how long that was, and the processor time of threads that went on all the same.
    struct Between {
        double clock_ns = 0, others_ns = 0;
    } between_;
    double ended_ns_ = 0, others_at_end_ns_ = 0;  // of the last run
};

}  // namespace ks_harness
