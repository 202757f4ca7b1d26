// Streams, events, callbacks: everything happens in the order of its issue, and handles are checked.
#include "check.h"

__global__ void set(int *p, int value) { *p = *p * 10 + value; }

static void on_stream(hipStream_t, hipError_t status, void *data) {
    CHECK(status == hipSuccess);
    *static_cast<int *>(data) += 1;
}
static void on_host(void *data) { *static_cast<int *>(data) += 10; }

int main() {
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
    HIP_OK(hipEventDestroy(start));
    CHECK(hipEventRecord(start, a) == hipErrorInvalidHandle);
    HIP_OK(hipStreamDestroy(a));
    CHECK(hipStreamSynchronize(a) == hipErrorInvalidHandle);
    (void)hipGetLastError();
    set<<<1, 1, 0, a>>>(cell.get(), 4); // not launched
    CHECK(hipGetLastError() == hipErrorInvalidHandle && cell.values()[0] == 123);
    CHECK(hipStreamDestroy(nullptr) == hipErrorInvalidHandle);
    (void)hipGetLastError();
    HIP_OK(hipEventDestroy(stop));
    HIP_OK(hipEventDestroy(quiet));
    HIP_OK(hipStreamDestroy(b));
    HIP_OK(hipStreamDestroy(c));
}
