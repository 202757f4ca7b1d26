// Streams, events, callbacks: everything happens in the order of its issue, what waits for a value holds up what depends on
// it and nothing else, and handles are checked.
#include "check.h"

__global__ void set(int *p, int value) { *p = *p * 10 + value; }

static void on_stream(hipStream_t, hipError_t status, void *data) {
    CHECK(status == hipSuccess);
    *static_cast<int *>(data) += 1;
}
static void on_host(void *data) { *static_cast<int *>(data) += 10; }

// A stream that waits for the host, one that waits for its event, and two that do not.
static void wait_for_host() {
    hipStream_t held, behind, blocking, free_one;
    HIP_OK(hipStreamCreateWithFlags(&held, hipStreamNonBlocking));
    HIP_OK(hipStreamCreateWithFlags(&behind, hipStreamNonBlocking));
    HIP_OK(hipStreamCreate(&blocking));
    HIP_OK(hipStreamCreateWithFlags(&free_one, hipStreamNonBlocking));
    hipEvent_t start, done, other;
    for (hipEvent_t *event : {&start, &done, &other}) HIP_OK(hipEventCreate(event));
    DeviceArray<int> cells(4);
    int *cell = cells.get();
    uint32_t *flag;
    uint64_t *wide;
    HIP_OK(hipHostMalloc(&flag, sizeof *flag));
    HIP_OK(hipHostMalloc(&wide, sizeof *wide));
    *flag = 0;
    *wide = 0;
    HIP_OK(hipEventRecord(start, held));
    HIP_OK(hipStreamWaitValue32(held, flag, 3, hipStreamWaitValueEq, 0xff));
    set<<<1, 1, 0, held>>>(cell, 1);
    HIP_OK(hipEventRecord(done, held));
    HIP_OK(hipStreamWaitEvent(behind, done));
    HIP_OK(hipMemcpyAsync(cell + 1, cell, sizeof(int), hipMemcpyDeviceToDevice, behind));
    set<<<1, 1, 0, behind>>>(cell + 1, 2);
    set<<<1, 1, 0, free_one>>>(cell + 2, 3);
    set<<<1, 1, 0, blocking>>>(cell + 3, 4);
    float ms = 0;
    CHECK(hipStreamQuery(held) == hipErrorNotReady && hipStreamQuery(behind) == hipErrorNotReady);
    CHECK(hipEventQuery(done) == hipErrorNotReady && hipEventElapsedTime(&ms, start, done) == hipErrorNotReady);
    HIP_OK(hipStreamSynchronize(free_one));
    HIP_OK(hipStreamQuery(blocking));
    HIP_OK(hipEventQuery(start));
    CHECK(cell[0] == 0 && cell[1] == 0 && cell[2] == 3 && cell[3] == 4);
    *flag = 0x503; // the mask leaves 3
    HIP_OK(hipStreamSynchronize(behind));
    HIP_OK(hipEventQuery(done));
    HIP_OK(hipEventElapsedTime(&ms, start, done));
    CHECK(cell[0] == 1 && cell[1] == 12 && ms > 0);

    // The legacy stream comes after blocking streams, and they after it.
    HIP_OK(hipStreamWaitValue64(blocking, wide, 1, hipStreamWaitValueGte));
    set<<<1, 1, 0, blocking>>>(cell + 3, 5);
    set<<<1, 1>>>(cell + 3, 6);
    HIP_OK(hipEventRecord(other, nullptr));
    set<<<1, 1, 0, free_one>>>(cell + 2, 1);
    CHECK(hipEventQuery(other) == hipErrorNotReady && cell[3] == 4 && cell[2] == 31);
    HIP_OK(hipStreamWriteValue64(free_one, wide, 7, 0));
    HIP_OK(hipDeviceSynchronize());
    CHECK(cell[3] == 456 && *wide == 7);
    HIP_OK(hipEventQuery(other));
    CHECK(hipStreamWaitValue32(held, nullptr, 0, 0) == hipErrorInvalidValue);
    CHECK(hipStreamWaitValue32(held, flag, 0, 9) == hipErrorInvalidValue);
    for (hipStream_t stream : {held, behind, blocking, free_one}) HIP_OK(hipStreamDestroy(stream));
    for (hipEvent_t event : {start, done, other}) HIP_OK(hipEventDestroy(event));
    HIP_OK(hipHostFree(flag));
    HIP_OK(hipHostFree(wide));
    (void)hipGetLastError();
}

int main() {
    wait_for_host();
    hipStream_t a, b, c;
    HIP_OK(hipStreamCreate(&a));
    HIP_OK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
    int least, greatest, priority;
    HIP_OK(hipDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(greatest < least);
    HIP_OK(hipStreamCreateWithPriority(&c, hipStreamDefault, greatest));
    HIP_OK(hipStreamGetPriority(c, &priority));
    CHECK(priority == greatest);
    unsigned flags;
    HIP_OK(hipStreamGetFlags(b, &flags));
    CHECK(flags == hipStreamNonBlocking);

    hipEvent_t start, stop, quiet;
    HIP_OK(hipEventCreate(&start));
    HIP_OK(hipEventCreateWithFlags(&stop, hipEventDefault));
    HIP_OK(hipEventCreateWithFlags(&quiet, hipEventDisableTiming));

    DeviceArray<int> cell(1);
    HIP_OK(hipEventRecord(start, a));
    set<<<1, 1, 0, a>>>(cell.get(), 1);
    HIP_OK(hipEventRecord(quiet, a));
    HIP_OK(hipStreamWaitEvent(b, quiet, 0));
    set<<<1, 1, 0, b>>>(cell.get(), 2);
    HIP_OK(hipStreamSynchronize(b));
    set<<<1, 1, 0, hipStreamPerThread>>>(cell.get(), 3);
    int value = 0, called = 0;
    HIP_OK(hipStreamAddCallback(c, on_stream, &called, 0));
    HIP_OK(hipLaunchHostFunc(c, on_host, &called));
    HIP_OK(hipMemcpyAsync(&value, cell.get(), sizeof value, hipMemcpyDeviceToHost, c));
    HIP_OK(hipStreamSynchronize(c));
    CHECK(value == 123 && called == 11);
    HIP_OK(hipStreamQuery(a));
    HIP_OK(hipEventRecord(stop, a));
    HIP_OK(hipEventSynchronize(stop));
    HIP_OK(hipEventQuery(stop));
    float ms = -1;
    HIP_OK(hipEventElapsedTime(&ms, start, stop));
    CHECK(ms > 0 && ms < 10000);

    CHECK(hipEventElapsedTime(&ms, start, quiet) == hipErrorInvalidHandle);
    CHECK(hipEventElapsedTime(&ms, start, nullptr) == hipErrorInvalidHandle);
    hipEvent_t never;
    HIP_OK(hipEventCreate(&never));
    CHECK(hipEventElapsedTime(&ms, start, never) == hipErrorInvalidHandle);
    HIP_OK(hipEventQuery(never));
    HIP_OK(hipStreamWaitEvent(a, never));
    HIP_OK(hipEventDestroy(never));
    CHECK(hipEventCreateWithFlags(&never, hipEventInterprocess) == hipErrorInvalidValue);
    HIP_OK(hipEventDestroy(start));
    CHECK(hipEventDestroy(start) == hipErrorContextIsDestroyed);
    CHECK(hipEventRecord(start, a) == hipErrorInvalidHandle);
    HIP_OK(hipStreamDestroy(a));
    CHECK(hipStreamSynchronize(a) == hipErrorContextIsDestroyed);
    (void)hipGetLastError();
    set<<<1, 1, 0, a>>>(cell.get(), 4); // not launched
    CHECK(hipGetLastError() == hipErrorContextIsDestroyed && cell.values()[0] == 123);
    CHECK(hipStreamDestroy(nullptr) == hipErrorInvalidHandle);
    (void)hipGetLastError();
    // Masks of compute units are told back; other streams have all of the device's.
    const std::vector<uint32_t> mask = {0x0f0f1234u, 0x5u};
    std::vector<uint32_t> told(40, 77), all(40, 0);
    HIP_OK(hipExtStreamCreateWithCUMask(&a, 2, mask.data()));
    HIP_OK(hipExtStreamGetCUMask(a, 40, told.data()));
    CHECK(told[0] == mask[0] && told[1] == mask[1] && told[2] == 0 && told[39] == 0);
    HIP_OK(hipStreamDestroy(a));
    hipDeviceProp_t properties;
    HIP_OK(hipGetDeviceProperties(&properties, 0));
    for (int unit = 0; unit < properties.multiProcessorCount && unit < 40 * 32; ++unit) all[unit / 32] |= 1u << unit % 32;
    HIP_OK(hipExtStreamGetCUMask(nullptr, 40, told.data()));
    CHECK(told == all);
    CHECK(hipExtStreamGetCUMask(nullptr, 0, told.data()) == hipErrorInvalidValue);
    CHECK(hipExtStreamGetCUMask(nullptr, 40, nullptr) == hipErrorInvalidValue);
    (void)hipGetLastError();

    HIP_OK(hipEventDestroy(stop));
    HIP_OK(hipEventDestroy(quiet));
    HIP_OK(hipStreamDestroy(b));
    HIP_OK(hipStreamDestroy(c));
}
