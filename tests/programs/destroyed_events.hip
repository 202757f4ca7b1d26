// Events that are destroyed while what records them has not been done: the work is done, and no later event that is given the
// same handle takes it for its own.
#include "check.h"
#include <time.h>

__global__ void set(int *cell, int value) { *cell = value; }

static void pause_ms(int milliseconds) {
    const timespec time = {0, milliseconds * 1000000l};
    nanosleep(&time, nullptr);
}

// A stream stands still until the host writes `flag`; what comes after waits as well.
static void in_a_stream() {
    constexpr int kEvents = 64;
    unsigned *flag = nullptr;
    HIP_OK(hipHostMalloc(reinterpret_cast<void **>(&flag), sizeof *flag));
    __atomic_store_n(flag, 0u, __ATOMIC_RELEASE);
    hipStream_t held, other;
    HIP_OK(hipStreamCreate(&held));
    HIP_OK(hipStreamCreate(&other));
    DeviceArray<int> cell(1);

    HIP_OK(hipStreamWaitValue32(held, flag, 1, hipStreamWaitValueEq));
    set<<<1, 1, 0, held>>>(cell.get(), 5);
    hipEvent_t old[kEvents];
    for (hipEvent_t &event : old) {
        HIP_OK(hipEventCreate(&event));
        HIP_OK(hipEventRecord(event, held));
    }
    // Another stream waits for one that is gone before it happened.
    HIP_OK(hipStreamWaitEvent(other, old[7], 0));
    set<<<1, 1, 0, other>>>(cell.get(), 9);
    for (hipEvent_t event : old) HIP_OK(hipEventDestroy(event));
    CHECK(hipEventQuery(old[0]) != hipSuccess);

    // New ones, some of which may well have the handles of the old ones: never recorded.
    hipEvent_t fresh[kEvents];
    for (hipEvent_t &event : fresh) HIP_OK(hipEventCreate(&event));
    hipEvent_t early;
    HIP_OK(hipEventCreate(&early));
    HIP_OK(hipEventRecord(early, other));
    __atomic_store_n(flag, 1u, __ATOMIC_RELEASE);
    HIP_OK(hipStreamSynchronize(held));
    HIP_OK(hipStreamSynchronize(other));
    CHECK(cell.values()[0] == 9);

    float passed = -1;
    for (hipEvent_t event : fresh) {
        CHECK(hipEventElapsedTime(&passed, event, early) != hipSuccess);
        CHECK(hipEventElapsedTime(&passed, early, event) != hipSuccess);
    }
    // And one of them is recorded once, later, and has that time.
    pause_ms(3);
    HIP_OK(hipEventRecord(fresh[3], held));
    HIP_OK(hipEventSynchronize(fresh[3]));
    HIP_OK(hipEventElapsedTime(&passed, early, fresh[3]));
    CHECK(passed >= 2.9f);
    for (hipEvent_t event : fresh) HIP_OK(hipEventDestroy(event));
    HIP_OK(hipEventDestroy(early));
    HIP_OK(hipStreamDestroy(held));
    HIP_OK(hipStreamDestroy(other));
    HIP_OK(hipHostFree(flag));
}

// A stream that is destroyed with its event while both have not come to their turn.
static void with_its_stream() {
    unsigned *flag = nullptr;
    HIP_OK(hipHostMalloc(reinterpret_cast<void **>(&flag), sizeof *flag));
    __atomic_store_n(flag, 0u, __ATOMIC_RELEASE);
    DeviceArray<int> cell(1);
    hipStream_t held;
    hipEvent_t event;
    HIP_OK(hipStreamCreateWithFlags(&held, hipStreamNonBlocking));
    HIP_OK(hipEventCreate(&event));
    HIP_OK(hipStreamWaitValue32(held, flag, 1, hipStreamWaitValueEq));
    HIP_OK(hipEventRecord(event, held));
    set<<<1, 1, 0, held>>>(cell.get(), 3);
    HIP_OK(hipEventDestroy(event));
    __atomic_store_n(flag, 1u, __ATOMIC_RELEASE);
    HIP_OK(hipStreamDestroy(held));
    CHECK(cell.values()[0] == 3);
    HIP_OK(hipHostFree(flag));
}

int main() {
    in_a_stream();
    with_its_stream();
}
