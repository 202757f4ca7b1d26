#include "session.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "report.h"
#include "watchdog.h"

// The runtime's count of the time that launches took.
extern "C" uint64_t ks_launch_nanoseconds();
// Gives what split kernels keep between their barriers other pages.
extern "C" void ks_move_kept(unsigned chance);

namespace ks_harness __attribute__((visibility("hidden"))) {
namespace {

constexpr double shortest_sample_ns = 50e3;
constexpr size_t most_slots = 64;
constexpr size_t most_slot_bytes = 64u << 20;
constexpr size_t batch = 10;  // pairs between two looks at the interval

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return 0.5 * (values[(values.size() - 1) / 2] + values[values.size() / 2]);
}

// Half width of the interval that the lab will compute from the signed ranks of these log-ratios, at 99%; infinity for
// fewer than two batches.
double half_width(const std::vector<double>& values) {
    if (values.size() < 2 * batch) return INFINITY;
    std::vector<double> averages;
    for (size_t first = 0; first < values.size(); first++) {
        for (size_t second = first; second < values.size(); second++) {
            averages.push_back(0.5 * (values[first] + values[second]));
        }
    }
    const double count = static_cast<double>(values.size());
    const double deviation = std::sqrt(count * (count + 1) * (2 * count + 1) / 24);
    const double rank = static_cast<double>(averages.size()) / 2 - 2.576 * deviation - 0.5;
    const auto low = averages.begin() + static_cast<std::ptrdiff_t>(std::max(0.0, rank));
    const auto high = averages.end() - 1 - (low - averages.begin());
    std::nth_element(averages.begin(), high, averages.end());
    const double top = *high;
    std::nth_element(averages.begin(), low, averages.end());
    return 0.5 * (top - *low);
}

}  // namespace

Session::Session(const Plan& plan, const Trusted& trusted, const std::vector<Object>& objects, const Shape& shape,
                 const Ticks& ticks, Random& random)
    : plan_(plan), trusted_(trusted), objects_(objects), shape_(shape), ticks_(ticks), random_(random),
      samples_(objects.size()), flush_(plan.flush_bytes) {}

// Ends the process with a report where no device could do the launch that the benchmark file asks for: that is not the fault
// of the code.
void Session::require_possible_launch() const {
    if (!trusted_.launch) return;
    long long part[7];
    for (int index = 0; index < 7; index++) part[index] = trusted_.launch(index, shape_.parameters.data());
    const long long *grid = part, *block = part + 3;
    const auto within = [](const long long* sizes, long long x, long long y, long long z) {
        return sizes[0] >= 1 && sizes[0] <= x && sizes[1] >= 1 && sizes[1] <= y && sizes[2] >= 1 && sizes[2] <= z;
    };
    const auto refuse = [this](const char* what, const long long* sizes) {
        report("launch", format("{\"shape\":%d,\"part\":\"%s\",\"sizes\":[%lld,%lld,%lld]}", shape_.index, what,
                                sizes[0], sizes[1], sizes[2]));
        _exit(71);
    };
    if (!within(block, 1024, 1024, 1024) || block[0] * block[1] * block[2] > 1024) refuse("block", block);
    if (!within(grid, INT32_MAX, 65535, 65535) || grid[0] * block[0] > UINT32_MAX) refuse("grid", grid);
    const long long shared[3] = {part[6], 1, 1};
    if (shared[0] < 0 || shared[0] > 65536) refuse("shared", shared);
}

void Session::add_slot() {
    auto slot = std::make_unique<Slot>();
    slot->arguments.resize(plan_.arguments.size());
    for (size_t index = 0; index < plan_.arguments.size(); index++) {
        const Argument& argument = plan_.arguments[index];
        if (!argument.is_buffer()) continue;
        const long long count = trusted_.count(static_cast<int>(index), shape_.parameters.data());
        if (count < 0 || count > (1ll << 40)) {
            report("count", format("{\"shape\":%d,\"argument\":%s,\"count\":%lld}", shape_.index,
                                   quoted(argument.name).c_str(), count));
            _exit(71);
        }
        slot->buffers.emplace_back(argument, static_cast<size_t>(count));
        slot->positions.push_back(static_cast<int>(index));
    }
    slots_.push_back(std::move(slot));
}

void Session::renew() {
    const long long* shape = shape_.parameters.data();
    for (auto& slot : slots_) {
        for (size_t index = 0; index < slot->buffers.size(); index++) {
            Buffer& buffer = slot->buffers[index];
            const int position = slot->positions[index];
            FillRule rule;
            rule.kind = buffer.argument().fill;
            rule.first = trusted_.fill(position, 0, shape);
            rule.second = trusted_.fill(position, 1, shape);
            rule.shape = shape;
            rule.element = trusted_.element;
            rule.argument = position;
            Random stream(random_.next());
            buffer.renew(rule, stream);
            slot->arguments[static_cast<size_t>(position)] = buffer.device();
        }
    }
}

std::string Session::place(size_t which, const Buffer& buffer) const {
    return format("\"which\":\"%s\",\"shape\":%d,\"argument\":%s", objects_[which].name.c_str(), shape_.index,
                  quoted(buffer.argument().name).c_str());
}

void Session::flush_cache() {
    for (size_t index = 0; index < flush_.size(); index += 64) flush_[index]++;
    asm volatile("" ::"r"(flush_.data()) : "memory");
}

// Threads that code under test left behind cost the other version time, whoever runs.
void Session::begin_run() {
    if (ended_ns_ > 0) {
        between_.clock_ns += clock_ns() - ended_ns_;
        between_.others_ns += std::max(0.0, processor_time_before().others_ns() - others_at_end_ns_);
    }
}

void Session::end_run() {
    ended_ns_ = clock_ns();
    others_at_end_ns_ = processor_time_after().others_ns();
}

bool Session::timed_run(size_t which, Span& span) {
    const Object& object = objects_[which];
    report("running", format("{\"which\":\"%s\",\"shape\":%d}", object.name.c_str(), shape_.index));
    for (auto& slot : slots_) {
        for (Buffer& buffer : slot->buffers) buffer.upload();
    }
    need(hipDeviceSynchronize(), "hipDeviceSynchronize");
    (void)hipGetLastError();
    flush_cache();
    begin_run();

    hipError_t synchronized;
    {
        const Watchdog watchdog(object.name, shape_.index, plan_.sample_limit_s);
        const uint64_t launched_ns = ks_launch_nanoseconds();
        const Stopwatch watch(ticks_);
        for (auto& slot : slots_) object.run(slot->arguments.data(), shape_.parameters.data());
        synchronized = hipDeviceSynchronize();
        span = watch.stop();
        span.kernels_ns = static_cast<double>(ks_launch_nanoseconds() - launched_ns);
    }
    end_run();

    const bool on_time = synchronized != hipSuccess || !late_writes(which);
    const hipError_t launched = hipGetLastError();
    return succeeded(which, synchronized != hipSuccess ? synchronized : launched) && on_time && inspect(which);
}

bool Session::succeeded(size_t which, hipError_t status) const {
    if (status == hipSuccess) return true;
    report("error", format("{\"which\":\"%s\",\"shape\":%d,\"status\":%d,\"text\":%s}", objects_[which].name.c_str(),
                           shape_.index, static_cast<int>(status), quoted(hipGetErrorString(status)).c_str()));
    return false;
}

// Reads a few elements at once after the clock stopped, then everything: they must agree.
bool Session::late_writes(size_t which) {
    spots_.clear();
    for (int attempt = 0; attempt < 16; attempt++) {
        const size_t slot = random_.below(slots_.size());
        const size_t index = random_.below(slots_[slot]->buffers.size());
        const Buffer& buffer = slots_[slot]->buffers[index];
        if (!buffer.argument().is_written() || buffer.elements() == 0) continue;
        const size_t size = size_of(buffer.argument().type);
        Spot spot{slot, index, size * random_.below(buffer.elements()), size, {}};
        need(hipMemcpy(spot.value, buffer.device() + spot.offset, size, hipMemcpyDeviceToHost), "hipMemcpy");
        spots_.push_back(spot);
    }
    for (auto& slot : slots_) {
        for (Buffer& buffer : slot->buffers) {
            if (buffer.argument().is_written()) buffer.download(buffer.result(static_cast<int>(which)).room(buffer.bytes()));
        }
    }
    for (const Spot& spot : spots_) {
        Buffer& buffer = slots_[spot.slot]->buffers[spot.buffer];
        const char* copy = buffer.result(static_cast<int>(which)).room(buffer.bytes());
        if (std::memcmp(copy + spot.offset, spot.value, spot.bytes) == 0) continue;
        report("late", "{" + place(which, buffer) + "}");
        return true;
    }
    return false;
}

// Guard zones, unchanged inputs; then hides the results.
bool Session::inspect(size_t which) {
    std::vector<char> now;
    for (auto& slot : slots_) {
        for (Buffer& buffer : slot->buffers) {
            long long offset;
            if (buffer.guard_broken(offset)) {
                report("guard", format("{%s,\"offset\":%lld,\"bytes\":%zu}", place(which, buffer).c_str(), offset,
                                       buffer.bytes()));
                return false;
            }
            if (buffer.argument().is_written()) {
                buffer.result(static_cast<int>(which)).hide(random_.next());
                continue;
            }
            now.resize(buffer.bytes());
            buffer.download(now.data());
            if (std::memcmp(now.data(), buffer.fresh().data(), buffer.bytes()) != 0) {
                report("modified", "{" + place(which, buffer) + "}");
                return false;
            }
        }
    }
    return true;
}

// Runs the reference on the slot's fresh inputs: on host memory where the benchmark has a function, else the original.
void Session::run_reference(Slot& slot, std::vector<std::vector<char>>& expected) {
    expected.clear();
    if (trusted_.reference) {
        std::vector<void*> arguments(slot.arguments.size());
        for (Buffer& buffer : slot.buffers) expected.push_back(buffer.fresh());
        for (size_t index = 0; index < slot.buffers.size(); index++) {
            arguments[static_cast<size_t>(slot.positions[index])] = expected[index].data();
        }
        trusted_.reference(arguments.data(), shape_.parameters.data());
        return;
    }
    for (Buffer& buffer : slot.buffers) buffer.upload();
    trusted_.run(slot.arguments.data(), shape_.parameters.data());
    need(hipDeviceSynchronize(), "the original version");
    need(hipGetLastError(), "the original version");
    for (Buffer& buffer : slot.buffers) {
        expected.emplace_back(buffer.bytes());
        buffer.download(expected.back().data());
    }
}

void Session::report_wrong(size_t which, const Buffer& buffer, const Mismatch& found, size_t unwritten) const {
    report("wrong", format("{%s,\"index\":%zu,\"got\":\"%s\",\"expected\":\"%s\",\"wrong\":%zu,\"unwritten\":%zu,"
                           "\"elements\":%zu,\"max_error\":\"%.6g\"}",
                           place(which, buffer).c_str(), found.first, found.got.c_str(), found.expected.c_str(),
                           found.wrong, unwritten, buffer.elements(), found.max_error));
}

bool Session::is_loose(const Buffer& buffer, const std::vector<char>& expected) const {
    const Argument& argument = buffer.argument();
    if (argument.tolerance.absolute == 0) return false;
    const std::vector<char> zeros(expected.size());
    const bool all_zero = std::memcmp(expected.data(), zeros.data(), zeros.size()) == 0;
    return !all_zero && compare(argument.type, zeros.data(), expected.data(), buffer.elements(), argument.tolerance).wrong == 0;
}

// Compares the results of all objects with the reference, which runs only now: there is nothing to peek at before.
bool Session::check_all() {
    std::vector<std::vector<char>> expected;
    for (auto& slot : slots_) {
        report("running", format("{\"which\":\"reference\",\"shape\":%d}", shape_.index));
        const Watchdog watchdog("reference", shape_.index, plan_.sample_limit_s);
        run_reference(*slot, expected);
        for (size_t which = 0; which < objects_.size(); which++) {
            for (size_t index = 0; index < slot->buffers.size(); index++) {
                Buffer& buffer = slot->buffers[index];
                const Argument& argument = buffer.argument();
                if (!argument.is_written()) continue;
                const char* result = buffer.result(static_cast<int>(which)).reveal();
                const Mismatch found =
                    compare(argument.type, result, expected[index].data(), buffer.elements(), argument.tolerance);
                if (found.wrong > 0) {
                    report_wrong(which, buffer, found, buffer.unwritten(result, expected[index].data()));
                    return false;
                }
                if (rounds_ == 1 && is_loose(buffer, expected[index])) {
                    report("loose", "{" + place(which, buffer) + format(",\"atol\":\"%g\"}", argument.tolerance.absolute));
                    return false;
                }
                if (buffer.elements() > 0 && found.nan == buffer.elements()) {
                    report("useless", "{" + place(which, buffer) + "}");
                    return false;
                }
            }
        }
    }
    return true;
}

bool Session::round(bool must_check, std::vector<Span>& spans) {
    renew();
    ks_move_kept(static_cast<unsigned>(random_.next()));
    spans.assign(objects_.size(), {});
    // The baseline goes first once: what is wrong with it is not to be laid at the candidate's door.
    const size_t first = rounds_++ == 0 ? 0 : random_.below(objects_.size());
    run_ns_ = 0;
    for (size_t turn = 0; turn < objects_.size(); turn++) {
        const size_t which = (first + turn) % objects_.size();
        if (!timed_run(which, spans[which])) return false;
        run_ns_ += spans[which].clock_ns;
    }
    // Where checking costs far more than running, chance decides afterwards which rounds are checked.
    const double share = check_ns_ == 0 ? 1.0 : std::clamp(4.0 * run_ns_ / check_ns_, 0.1, 1.0);
    if (!must_check && random_.unit() >= share) return true;
    const double start = clock_ns();
    const bool right = check_all();
    check_ns_ = clock_ns() - start;
    return right;
}

// Adds slots until a sample of the faster object is long enough for the clock.
bool Session::calibrate() {
    double shortest = INFINITY;
    std::vector<Span> spans;
    for (int attempt = 0; attempt < 3; attempt++) {
        if (!round(attempt == 0, spans)) return false;
        // A run that was displaced is shorter than the clock says.
        for (const Span& span : spans) shortest = std::min(shortest, span.displaced > 0 ? span.processor_ns : span.clock_ns);
        if (shortest >= shortest_sample_ns) break;
    }
    size_t slot_bytes = 1;
    for (const Buffer& buffer : slots_[0]->buffers) slot_bytes += buffer.bytes();
    const double wanted = std::ceil(shortest_sample_ns / std::max(shortest, 1.0));
    const size_t most = std::clamp(most_slot_bytes / slot_bytes, size_t{1}, most_slots);
    while (slots_.size() < most && static_cast<double>(slots_.size()) < wanted) add_slot();
    check_ns_ = 0;
    return slots_.size() == 1 || round(true, spans);
}

// By processor time: where the machine is so busy that it differs from wall time, the lab goes by it as well.
bool Session::narrow_enough() const {
    std::vector<double> logs(samples_[0].size());
    const auto logarithm = [](double ns) { return std::log(std::max(ns, 1.0)); };
    const double middle = logarithm(median(samples_[0]));
    for (size_t pair = 0; pair < logs.size(); pair++) {
        logs[pair] = logarithm(samples_[0][pair]) - (objects_.size() > 1 ? logarithm(samples_[1][pair]) : middle);
    }
    return half_width(logs) <= plan_.half_width;
}

// Pairs to take at least: fewer when the budget has been overdrawn several times, so that slow code ends as well.
size_t Session::least_pairs(double spent_ns, double budget_ns) const {
    const double patience_ns = std::max(budget_ns, plan_.patience_ns);
    if (spent_ns >= 20 * patience_ns && objects_.size() > 1) return 1;
    if (spent_ns >= 6 * patience_ns) return 2;
    if (spent_ns >= 3 * patience_ns) return std::min<size_t>(plan_.least_pairs, 6);
    return plan_.least_pairs;
}

bool Session::run(double budget_ns) {
    const double start = clock_ns();
    require_possible_launch();
    add_slot();
#ifdef KS_TRACE
    // What is recorded is the version's work: nothing is checked, and nothing timed.
    renew();
    objects_[0].run(slots_[0]->arguments.data(), shape_.parameters.data());
    const hipError_t synchronized = hipDeviceSynchronize(), launched = hipGetLastError();
    return succeeded(0, synchronized != hipSuccess ? synchronized : launched);
#endif
#ifndef KS_SANITIZE  // A sanitizer's times mean nothing.
    if (!calibrate()) return false;
#endif
    std::vector<Span> spans;
    for (size_t pair = 0; pair < plan_.most_pairs; pair++) {
        // The interval is looked at after whole batches only, and only its width: stopping picks no winner.
        const bool enough = pair >= least_pairs(clock_ns() - start, budget_ns) &&
                            (clock_ns() - start >= budget_ns || (pair % batch == 0 && narrow_enough()));
        if (!round(enough || pair + 1 == plan_.most_pairs, spans)) return false;
        const double calls = static_cast<double>(slots_.size());
        for (size_t which = 0; which < objects_.size(); which++) {
            const Span& span = spans[which];
            samples_[which].push_back(span.processor_ns);
            report("sample", format("{\"shape\":%d,\"pair\":%zu,\"which\":\"%s\",\"ns\":%.3f,\"counter_ns\":%.3f,"
                                    "\"processor_ns\":%.3f,\"others_ns\":%.3f,\"displaced\":%ld,\"kernels_ns\":%.3f}",
                                    shape_.index, pair, objects_[which].name.c_str(), span.clock_ns / calls,
                                    span.counter_ns / calls, span.processor_ns / calls, span.others_ns / calls,
                                    span.displaced, span.kernels_ns / calls));
        }
        if (enough) break;
    }
    report("between", format("{\"shape\":%d,\"ns\":%.0f,\"others_ns\":%.0f}", shape_.index, between_.clock_ns,
                             between_.others_ns));
    return true;
}

}  // namespace ks_harness
