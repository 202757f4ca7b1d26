// Graphs made node by node: every kind of node, orders, copies, changes of what can be launched, and what is refused.
#include "check.h"

__global__ void scale(const float *in, float *out, float factor, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i] * factor;
}
__global__ void add(const float *a, const float *b, float *out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = a[i] + b[i];
}
__global__ void append(int *cell, int digit) { *cell = *cell * 10 + digit; }
__device__ float table[8];
__global__ void from_table(float *out) { out[threadIdx.x] += table[threadIdx.x]; }

static hipKernelNodeParams kernel_params(void *kernel, dim3 grid, dim3 block, void **arguments) {
    hipKernelNodeParams params = {};
    params.func = kernel;
    params.gridDim = grid;
    params.blockDim = block;
    params.kernelParams = arguments;
    return params;
}
static void count_up(void *data) { ++*static_cast<int *>(data); }

// in -> (x2, x3) -> sum -> back to the host, with a fill, a host function and events on the way.
static void diamond() {
    constexpr int kCount = 1000;
    std::vector<float> host(kCount), result(kCount, -1);
    for (int i = 0; i < kCount; ++i) host[i] = (i * 37 % 101) - 50.f;
    DeviceArray<float> in(kCount), twice(kCount), thrice(kCount), sum(kCount);
    hipGraph_t graph;
    HIP_OK(hipGraphCreate(&graph, 0));
    hipGraphNode_t fill, copy_in, left, right, join, copy_out, call, first, last, empty;
    hipEvent_t begin, end;
    HIP_OK(hipEventCreate(&begin));
    HIP_OK(hipEventCreate(&end));
    int called = 0, count = kCount;
    float two = 2, three = 3;
    float *in_p = in.get(), *twice_p = twice.get(), *thrice_p = thrice.get(), *sum_p = sum.get();

    HIP_OK(hipGraphAddEventRecordNode(&first, graph, nullptr, 0, begin));
    hipMemsetParams memset_params = {};
    memset_params.dst = sum_p;
    memset_params.elementSize = 4;
    memset_params.width = kCount;
    memset_params.height = 1;
    memset_params.value = 0x3f800000;
    HIP_OK(hipGraphAddMemsetNode(&fill, graph, &first, 1, &memset_params));
    HIP_OK(hipGraphAddMemcpyNode1D(&copy_in, graph, &first, 1, in_p, host.data(), kCount * 4, hipMemcpyHostToDevice));
    void *left_arguments[] = {&in_p, &twice_p, &two, &count};
    void *right_arguments[] = {&in_p, &thrice_p, &three, &count};
    void *join_arguments[] = {&twice_p, &thrice_p, &sum_p, &count};
    hipKernelNodeParams params = kernel_params((void *)scale, dim3(4), dim3(256), left_arguments);
    // The join is made before what it depends on: order is by dependencies.
    params = kernel_params(reinterpret_cast<void *>(add), dim3(4), dim3(256), join_arguments);
    HIP_OK(hipGraphAddKernelNode(&join, graph, nullptr, 0, &params));
    params = kernel_params(reinterpret_cast<void *>(scale), dim3(4), dim3(256), left_arguments);
    HIP_OK(hipGraphAddKernelNode(&left, graph, &copy_in, 1, &params));
    params.kernelParams = right_arguments;
    HIP_OK(hipGraphAddKernelNode(&right, graph, &copy_in, 1, &params));
    hipGraphNode_t froms[] = {left, right, fill}, tos[] = {join, join, join};
    HIP_OK(hipGraphAddDependencies(graph, froms, tos, 3));
    HIP_OK(hipGraphAddMemcpyNode1D(&copy_out, graph, &join, 1, result.data(), sum_p, kCount * 4, hipMemcpyDeviceToHost));
    hipHostNodeParams host_params = {count_up, &called};
    HIP_OK(hipGraphAddHostNode(&call, graph, &copy_out, 1, &host_params));
    HIP_OK(hipGraphAddEmptyNode(&empty, graph, &call, 1));
    HIP_OK(hipGraphAddEventRecordNode(&last, graph, &empty, 1, end));
    two = three = 100; // arguments were copied when the nodes were made
    count = 0;

    hipGraphExec_t exec;
    HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    hipStream_t stream;
    HIP_OK(hipStreamCreate(&stream));
    CHECK(called == 0 && result[1] == -1);
    for (int turn = 1; turn <= 3; ++turn) {
        host[5] = turn; // the memory is read at each launch
        HIP_OK(hipGraphLaunch(exec, stream));
        HIP_OK(hipStreamSynchronize(stream));
        for (int i = 0; i < kCount; ++i) CHECK(result[i] == 5 * host[i]);
        CHECK(called == turn);
    }
    float ms = -1;
    HIP_OK(hipEventElapsedTime(&ms, begin, end));
    CHECK(ms > 0);

    // What the graph says of itself.
    size_t nodes = 0, edges = 0, roots = 0;
    HIP_OK(hipGraphGetNodes(graph, nullptr, &nodes));
    HIP_OK(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
    HIP_OK(hipGraphGetRootNodes(graph, nullptr, &roots));
    CHECK(nodes == 10 && edges == 11 && roots == 1);
    hipGraphNode_t found[12];
    nodes = 12;
    HIP_OK(hipGraphGetNodes(graph, found, &nodes));
    CHECK(nodes == 10 && found[0] == first && found[3] == join && found[10] == nullptr);
    size_t needed = 8;
    HIP_OK(hipGraphNodeGetDependencies(join, found, &needed));
    CHECK(needed == 3 && found[0] == left && found[2] == fill);
    needed = 8;
    HIP_OK(hipGraphNodeGetDependentNodes(copy_in, found, &needed));
    CHECK(needed == 2 && found[1] == right);
    hipGraphNodeType type;
    HIP_OK(hipGraphNodeGetType(call, &type));
    CHECK(type == hipGraphNodeTypeHost);
    hipKernelNodeParams got = {};
    HIP_OK(hipGraphKernelNodeGetParams(right, &got));
    CHECK(got.func == params.func && got.gridDim.x == 4 && got.blockDim.x == 256);
    CHECK(*static_cast<float *>(got.kernelParams[2]) == 3 && *static_cast<int *>(got.kernelParams[3]) == kCount);

    // Changes of the executable graph leave the graph itself alone.
    float seven = 7;
    int all = kCount;
    void *changed[] = {&in_p, &thrice_p, &seven, &all};
    params.kernelParams = changed;
    HIP_OK(hipGraphExecKernelNodeSetParams(exec, right, &params));
    HIP_OK(hipGraphLaunch(exec, nullptr));
    CHECK(result[10] == 9 * host[10]);
    HIP_OK(hipGraphNodeSetEnabled(exec, left, 0));
    HIP_OK(hipMemset(twice_p, 0, kCount * 4));
    HIP_OK(hipGraphLaunch(exec, stream));
    CHECK(result[10] == 7 * host[10]);
    unsigned enabled = 2;
    HIP_OK(hipGraphNodeGetEnabled(exec, left, &enabled));
    CHECK(enabled == 0);
    hipGraphExec_t again;
    HIP_OK(hipGraphInstantiateWithFlags(&again, graph, 0));
    HIP_OK(hipGraphLaunch(again, stream));
    CHECK(result[10] == 5 * host[10]);

    // An update takes over another graph's nodes; one of another shape is refused.
    hipGraph_t clone;
    HIP_OK(hipGraphClone(&clone, graph));
    hipGraphNode_t clone_left, error_node;
    HIP_OK(hipGraphNodeFindInClone(&clone_left, left, clone));
    changed[1] = &twice_p;
    params.kernelParams = changed;
    HIP_OK(hipGraphKernelNodeSetParams(clone_left, &params));
    hipGraphExecUpdateResult verdict;
    HIP_OK(hipGraphExecUpdate(again, clone, &error_node, &verdict));
    CHECK(verdict == hipGraphExecUpdateSuccess);
    HIP_OK(hipGraphLaunch(again, stream));
    CHECK(result[11] == 10 * host[11]);
    HIP_OK(hipGraphExecKernelNodeSetParams(again, clone_left, &params));
    HIP_OK(hipGraphDestroyNode(clone_left));
    CHECK(hipGraphExecKernelNodeSetParams(again, clone_left, &params) == hipErrorInvalidValue);
    CHECK(hipGraphExecUpdate(again, clone, &error_node, &verdict) == hipErrorGraphExecUpdateFailure);
    CHECK(verdict == hipGraphExecUpdateErrorTopologyChanged);
    HIP_OK(hipGraphDestroy(clone));
    HIP_OK(hipGraphDestroy(graph)); // an executable graph does not need it any more
    HIP_OK(hipGraphLaunch(again, stream));
    CHECK(hipGraphExecDestroy(nullptr) == hipErrorInvalidValue);
    HIP_OK(hipGraphExecDestroy(exec));
    CHECK(hipGraphLaunch(exec, stream) == hipErrorInvalidValue);
    HIP_OK(hipGraphExecDestroy(again));
    HIP_OK(hipStreamDestroy(stream));
    HIP_OK(hipEventDestroy(begin));
    HIP_OK(hipEventDestroy(end));
}

static hipGraphNode_t add_digit(hipGraph_t graph, int *cell, int digit, const hipGraphNode_t *before, size_t count) {
    void *arguments[] = {&cell, &digit};
    const hipKernelNodeParams params = kernel_params(reinterpret_cast<void *>(append), dim3(1), dim3(1), arguments);
    hipGraphNode_t node;
    HIP_OK(hipGraphAddKernelNode(&node, graph, before, count, &params));
    return node;
}

// A child's nodes run in its place; copies of the child are its own.
static void children() {
    DeviceArray<int> cells(1);
    int *cell = cells.get();
    hipGraph_t child, graph, inside;
    HIP_OK(hipGraphCreate(&child, 0));
    HIP_OK(hipGraphCreate(&graph, 0));
    hipGraphNode_t three = add_digit(child, cell, 3, nullptr, 0);
    add_digit(child, cell, 4, &three, 1);
    hipGraphNode_t one = add_digit(graph, cell, 1, nullptr, 0), nested;
    HIP_OK(hipGraphAddChildGraphNode(&nested, graph, &one, 1, child));
    add_digit(graph, cell, 5, &nested, 1);
    add_digit(child, cell, 9, &three, 1); // too late
    HIP_OK(hipGraphDestroy(child));
    HIP_OK(hipGraphChildGraphNodeGetGraph(nested, &inside));
    size_t count = 0;
    HIP_OK(hipGraphGetNodes(inside, nullptr, &count));
    CHECK(count == 2);
    hipGraphExec_t exec;
    HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    HIP_OK(hipGraphLaunch(exec, nullptr));
    CHECK(cells.values()[0] == 1345);
    HIP_OK(hipGraphExecDestroy(exec));

    // A cycle cannot be instantiated.
    CHECK(hipGraphAddDependencies(graph, &nested, &nested, 1) == hipErrorInvalidValue);
    CHECK(hipGraphAddDependencies(graph, &one, &nested, 1) == hipErrorInvalidValue); // there already
    HIP_OK(hipGraphAddDependencies(graph, &nested, &one, 1));
    CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == hipErrorInvalidValue);
    HIP_OK(hipGraphRemoveDependencies(graph, &nested, &one, 1));
    HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    HIP_OK(hipGraphExecDestroy(exec));
    HIP_OK(hipGraphDestroy(graph));
    CHECK(hipGraphDestroy(graph) == hipErrorInvalidValue);
    (void)hipGetLastError();
}

// Variables, memory of the graph's own, objects that live as long as it.
static void symbols_and_memory() {
    float values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {};
    hipGraph_t graph;
    HIP_OK(hipGraphCreate(&graph, 0));
    hipMemAllocNodeParams memory = {};
    memory.poolProps.allocType = hipMemAllocationTypePinned;
    memory.poolProps.location = {hipMemLocationTypeDevice, 0};
    memory.bytesize = sizeof values;
    hipGraphNode_t take, fill, load, use, store, give;
    HIP_OK(hipGraphAddMemAllocNode(&take, graph, nullptr, 0, &memory));
    float *own = static_cast<float *>(memory.dptr);
    CHECK(own != nullptr);
    hipMemsetParams zero = {own, 1, 1, sizeof values, 0, sizeof values};
    HIP_OK(hipGraphAddMemsetNode(&fill, graph, &take, 1, &zero));
    HIP_OK(hipGraphAddMemcpyNodeToSymbol(&load, graph, &fill, 1, HIP_SYMBOL(table), values + 1, 7 * sizeof(float),
                                         sizeof(float), hipMemcpyHostToDevice));
    void *arguments[] = {&own};
    const hipKernelNodeParams params = kernel_params(reinterpret_cast<void *>(from_table), dim3(1), dim3(8), arguments);
    HIP_OK(hipGraphAddKernelNode(&use, graph, &load, 1, &params));
    HIP_OK(hipGraphAddMemcpyNode1D(&store, graph, &use, 1, back, own, sizeof back, hipMemcpyDeviceToHost));
    HIP_OK(hipGraphAddMemFreeNode(&give, graph, &store, 1, own));
    CHECK(hipGraphAddMemcpyNodeToSymbol(&load, graph, nullptr, 0, HIP_SYMBOL(table), values, 8 * sizeof(float),
                                        sizeof(float), hipMemcpyHostToDevice) == hipErrorInvalidValue);
    int destroyed = 0;
    hipUserObject_t object;
    HIP_OK(hipUserObjectCreate(&object, &destroyed, count_up, 1, hipUserObjectNoDestructorSync));
    HIP_OK(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove));
    hipGraphExec_t exec;
    HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int turn = 0; turn < 2; ++turn) {
        HIP_OK(hipGraphLaunch(exec, nullptr));
        for (int i = 0; i < 8; ++i) CHECK(back[i] == (i == 0 ? 0 : values[i]));
    }
    uint64_t used = 0;
    HIP_OK(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &used));
    CHECK(used == sizeof values);
    HIP_OK(hipGraphDestroy(graph));
    CHECK(destroyed == 0);
    HIP_OK(hipGraphExecDestroy(exec));
    CHECK(destroyed == 1);
    HIP_OK(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &used));
    CHECK(used == 0);
    (void)hipGetLastError();
}

// A copy of a box out of a pitched volume.
static void boxes() {
    hipPitchedPtr volume;
    HIP_OK(hipMalloc3D(&volume, make_hipExtent(8, 5, 4)));
    std::vector<unsigned char> all(volume.pitch * 5 * 4), box(3 * 2 * 2);
    for (size_t i = 0; i < all.size(); ++i) all[i] = i * 7 + i / 251;
    HIP_OK(hipMemcpy(volume.ptr, all.data(), all.size(), hipMemcpyHostToDevice));
    hipMemcpy3DParms copy = {};
    copy.srcPtr = volume;
    copy.srcPos = make_hipPos(2, 1, 1);
    copy.dstPtr = make_hipPitchedPtr(box.data(), 3, 3, 2);
    copy.extent = make_hipExtent(3, 2, 2);
    copy.kind = hipMemcpyDeviceToHost;
    hipGraph_t graph;
    hipGraphNode_t node;
    hipGraphExec_t exec;
    HIP_OK(hipGraphCreate(&graph, 0));
    HIP_OK(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy));
    HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (size_t shift = 0; shift < 2; ++shift) {
        HIP_OK(hipGraphLaunch(exec, nullptr));
        for (size_t z = 0; z < 2; ++z) {
            for (size_t y = 0; y < 2; ++y) {
                for (size_t x = 0; x < 3; ++x) {
                    CHECK(box[(z * 2 + y) * 3 + x] == all[((z + 1 + shift) * 5 + y + 1) * volume.pitch + x + 2]);
                }
            }
        }
        copy.srcPos.z = 2;
        HIP_OK(hipGraphExecMemcpyNodeSetParams(exec, node, &copy));
    }
    copy.extent.depth = 3;
    CHECK(hipGraphMemcpyNodeSetParams(node, &copy) == hipErrorInvalidValue);
    HIP_OK(hipGraphExecDestroy(exec));
    HIP_OK(hipGraphDestroy(graph));
    HIP_OK(hipFree(volume.ptr));
}

int main() {
    diamond();
    boxes();
    children();
    symbols_and_memory();
    hipGraph_t graph;
    hipGraphNode_t node;
    HIP_OK(hipGraphCreate(&graph, 0));
    CHECK(hipGraphCreate(nullptr, 0) == hipErrorInvalidValue && hipGraphCreate(&graph, 1) == hipErrorInvalidValue);
    CHECK(hipGraphAddEmptyNode(nullptr, graph, nullptr, 0) == hipErrorInvalidValue);
    CHECK(hipGraphAddEmptyNode(&node, graph, nullptr, 1) == hipErrorInvalidValue);
    const hipKernelNodeParams nothing = {};
    CHECK(hipGraphAddKernelNode(&node, graph, nullptr, 0, &nothing) == hipErrorInvalidValue);
    CHECK(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, nullptr, &node, 4, hipMemcpyDefault) == hipErrorInvalidValue);
    HIP_OK(hipGraphDestroy(graph));
}
