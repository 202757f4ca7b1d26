#include "errors.h"
#include "fault.h"
#include "functions.h"
#include "output.h"
#include "pool.h"
#include "processor_clock.h"
#include "report.h"
#include "streams.h"
#include "work.h"
#include "worker.h"
#include <atomic>
#include <cxxabi.h>
#include <mutex>
#include <set>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>

namespace ks {
namespace {

std::atomic<uint64_t> in_launches_ns{0};

/// Whether kernels are left out: a run by which the lab learns whether a program's result depends on them at all.
bool kernels_are_left_out = false;

/// Read before anything of the program runs, and hidden from it.
__attribute__((constructor(101))) void read_environment() {
    kernels_are_left_out = getenv("KS_LEAVE_OUT_KERNELS") != nullptr;
    unsetenv("KS_LEAVE_OUT_KERNELS");
}

/// A launch through a pointer does not carry its kernel's name.
Launch named(Launch launch) {
    if (launch.kernel == nullptr) {
        launch.kernel = name_of_pointer_launch();
    }
    launch.cooperative = pointer_launch_is_cooperative();
    return launch;
}

/// Tells why a launch is refused: now, and in the report unless the program asks for the error itself.
void refuse(const Launch &launch, const char *kind, const std::string &message) {
    hold_fault(kind, message, launch.kernel);
    fprintf(stderr, "HIP on the CPU: launch of %s refused: %s\n", launch.kernel, message.c_str());
}

} // namespace

hipError_t check_launch(const Launch &launch) {
    const uint64_t block = uint64_t{launch.block.x} * launch.block.y * launch.block.z;
    const uint64_t grid = uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    if (block == 0 || grid == 0) {
        return hipErrorInvalidConfiguration;
    }
    if (launch.block.x > kMaxBlockSize || launch.block.y > kMaxBlockSize || launch.block.z > kMaxBlockSize ||
        block > kMaxBlockSize) {
        refuse(launch, "block_too_large",
               "a block of " + std::to_string(block) + " work-items is over the device's limit of 1024");
        return hipErrorInvalidConfiguration;
    }
    if (launch.grid.x > INT32_MAX || launch.grid.y > 65535 || launch.grid.z > 65535 ||
        uint64_t{launch.grid.x} * launch.block.x > UINT32_MAX) {
        return hipErrorInvalidConfiguration;
    }
    if (launch.shared_bytes > kMaxSharedBytes) {
        refuse(launch, "shared_memory_too_large",
               std::to_string(launch.shared_bytes) + " bytes of dynamic shared memory are over the device's 65536");
        return hipErrorInvalidValue;
    }
    if (launch.cooperative && grid > resident_blocks(static_cast<unsigned>(block), launch.shared_bytes)) {
        refuse(launch, "cooperative_launch_too_large",
               std::to_string(grid) + " blocks cannot all be on this device at once, which has " +
                   std::to_string(thread_count()) + " multiprocessors for " +
                   std::to_string(resident_blocks(static_cast<unsigned>(block), launch.shared_bytes)) +
                   " blocks of this size; compute the grid from hipOccupancyMaxActiveBlocksPerMultiprocessor and "
                   "multiProcessorCount, or set KS_THREADS to emulate more of them");
        return hipErrorCooperativeLaunchTooLarge;
    }
    return hipSuccess;
}

namespace {

/// Whether the first character is a parenthesis that the last one closes.
bool is_enclosed(const std::string &text) {
    if (text.size() < 2 || text.front() != '(') {
        return false;
    }
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (depth == 0) {
            return i + 1 == text.size();
        }
    }
    return false;
}

/// `ks::Constant<&(void k<float>(float*))>` -> `k<float>`: without the return type, which templates' names carry, and
/// without the parameters.
std::string function_name(std::string text) {
    const size_t begin = text.find('&');
    const size_t end = text.rfind('>');
    if (begin == std::string::npos || end == std::string::npos || end <= begin) {
        return text;
    }
    text = text.substr(begin + 1, end - begin - 1);
    if (is_enclosed(text)) {
        text = text.substr(1, text.size() - 2);
    }
    // The parameters, which are not always there: from the parenthesis that the last one closes.
    int depth = 0;
    for (size_t i = text.size(); i-- > 0 && text.back() == ')';) {
        depth += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
        if (text[i] == '(' && depth == 0) {
            text.resize(i);
            break;
        }
    }
    // The return type: up to the last space outside of brackets.
    depth = 0;
    for (size_t i = text.size(); i-- > 0;) {
        depth += text[i] == '>' || text[i] == ')' ? 1 : text[i] == '<' || text[i] == '(' ? -1 : 0;
        if (text[i] == ' ' && depth == 0) {
            return text.substr(i + 1);
        }
    }
    return text;
}

/// The kernel's expression as it stands in the source, without the parentheses that the macro needs.
std::string expression_name(const char *text) {
    std::string name = text;
    while (is_enclosed(name)) {
        name = name.substr(1, name.size() - 2);
    }
    return name;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const char *ks_kernel_name(const char *mangled, const char *text) {
    static std::mutex mutex;
    static std::set<std::string> *const names = new std::set<std::string>;
    std::string name = expression_name(text);
    if (mangled != nullptr) {
        int status = 0;
        char *readable = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
        if (readable != nullptr) {
            name = function_name(readable);
        }
        free(readable);
    }
    const std::lock_guard<std::mutex> lock(mutex);
    return names->insert(name).first->c_str();
}

/// Time that all launches took so far: the harness tells kernels' work from the host's by it.
extern "C" __attribute__((visibility("default"))) uint64_t ks_launch_nanoseconds() {
    return in_launches_ns.load(std::memory_order_relaxed);
}

extern "C" __attribute__((visibility("default"))) hipError_t ks_launch(const Launch &given) {
    const Launch launch = named(given);
    if (worker.launch != nullptr) {
        fail("launch_in_kernel", "a kernel launches a kernel, which HIP devices cannot do; launch it from the host");
    }
    if (const hipError_t error = check_launch(launch); error != hipSuccess) {
        return remember(error);
    }
    if (take_description(launch)) {
        return hipSuccess;
    }
    hipError_t error = hipSuccess;
    if (runs_at_once(launch.stream, &error)) {
        return run_launch(launch);
    }
    return error != hipSuccess ? error : submit(launch.stream, KernelWork(launch));
}

hipError_t run_launch(const Launch &launch) {
    static std::mutex one_at_a_time;
    static ProcessorClock processor;
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    prepare_launch(launch);
    // Nobody asks for processor time where nobody listens. It is read outside of what the clock on the wall sees.
    const bool listens = reporting();
    const uint64_t used_before = listens ? processor.at(wall_ns()) : 0;
    const uint64_t start = wall_ns();
    const bool spread = !kernels_are_left_out && run_on_pool(launch);
    const uint64_t end = wall_ns();
    in_launches_ns.fetch_add(end - start, std::memory_order_relaxed);
    if (listens) {
        if (spread) {
            processor.others_worked(end);
        }
        const uint64_t used = processor.at(end);
        record_launch(launch, {end - start, used > used_before ? used - used_before : 0});
    }
    flush_output();
    return hipSuccess;
}

} // namespace ks
