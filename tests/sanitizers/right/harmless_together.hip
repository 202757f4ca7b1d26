// What several work-items may do to one place: all write the same, all read, update it atomically, or try again until
// nobody came between; and groups that have a barrier of their own.
#include "../../programs/check.h"
#include <hip/hip_cooperative_groups.h>

__global__ void found(const int *in, int wanted, int *where) {
    if (in[blockIdx.x * 64 + threadIdx.x] == wanted) *where = 1;
}

__global__ void all_read(const int *in, int *out) {
    __shared__ int first;
    if (threadIdx.x == 0) first = in[0];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = first + in[threadIdx.x % 3];
}

// The usual update of a type that has no atomic operation of its own: it begins with a plain read.
__global__ void product(const float *in, float *out) {
    int *bits = reinterpret_cast<int *>(out);
    int expected, before = *bits;
    do {
        expected = before;
        before = atomicCAS(bits, expected, __float_as_int(__int_as_float(expected) * in[threadIdx.x]));
    } while (before != expected);
}

__global__ void tickets(int *next, int *out) { out[atomicAdd(next, 1)] = 1; }

__global__ void tiles(const int *in, int *out) {
    namespace cg = cooperative_groups;
    __shared__ int line[128];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int t = threadIdx.x;
    line[t] = in[t];
    tile.sync();
    const int sum = line[t / 16 * 16] + line[t / 16 * 16 + 15];
    cg::this_thread_block().sync();
    out[t] = sum + line[127 - t];
}

int main() {
    std::vector<int> in(128);
    for (int i = 0; i < 128; ++i) in[i] = i % 5;
    DeviceArray<int> input(in), where(1), out(128), next(1);
    found<<<2, 64>>>(input.get(), 3, where.get());
    CHECK(where.values()[0] == 1);
    all_read<<<2, 64>>>(input.get(), out.get());
    CHECK(out.values()[127] == in[0] + in[0]);
    std::vector<float> factors(64, 1.0f);
    factors[7] = 3, factors[40] = 5;
    DeviceArray<float> factor(factors), result(std::vector<float>{1.0f});
    product<<<1, 64>>>(factor.get(), result.get());
    CHECK(result.values()[0] == 15);
    HIP_OK(hipMemset(out.get(), 0, 128 * sizeof(int)));
    tickets<<<2, 64>>>(next.get(), out.get());
    CHECK(next.values()[0] == 128 && out.values()[127] == 1);
    tiles<<<1, 128>>>(input.get(), out.get());
    CHECK(out.values()[20] == in[16] + in[31] + in[107]);
}
