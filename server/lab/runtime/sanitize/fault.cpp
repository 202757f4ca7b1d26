#include "fault.h"
#include "../src/report.h"
#include "state.h"
#include "../src/sanitizer.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <tuple>
#include <unistd.h>

namespace ks::sanitizer {
namespace {

/// Faults after these are only counted: the first few are what gets mended first.
constexpr size_t kMostFaults = 200;

int descriptor = -1;

/// A file of its own, so that it does not mix with the reports of programs and of the harness. Read before anything of
/// the program runs, and hidden from it.
__attribute__((constructor(101))) void open_faults() {
    if (const char *path = getenv("KS_SANITIZER_REPORT")) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        unsetenv("KS_SANITIZER_REPORT");
    }
}

struct Known {
    size_t number;
    uint64_t count;
};
using Key = std::tuple<std::string, uintptr_t, uintptr_t>;

struct Faults {
    std::mutex mutex;
    std::map<Key, Known> known;
    Known *last = nullptr; ///< what is_new_fault found last
    bool counts_written = false;
};
Faults &faults() {
    static Faults *const all = new Faults;
    return *all;
}

std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + '"';
}

std::string triple(uint64_t linear, dim3 extent) {
    const uint64_t row = linear / extent.x;
    return "[" + std::to_string(linear % extent.x) + "," + std::to_string(row % extent.y) + "," +
           std::to_string(row / extent.y) + "]";
}

/// `{"module","offset"}` of the call before `pc`: debug information is looked up by it.
std::string place(const Where &where) {
    if (where.pc == 0) {
        return "null";
    }
    Dl_info info;
    const void *call = reinterpret_cast<const void *>(where.pc - 1);
    if (dladdr(call, &info) == 0 || info.dli_fname == nullptr) {
        return "null";
    }
    std::string text = "{\"module\":" + quoted(info.dli_fname) + ",\"offset\":" +
                       std::to_string(where.pc - 1 - reinterpret_cast<uintptr_t>(info.dli_fbase)) +
                       ",\"did\":" + quoted(where.did);
    if (where.item != kNobody && state.launch != nullptr) {
        text += ",\"block\":" + triple(where.block, state.launch->grid) + ",\"item\":" + triple(where.item, state.launch->block);
    }
    return text + "}";
}

void write_line(const std::string &line) {
    if (descriptor >= 0) {
        (void)!write(descriptor, line.data(), line.size());
    }
}

} // namespace

bool is_new_fault(const char *kind, uintptr_t at, uintptr_t other) {
    Faults &all = faults();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto [entry, added] = all.known.try_emplace(Key{kind, at, other}, Known{all.known.size(), 0});
    entry->second.count += 1;
    return added && all.known.size() <= kMostFaults;
}

void tell(const char *kind, const std::string &message, const Where &at, const Where &other) {
    Faults &all = faults();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.known.find(Key{kind, at.pc, other.pc});
    const size_t number = found != all.known.end() ? found->second.number : all.known.size();
    const std::string kernel = state.launch != nullptr && in_kernel() ? quoted(state.launch->kernel) : "null";
    write_line("{\"fault\":{\"number\":" + std::to_string(number) + ",\"kind\":" + quoted(kind) +
               ",\"message\":" + quoted(message) + ",\"kernel\":" + kernel + ",\"at\":" + place(at) +
               ",\"other\":" + place(other) + "}}\n");
}

void write_counts() {
    Faults &all = faults();
    if (!all.mutex.try_lock()) {
        return;
    }
    if (!all.counts_written) {
        all.counts_written = true;
        for (const auto &[key, known] : all.known) {
            write_line("{\"count\":{\"number\":" + std::to_string(known.number) +
                       ",\"times\":" + std::to_string(known.count) + "}}\n");
        }
    }
    all.mutex.unlock();
}

} // namespace ks::sanitizer
