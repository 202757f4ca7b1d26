#include "work.h"
#include "allocations.h"
#include "errors.h"
#include "events.h"
#include "graph.h"
#include "trace.h"
#include <atomic>
#include <stdlib.h>
#include <string.h>

namespace ks {
namespace {

std::shared_ptr<void> copy_body(const Launch &launch) {
    constexpr size_t alignment = 64;
    const size_t bytes = (launch.layout->bytes + alignment - 1) / alignment * alignment;
    void *body = aligned_alloc(alignment, bytes == 0 ? alignment : bytes);
    memcpy(body, launch.body, launch.layout->bytes);
    return std::shared_ptr<void>(body, free);
}

/// Tags tell a graph's memory from another allocation that came to lie at its address. They begin where no flags do.
unsigned next_tag() {
    static std::atomic<unsigned> last{0x10000000};
    return ++last;
}

template <class T> void fill_row(char *at, unsigned value, size_t count) {
    const T element = static_cast<T>(value);
    for (size_t i = 0; i < count; ++i) {
        memcpy(at + i * sizeof element, &element, sizeof element);
    }
}

hipError_t fill(const hipMemsetParams &p) {
    for (size_t row = 0; row < p.height; ++row) {
        char *at = static_cast<char *>(p.dst) + row * p.pitch;
#ifdef KS_TRACE
        const uint32_t repeated = p.elementSize == 1   ? (p.value & 0xff) * 0x01010101u
                                  : p.elementSize == 2 ? (p.value & 0xffff) * 0x00010001u
                                                       : p.value;
        if (trace::fill(at, p.width * p.elementSize, repeated)) {
            continue;
        }
#endif
        switch (p.elementSize) {
        case 1: memset(at, static_cast<int>(p.value), p.width); break;
        case 2: fill_row<uint16_t>(at, p.value, p.width); break;
        default: fill_row<uint32_t>(at, p.value, p.width);
        }
    }
    return hipSuccess;
}

struct Runner {
    hipError_t operator()(const KernelWork &work) const { return run_launch(work.launch); }
    hipError_t operator()(const CopyWork &work) const {
        const hipError_t error = check_copy(work.to, work.from, work.bytes, work.kind);
        if (error == hipSuccess && work.bytes != 0) {
            memmove(work.to, work.from, work.bytes);
        }
        return remember(error);
    }
    hipError_t operator()(const BoxWork &work) const { return copy_box(work.params, false); }
    hipError_t operator()(const FillWork &work) const {
        const hipError_t error = check_fill(work.params);
        return error != hipSuccess ? remember(error) : fill(work.params);
    }
    hipError_t operator()(const HostWork &work) const {
        work.params.fn(work.params.userData);
        return hipSuccess;
    }
    hipError_t operator()(const EmptyWork &) const { return hipSuccess; }
    hipError_t operator()(const RecordWork &work) const {
        stamp(*work.record);
        return hipSuccess;
    }
    hipError_t operator()(const WaitWork &) const { return hipSuccess; }
    hipError_t operator()(const ChildWork &work) const { return work.graph->run(); }
    hipError_t operator()(const AllocateWork &) const { return hipSuccess; }
    hipError_t operator()(const FreeWork &) const { return hipSuccess; }
    hipError_t operator()(const CallWork &work) const { return work.call(); }
};

struct Typer {
    hipGraphNodeType operator()(const KernelWork &) const { return hipGraphNodeTypeKernel; }
    hipGraphNodeType operator()(const CopyWork &) const { return hipGraphNodeTypeMemcpy; }
    hipGraphNodeType operator()(const BoxWork &) const { return hipGraphNodeTypeMemcpy; }
    hipGraphNodeType operator()(const FillWork &) const { return hipGraphNodeTypeMemset; }
    hipGraphNodeType operator()(const HostWork &) const { return hipGraphNodeTypeHost; }
    hipGraphNodeType operator()(const EmptyWork &) const { return hipGraphNodeTypeEmpty; }
    hipGraphNodeType operator()(const RecordWork &) const { return hipGraphNodeTypeEventRecord; }
    hipGraphNodeType operator()(const WaitWork &) const { return hipGraphNodeTypeWaitEvent; }
    hipGraphNodeType operator()(const ChildWork &) const { return hipGraphNodeTypeGraph; }
    hipGraphNodeType operator()(const AllocateWork &) const { return hipGraphNodeTypeMemAlloc; }
    hipGraphNodeType operator()(const FreeWork &) const { return hipGraphNodeTypeMemFree; }
    hipGraphNodeType operator()(const CallWork &work) const { return work.type; }
};

} // namespace

KernelWork::KernelWork(const Launch &given) : launch(given), body(copy_body(given)) {
    launch.body = body.get();
    std::vector<const void *> found(launch.layout->count);
    launch.layout->find(body.get(), found.data());
    for (const void *argument : found) {
        arguments.push_back(const_cast<void *>(argument));
    }
}

KernelWork KernelWork::with_arguments(void *const *values) const {
    KernelWork changed(launch);
    changed.policy = policy;
    changed.priority = priority;
    for (unsigned i = 0; i < launch.layout->count; ++i) {
        memcpy(changed.arguments[i], values[i], launch.layout->sizes[i]);
    }
    return changed;
}

GraphMemory::GraphMemory(size_t bytes) : bytes_(bytes), tag_(next_tag()) {
    (void)allocations().allocate(&pointer_, bytes, hipMemoryTypeDevice, tag_);
    if (pointer_ != nullptr) {
        graph_memory_changed(static_cast<int64_t>(bytes_));
    }
}

GraphMemory::~GraphMemory() {
    uintptr_t base = 0;
    if (pointer_ == nullptr) {
        return;
    }
    graph_memory_changed(-static_cast<int64_t>(bytes_));
    // The program may have freed it itself.
    if (allocations().find(pointer_, &base).flags == tag_) {
        (void)allocations().release(pointer_, [](hipMemoryType) { return true; });
    }
}

hipGraphNodeType type_of(const Work &work) { return std::visit(Typer{}, work); }
hipError_t run(const Work &work) { return std::visit(Runner{}, work); }
Work copy_of(const Work &work) {
    if (const auto *child = std::get_if<ChildWork>(&work)) {
        return ChildWork{child->graph->clone()};
    }
    return work;
}

hipError_t check_copy(const void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
    if ((kind < hipMemcpyHostToHost || kind > hipMemcpyDefault) && kind != hipMemcpyDeviceToDeviceNoCU) {
        return hipErrorInvalidMemcpyDirection;
    }
    if (bytes == 0) {
        return hipSuccess;
    }
    const bool right = allocations().accessible(to, bytes) && allocations().accessible(from, bytes);
    return right ? hipSuccess : hipErrorInvalidValue;
}

hipError_t check_fill(const hipMemsetParams &p) {
    if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) {
        return hipErrorInvalidValue;
    }
    if (p.width == 0 || p.height == 0) {
        return hipSuccess;
    }
    size_t row = 0, bytes = 0;
    const bool too_large = __builtin_mul_overflow(p.width, size_t{p.elementSize}, &row) ||
                           __builtin_mul_overflow(p.pitch, p.height - 1, &bytes) ||
                           __builtin_add_overflow(bytes, row, &bytes);
    if (too_large || (p.height > 1 && p.pitch < row)) {
        return hipErrorInvalidValue;
    }
    return allocations().accessible(p.dst, bytes) ? hipSuccess : hipErrorInvalidValue;
}

} // namespace ks
