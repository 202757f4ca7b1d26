// Texture references: bound to memory, rows and arrays, sampled in one to three dimensions and by layers, against what was stored.
#include "check.h"
#include <algorithm>
#include <random>

texture<float, hipTextureType1D, hipReadModeElementType> row;
texture<short4, hipTextureType2D> pitched;
texture<unsigned char, hipTextureType2D, hipReadModeNormalizedFloat> image;
texture<int, hipTextureType3D, hipReadModeElementType> box;
texture<float, hipTextureType2DLayered> layers;

__global__ void read_row(float *out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = tex1Dfetch(row, i);
}
__global__ void read_pitched(short4 *out, int width) {
    out[threadIdx.y * width + threadIdx.x] = tex2D(pitched, threadIdx.x, threadIdx.y);
}
__global__ void read_image(float *out, int width, int height) {
    out[threadIdx.y * width + threadIdx.x] = tex2D(image, (threadIdx.x + 1.0f) / width, (threadIdx.y + 0.5f) / height);
}
__global__ void read_box(int *out) {
    const int3 at = {static_cast<int>(threadIdx.x), static_cast<int>(threadIdx.y), static_cast<int>(threadIdx.z)};
    out[(at.z * blockDim.y + at.y) * blockDim.x + at.x] = tex3D(box, at.x, at.y, at.z);
}
__global__ void read_layers(float *out) {
    out[(blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] =
        tex2DLayered(layers, threadIdx.x, threadIdx.y, blockIdx.x);
}

template <class T> std::vector<T> random_values(size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> values(count);
    for (T &value : values) value = static_cast<T>(random() >> 8);
    return values;
}

void check_row() {
    const std::vector<float> first = random_values<float>(300, 1), second = random_values<float>(300, 2);
    DeviceArray<float> a(first), b(second), out(300);
    size_t offset = 99;
    CHECK(hipGetTextureAlignmentOffset(&offset, &row) == hipErrorInvalidValue); // not bound
    HIP_OK(hipBindTexture(&offset, row, a.get(), hipCreateChannelDesc<float>(), 300 * sizeof(float)));
    CHECK(offset == 0);
    read_row<<<2, 256>>>(out.get(), 300);
    CHECK(out.values() == first);
    HIP_OK(hipBindTexture(nullptr, row, b.get())); // all that there is, in place of the other
    HIP_OK(hipGetTextureAlignmentOffset(&offset, row));
    read_row<<<2, 256>>>(out.get(), 300);
    CHECK(out.values() == second);
    HIP_OK(hipUnbindTexture(row));
    CHECK(hipUnbindTexture(&row) == hipErrorInvalidValue);
    CHECK(hipBindTexture(&offset, row, nullptr, 4) == hipErrorInvalidValue);
    (void)hipGetLastError();
}

void check_pitched() {
    constexpr int kWidth = 13, kHeight = 7;
    const std::vector<short> numbers = random_values<short>(4 * kWidth * kHeight, 3);
    void *memory = nullptr;
    size_t pitch = 0, offset = 0;
    HIP_OK(hipMallocPitch(&memory, &pitch, kWidth * sizeof(short4), kHeight));
    HIP_OK(hipMemcpy2D(memory, pitch, numbers.data(), kWidth * sizeof(short4), kWidth * sizeof(short4), kHeight, hipMemcpyHostToDevice));
    HIP_OK(hipBindTexture2D(&offset, &pitched, memory, &pitched.channelDesc, kWidth, kHeight, pitch));
    DeviceArray<short4> out(kWidth * kHeight);
    read_pitched<<<1, dim3(kWidth, kHeight)>>>(out.get(), kWidth);
    const std::vector<short4> read = out.values();
    for (int i = 0; i < kWidth * kHeight; ++i) {
        CHECK(read[i].x == numbers[4 * i] && read[i].y == numbers[4 * i + 1]);
        CHECK(read[i].z == numbers[4 * i + 2] && read[i].w == numbers[4 * i + 3]);
    }
    HIP_OK(hipUnbindTexture(pitched));
    HIP_OK(hipFree(memory));
}

// Normalised coordinates halfway between two elements, filtered, read as floats from 0 to 1.
void check_image() {
    constexpr int kWidth = 16, kHeight = 5;
    const std::vector<unsigned char> bytes = random_values<unsigned char>(kWidth * kHeight, 4);
    hipArray_t array;
    const hipChannelFormatDesc format = hipCreateChannelDesc<unsigned char>();
    HIP_OK(hipMallocArray(&array, &format, kWidth, kHeight));
    HIP_OK(hipMemcpy2DToArray(array, 0, 0, bytes.data(), kWidth, kWidth, kHeight, hipMemcpyHostToDevice));
    image.normalized = true;
    image.filterMode = hipFilterModeLinear;
    image.addressMode[0] = hipAddressModeWrap;
    HIP_OK(hipBindTextureToArray(&image, array, &format));
    DeviceArray<float> out(kWidth * kHeight);
    read_image<<<1, dim3(kWidth, kHeight)>>>(out.get(), kWidth, kHeight);
    const std::vector<float> read = out.values();
    for (int y = 0; y < kHeight; ++y)
        for (int x = 0; x < kWidth; ++x) {
            const double sum = bytes[y * kWidth + x] + bytes[y * kWidth + (x + 1) % kWidth];
            CHECK(std::fabs(read[y * kWidth + x] - sum / 2 / 255) < 1e-5);
        }
    HIP_OK(hipUnbindTexture(image));
    HIP_OK(hipFreeArray(array));
}

template <class T> hipArray_t filled_array(const std::vector<T> &values, hipExtent extent, unsigned flags) {
    hipArray_t array;
    const hipChannelFormatDesc format = hipCreateChannelDesc<T>();
    HIP_OK(hipMalloc3DArray(&array, &format, extent, flags));
    hipMemcpy3DParms copy = {};
    copy.srcPtr = make_hipPitchedPtr(const_cast<T *>(values.data()), extent.width * sizeof(T), extent.width, extent.height);
    copy.dstArray = array;
    copy.extent = extent;
    copy.kind = hipMemcpyHostToDevice;
    HIP_OK(hipMemcpy3D(&copy));
    return array;
}
void check_arrays() {
    const std::vector<int> numbers = random_values<int>(5 * 6 * 7, 5);
    const hipArray_t cube = filled_array(numbers, make_hipExtent(5, 6, 7), hipArrayDefault);
    HIP_OK(hipBindTextureToArray(box, cube));
    DeviceArray<int> out(numbers.size());
    read_box<<<1, dim3(5, 6, 7)>>>(out.get());
    CHECK(out.values() == numbers);
    HIP_OK(hipUnbindTexture(box));
    HIP_OK(hipFreeArray(cube));

    const std::vector<float> floats = random_values<float>(9 * 4 * 3, 6);
    const hipArray_t stack = filled_array(floats, make_hipExtent(9, 4, 3), hipArrayLayered);
    HIP_OK(hipBindTextureToArray(layers, stack, hipCreateChannelDesc<float>()));
    DeviceArray<float> out_layers(floats.size());
    read_layers<<<3, dim3(9, 4)>>>(out_layers.get());
    CHECK(out_layers.values() == floats);
    HIP_OK(hipUnbindTexture(layers));
    HIP_OK(hipFreeArray(stack));
}

int main() {
    check_row();
    check_pitched();
    check_image();
    check_arrays();
}
