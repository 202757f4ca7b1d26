// Compares two builds of a kernel, or times one, as its plan says.
//
// Both are shared objects loaded into this process; a third, built from the original source and the benchmark file, holds
// sizes, fills and the reference, so that a candidate has no part in its own check. Every timed call gets inputs that no
// call had before, at a place that moves, and outputs that are poisoned; the reference runs after the calls that it
// checks. See server/lab/src/harness.rs for what the report's lines come to.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <unistd.h>

#include "machine.h"
#include "object.h"
#include "plan.h"
#include "report.h"
#include "session.h"

namespace {

// Flops, bytes and the machine's limits, for the roofline.
void report_cost(const ks_harness::Plan& plan, const ks_harness::Trusted& trusted) {
    for (const ks_harness::Shape& shape : plan.shapes) {
        ks_harness::report("cost", ks_harness::format("{\"shape\":%d,\"flops\":%.17g,\"bytes\":%.17g}", shape.index,
                                      trusted.cost(0, shape.parameters.data()), trusted.cost(1, shape.parameters.data())));
    }
}

// Loads both versions, in an order that chance decides: where code lies in memory has an effect on its speed.
bool load_objects(const ks_harness::Plan& plan, std::vector<ks_harness::Object>& objects, ks_harness::Random& random) {
    const char* const names[] = {"baseline", "candidate"};
    const std::string* const paths[] = {&plan.baseline, &plan.candidate};
    const size_t first = random.below(objects.size());
    for (size_t turn = 0; turn < objects.size(); turn++) {
        const size_t which = (first + turn) % objects.size();
        ks_harness::report("running", ks_harness::format("{\"which\":\"%s\"}", names[which]));
        if (!ks_harness::load(*paths[which], names[which], objects[which])) return false;
    }
    return true;
}

bool run_shapes(const ks_harness::Plan& plan, const ks_harness::Trusted& trusted, const std::vector<ks_harness::Object>& objects,
                const ks_harness::Ticks& ticks, ks_harness::Random& random) {
    const double start = ks_harness::clock_ns();
    const double share = plan.budget_ns / static_cast<double>(plan.shapes.size());
    for (size_t index = 0; index < plan.shapes.size(); index++) {
        // What a shape leaves over goes to those after it; what it overdraws costs them half of their share at most.
        const double left = plan.budget_ns - (ks_harness::clock_ns() - start);
        const double budget = std::max(left / static_cast<double>(plan.shapes.size() - index), share / 2);
        ks_harness::Session session(plan, trusted, objects, plan.shapes[index], ticks, random);
        if (!session.run(budget)) return false;
    }
    return true;
}

}  // namespace

// Exit status: 0 the report is complete (also when it says that the code failed), 64 the plan is not understood, 70 nobody
// reads the report, 71 the device or an object cannot be used.
int main(int count, char** arguments) {
    ks_harness::Plan plan;
    if (count != 2 || !ks_harness::read_plan(arguments[1], plan)) return 64;
    if (!ks_harness::open_report(plan.token)) {
        std::fprintf(stderr, "the harness has no descriptor to report to (KS_REPORT_FD)\n");
        return 64;
    }
    const ks_harness::Ticks ticks = ks_harness::measure_ticks();
    if (plan.machine) {
        const ks_harness::Machine machine = ks_harness::measure_machine();
        ks_harness::report("machine", ks_harness::format("{\"bytes_per_s\":%.6g,\"flops_per_s\":%.6g}",
                                         machine.bytes_per_s, machine.flops_per_s));
    }
    ks_harness::Random random(plan.seed);
    ks_harness::Trusted trusted;
    std::vector<ks_harness::Object> objects(plan.candidate.empty() ? 1 : 2);
    if (!ks_harness::load(plan.trusted, trusted)) return 71;
    report_cost(plan, trusted);
    if (!load_objects(plan, objects, random)) return 71;
    const bool right = run_shapes(plan, trusted, objects, ticks, random);
    ks_harness::report("done", right ? "{\"right\":true}" : "{\"right\":false}");
    // Without destructors: those of code under test could change what was said, or never return.
    std::fflush(nullptr);
    _exit(0);
}
