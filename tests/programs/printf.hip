// printf in kernels: whole calls, in the order of blocks and work-items, after what the host printed before.
#include "check.h"

__global__ void talk(const char *what, double x) {
    if (threadIdx.x % 40 == 0) {
        printf("block %u item %u: %s %.3f %5d|%-5d|%lld %c%%\n", blockIdx.x, threadIdx.x, what, x * blockIdx.x,
               (int)threadIdx.x, (int)threadIdx.x, 1ll << 40, 'x');
    }
}
__global__ void simple() {
    printf("plain\n"); // becomes puts
    const char *none = nullptr;
    if (threadIdx.x == 1) printf("%s\n", none); // nothing, and the line's end
    __syncthreads();
    if (threadIdx.x == 1) printf("after the barrier, length %d\n", printf("%s", ""));
}
__global__ void long_line() {
    char text[700];
    for (int i = 0; i < 699; ++i) text[i] = 'a' + i % 3;
    text[699] = 0;
    printf("%s\n", text);
}

int main() {
    printf("first\n");
    talk<<<6, 64>>>("pi", 3.14159);
    HIP_OK(hipDeviceSynchronize());
    printf("then\n");
    simple<<<1, 2>>>();
    HIP_OK(hipDeviceSynchronize());
    long_line<<<1, 1>>>();
    HIP_OK(hipDeviceSynchronize());
    printf("last\n");
}
