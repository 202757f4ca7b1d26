// expect: timed out
#include <hip/hip_runtime.h>

__global__ void wait_for_ever(volatile int *flag) {
    while (*flag == 0) {
    }
}

int main() {
    int *flag = nullptr;
    if (hipMalloc(&flag, sizeof(int)) != hipSuccess) return 90;
    if (hipMemset(flag, 0, sizeof(int)) != hipSuccess) return 91;
    wait_for_ever<<<1, 64>>>(flag);
    return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}
