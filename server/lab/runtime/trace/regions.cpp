#include "regions.h"
#include "../src/allocations.h"
#include "../src/worker.h"
#include <algorithm>

namespace ks::trace {
namespace {

/// Variables of the program: shared memory, constant memory, and others that kernels name.
std::vector<Region> &variables() {
    static std::vector<Region> *const all = new std::vector<Region>;
    return *all;
}

template <class T> uint64_t address(const T *pointer) { return reinterpret_cast<uint64_t>(pointer); }

void add(const void *begin, uint64_t bytes, Kind kind) {
    if (bytes != 0) {
        variables().push_back({address(begin), address(begin) + bytes, static_cast<uint32_t>(kind), 0});
    }
}

/// Ends regions where the next begins.
void cut_overlaps(std::vector<Region> &all) {
    std::stable_sort(all.begin(), all.end(), [](const Region &a, const Region &b) { return a.begin < b.begin; });
    for (size_t i = 1; i < all.size(); ++i) {
        all[i - 1].end = std::min(all[i - 1].end, all[i].begin);
    }
    all.erase(std::remove_if(all.begin(), all.end(), [](const Region &r) { return r.begin >= r.end; }), all.end());
}

} // namespace

std::vector<Region> regions() {
    std::vector<Region> all = variables();
    allocations().for_each([&](uintptr_t begin, const Allocation &allocation) {
        all.push_back({begin, begin + allocation.bytes, static_cast<uint32_t>(Kind::kGlobal), 0});
    });
    const uint64_t dynamic = address(ks_dynamic_shared);
    all.push_back({dynamic, dynamic + kMaxSharedBytes, static_cast<uint32_t>(Kind::kShared), 0});
    const uint64_t stacks = address(worker.stacks);
    all.push_back({stacks, stacks + worker.capacity * kStackBytes, static_cast<uint32_t>(Kind::kScratch),
                   static_cast<uint32_t>(kStackBytes)});
    cut_overlaps(all);
    return all;
}

} // namespace ks::trace

/// A variable that kernels name, as the instrumentation lists them.
struct KsTraceVariable {
    const void *address;
    uint64_t bytes;
    uint64_t is_constant;
};

extern "C" __attribute__((visibility("default"))) void ks_register_shared(char *begin, char *end) {
    ks::trace::add(begin, static_cast<uint64_t>(end - begin), ks::trace::Kind::kShared);
}

extern "C" __attribute__((visibility("default"))) void ks_trace_register(const KsTraceVariable *first, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        ks::trace::add(first[i].address, first[i].bytes,
                       first[i].is_constant != 0 ? ks::trace::Kind::kConstant : ks::trace::Kind::kGlobal);
    }
}
