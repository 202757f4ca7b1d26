// Host functions in streams and kernels known by their address alone, with every kind of parameter that its name tells.
#include "check.h"

struct Log {
    std::vector<int> lines;
    int *cell;
};
struct Entry {
    Log *log;
    int number;
};
static void write(void *data) {
    Entry *entry = static_cast<Entry *>(data);
    entry->log->lines.push_back(entry->number * 100 + *entry->log->cell);
}
static void write_with_status(hipStream_t stream, hipError_t status, void *data) {
    CHECK(stream != nullptr && status == hipSuccess);
    write(data);
}
__global__ void set(int *cell, int value) { *cell = value; }

static void callbacks() {
    int *cell = nullptr;
    HIP_OK(hipMallocManaged(&cell, sizeof *cell));
    *cell = 0;
    Log log = {{}, cell};
    Entry entries[] = {{&log, 1}, {&log, 2}, {&log, 3}};
    hipStream_t stream;
    HIP_OK(hipStreamCreate(&stream));
    set<<<1, 1, 0, stream>>>(cell, 7);
    HIP_OK(hipLaunchHostFunc(stream, write, &entries[0]));
    set<<<1, 1, 0, stream>>>(cell, 8);
    HIP_OK(hipStreamAddCallback(stream, write_with_status, &entries[1], 0));
    HIP_OK(hipMemsetAsync(cell, 0, sizeof *cell, stream));
    HIP_OK(hipLaunchHostFunc(stream, write, &entries[2]));
    HIP_OK(hipStreamSynchronize(stream));
    CHECK((log.lines == std::vector<int>{107, 208, 300}));
    CHECK(hipLaunchHostFunc(stream, nullptr, nullptr) == hipErrorInvalidValue);
    CHECK(hipStreamAddCallback(stream, write_with_status, nullptr, 1) == hipErrorInvalidValue);
    HIP_OK(hipStreamDestroy(stream));
    HIP_OK(hipFree(cell));
}

// More whole and floating-point numbers than there are registers for either, mixed, narrow and negative ones among them.
__global__ void many(double *out, signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f, long g,
                     unsigned long long h, bool i, float j, double k, float l, float m, double n, float o, float p,
                     double q, float r, const int *s) {
    const double values[] = {double(a), double(b), double(c), double(d), double(e), double(f), double(g),
                             double(h), double(i), double(j), k,         double(l), double(m), n,
                             double(o), double(p), q,         double(r), double(*s)};
    for (unsigned n0 = threadIdx.x; n0 < 19; n0 += blockDim.x) out[n0] = values[n0];
}
template <class T, int factor> __global__ void scale(T *data, T by) { data[blockIdx.x * blockDim.x + threadIdx.x] *= by * factor; }
namespace {
__global__ void hidden(int *out, int add) {
    __syncthreads();
    atomicAdd(out, add + (int)threadIdx.x);
}
} // namespace

static void by_address() {
    DeviceArray<double> device_out(19);
    DeviceArray<int> last(std::vector<int>{-77});
    double *out = device_out.get();
    signed char a = -100;
    unsigned char b = 200;
    short c = -30000;
    unsigned short d = 60000;
    int e = -2000000000;
    unsigned f = 4000000000u;
    long g = -(1l << 40);
    unsigned long long h = 1ull << 50;
    bool i = true;
    float j = 1.5f, l = -2.25f, m = 3e10f, o = 7.75f, p = -0.5f, r = 1e-10f;
    double k = 1e300, n = -1e-300, q = 123456.789;
    const int *s = last.get();
    void *arguments[] = {&out, &a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k, &l, &m, &n, &o, &p, &q, &r, &s};
    hipKernelNodeParams params = {};
    params.func = reinterpret_cast<void *>(many);
    params.gridDim = dim3(1);
    params.blockDim = dim3(8);
    params.kernelParams = arguments;
    hipGraph_t graph;
    hipGraphNode_t node;
    hipGraphExec_t exec;
    HIP_OK(hipGraphCreate(&graph, 0));
    HIP_OK(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    HIP_OK(hipGraphLaunch(exec, nullptr));
    const std::vector<double> expected = {-100, 200, -30000, 60000, -2000000000, 4000000000.0, -1099511627776.0,
                                          1125899906842624.0, 1, 1.5, 1e300, -2.25, 3e10f, -1e-300, 7.75, -0.5,
                                          123456.789, 1e-10f, -77};
    CHECK(device_out.values() == expected);

    DeviceArray<float> data(std::vector<float>(128, 2));
    float *data_p = data.get(), by = 5;
    void *scale_arguments[] = {&data_p, &by};
    params.func = reinterpret_cast<void *>(scale<float, 3>);
    params.gridDim = dim3(2);
    params.blockDim = dim3(64);
    params.kernelParams = scale_arguments;
    HIP_OK(hipGraphKernelNodeSetParams(node, &params));
    hipGraphExec_t other;
    HIP_OK(hipGraphInstantiate(&other, graph, nullptr, nullptr, 0));
    HIP_OK(hipGraphLaunch(other, nullptr));
    CHECK(data.values() == std::vector<float>(128, 30));

    DeviceArray<int> sum(1);
    int *sum_p = sum.get(), add = 10;
    void *hidden_arguments[] = {&sum_p, &add};
    params.func = reinterpret_cast<void *>(hidden);
    params.gridDim = dim3(3);
    params.blockDim = dim3(100);
    params.kernelParams = hidden_arguments;
    HIP_OK(hipGraphKernelNodeSetParams(node, &params));
    HIP_OK(hipGraphExecDestroy(other));
    HIP_OK(hipGraphInstantiate(&other, graph, nullptr, nullptr, 0));
    HIP_OK(hipGraphLaunch(other, nullptr));
    CHECK(sum.values()[0] == 3 * (100 * 10 + 4950));
    HIP_OK(hipGraphExecDestroy(other));
    HIP_OK(hipGraphExecDestroy(exec));
    HIP_OK(hipGraphDestroy(graph));
}

int main() {
    callbacks();
    by_address();
}
