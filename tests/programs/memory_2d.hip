// Pitched memory: rows copied and filled, and nothing beside them touched.
#include "check.h"

__global__ void add_row(float *data, size_t pitch, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        float *row = reinterpret_cast<float *>(reinterpret_cast<char *>(data) + y * pitch);
        row[x] += 100.0f * y;
    }
}

int main() {
    const int width = 37, height = 11;
    float *data = nullptr;
    size_t pitch = 0;
    HIP_OK(hipMallocPitch(&data, &pitch, width * sizeof(float), height));
    CHECK(pitch >= width * sizeof(float) && pitch % 128 == 0);
    HIP_OK(hipMemset2D(data, pitch, 0, pitch, height));

    std::vector<float> in(width * height), out(50 * height, -1.0f);
    for (int i = 0; i < width * height; ++i) in[i] = i;
    HIP_OK(hipMemcpy2D(data, pitch, in.data(), width * sizeof(float), width * sizeof(float), height,
                       hipMemcpyHostToDevice));
    add_row<<<dim3(3, 2), dim3(16, 8)>>>(data, pitch, width, height);
    HIP_OK(hipMemcpy2DAsync(out.data(), 50 * sizeof(float), data, pitch, width * sizeof(float), height,
                            hipMemcpyDeviceToHost, nullptr));
    HIP_OK(hipDeviceSynchronize());
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < 50; ++x)
            CHECK(out[y * 50 + x] == (x < width ? y * width + x + 100.0f * y : -1.0f));

    HIP_OK(hipMemset2DAsync(data, pitch, 0, 5 * sizeof(float), 3, nullptr));
    HIP_OK(hipMemcpy2D(out.data(), 50 * sizeof(float), data, pitch, width * sizeof(float), height,
                       hipMemcpyDeviceToHost));
    CHECK(out[2 * 50 + 4] == 0 && out[2 * 50 + 5] == 2 * width + 5 + 200 && out[3 * 50] == 3 * width + 300);

    // A row that is wider than its pitch is a mistake.
    CHECK(hipMemcpy2D(data, 8, in.data(), 8, 12, 2, hipMemcpyHostToDevice) == hipErrorInvalidPitchValue);
    CHECK(hipMemcpy2D(data, pitch, in.data(), 4, 4, height + 1, hipMemcpyHostToDevice) == hipErrorInvalidValue);
    // Rows so far apart that their span wraps around to a few bytes.
    constexpr size_t far = size_t{1} << 63;
    CHECK(hipMemcpy2D(data, far, in.data(), 8, 8, 3, hipMemcpyHostToDevice) == hipErrorInvalidValue);
    CHECK(hipMemset2D(data, far, 0, 8, 3) == hipErrorInvalidValue);
    (void)hipGetLastError();
    HIP_OK(hipFree(data));
}
