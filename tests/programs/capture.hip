// Streams captured into graphs: forks and joins through events, replay with the memory's present contents, and the errors of
// captures that go wrong.
#include "check.h"

__global__ void append(int *cell, int digit) { *cell = *cell * 10 + digit; }
__global__ void sum(const int *a, const int *b, int *out) { *out = *a * 1000 + *b; }
static void bump(void *data) { ++*static_cast<int *>(data); }

struct Streams {
    hipStream_t main, side;
    hipEvent_t forked, joined;
    Streams() {
        HIP_OK(hipStreamCreate(&main));
        HIP_OK(hipStreamCreate(&side));
        HIP_OK(hipEventCreate(&forked));
        HIP_OK(hipEventCreateWithFlags(&joined, hipEventDisableTiming));
    }
    ~Streams() {
        (void)hipStreamDestroy(main);
        (void)hipStreamDestroy(side);
        (void)hipEventDestroy(forked);
        (void)hipEventDestroy(joined);
    }
};

static void fork_and_join(Streams &s) {
    DeviceArray<int> cells(3);
    int *a = cells.get(), *b = a + 1, *out = a + 2;
    int result = -1, called = 0;
    hipGraph_t graph;
    HIP_OK(hipStreamBeginCapture(s.main, hipStreamCaptureModeGlobal));
    HIP_OK(hipMemsetAsync(a, 0, 3 * sizeof(int), s.main));
    for (int digit = 1; digit < 3; ++digit) append<<<1, 1, 0, s.main>>>(a, digit);
    HIP_OK(hipEventRecord(s.forked, s.main));
    HIP_OK(hipStreamWaitEvent(s.side, s.forked, 0));
    auto kernel = append; // a variable that is gone when the graph is launched
    kernel<<<1, 1, 0, s.side>>>(b, 7);
    append<<<1, 1, 0, s.main>>>(a, 3);
    hipStreamCaptureStatus state;
    unsigned long long id = 0, side_id = 0;
    HIP_OK(hipStreamIsCapturing(s.side, &state));
    CHECK(state == hipStreamCaptureStatusActive);
    HIP_OK(hipStreamGetCaptureInfo(s.main, &state, &id));
    HIP_OK(hipStreamGetCaptureInfo(s.side, &state, &side_id));
    CHECK(id != 0 && id == side_id);
    HIP_OK(hipEventRecord(s.joined, s.side));
    HIP_OK(hipStreamWaitEvent(s.main, s.joined, 0));
    sum<<<1, 1, 0, s.main>>>(a, b, out);
    HIP_OK(hipMemcpyAsync(&result, out, sizeof result, hipMemcpyDeviceToHost, s.main));
    HIP_OK(hipLaunchHostFunc(s.main, bump, &called));
    HIP_OK(hipStreamEndCapture(s.main, &graph));
    HIP_OK(hipStreamIsCapturing(s.side, &state));
    CHECK(state == hipStreamCaptureStatusNone);
    CHECK(result == -1 && called == 0 && cells.values() == std::vector<int>(3, 0)); // nothing has run

    size_t nodes = 0, edges = 0;
    HIP_OK(hipGraphGetNodes(graph, nullptr, &nodes));
    HIP_OK(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
    CHECK(nodes == 8 && edges == 8);
    hipGraphExec_t exec;
    HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int turn = 1; turn < 4; ++turn) {
        HIP_OK(hipGraphLaunch(exec, s.side));
        HIP_OK(hipStreamSynchronize(s.side));
        CHECK(result == 123007 && called == turn);
        result = 0;
    }

    // A captured kernel's arguments can be changed by its node.
    hipGraphNode_t all[8];
    HIP_OK(hipGraphGetNodes(graph, all, &nodes));
    hipKernelNodeParams params = {};
    HIP_OK(hipGraphKernelNodeGetParams(all[1], &params));
    int nine = 9;
    void *changed[] = {params.kernelParams[0], &nine};
    params.kernelParams = changed;
    HIP_OK(hipGraphExecKernelNodeSetParams(exec, all[1], &params));
    HIP_OK(hipGraphLaunch(exec, s.main));
    CHECK(result == 923007);

    // A launch into a stream that is captured is a child.
    hipGraph_t outer;
    HIP_OK(hipStreamBeginCapture(s.side, hipStreamCaptureModeRelaxed));
    HIP_OK(hipGraphLaunch(exec, s.side));
    HIP_OK(hipStreamEndCapture(s.side, &outer));
    hipGraphNodeType type;
    nodes = 1;
    HIP_OK(hipGraphGetNodes(outer, all, &nodes));
    HIP_OK(hipGraphNodeGetType(all[0], &type));
    CHECK(nodes == 1 && type == hipGraphNodeTypeGraph);
    HIP_OK(hipGraphDestroy(outer));
    HIP_OK(hipGraphExecDestroy(exec));
    HIP_OK(hipGraphDestroy(graph));
}

static void expect_invalidated(hipStream_t stream) {
    hipGraph_t graph;
    hipStreamCaptureStatus state;
    (void)hipGetLastError();
    HIP_OK(hipStreamIsCapturing(stream, &state));
    CHECK(state == hipStreamCaptureStatusInvalidated);
    CHECK(hipStreamEndCapture(stream, &graph) == hipErrorStreamCaptureInvalidated && graph == nullptr);
    HIP_OK(hipStreamIsCapturing(stream, &state));
    CHECK(state == hipStreamCaptureStatusNone);
    (void)hipGetLastError();
}

static void wrong_captures(Streams &s) {
    DeviceArray<int> cells(1);
    int *cell = cells.get(), host = 0;
    hipGraph_t graph;
    CHECK(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal) == hipErrorStreamCaptureUnsupported);
    CHECK(hipStreamEndCapture(s.main, &graph) == hipErrorIllegalState);

    // Work on another stream that nobody joined.
    HIP_OK(hipStreamBeginCapture(s.main, hipStreamCaptureModeGlobal));
    CHECK(hipStreamBeginCapture(s.main, hipStreamCaptureModeGlobal) == hipErrorIllegalState);
    HIP_OK(hipEventRecord(s.forked, s.main));
    HIP_OK(hipStreamWaitEvent(s.side, s.forked, 0));
    append<<<1, 1, 0, s.side>>>(cell, 1);
    CHECK(hipStreamEndCapture(s.side, &graph) == hipErrorStreamCaptureUnmatched);
    CHECK(hipStreamEndCapture(s.main, &graph) == hipErrorStreamCaptureUnjoined);

    // Calls that wait, while there is nothing to wait for yet.
    HIP_OK(hipStreamBeginCapture(s.main, hipStreamCaptureModeGlobal));
    CHECK(hipStreamSynchronize(s.main) == hipErrorStreamCaptureUnsupported);
    expect_invalidated(s.main);
    HIP_OK(hipStreamBeginCapture(s.main, hipStreamCaptureModeGlobal));
    CHECK(hipDeviceSynchronize() == hipErrorStreamCaptureUnsupported);
    expect_invalidated(s.main);
    HIP_OK(hipStreamBeginCapture(s.main, hipStreamCaptureModeRelaxed));
    CHECK(hipMemcpy(&host, cell, sizeof host, hipMemcpyDeviceToHost) == hipErrorStreamCaptureImplicit);
    expect_invalidated(s.main);
    HIP_OK(hipStreamBeginCapture(s.main, hipStreamCaptureModeGlobal));
    append<<<1, 1>>>(cell, 2); // the legacy stream would wait for the captured one
    CHECK(hipGetLastError() == hipErrorStreamCaptureImplicit);
    expect_invalidated(s.main);
    HIP_OK(hipStreamBeginCapture(s.main, hipStreamCaptureModeGlobal));
    HIP_OK(hipEventRecord(s.forked, s.main));
    CHECK(hipEventQuery(s.forked) == hipErrorCapturedEvent);
    expect_invalidated(s.main);

    // An event from before the capture; two captures that meet.
    HIP_OK(hipEventRecord(s.joined, s.side));
    HIP_OK(hipStreamBeginCapture(s.main, hipStreamCaptureModeGlobal));
    CHECK(hipStreamWaitEvent(s.main, s.joined, 0) == hipErrorStreamCaptureIsolation);
    expect_invalidated(s.main);
    HIP_OK(hipStreamBeginCapture(s.main, hipStreamCaptureModeGlobal));
    HIP_OK(hipStreamBeginCapture(s.side, hipStreamCaptureModeGlobal));
    HIP_OK(hipEventRecord(s.forked, s.main));
    CHECK(hipStreamWaitEvent(s.side, s.forked, 0) == hipErrorStreamCaptureMerge);
    expect_invalidated(s.main);
    expect_invalidated(s.side);

    // hipMalloc, where the capture's mode forbids it.
    int *memory = nullptr;
    HIP_OK(hipStreamBeginCapture(s.main, hipStreamCaptureModeGlobal));
    CHECK(hipMalloc(&memory, 64) == hipErrorStreamCaptureUnsupported);
    expect_invalidated(s.main);
    HIP_OK(hipStreamBeginCapture(s.main, hipStreamCaptureModeRelaxed));
    HIP_OK(hipMalloc(&memory, 64));
    HIP_OK(hipStreamEndCapture(s.main, &graph));
    HIP_OK(hipGraphDestroy(graph));
    hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
    HIP_OK(hipThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == hipStreamCaptureModeGlobal);
    HIP_OK(hipStreamBeginCapture(s.main, hipStreamCaptureModeGlobal));
    HIP_OK(hipFree(memory));
    HIP_OK(hipThreadExchangeStreamCaptureMode(&mode));
    HIP_OK(hipStreamEndCapture(s.main, &graph));
    HIP_OK(hipGraphDestroy(graph));
    CHECK(cells.values()[0] == 0);
}

// Memory that is taken and given back within the capture; dependencies set by hand.
static void own_memory(Streams &s) {
    int *memory = nullptr, result = 0;
    hipGraph_t graph;
    HIP_OK(hipStreamBeginCapture(s.main, hipStreamCaptureModeGlobal));
    HIP_OK(hipMallocAsync(&memory, sizeof(int), s.main));
    HIP_OK(hipMemsetAsync(memory, 0, sizeof(int), s.main));
    append<<<1, 1, 0, s.main>>>(memory, 4);
    append<<<1, 1, 0, s.main>>>(memory, 2);
    HIP_OK(hipMemcpyAsync(&result, memory, sizeof(int), hipMemcpyDeviceToHost, s.main));
    HIP_OK(hipFreeAsync(memory, s.main));
    const hipGraphNode_t *tips = nullptr;
    size_t count = 0;
    hipStreamCaptureStatus state;
    hipGraph_t captured;
    HIP_OK(hipStreamGetCaptureInfo_v2(s.main, &state, nullptr, &captured, &tips, &count));
    CHECK(count == 1);
    hipGraphNode_t extra;
    hipHostNodeParams params = {bump, &result};
    HIP_OK(hipGraphAddHostNode(&extra, captured, tips, count, &params));
    HIP_OK(hipStreamUpdateCaptureDependencies(s.main, &extra, 1, hipStreamSetCaptureDependencies));
    HIP_OK(hipStreamEndCapture(s.main, &graph));
    hipGraphExec_t exec;
    HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int turn = 0; turn < 2; ++turn) {
        HIP_OK(hipGraphLaunch(exec, s.main));
        HIP_OK(hipStreamSynchronize(s.main));
        CHECK(result == 43);
    }
    HIP_OK(hipGraphExecDestroy(exec));
    HIP_OK(hipGraphDestroy(graph));
}

int main() {
    Streams streams;
    fork_and_join(streams);
    wrong_captures(streams);
    fork_and_join(streams);
    own_memory(streams);
}
