// Which launches and which of their blocks are recorded.
#include "records.h"
#include "sample.h"
#include "../src/fault.h"
#include "../src/output.h"
#include "../src/trace.h"
#include "../src/worker.h"
#include <map>
#include <stdlib.h>
#include <string>
#include <time.h>

namespace ks::trace {
namespace {

double from_environment(const char *name, double otherwise) {
    const char *text = getenv(name);
    const double value = text != nullptr ? atof(text) : 0;
    unsetenv(name);
    return value > 0 ? value : otherwise;
}

/// What may be spent. Read before anything of the program runs, and hidden from it.
struct Budget {
    double events;         ///< of a launch
    double blocks;         ///< of a launch
    double launch_seconds; ///< of running the blocks that are not recorded, for one launch
    double seconds;        ///< the same for the whole process
} budget;
__attribute__((constructor(101))) void read_budget() {
    budget = {from_environment("KS_TRACE_EVENTS", 3e6), from_environment("KS_TRACE_BLOCKS", 64),
              from_environment("KS_TRACE_LAUNCH_SECONDS", 0.25), from_environment("KS_TRACE_SECONDS", 1)};
}

double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// What makes two launches the same: the kernel, its configuration, and its arguments but for pointers.
std::string identity(const Launch &launch) {
    std::string text = launch.kernel;
    const auto put = [&text](const void *bytes, size_t count) { text.append(static_cast<const char *>(bytes), count); };
    text += '\0';
    put(&launch.function, sizeof launch.function);
    put(&launch.grid, sizeof launch.grid);
    put(&launch.block, sizeof launch.block);
    put(&launch.shared_bytes, sizeof launch.shared_bytes);
    const BodyLayout &layout = *launch.layout;
    if (layout.numbers != nullptr) {
        std::vector<const void *> arguments(layout.count);
        layout.find(launch.body, arguments.data());
        for (unsigned i = 0; i < layout.count; ++i) {
            if (layout.numbers[i]) {
                put(arguments[i], layout.sizes[i]);
            }
        }
    }
    return text;
}

struct Known {
    uint32_t id;
    double seconds; ///< of running all blocks without records; negative: it takes too long
};

void run_block(const Launch &launch, uint64_t number) {
    launch.run_blocks(launch, number, number + 1);
    collect_output(number);
}

/// Records blocks until the budget is used. Returns how long one took on the average.
double record(const Launch &launch, Sample &sample, bool *cut) {
    const double start = now();
    double events = 0, count = 0;
    set_recording(true, launch.block.x * launch.block.y * launch.block.z);
    // A few blocks in any case, unless they are very long: where they differ, two or three are no fair sample.
    const auto affordable = [&] {
        const double next = count == 0 ? 0 : events / count * (count + 1);
        return next <= (count < 12 ? 4 * budget.events : budget.events);
    };
    while (count < budget.blocks && affordable()) {
        const int64_t number = sample.next();
        if (number < 0) {
            break;
        }
        run_block(launch, static_cast<uint64_t>(number));
        write_block(static_cast<uint64_t>(number));
        events += static_cast<double>(events_of_block());
        *cut |= block_was_cut();
        count += 1;
    }
    set_recording(false, launch.block.x * launch.block.y * launch.block.z);
    return (now() - start) / count;
}

/// Runs what is left, unless that is going to take too long. Whether it was run to the end.
bool run_rest(const Launch &launch, const Sample &sample, double seconds_of_block, double seconds) {
    // Without records it takes about half.
    const double expected = static_cast<double>(sample.blocks() - sample.taken()) * seconds_of_block / 2;
    if (expected > seconds) {
        return sample.blocks() == sample.taken();
    }
    const double end = now() + 2 * seconds;
    for (uint64_t number = 0; number < sample.blocks(); ++number) {
        if (sample.was_taken(number)) {
            continue;
        }
        run_block(launch, number);
        if (number % 16 == 0 && now() > end) {
            return false;
        }
    }
    return true;
}

void run_first(const Launch &launch, Known &known) {
    Sample sample(launch.grid);
    write_launch(launch, known.id);
    bool cut = false;
    const double seconds_of_block = record(launch, sample, &cut);
    const double start = now();
    const bool complete =
        run_rest(launch, sample, seconds_of_block, std::min(budget.launch_seconds, std::max(0.0, budget.seconds)));
    const double taken = now() - start;
    budget.seconds -= taken;
    known.seconds = complete ? taken + seconds_of_block * static_cast<double>(sample.taken()) : -1;
    write_end(complete, cut);
}

/// Launches that are made again are run as long as there is time: what comes after them may need what they write.
void run_again(const Launch &launch, const Known &known) {
    write_repeat(known.id);
    if (known.seconds < 0 || known.seconds > budget.seconds) {
        return;
    }
    const double start = now();
    set_recording(false, launch.block.x * launch.block.y * launch.block.z);
    const uint64_t blocks = uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    for (uint64_t number = 0; number < blocks; ++number) {
        run_block(launch, number);
    }
    budget.seconds -= now() - start;
}

} // namespace

void run(const Launch &launch) {
    static std::map<std::string, Known> *const all = new std::map<std::string, Known>;
    if (launch.cooperative && launch.grid.x * launch.grid.y * launch.grid.z > 1) {
        fail("cooperative_launch_in_trace", "a cooperative launch of several blocks cannot be traced: blocks run one after "
                                            "another; launch it with one block");
    }
    const auto [found, is_new] = all->emplace(identity(launch), Known{static_cast<uint32_t>(all->size()), -1});
    begin_launch(launch);
    if (is_new && has_file()) {
        run_first(launch, found->second);
    } else {
        run_again(launch, found->second);
    }
    end_launch();
}

} // namespace ks::trace
