#include "records.h"
#include "regions.h"
#include "../src/fault.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

namespace ks::trace {
namespace {

/// Events of all work-items of a block together. Address space; what is not written costs nothing.
constexpr size_t kEvents = 128 << 20;
/// Most events of one work-item.
constexpr size_t kMostOfItem = 8 << 20;
/// What one stretch of code may write beyond the limit.
constexpr size_t kStretch = 16 << 10;

enum Tag : uint32_t { kLaunch = 1, kBlock = 2, kEnd = 3, kRepeat = 4 };

uint64_t *memory;
uint64_t nowhere[kStretch];
size_t capacity;
bool recording;
unsigned items;
uint32_t counts[kMaxBlockSize];
bool cut;
int file = -1;

/// Read before anything of the program runs, and hidden from it.
__attribute__((constructor(101))) void open_file() {
    const char *path = getenv("KS_TRACE_FILE");
    if (path == nullptr) {
        return;
    }
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) {
        fail("trace_file", "the file for the traces cannot be written");
    }
    unsetenv("KS_TRACE_FILE");
}

void write_all(std::vector<iovec> parts) {
    for (size_t first = 0; first < parts.size();) {
        const size_t count = std::min<size_t>(parts.size() - first, 1024);
        ssize_t written = writev(file, parts.data() + first, static_cast<int>(count));
        if (written < 0) {
            fail("trace_file", "the file for the traces cannot be written: it is full, or larger than it may be");
        }
        for (; first < parts.size() && static_cast<size_t>(written) >= parts[first].iov_len; ++first) {
            written -= static_cast<ssize_t>(parts[first].iov_len);
        }
        if (first < parts.size()) {
            parts[first].iov_base = static_cast<char *>(parts[first].iov_base) + written;
            parts[first].iov_len -= static_cast<size_t>(written);
        }
    }
}

/// A record's head: what it is and how many bytes follow.
struct Head {
    uint32_t tag;
    uint32_t reserved;
    uint64_t bytes;
};

template <class T> void put(std::string &out, T value) { out.append(reinterpret_cast<const char *>(&value), sizeof value); }

void write_record(Tag tag, const std::string &body) {
    Head head{tag, 0, body.size()};
    write_all({{&head, sizeof head}, {const_cast<char *>(body.data()), body.size()}});
}

} // namespace

void set_recording(bool on, unsigned count) {
    if (memory == nullptr) {
        void *mapped = mmap(nullptr, kEvents * sizeof *memory, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped == MAP_FAILED) {
            fail("out_of_memory", "the tracing runtime cannot map 1 GiB of address space; raise the memory limit");
        }
        memory = static_cast<uint64_t *>(mapped);
    }
    recording = on;
    items = count;
    // The odd part keeps the work-items' places apart in the cache.
    capacity = std::min(kMostOfItem + kStretch, kEvents / count) - 136;
}

uint64_t *begin_item(uint32_t linear) { return recording ? memory + linear * capacity : nowhere; }
uint64_t *limit_of(uint32_t linear) { return recording ? memory + (linear + 1) * capacity - kStretch : nowhere; }

void end_item(uint32_t linear, uint64_t *cursor) {
    if (!recording) {
        return;
    }
    counts[linear] = static_cast<uint32_t>(cursor - begin_item(linear));
    cut |= cursor >= limit_of(linear);
}

uint64_t events_of_block() {
    uint64_t sum = 0;
    for (unsigned i = 0; i < items; ++i) {
        sum += counts[i];
    }
    return sum;
}

bool block_was_cut() {
    const bool was = cut;
    cut = false;
    return was;
}

bool has_file() { return file >= 0; }

void write_launch(const Launch &launch, uint32_t id) {
    std::string body;
    put(body, id);
    for (const dim3 &extent : {launch.grid, launch.block}) {
        put(body, extent.x);
        put(body, extent.y);
        put(body, extent.z);
    }
    put(body, static_cast<uint32_t>(launch.shared_bytes));
    body += launch.kernel;
    write_record(kLaunch, body);
}

void write_block(uint64_t number) {
    struct {
        Head head;
        uint64_t number, items;
    } first{{kBlock, 0, 16 + items * sizeof *counts + events_of_block() * sizeof *memory}, number, items};
    std::vector<iovec> parts{{&first, sizeof first}, {counts, items * sizeof *counts}};
    for (unsigned i = 0; i < items; ++i) {
        if (counts[i] != 0) {
            parts.push_back({begin_item(i), counts[i] * sizeof *memory});
        }
    }
    write_all(std::move(parts));
}

void write_end(bool complete, bool was_cut) {
    std::string body;
    put(body, uint32_t{complete});
    put(body, uint32_t{was_cut});
    for (const Region &region : regions()) {
        put(body, region);
    }
    write_record(kEnd, body);
}

void write_repeat(uint32_t id) {
    std::string body;
    put(body, id);
    write_record(kRepeat, body);
}

} // namespace ks::trace
