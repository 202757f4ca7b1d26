// Compares two builds of a kernel, or times one, as its plan says. Built as one translation unit: `clang++ harness.cpp`.
//
// Both are shared objects loaded into this process; a third, built from the original source and the benchmark file, holds
// sizes, fills and the reference, so that a candidate has no part in its own check. Every timed call gets inputs that no
// call had before, at a place that moves, and outputs that are poisoned; the reference runs after the calls that it
// checks. See server/lab/src/harness.rs for what the report's lines come to.
#include "object.cpp"
#include "plan.cpp"
#include "report.cpp"
#include "session.cpp"

#include "machine.h"

namespace {

// Flops, bytes and the machine's limits, for the roofline.
void report_cost(const ks::Plan& plan, const ks::Trusted& trusted) {
    for (const ks::Shape& shape : plan.shapes) {
        ks::report("cost", ks::format("{\"shape\":%d,\"flops\":%.17g,\"bytes\":%.17g}", shape.index,
                                      trusted.cost(0, shape.parameters.data()), trusted.cost(1, shape.parameters.data())));
    }
}

bool run_shapes(const ks::Plan& plan, const ks::Trusted& trusted, const std::vector<ks::Object>& objects,
                double tick_ns) {
    ks::Random random(plan.seed);
    const double start = ks::clock_ns();
    for (size_t index = 0; index < plan.shapes.size(); index++) {
        const double left = plan.budget_ns - (ks::clock_ns() - start);
        ks::Session session(plan, trusted, objects, plan.shapes[index], tick_ns, random);
        if (!session.run(left / static_cast<double>(plan.shapes.size() - index))) return false;
    }
    return true;
}

}  // namespace

// Exit status: 0 the report is complete (also when it says that the code failed), 64 the plan is not understood, 70 nobody
// reads the report, 71 the device or an object cannot be used.
int main(int count, char** arguments) {
    ks::Plan plan;
    if (count != 2 || !ks::read_plan(arguments[1], plan)) return 64;
    if (!ks::open_report(plan.token)) {
        std::fprintf(stderr, "the harness has no descriptor to report to (KS_REPORT_FD)\n");
        return 64;
    }
    const double tick_ns = ks::measure_tick_ns();
    const ks::Machine machine = ks::measure_machine();
    ks::report("machine", ks::format("{\"bytes_per_s\":%.6g,\"flops_per_s\":%.6g}", machine.bytes_per_s,
                                     machine.flops_per_s));
    ks::Trusted trusted;
    std::vector<ks::Object> objects(plan.candidate.empty() ? 1 : 2);
    if (!ks::load(plan.trusted, trusted)) return 71;
    report_cost(plan, trusted);
    ks::report("running", "{\"which\":\"baseline\"}");
    if (!ks::load(plan.baseline, "baseline", objects[0])) return 71;
    ks::report("running", "{\"which\":\"candidate\"}");
    if (objects.size() > 1 && !ks::load(plan.candidate, "candidate", objects[1])) return 71;
    const bool right = run_shapes(plan, trusted, objects, tick_ns);
    ks::report("done", right ? "{\"right\":true}" : "{\"right\":false}");
    // Without destructors: those of code under test could change what was said, or never return.
    std::fflush(nullptr);
    _exit(0);
}
