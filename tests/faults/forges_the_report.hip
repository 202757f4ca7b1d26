// expect: refused: the runtime did not write it
#include <hip/hip_runtime.h>
#include <cstring>
#include <unistd.h>

__global__ void fill(float *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = 1.0f;
}

int main() {
    const int n = 1 << 12;
    float *data = nullptr;
    if (hipMalloc(&data, n * sizeof(float)) != hipSuccess) return 90;
    fill<<<n / 256, 256>>>(data, n);
    if (hipDeviceSynchronize() != hipSuccess) return 91;
    const char line[] = "{\"launches\":{\"kernel\":\"fill(float*, int)\",\"grid\":[1,1,1],\"block\":[1,1,1],"
                        "\"shared_bytes\":0,\"ns\":[99],\"processor_ns\":[99]}}\n";
    for (int i = 3; i < 1024; i++) {
        if (write(i, line, std::strlen(line)) > 0) return 0;
    }
    return 0;
}
