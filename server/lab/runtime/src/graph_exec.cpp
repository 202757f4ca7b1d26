// Graphs that can be launched.
#include "capture.h"
#include "errors.h"
#include "graph.h"
#include "streams.h"
#include <string.h>

namespace ks {
namespace {

hipError_t instantiate(hipGraphExec_t *exec, hipGraph_t graph, unsigned long long flags) {
    constexpr unsigned long long known = hipGraphInstantiateFlagAutoFreeOnLaunch | hipGraphInstantiateFlagUpload |
                                         hipGraphInstantiateFlagDeviceLaunch | hipGraphInstantiateFlagUseNodePriority;
    if (exec == nullptr || graph == nullptr || !graphs().contains(graph) || (flags & ~known) != 0) {
        return remember(hipErrorInvalidValue);
    }
    if ((flags & hipGraphInstantiateFlagDeviceLaunch) != 0 || (graph->instantiated && graph->has_memory_nodes())) {
        return remember(hipErrorNotSupported);
    }
    if (graph->order().size() != graph->nodes.size()) {
        return remember(hipErrorInvalidValue); // A cycle.
    }
    auto made = std::make_unique<hipGraphExec>();
    made->graph = graph->clone();
    made->flags = flags;
    for (const auto &node : made->graph->nodes) {
        made->copies[node->original->id] = node.get();
    }
    graph->instantiated = true;
    *exec = execs().add(made.release());
    return hipSuccess;
}

bool is_exec(hipGraphExec_t exec) { return exec != nullptr && execs().contains(exec); }

/// Why `fresh` cannot take `mine`'s place, if it cannot.
hipGraphExecUpdateResult compare(const hipGraphNode &mine, const hipGraphNode &fresh) {
    if (type_of(mine.work) != type_of(fresh.work)) {
        return hipGraphExecUpdateErrorNodeTypeChanged;
    }
    if (mine.before.size() != fresh.before.size()) {
        return hipGraphExecUpdateErrorTopologyChanged;
    }
    const auto *old_copy = std::get_if<CopyWork>(&mine.work), *new_copy = std::get_if<CopyWork>(&fresh.work);
    if (old_copy != nullptr && new_copy != nullptr && old_copy->kind != new_copy->kind) {
        return hipGraphExecUpdateErrorParametersChanged;
    }
    return hipGraphExecUpdateSuccess;
}

} // namespace

Handles<hipGraphExec> &execs() {
    static auto *const all = new Handles<hipGraphExec>;
    return *all;
}

hipGraphNode_t copy_in(hipGraphExec_t exec, hipGraphNode_t node) {
    if (!is_exec(exec) || node == nullptr || !nodes().contains(node)) {
        return nullptr;
    }
    const auto found = exec->copies.find(node->id);
    return found != exec->copies.end() ? found->second : nullptr;
}

} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph, hipGraphNode_t *error_node, char *log,
                               size_t log_bytes) {
    if (error_node != nullptr) {
        *error_node = nullptr;
    }
    if (log != nullptr && log_bytes > 0) {
        log[0] = 0;
    }
    return instantiate(exec, graph, 0);
}
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *exec, hipGraph_t graph, unsigned long long flags) {
    return instantiate(exec, graph, flags);
}
hipError_t hipGraphInstantiateWithParams(hipGraphExec_t *exec, hipGraph_t graph, hipGraphInstantiateParams *params) {
    if (params == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    params->errNode_out = nullptr;
    const hipError_t error = instantiate(exec, graph, params->flags);
    params->result_out = error == hipSuccess             ? hipGraphInstantiateSuccess
                         : error == hipErrorNotSupported ? hipGraphInstantiateNodeOperationNotSupported
                                                         : hipGraphInstantiateError;
    return error;
}
hipError_t hipGraphExecGetFlags(hipGraphExec_t exec, unsigned long long *flags) {
    if (!is_exec(exec) || flags == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *flags = exec->flags;
    return hipSuccess;
}
hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t handle) {
    const ihipStream_t *stream = find_stream(handle);
    if (!is_exec(exec)) {
        return remember(hipErrorInvalidValue);
    }
    if (stream == nullptr) {
        return remember(hipErrorContextIsDestroyed);
    }
    if (stream->capture != nullptr) {
        return submit(handle, ChildWork{exec->graph->clone()});
    }
    // What has to wait must not see later changes.
    const std::shared_ptr<ihipGraph> graph = backlog().empty() ? exec->graph : exec->graph->clone();
    return submit(handle, CallWork{hipGraphNodeTypeGraph, [graph] { return graph->run(); }});
}
hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t stream) {
    if (!is_exec(exec)) {
        return remember(hipErrorInvalidValue);
    }
    return find_stream(stream) != nullptr ? hipSuccess : remember(hipErrorContextIsDestroyed);
}
hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
    if (exec == nullptr || !execs().remove(exec)) {
        return remember(hipErrorInvalidValue);
    }
    delete exec;
    return hipSuccess;
}

hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t *error_node,
                              hipGraphExecUpdateResult *result) {
    if (!is_exec(exec) || graph == nullptr || !graphs().contains(graph) || error_node == nullptr || result == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *error_node = nullptr;
    const std::vector<hipGraphNode *> fresh = graph->order(), mine = exec->graph->order();
    if (fresh.size() != mine.size() || fresh.size() != graph->nodes.size()) {
        *result = hipGraphExecUpdateErrorTopologyChanged;
        return remember(hipErrorGraphExecUpdateFailure);
    }
    for (size_t i = 0; i < fresh.size(); ++i) {
        *result = compare(*mine[i], *fresh[i]);
        if (*result != hipGraphExecUpdateSuccess) {
            *error_node = fresh[i];
            return remember(hipErrorGraphExecUpdateFailure);
        }
    }
    for (size_t i = 0; i < fresh.size(); ++i) {
        mine[i]->work = copy_of(fresh[i]->work);
        exec->copies[fresh[i]->id] = mine[i];
    }
    *result = hipGraphExecUpdateSuccess;
    return hipSuccess;
}

hipError_t hipGraphNodeSetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled) {
    hipGraphNode_t mine = copy_in(exec, node);
    if (mine == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    const hipGraphNodeType type = type_of(mine->work);
    if (type != hipGraphNodeTypeKernel && type != hipGraphNodeTypeMemcpy && type != hipGraphNodeTypeMemset) {
        return remember(hipErrorInvalidValue);
    }
    mine->enabled = enabled != 0;
    return hipSuccess;
}
hipError_t hipGraphNodeGetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned *enabled) {
    const hipGraphNode_t mine = copy_in(exec, node);
    if (mine == nullptr || enabled == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    const hipGraphNodeType type = type_of(mine->work);
    if (type != hipGraphNodeTypeKernel && type != hipGraphNodeTypeMemcpy && type != hipGraphNodeTypeMemset) {
        return remember(hipErrorInvalidValue);
    }
    *enabled = mine->enabled;
    return hipSuccess;
}
}
#pragma GCC visibility pop
