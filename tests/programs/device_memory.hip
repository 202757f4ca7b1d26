// What C++ gives device code too: memory that kernels allocate, memcpy and memset, assertions that hold, clocks.
#include "check.h"
#include <cassert>

struct Node {
    int value;
    Node *next;
};
struct Counted {
    int *live;
    explicit Counted(int *live_) : live(live_) { atomicAdd(live, 1); }
    ~Counted() { atomicAdd(live, -1); }
    int part(int i) const { return i * 3; }
};
__global__ void lists(const int *in, int *out, int *live) {
    const int t = threadIdx.x + blockIdx.x * blockDim.x;
    Node *first = nullptr;
    for (int i = 0; i < 5; ++i) {
        Node *node = static_cast<Node *>(malloc(sizeof(Node)));
        assert(node != nullptr);
        *node = Node{in[t] + i, first};
        first = node;
    }
    int sum = 0;
    while (first != nullptr) {
        Node *next = first->next;
        sum = sum * 2 + first->value;
        free(first);
        first = next;
    }
    int *numbers = new int[8];
    memset(numbers, 0, 8 * sizeof(int));
    int local[4] = {sum, sum + 1, sum + 2, sum + 3};
    memcpy(numbers + 2, local, sizeof local);
    Counted *counted = new Counted(live);
    out[t] = numbers[0] + numbers[2] + numbers[5] + counted->part(t);
    delete counted;
    delete[] numbers;
}
/// A list that blocks of one launch make and those of the next read: memory outlives the kernel.
__global__ void make(Node **heads) {
    Node *node = new Node{static_cast<int>(blockIdx.x) * 11, nullptr};
    heads[blockIdx.x] = node;
    __threadfence_system();
}
__global__ void use(Node **heads, int *out) {
    out[blockIdx.x] = heads[blockIdx.x]->value;
    delete heads[blockIdx.x];
}
__global__ void clocks(long long *out) {
    const long long a = clock64(), b = wall_clock64(), c = __clock64();
    __threadfence();
    __threadfence_block();
    __builtin_amdgcn_s_sleep(2);
    out[threadIdx.x * 2] = clock64() - a >= 0 && c >= a;
    out[threadIdx.x * 2 + 1] = wall_clock64() - b >= 0 && b > 0;
    if (out[0] == 42) __trap();
    if (out[0] == 43) abort();
}

int main() {
    const int n = 256;
    std::vector<int> in(n);
    for (int i = 0; i < n; ++i) in[i] = i * 29 % 97;
    DeviceArray<int> input(in), output(n), live(1);
    lists<<<4, 64>>>(input.get(), output.get(), live.get());
    const auto out = output.values();
    for (int t = 0; t < n; ++t) {
        int sum = 0;
        for (int i = 4; i >= 0; --i) sum = sum * 2 + in[t] + i;
        CHECK(out[t] == sum + sum + 3 + 3 * t);
    }
    CHECK(live.values()[0] == 0);
    DeviceArray<Node *> heads(8);
    make<<<8, 1>>>(heads.get());
    use<<<8, 1>>>(heads.get(), output.get());
    for (int i = 0; i < 8; ++i) CHECK(output.values()[i] == 11 * i);
    DeviceArray<long long> times(64);
    clocks<<<1, 32>>>(times.get());
    for (const long long fine : times.values()) CHECK(fine == 1);
}
