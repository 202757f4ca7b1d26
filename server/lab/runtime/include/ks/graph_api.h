// Graphs: work described once, by capturing streams or node by node, and launched as often as wanted.
//
// A graph runs its nodes one after another, in an order in which each comes after all that it depends on; of several such
// orders always the one that follows the nodes' creation, so that results are the same in each run.
#pragma once
#pragma clang system_header
#include <ks/api_types.h>
#include <ks/array_api.h>
#include <ks/function_api.h>
#include <ks/memory_api.h>
#include <ks/pool_api.h>

typedef struct ihipGraph *hipGraph_t;
typedef struct hipGraphNode *hipGraphNode_t;
typedef struct hipGraphExec *hipGraphExec_t;
typedef struct hipUserObject *hipUserObject_t;

enum hipGraphNodeType {
    hipGraphNodeTypeKernel = 0,
    hipGraphNodeTypeMemcpy = 1,
    hipGraphNodeTypeMemset = 2,
    hipGraphNodeTypeHost = 3,
    hipGraphNodeTypeGraph = 4,
    hipGraphNodeTypeEmpty = 5,
    hipGraphNodeTypeWaitEvent = 6,
    hipGraphNodeTypeEventRecord = 7,
    hipGraphNodeTypeExtSemaphoreSignal = 8,
    hipGraphNodeTypeExtSemaphoreWait = 9,
    hipGraphNodeTypeMemAlloc = 10,
    hipGraphNodeTypeMemFree = 11,
    hipGraphNodeTypeMemcpyFromSymbol = 12,
    hipGraphNodeTypeMemcpyToSymbol = 13,
    hipGraphNodeTypeCount,
};

struct hipHostNodeParams {
    hipHostFn_t fn;
    void *userData;
};
struct hipKernelNodeParams {
    dim3 blockDim;
    void **extra;
    void *func;
    dim3 gridDim;
    void **kernelParams;
    unsigned sharedMemBytes;
};
/// `width` counts elements of `elementSize` (1, 2 or 4) bytes; `pitch` counts bytes.
struct hipMemsetParams {
    void *dst;
    unsigned elementSize;
    size_t height;
    size_t pitch;
    unsigned value;
    size_t width;
};
struct hipMemAllocNodeParams {
    hipMemPoolProps poolProps;
    const hipMemAccessDesc *accessDescs;
    size_t accessDescCount;
    size_t bytesize;
    void *dptr; ///< given back: the memory's address, the same at each launch
};

enum hipAccessProperty {
    hipAccessPropertyNormal = 0,
    hipAccessPropertyStreaming = 1,
    hipAccessPropertyPersisting = 2,
};
struct hipAccessPolicyWindow {
    void *base_ptr;
    hipAccessProperty hitProp;
    float hitRatio;
    hipAccessProperty missProp;
    size_t num_bytes;
};
enum hipLaunchAttributeID {
    hipLaunchAttributeAccessPolicyWindow = 1,
    hipLaunchAttributeCooperative = 2,
    hipLaunchAttributePriority = 8,
};
union hipLaunchAttributeValue {
    hipAccessPolicyWindow accessPolicyWindow;
    int cooperative;
    int priority;
};
#define hipKernelNodeAttrID hipLaunchAttributeID
#define hipKernelNodeAttributeAccessPolicyWindow hipLaunchAttributeAccessPolicyWindow
#define hipKernelNodeAttributeCooperative hipLaunchAttributeCooperative
#define hipKernelNodeAttributePriority hipLaunchAttributePriority
#define hipKernelNodeAttrValue hipLaunchAttributeValue

enum hipGraphExecUpdateResult {
    hipGraphExecUpdateSuccess = 0,
    hipGraphExecUpdateError = 1,
    hipGraphExecUpdateErrorTopologyChanged = 2,
    hipGraphExecUpdateErrorNodeTypeChanged = 3,
    hipGraphExecUpdateErrorFunctionChanged = 4,
    hipGraphExecUpdateErrorParametersChanged = 5,
    hipGraphExecUpdateErrorNotSupported = 6,
    hipGraphExecUpdateErrorUnsupportedFunctionChange = 7,
};
enum hipStreamCaptureMode {
    hipStreamCaptureModeGlobal = 0,
    hipStreamCaptureModeThreadLocal,
    hipStreamCaptureModeRelaxed,
};
enum hipStreamCaptureStatus {
    hipStreamCaptureStatusNone = 0,
    hipStreamCaptureStatusActive,
    hipStreamCaptureStatusInvalidated,
};
enum hipStreamUpdateCaptureDependenciesFlags {
    hipStreamAddCaptureDependencies = 0,
    hipStreamSetCaptureDependencies,
};
enum hipGraphMemAttributeType {
    hipGraphMemAttrUsedMemCurrent = 0,
    hipGraphMemAttrUsedMemHigh,
    hipGraphMemAttrReservedMemCurrent,
    hipGraphMemAttrReservedMemHigh,
};
enum hipUserObjectFlags { hipUserObjectNoDestructorSync = 0x1 };
enum hipUserObjectRetainFlags { hipGraphUserObjectMove = 0x1 };
enum hipGraphInstantiateFlags {
    hipGraphInstantiateFlagAutoFreeOnLaunch = 1,
    hipGraphInstantiateFlagUpload = 2,
    hipGraphInstantiateFlagDeviceLaunch = 4,
    hipGraphInstantiateFlagUseNodePriority = 8,
};
enum hipGraphInstantiateResult {
    hipGraphInstantiateSuccess = 0,
    hipGraphInstantiateError = 1,
    hipGraphInstantiateInvalidStructure = 2,
    hipGraphInstantiateNodeOperationNotSupported = 3,
    hipGraphInstantiateMultipleDevicesNotSupported = 4,
};
struct hipGraphInstantiateParams {
    hipGraphNode_t errNode_out;
    unsigned long long flags;
    hipGraphInstantiateResult result_out;
    hipStream_t uploadStream;
};
enum hipGraphDebugDotFlags {
    hipGraphDebugDotFlagsVerbose = 1 << 0,
    hipGraphDebugDotFlagsKernelNodeParams = 1 << 2,
    hipGraphDebugDotFlagsMemcpyNodeParams = 1 << 3,
    hipGraphDebugDotFlagsMemsetNodeParams = 1 << 4,
    hipGraphDebugDotFlagsHostNodeParams = 1 << 5,
    hipGraphDebugDotFlagsEventNodeParams = 1 << 6,
    hipGraphDebugDotFlagsExtSemasSignalNodeParams = 1 << 7,
    hipGraphDebugDotFlagsExtSemasWaitNodeParams = 1 << 8,
    hipGraphDebugDotFlagsKernelNodeAttributes = 1 << 9,
    hipGraphDebugDotFlagsHandles = 1 << 10,
};
struct hipGraphEdgeData {
    unsigned char from_port, reserved[5], to_port, type;
};

// Each takes and gives handles that are checked: one that was destroyed is hipErrorInvalidValue.
#define KS_NEW_NODE hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count
extern "C" {
hipError_t hipGraphCreate(hipGraph_t *graph, unsigned flags);
hipError_t hipGraphDestroy(hipGraph_t graph);
hipError_t hipGraphClone(hipGraph_t *clone, hipGraph_t graph);
hipError_t hipGraphNodeFindInClone(hipGraphNode_t *node, hipGraphNode_t original, hipGraph_t clone);
hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to, size_t count);
hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to,
                                      size_t count);
hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count);
hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count);
hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *count);
hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *nodes, size_t *count);
hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t *nodes, size_t *count);
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *type);
hipError_t hipGraphDestroyNode(hipGraphNode_t node);
/// Writes the graph in Graphviz's language.
hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char *path, unsigned flags);

hipError_t hipGraphAddEmptyNode(KS_NEW_NODE);
hipError_t hipGraphAddKernelNode(KS_NEW_NODE, const hipKernelNodeParams *params);
hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *params);
hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *params);
hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                          const hipKernelNodeAttrValue *value);
hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                          hipKernelNodeAttrValue *value);
hipError_t hipGraphKernelNodeCopyAttributes(hipGraphNode_t from, hipGraphNode_t to);
hipError_t hipGraphAddMemcpyNode(KS_NEW_NODE, const hipMemcpy3DParms *params);
hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms *params);
hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms *params);
hipError_t hipGraphAddMemcpyNode1D(KS_NEW_NODE, void *to, const void *from, size_t bytes, hipMemcpyKind kind);
hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void *to, const void *from, size_t bytes,
                                         hipMemcpyKind kind);
hipError_t hipGraphAddMemsetNode(KS_NEW_NODE, const hipMemsetParams *params);
hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams *params);
hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams *params);
hipError_t hipGraphAddHostNode(KS_NEW_NODE, const hipHostNodeParams *params);
hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams *params);
hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams *params);
hipError_t hipGraphAddChildGraphNode(KS_NEW_NODE, hipGraph_t child);
hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t *child);
hipError_t hipGraphAddEventRecordNode(KS_NEW_NODE, hipEvent_t event);
hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t *event);
hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event);
hipError_t hipGraphAddEventWaitNode(KS_NEW_NODE, hipEvent_t event);
hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t *event);
hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event);
/// The memory is there from now until the last graph with this node is destroyed; a free node ends its use, no sooner.
hipError_t hipGraphAddMemAllocNode(KS_NEW_NODE, hipMemAllocNodeParams *params);
hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t node, hipMemAllocNodeParams *params);
hipError_t hipGraphAddMemFreeNode(KS_NEW_NODE, void *pointer);
hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void *pointer);
hipError_t hipDeviceGetGraphMemAttribute(int device, hipGraphMemAttributeType attribute, void *value);
hipError_t hipDeviceSetGraphMemAttribute(int device, hipGraphMemAttributeType attribute, void *value);
hipError_t hipDeviceGraphMemTrim(int device);

hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph, hipGraphNode_t *error_node, char *log,
                               size_t log_bytes);
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *exec, hipGraph_t graph, unsigned long long flags);
hipError_t hipGraphInstantiateWithParams(hipGraphExec_t *exec, hipGraph_t graph, hipGraphInstantiateParams *params);
hipError_t hipGraphExecGetFlags(hipGraphExec_t exec, unsigned long long *flags);
hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream);
hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t stream);
hipError_t hipGraphExecDestroy(hipGraphExec_t exec);
hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t *error_node,
                              hipGraphExecUpdateResult *result);
hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams *params);
hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms *params);
hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void *to, const void *from,
                                             size_t bytes, hipMemcpyKind kind);
hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams *params);
hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipHostNodeParams *params);
hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t child);
hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event);
hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event);
hipError_t hipGraphNodeSetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled);
hipError_t hipGraphNodeGetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned *enabled);

hipError_t hipUserObjectCreate(hipUserObject_t *object, void *pointer, hipHostFn_t destroy, unsigned references,
                               unsigned flags);
hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned count = 1);
hipError_t hipUserObjectRetain(hipUserObject_t object, unsigned count = 1);
hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned count = 1, unsigned flags = 0);
hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object, unsigned count = 1);

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t *dependencies,
                                        const hipGraphEdgeData *dependency_data, size_t count,
                                        hipStreamCaptureMode mode);
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph);
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status);
hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *status, unsigned long long *id);
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *status,
                                      unsigned long long *id = nullptr, hipGraph_t *graph = nullptr,
                                      const hipGraphNode_t **dependencies = nullptr, size_t *count = nullptr);
hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t *dependencies, size_t count,
                                              unsigned flags = 0);
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode);

// Copies to and from a variable: `at` is the first byte, the rest of the variable holds `room` bytes. A null node adds one.
hipError_t ks_graph_symbol_node(KS_NEW_NODE, void *at, size_t room, const void *from, void *to, size_t bytes,
                                hipMemcpyKind kind);
hipError_t ks_graph_symbol_params(hipGraphExec_t exec, hipGraphNode_t node, void *at, size_t room, const void *from,
                                  void *to, size_t bytes, hipMemcpyKind kind);
}

namespace ks {
inline void *after(const Symbol &symbol, size_t offset) { return static_cast<char *>(symbol.address) + offset; }
inline size_t room(const Symbol &symbol, size_t offset) { return offset > symbol.bytes ? 0 : symbol.bytes - offset; }
} // namespace ks
static inline hipError_t hipGraphAddMemcpyNodeToSymbol(KS_NEW_NODE, ::ks::Symbol symbol, const void *from, size_t bytes,
                                                       size_t offset, hipMemcpyKind kind) {
    return ks_graph_symbol_node(node, graph, dependencies, count, ::ks::after(symbol, offset),
                                ::ks::room(symbol, offset), from, nullptr, bytes, kind);
}
static inline hipError_t hipGraphAddMemcpyNodeFromSymbol(KS_NEW_NODE, void *to, ::ks::Symbol symbol, size_t bytes,
                                                         size_t offset, hipMemcpyKind kind) {
    return ks_graph_symbol_node(node, graph, dependencies, count, ::ks::after(symbol, offset),
                                ::ks::room(symbol, offset), nullptr, to, bytes, kind);
}
static inline hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, ::ks::Symbol symbol, const void *from,
                                                             size_t bytes, size_t offset, hipMemcpyKind kind) {
    return ks_graph_symbol_params(nullptr, node, ::ks::after(symbol, offset), ::ks::room(symbol, offset), from, nullptr,
                                  bytes, kind);
}
static inline hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void *to, ::ks::Symbol symbol,
                                                               size_t bytes, size_t offset, hipMemcpyKind kind) {
    return ks_graph_symbol_params(nullptr, node, ::ks::after(symbol, offset), ::ks::room(symbol, offset), nullptr, to,
                                  bytes, kind);
}
static inline hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t exec, hipGraphNode_t node,
                                                                 ::ks::Symbol symbol, const void *from, size_t bytes,
                                                                 size_t offset, hipMemcpyKind kind) {
    if (exec == nullptr) return hipErrorInvalidValue;
    return ks_graph_symbol_params(exec, node, ::ks::after(symbol, offset), ::ks::room(symbol, offset), from, nullptr,
                                  bytes, kind);
}
static inline hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t exec, hipGraphNode_t node, void *to,
                                                                   ::ks::Symbol symbol, size_t bytes, size_t offset,
                                                                   hipMemcpyKind kind) {
    if (exec == nullptr) return hipErrorInvalidValue;
    return ks_graph_symbol_params(exec, node, ::ks::after(symbol, offset), ::ks::room(symbol, offset), nullptr, to,
                                  bytes, kind);
}
#undef KS_NEW_NODE
