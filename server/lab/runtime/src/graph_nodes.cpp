// Nodes of graphs by kind: how each is added, asked and changed.
#include "allocations.h"
#include "errors.h"
#include "events.h"
#include "graph.h"
#include <atomic>
#include <string.h>

#define KS_NEW_NODE hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before, size_t count

namespace ks {
namespace {

/// Checks a kernel node's parameters and makes them the node's own. `known` may be a node's present work: a captured
/// kernel's types are known only there.
hipError_t describe(const hipKernelNodeParams *params, const KernelWork *known, std::unique_ptr<KernelWork> *out) {
    if (params == nullptr || params->func == nullptr || (params->kernelParams == nullptr) == (params->extra == nullptr)) {
        return hipErrorInvalidValue;
    }
    if (params->extra != nullptr) {
        return hipErrorNotSupported; // Arguments packed into one buffer: only their addresses can be taken here.
    }
    if (known != nullptr && known->launch.function == params->func) {
        auto work = std::make_unique<KernelWork>(known->with_arguments(params->kernelParams));
        work->launch.grid = params->gridDim;
        work->launch.block = params->blockDim;
        work->launch.shared_bytes = params->sharedMemBytes;
        *out = std::move(work);
        return check_launch((*out)->launch);
    }
    return describe_launch(params->func, params->gridDim, params->blockDim, params->kernelParams,
                           params->sharedMemBytes, out);
}

hipError_t check_memset(const hipMemsetParams *params) {
    if (params == nullptr || params->dst == nullptr || params->width == 0 || params->height == 0) {
        return hipErrorInvalidValue;
    }
    return check_fill(*params);
}

hipError_t check_box(const hipMemcpy3DParms *params) {
    return params == nullptr ? hipErrorInvalidValue : copy_box(*params, true);
}

hipError_t check_memcpy(const void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
    return to == nullptr || from == nullptr || bytes == 0 ? hipErrorInvalidValue : check_copy(to, from, bytes, kind);
}

hipError_t check_host(const hipHostNodeParams *params) {
    return params == nullptr || params->fn == nullptr ? hipErrorInvalidValue : hipSuccess;
}

/// Changes a node's work to `changed` where it is of that kind and `error` is none.
template <class Kind> hipError_t change(Kind *work, hipError_t error, Kind changed) {
    if (work == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (error == hipSuccess) {
        *work = std::move(changed);
    }
    return remember(error);
}

/// Tells the parameters of a node whose work is of the kind.
template <class Kind, class Params> hipError_t tell_params(hipGraphNode_t node, Params *params) {
    const Kind *work = work_of<Kind>(node);
    if (work == nullptr || params == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *params = work->params;
    return hipSuccess;
}

/// Changes a node's work to that of `params`, which may be null only where `error` says so.
template <class Kind, class Params> hipError_t change_params(Kind *work, hipError_t error, const Params *params) {
    return error != hipSuccess ? remember(error) : change(work, error, Kind{*params});
}

hipError_t change_kernel(KernelWork *work, const hipKernelNodeParams *params) {
    if (work == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    std::unique_ptr<KernelWork> changed;
    if (const hipError_t error = describe(params, work, &changed); error != hipSuccess) {
        return remember(error);
    }
    *work = std::move(*changed);
    return hipSuccess;
}

hipError_t change_symbol_copy(CopyWork *work, void *at, size_t room, const void *from, void *to, size_t bytes,
                              hipMemcpyKind kind, CopyWork *out) {
    const bool writes = from != nullptr;
    const hipMemcpyKind refused = writes ? hipMemcpyDeviceToHost : hipMemcpyHostToDevice;
    if (at == nullptr || (!writes && to == nullptr) || bytes == 0 || bytes > room || work == nullptr) {
        return hipErrorInvalidValue;
    }
    if (kind == refused || kind == hipMemcpyHostToHost) {
        return hipErrorInvalidMemcpyDirection;
    }
    *out = writes ? CopyWork{at, from, bytes, kind} : CopyWork{to, at, bytes, kind};
    return check_copy(out->to, out->from, bytes, kind);
}

template <class Kind> hipError_t give_event(hipGraphNode_t node, hipEvent_t *event) {
    const Kind *work = work_of<Kind>(node);
    if (work == nullptr || event == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *event = work->event;
    return hipSuccess;
}

std::atomic<int64_t> graph_bytes{0}, most_graph_bytes{0};

} // namespace

void graph_memory_changed(int64_t change) {
    const int64_t now = graph_bytes.fetch_add(change) + change;
    int64_t most = most_graph_bytes.load();
    while (now > most && !most_graph_bytes.compare_exchange_weak(most, now)) {
    }
}

} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipGraphAddEmptyNode(KS_NEW_NODE) { return add_node(node, graph, before, count, EmptyWork{}); }

hipError_t hipGraphAddKernelNode(KS_NEW_NODE, const hipKernelNodeParams *params) {
    std::unique_ptr<KernelWork> work;
    if (node == nullptr || graph == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (const hipError_t error = describe(params, nullptr, &work); error != hipSuccess) {
        return remember(error);
    }
    return add_node(node, graph, before, count, std::move(*work));
}
hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *params) {
    KernelWork *work = work_of<KernelWork>(node);
    if (work == nullptr || params == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    params->blockDim = work->launch.block;
    params->gridDim = work->launch.grid;
    params->extra = nullptr;
    params->func = const_cast<void *>(work->launch.function);
    params->kernelParams = work->arguments.data();
    params->sharedMemBytes = static_cast<unsigned>(work->launch.shared_bytes);
    return hipSuccess;
}
hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *params) {
    return change_kernel(work_of<KernelWork>(node), params);
}
hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams *params) {
    return change_kernel(work_of<KernelWork>(exec, node), params);
}
// A window in the cache and a priority change nothing here but the answer.
hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                          const hipKernelNodeAttrValue *value) {
    KernelWork *work = work_of<KernelWork>(node);
    if (work == nullptr || value == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    switch (attribute) {
    case hipLaunchAttributeAccessPolicyWindow: {
        const hipAccessPolicyWindow &window = value->accessPolicyWindow;
        if (window.hitRatio < 0 || window.hitRatio > 1 || window.hitProp == hipAccessPropertyPersisting + 1 ||
            window.missProp == hipAccessPropertyPersisting) {
            return remember(hipErrorInvalidValue);
        }
        work->policy = *value;
        return hipSuccess;
    }
    case hipLaunchAttributeCooperative: work->launch.cooperative = value->cooperative != 0; return hipSuccess;
    case hipLaunchAttributePriority:
        if (value->priority < -1 || value->priority > 1) {
            return remember(hipErrorInvalidValue);
        }
        work->priority = *value;
        return hipSuccess;
    }
    return remember(hipErrorInvalidValue);
}
hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                          hipKernelNodeAttrValue *value) {
    const KernelWork *work = work_of<KernelWork>(node);
    if (work == nullptr || value == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    switch (attribute) {
    case hipLaunchAttributeAccessPolicyWindow: *value = work->policy; return hipSuccess;
    case hipLaunchAttributeCooperative: value->cooperative = work->launch.cooperative; return hipSuccess;
    case hipLaunchAttributePriority: *value = work->priority; return hipSuccess;
    }
    return remember(hipErrorInvalidValue);
}
hipError_t hipGraphKernelNodeCopyAttributes(hipGraphNode_t from, hipGraphNode_t to) {
    const KernelWork *source = work_of<KernelWork>(from);
    KernelWork *target = work_of<KernelWork>(to);
    if (source == nullptr || target == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    target->policy = source->policy;
    target->priority = source->priority;
    target->launch.cooperative = source->launch.cooperative;
    return hipSuccess;
}

hipError_t hipGraphAddMemcpyNode(KS_NEW_NODE, const hipMemcpy3DParms *params) {
    const hipError_t error = check_box(params);
    return error != hipSuccess ? remember(error) : add_node(node, graph, before, count, BoxWork{*params});
}
hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms *params) {
    return tell_params<BoxWork>(node, params);
}
hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms *params) {
    return change_params(work_of<BoxWork>(node), check_box(params), params);
}
hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms *params) {
    BoxWork *work = work_of<BoxWork>(exec, node);
    const hipError_t error = check_box(params);
    if (error == hipSuccess && work != nullptr && work->params.kind != params->kind) {
        return remember(hipErrorInvalidValue); // As HIP: the direction stays.
    }
    return change_params(work, error, params);
}
hipError_t hipGraphAddMemcpyNode1D(KS_NEW_NODE, void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
    const hipError_t error = check_memcpy(to, from, bytes, kind);
    return error != hipSuccess ? remember(error) : add_node(node, graph, before, count, CopyWork{to, from, bytes, kind});
}
hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void *to, const void *from, size_t bytes,
                                         hipMemcpyKind kind) {
    return change(work_of<CopyWork>(node), check_memcpy(to, from, bytes, kind), CopyWork{to, from, bytes, kind});
}
hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void *to, const void *from,
                                             size_t bytes, hipMemcpyKind kind) {
    CopyWork *work = work_of<CopyWork>(exec, node);
    if (work != nullptr && work->kind != kind) {
        return remember(hipErrorInvalidValue); // As HIP: the direction stays.
    }
    return change(work, check_memcpy(to, from, bytes, kind), CopyWork{to, from, bytes, kind});
}
hipError_t ks_graph_symbol_node(KS_NEW_NODE, void *at, size_t room, const void *from, void *to, size_t bytes,
                                hipMemcpyKind kind) {
    CopyWork work{};
    const hipError_t error = change_symbol_copy(&work, at, room, from, to, bytes, kind, &work);
    return error != hipSuccess ? remember(error) : add_node(node, graph, before, count, work);
}
hipError_t ks_graph_symbol_params(hipGraphExec_t exec, hipGraphNode_t node, void *at, size_t room, const void *from,
                                  void *to, size_t bytes, hipMemcpyKind kind) {
    CopyWork *work = exec != nullptr ? work_of<CopyWork>(exec, node) : work_of<CopyWork>(node);
    CopyWork changed{};
    const hipError_t error = change_symbol_copy(work, at, room, from, to, bytes, kind, &changed);
    return change(work, error, changed);
}

hipError_t hipGraphAddMemsetNode(KS_NEW_NODE, const hipMemsetParams *params) {
    const hipError_t error = check_memset(params);
    return error != hipSuccess ? remember(error) : add_node(node, graph, before, count, FillWork{*params});
}
hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams *params) {
    return tell_params<FillWork>(node, params);
}
hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams *params) {
    return change_params(work_of<FillWork>(node), check_memset(params), params);
}
hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams *params) {
    return change_params(work_of<FillWork>(exec, node), check_memset(params), params);
}

hipError_t hipGraphAddHostNode(KS_NEW_NODE, const hipHostNodeParams *params) {
    const hipError_t error = check_host(params);
    return error != hipSuccess ? remember(error) : add_node(node, graph, before, count, HostWork{*params});
}
hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams *params) {
    return tell_params<HostWork>(node, params);
}
hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams *params) {
    return change_params(work_of<HostWork>(node), check_host(params), params);
}
hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipHostNodeParams *params) {
    return change_params(work_of<HostWork>(exec, node), check_host(params), params);
}

hipError_t hipGraphAddChildGraphNode(KS_NEW_NODE, hipGraph_t child) {
    if (child == nullptr || !graphs().contains(child)) {
        return remember(hipErrorInvalidValue);
    }
    return add_node(node, graph, before, count, ChildWork{child->clone()});
}
hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t *child) {
    const ChildWork *work = work_of<ChildWork>(node);
    if (work == nullptr || child == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *child = work->graph.get();
    return hipSuccess;
}
hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t child) {
    ChildWork *work = work_of<ChildWork>(exec, node);
    if (work == nullptr || child == nullptr || !graphs().contains(child)) {
        return remember(hipErrorInvalidValue);
    }
    const auto changed = child->clone();
    if (changed->nodes.size() != work->graph->nodes.size()) {
        return remember(hipErrorUnknown); // As HIP: a child of another shape.
    }
    for (size_t i = 0; i < changed->nodes.size(); ++i) {
        const hipGraphNode &mine = *work->graph->nodes[i], &other = *changed->nodes[i];
        if (type_of(mine.work) != type_of(other.work) || mine.before.size() != other.before.size()) {
            return remember(hipErrorUnknown);
        }
    }
    work->graph = changed;
    return hipSuccess;
}

hipError_t hipGraphAddEventRecordNode(KS_NEW_NODE, hipEvent_t event) {
    return is_event(event) ? add_node(node, graph, before, count, RecordWork{event}) : remember(hipErrorInvalidValue);
}
hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t *event) {
    return give_event<RecordWork>(node, event);
}
hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
    const hipError_t error = is_event(event) ? hipSuccess : hipErrorInvalidValue;
    return change(work_of<RecordWork>(node), error, RecordWork{event});
}
hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {
    const hipError_t error = is_event(event) ? hipSuccess : hipErrorInvalidValue;
    return change(work_of<RecordWork>(exec, node), error, RecordWork{event});
}
hipError_t hipGraphAddEventWaitNode(KS_NEW_NODE, hipEvent_t event) {
    return is_event(event) ? add_node(node, graph, before, count, WaitWork{event}) : remember(hipErrorInvalidValue);
}
hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t *event) {
    return give_event<WaitWork>(node, event);
}
hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
    const hipError_t error = is_event(event) ? hipSuccess : hipErrorInvalidValue;
    return change(work_of<WaitWork>(node), error, WaitWork{event});
}
hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {
    const hipError_t error = is_event(event) ? hipSuccess : hipErrorInvalidValue;
    return change(work_of<WaitWork>(exec, node), error, WaitWork{event});
}

hipError_t hipGraphAddMemAllocNode(KS_NEW_NODE, hipMemAllocNodeParams *params) {
    if (params == nullptr || params->bytesize == 0 || params->poolProps.allocType != hipMemAllocationTypePinned ||
        params->poolProps.location.type != hipMemLocationTypeDevice || params->poolProps.location.id != 0) {
        return remember(hipErrorInvalidValue);
    }
    auto memory = std::make_shared<GraphMemory>(params->bytesize);
    if (memory->get() == nullptr) {
        return hipErrorOutOfMemory;
    }
    params->dptr = memory->get();
    return add_node(node, graph, before, count, AllocateWork{*params, std::move(memory)});
}
hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t node, hipMemAllocNodeParams *params) {
    const AllocateWork *work = work_of<AllocateWork>(node);
    if (work == nullptr || params == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *params = work->params;
    return hipSuccess;
}
hipError_t hipGraphAddMemFreeNode(KS_NEW_NODE, void *pointer) {
    uintptr_t base = 0;
    if (pointer == nullptr || graph == nullptr || !graphs().contains(graph) ||
        allocations().find(pointer, &base).bytes == 0 || base != reinterpret_cast<uintptr_t>(pointer)) {
        return remember(hipErrorInvalidValue);
    }
    for (const auto &other : graph->nodes) {
        const FreeWork *freed = std::get_if<FreeWork>(&other->work);
        if (freed != nullptr && freed->pointer == pointer) {
            return remember(hipErrorInvalidValue);
        }
    }
    return add_node(node, graph, before, count, FreeWork{pointer});
}
hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void *pointer) {
    const FreeWork *work = work_of<FreeWork>(node);
    if (work == nullptr || pointer == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    memcpy(pointer, &work->pointer, sizeof work->pointer);
    return hipSuccess;
}
hipError_t hipDeviceGetGraphMemAttribute(int device, hipGraphMemAttributeType attribute, void *value) {
    if (device != 0) {
        return remember(hipErrorInvalidDevice);
    }
    if (value == nullptr || attribute < hipGraphMemAttrUsedMemCurrent || attribute > hipGraphMemAttrReservedMemHigh) {
        return remember(hipErrorInvalidValue);
    }
    const bool current = attribute == hipGraphMemAttrUsedMemCurrent || attribute == hipGraphMemAttrReservedMemCurrent;
    const uint64_t bytes = static_cast<uint64_t>(current ? graph_bytes.load() : most_graph_bytes.load());
    memcpy(value, &bytes, sizeof bytes);
    return hipSuccess;
}
hipError_t hipDeviceSetGraphMemAttribute(int device, hipGraphMemAttributeType attribute, void *value) {
    if (device != 0) {
        return remember(hipErrorInvalidDevice);
    }
    uint64_t wanted = 0;
    if (value == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    memcpy(&wanted, value, sizeof wanted);
    // Only a high-water mark can be set, and only back.
    if (wanted != 0 || (attribute != hipGraphMemAttrUsedMemHigh && attribute != hipGraphMemAttrReservedMemHigh)) {
        return remember(hipErrorInvalidValue);
    }
    most_graph_bytes.store(graph_bytes.load());
    return hipSuccess;
}
hipError_t hipDeviceGraphMemTrim(int device) { return device == 0 ? hipSuccess : remember(hipErrorInvalidDevice); }
}
#pragma GCC visibility pop
