// Allocation, copies of every kind, fills, pinned and registered memory, and what is known about a pointer.
#include "check.h"
#include <cstring>
#include <numeric>

__global__ void twice(int *p, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= 2;
}

int main() {
    const int n = 3000;
    const size_t bytes = n * sizeof(int);
    std::vector<int> host(n), back(n);
    std::iota(host.begin(), host.end(), 1);
    int *a = nullptr, *b = nullptr;
    void *untyped = nullptr;
    HIP_OK(hipMalloc(&a, bytes));
    HIP_OK(hipMalloc(reinterpret_cast<void **>(&b), bytes));
    HIP_OK(hipMalloc(&untyped, 100));
    CHECK(reinterpret_cast<uintptr_t>(a) % 256 == 0 && reinterpret_cast<uintptr_t>(untyped) % 256 == 0);

    HIP_OK(hipMemcpy(a, host.data(), bytes, hipMemcpyHostToDevice));
    twice<<<(n + 63) / 64, 64>>>(a, n);
    HIP_OK(hipMemcpy(b, a, bytes, hipMemcpyDeviceToDevice));
    HIP_OK(hipMemcpy(back.data(), b, bytes, hipMemcpyDefault));
    for (int i = 0; i < n; ++i) CHECK(back[i] == 2 * host[i]);
    HIP_OK(hipMemcpyDtoH(back.data(), a + 10, 4));
    CHECK(back[0] == 22);
    HIP_OK(hipMemcpyHtoDAsync(a, host.data(), 8, nullptr));
    HIP_OK(hipMemcpyDtoD(b, a, 8));
    HIP_OK(hipMemcpyAsync(back.data(), b, bytes, hipMemcpyDeviceToHost, nullptr));
    CHECK(back[0] == 1 && back[1] == 2 && back[2] == 6);
    int plain[4];
    HIP_OK(hipMemcpy(plain, host.data(), sizeof plain, hipMemcpyHostToHost));
    CHECK(plain[3] == 4);

    HIP_OK(hipMemset(a, 0x11, bytes));
    HIP_OK(hipMemsetD8(a, 0x22, 4));
    HIP_OK(hipMemsetD16(a + 1, 0x3344, 2));
    HIP_OK(hipMemsetD32Async(a + 2, 0x55667788, 3, nullptr));
    HIP_OK(hipMemcpy(back.data(), a, bytes, hipMemcpyDeviceToHost));
    CHECK(back[0] == 0x22222222 && back[1] == 0x33443344 && back[2] == 0x55667788 && back[4] == 0x55667788);
    CHECK(back[5] == 0x11111111 && back[n - 1] == 0x11111111);

    int *pinned = nullptr, *mapped = nullptr;
    HIP_OK(hipHostMalloc(&pinned, bytes, hipHostMallocMapped));
    HIP_OK(hipHostGetDevicePointer(reinterpret_cast<void **>(&mapped), pinned, 0));
    for (int i = 0; i < n; ++i) pinned[i] = i;
    twice<<<(n + 63) / 64, 64>>>(mapped, n);
    HIP_OK(hipDeviceSynchronize());
    CHECK(pinned[1234] == 2468);
    HIP_OK(hipHostRegister(host.data(), bytes, hipHostRegisterMapped));
    HIP_OK(hipHostGetDevicePointer(reinterpret_cast<void **>(&mapped), host.data(), 0));
    twice<<<(n + 63) / 64, 64>>>(mapped, n);
    HIP_OK(hipHostUnregister(host.data()));
    CHECK(host[9] == 20);

    hipPointerAttribute_t known;
    HIP_OK(hipPointerGetAttributes(&known, a + 5));
    CHECK(known.type == hipMemoryTypeDevice && known.device == 0 && known.devicePointer == a + 5 && !known.isManaged);
    HIP_OK(hipPointerGetAttributes(&known, pinned));
    CHECK(known.type == hipMemoryTypeHost && known.hostPointer == pinned);
    CHECK(hipPointerGetAttributes(&known, plain) == hipErrorInvalidValue);
    hipDeviceptr_t base;
    size_t size;
    HIP_OK(hipMemGetAddressRange(&base, &size, a + 100));
    CHECK(base == a && size == bytes);

    size_t before, after, total;
    HIP_OK(hipMemGetInfo(&before, &total));
    HIP_OK(hipMallocAsync(&mapped, 1 << 20, nullptr));
    HIP_OK(hipMemGetInfo(&after, &total));
    CHECK(before - after == 1 << 20 && before <= total);
    HIP_OK(hipFreeAsync(mapped, nullptr));

    HIP_OK(hipFree(a));
    HIP_OK(hipFree(b));
    HIP_OK(hipFree(untyped));
    HIP_OK(hipFree(nullptr));
    HIP_OK(hipHostFree(pinned));
    (void)hipGetLastError();
}
