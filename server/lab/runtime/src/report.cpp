#include "report.h"
#include "sanitizer.h"
#include <errno.h>
#include <map>
#include <mutex>
#include <new>
#include <stdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace ks {
namespace {

int descriptor = -1;
/// What every line starts with, so that a line of the program itself is not taken for one of these: a secret and a space.
char line_start[64] = "";

/// Takes a variable out of the environment, and its text out of what /proc/self/environ shows.
void take(const char *name, char *value, size_t capacity) {
    if (char *given = getenv(name)) {
        snprintf(value, capacity, "%s", given);
        memset(given, 'X', strlen(given));
        unsetenv(name);
    }
}

/// Read before anything of the program runs, this library's other constructors included, and hidden from it.
__attribute__((constructor(101))) void open_channel() {
    char number[16] = "";
    take("KS_REPORT_FD", number, sizeof number);
    if (number[0] != 0) {
        descriptor = atoi(number);
    }
    char token[48] = "";
    take("KS_REPORT_TOKEN", token, sizeof token);
    if (token[0] != 0) {
        snprintf(line_start, sizeof line_start, "%s ", token);
    }
}

void write_all(const char *text, size_t size) {
    while (size > 0) {
        const ssize_t written = write(descriptor, text, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return; // Nobody listens any more.
        }
        text += written;
        size -= static_cast<size_t>(written);
    }
}

/// Text as the inside of a JSON string, cut at `capacity`. Needs no memory of its own: it also runs in signal handlers.
size_t escape(char *out, size_t capacity, const char *text) {
    static const char digits[] = "0123456789abcdef";
    size_t n = 0;
    for (; *text != 0 && n + 6 < capacity; ++text) {
        const unsigned char c = static_cast<unsigned char>(*text);
        if (c == '"' || c == '\\') {
            out[n++] = '\\';
            out[n++] = static_cast<char>(c);
        } else if (c < 0x20) {
            memcpy(out + n, "\\u00", 4);
            out[n + 4] = digits[c >> 4];
            out[n + 5] = digits[c & 15];
            n += 6;
        } else {
            out[n++] = static_cast<char>(c);
        }
    }
    return n;
}

/// A line that is put together without allocating.
struct Line {
    char text[4096];
    size_t size = 0;

    void add(const char *piece) {
        const size_t n = strlen(piece);
        if (size + n < sizeof text) {
            memcpy(text + size, piece, n);
            size += n;
        }
    }
    void add_escaped(const char *piece) {
        if (size + 64 < sizeof text) {
            size += escape(text + size, sizeof text - size - 32, piece);
        }
    }
};

/// Launches of one kernel in one configuration.
struct Group {
    const char *kernel;
    dim3 grid, block;
    size_t shared_bytes;
    std::vector<LaunchTime> times;

    bool matches(const Launch &l) const {
        return kernel == l.kernel && shared_bytes == l.shared_bytes && same(grid, l.grid) && same(block, l.block);
    }
    static bool same(dim3 a, dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
};

struct HeldFault {
    const char *kind;
    std::string message;
    const char *kernel;
};

/// Never destroyed: launches may still come from the program's static destructors.
struct Records {
    std::mutex mutex;
    std::vector<Group> groups; ///< in the order of their first launch
    std::vector<HeldFault> held;
    bool written = false;
};
Records &records() {
    static Records *const all = new Records;
    return *all;
}

std::string triple(dim3 d) {
    return "[" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + "]";
}

std::string list(const std::vector<LaunchTime> &times, uint64_t LaunchTime::*part) {
    std::string text = "[";
    for (const LaunchTime &time : times) {
        text += (text.size() == 1 ? "" : ",") + std::to_string(time.*part);
    }
    return text + "]";
}

std::string to_json(const Group &group) {
    std::string name(strlen(group.kernel) * 6 + 16, '\0');
    name.resize(escape(name.data(), name.size(), group.kernel));
    std::string line = line_start + std::string("{\"launches\":{\"kernel\":\"") + name + "\",\"grid\":" + triple(group.grid) +
                       ",\"block\":" + triple(group.block) + ",\"shared_bytes\":" + std::to_string(group.shared_bytes) +
                       ",\"ns\":" + list(group.times, &LaunchTime::wall) +
                       ",\"processor_ns\":" + list(group.times, &LaunchTime::processor);
    return line + "}}\n";
}

__attribute__((destructor)) void close_channel() { write_launches(); }

} // namespace

bool reporting() { return descriptor >= 0; }

void record_launch(const Launch &launch, LaunchTime time) {
    if (!reporting()) {
        return;
    }
    Records &all = records();
    const std::lock_guard<std::mutex> lock(all.mutex);
    for (size_t i = all.groups.size(); i-- > 0;) {
        if (all.groups[i].matches(launch)) {
            all.groups[i].times.push_back(time);
            return;
        }
    }
    all.groups.push_back({launch.kernel, launch.grid, launch.block, launch.shared_bytes, {time}});
}

void write_fault(const char *kind, const char *message, const char *kernel, const uint32_t *sites) {
    if (!reporting()) {
        return;
    }
    Line line;
    line.add(line_start);
    line.add("{\"fault\":{\"kind\":\"");
    line.add_escaped(kind);
    line.add("\",\"message\":\"");
    line.add_escaped(message);
    line.add("\",\"kernel\":");
    if (kernel == nullptr) {
        line.add("null");
    } else {
        line.add("\"");
        line.add_escaped(kernel);
        line.add("\"");
    }
    if (sites != nullptr) {
        char text[80];
        snprintf(text, sizeof text, ",\"sites\":[[%u,%u],[%u,%u]]", sites[0] >> 10, sites[0] & 1023u, sites[1] >> 10,
                 sites[1] & 1023u);
        line.add(text);
    }
    line.add("}}\n");
    write_all(line.text, line.size);
}

void hold_fault(const char *kind, const std::string &message, const char *kernel) {
    Records &all = records();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.held.push_back({kind, message, kernel});
}

void drop_held_faults() {
    Records &all = records();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.held.clear();
}

void write_launches() {
    sanitizer::write_counts();
    if (!reporting()) {
        return;
    }
    Records &all = records();
    // A signal may have interrupted the owner of the lock: better no launches than no end.
    if (!all.mutex.try_lock()) {
        return;
    }
    if (!all.written) {
        all.written = true;
        for (const HeldFault &fault : all.held) {
            write_fault(fault.kind, fault.message.c_str(), fault.kernel);
        }
        for (const Group &group : all.groups) {
            const std::string line = to_json(group);
            write_all(line.data(), line.size());
        }
    }
    all.mutex.unlock();
}

} // namespace ks

// A program that ends by these skips destructors: its timings are written here.
extern "C" {
__attribute__((visibility("default"), noreturn)) void _exit(int status) {
    ks::write_launches();
    syscall(SYS_exit_group, status);
    __builtin_trap();
}
__attribute__((visibility("default"), noreturn)) void _Exit(int status) { _exit(status); }
}
