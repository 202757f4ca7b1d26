// Managed memory, with its advice and prefetches, read and written by both sides.
#include "check.h"

struct Node {
    int value;
    Node *next;
};
__global__ void sum(const Node *list, int *out) {
    int total = 0;
    for (const Node *n = list; n != nullptr; n = n->next) total += n->value;
    *out = total;
}

int main() {
    Node *nodes = nullptr;
    int *total = nullptr;
    HIP_OK(hipMallocManaged(&nodes, 10 * sizeof(Node)));
    HIP_OK(hipMallocManaged(&total, sizeof(int), hipMemAttachGlobal));
    for (int i = 0; i < 10; ++i) nodes[i] = {i * i, i < 9 ? &nodes[i + 1] : nullptr};
    HIP_OK(hipMemAdvise(nodes, 10 * sizeof(Node), hipMemAdviseSetReadMostly, 0));
    HIP_OK(hipMemPrefetchAsync(nodes, 10 * sizeof(Node), 0, nullptr));
    sum<<<1, 1>>>(nodes, total);
    HIP_OK(hipMemPrefetchAsync(total, sizeof(int), hipCpuDeviceId, nullptr));
    HIP_OK(hipDeviceSynchronize());
    CHECK(*total == 285);
    hipPointerAttribute_t known;
    HIP_OK(hipPointerGetAttributes(&known, nodes + 1));
    CHECK(known.isManaged && known.type == hipMemoryTypeManaged);
    CHECK(hipMemAdvise(nodes, 11 * sizeof(Node), hipMemAdviseSetReadMostly, 0) == hipErrorInvalidValue);
    CHECK(hipMallocManaged(&total, 4, 77) == hipErrorInvalidValue);
    (void)hipGetLastError();
    HIP_OK(hipFree(nodes));
}
