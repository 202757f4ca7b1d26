// Surfaces: kernels write and read arrays of several formats; outside of them nothing happens.
#include "check.h"

/// Each work-item writes an element of its own, some of them outside; then reads its neighbour's.
template <class T> __device__ T element(int x, int y, int z);
template <> __device__ float element(int x, int y, int z) { return x + 10.25f * y - 100 * z; }
template <> __device__ uchar4 element(int x, int y, int z) { return make_uchar4(x, y, z, 200); }
template <> __device__ short element(int x, int y, int z) { return static_cast<short>(x - 300 * y + z); }
template <> __device__ int2 element(int x, int y, int z) { return make_int2(x * y - z, -x); }

template <class T> __global__ void write(hipSurfaceObject_t surface, int dimensions, int w, int h, int d) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) - 2, y = static_cast<int>(blockIdx.y) - 2, z = static_cast<int>(blockIdx.z) - 2;
    const bool inside = x >= 0 && x < w && y >= 0 && y < h && z >= 0 && z < d;
    const T value = inside ? element<T>(x, y, z) : element<T>(99, 98, 97);
    const int at = x * static_cast<int>(sizeof(T));
    if (dimensions == 1 && y == 0 && z == 0) surf1Dwrite(value, surface, at);
    if (dimensions == 2 && z == 0) surf2Dwrite(value, surface, at, y);
    if (dimensions == 3) surf3Dwrite(value, surface, at, y, z);
    if (dimensions == -2) surf2DLayeredwrite(value, surface, at, y, z);
    if (dimensions == -1 && y == 0) surf1DLayeredwrite(value, surface, at, z);
}
template <class T> __global__ void read(hipSurfaceObject_t surface, int dimensions, T *out) {
    const int x = static_cast<int>(threadIdx.x) - 2, y = static_cast<int>(blockIdx.y) - 2, z = static_cast<int>(blockIdx.z) - 2;
    const int at = x * static_cast<int>(sizeof(T));
    T *to = out + (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.x + threadIdx.x;
    if (dimensions == 1) surf1Dread(to, surface, at);
    if (dimensions == 2) surf2Dread(to, surface, at, y);
    if (dimensions == 3) surf3Dread(to, surface, at, y, z);
    if (dimensions == -2) surf2DLayeredread(to, surface, at, y, z);
    if (dimensions == -1) surf1DLayeredread(to, surface, at, z);
}
hipSurfaceObject_t surface_of(hipArray_t array) {
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    hipSurfaceObject_t surface = nullptr;
    HIP_OK(hipCreateSurfaceObject(&surface, &resource));
    return surface;
}
/// `dimensions` below 0: with layers.
template <class T> void check_surface(int dimensions, int w, int h, int d) {
    const bool layered = dimensions < 0, rows = dimensions != 1 && dimensions != -1, slices = dimensions == 3 || layered;
    const hipChannelFormatDesc format = hipCreateChannelDesc<T>();
    hipArray_t array = nullptr;
    HIP_OK(hipMalloc3DArray(&array, &format, make_hipExtent(w, rows ? h : 0, slices ? d : 0),
                            hipArraySurfaceLoadStore | (layered ? hipArrayLayered : 0)));
    const hipSurfaceObject_t surface = surface_of(array);
    write<T><<<dim3(1, h + 4, d + 4), w + 4>>>(surface, dimensions, w, h, d);
    // What was written, by a copy; what is read, by another kernel.
    std::vector<T> copied(static_cast<size_t>(w) * h * d);
    hipMemcpy3DParms copy{};
    copy.srcArray = array;
    copy.dstPtr = make_hipPitchedPtr(copied.data(), w * sizeof(T), w * sizeof(T), h);
    copy.extent = make_hipExtent(w, h, d);
    copy.kind = hipMemcpyDeviceToHost;
    HIP_OK(hipMemcpy3D(&copy));
    DeviceArray<T> out((w + 4) * (h + 4) * (d + 4));
    read<T><<<dim3(1, h + 4, d + 4), w + 4>>>(surface, dimensions, out.get());
    const std::vector<T> all = out.values();
    for (int z = -2; z < d + 2; ++z) {
        for (int y = -2; y < h + 2; ++y) {
            for (int x = -2; x < w + 2; ++x) {
                const bool row_inside = !rows || (y >= 0 && y < h), slice_inside = !slices || (z >= 0 && z < d);
                const bool inside = x >= 0 && x < w && row_inside && slice_inside;
                const int row = rows ? y : 0, slice = slices ? z : 0;
                const T got = all[((z + 2) * (h + 4) + y + 2) * (w + 4) + x + 2];
                CHECK(got == (inside ? element<T>(x, row, slice) : T{}));
                if (inside) CHECK(copied[(static_cast<size_t>(slice) * h + row) * w + x] == element<T>(x, row, slice));
            }
        }
    }
    HIP_OK(hipDestroySurfaceObject(surface));
    HIP_OK(hipFreeArray(array));
}
template <class T> void check_all() {
    check_surface<T>(1, 29, 1, 1);
    check_surface<T>(2, 13, 6, 1);
    check_surface<T>(3, 7, 5, 4);
    check_surface<T>(-1, 11, 1, 3);
    check_surface<T>(-2, 9, 4, 5);
}

/// Halves are read and written as floats.
__global__ void halve(hipSurfaceObject_t surface) {
    float value;
    surf1Dread(&value, surface, 2 * threadIdx.x);
    surf1Dwrite(value * 0.5f, surface, 2 * threadIdx.x);
}

int main() {
    check_all<float>();
    check_all<uchar4>();
    check_all<short>();
    check_all<int2>();

    const hipChannelFormatDesc format = hipCreateChannelDescHalf();
    hipArray_t array = nullptr;
    HIP_OK(hipMallocArray(&array, &format, 32, 0, hipArraySurfaceLoadStore));
    std::vector<_Float16> values(32);
    for (int i = 0; i < 32; ++i) values[i] = static_cast<_Float16>(i * 1.5f - 7);
    HIP_OK(hipMemcpyHtoA(array, 0, values.data(), 64));
    const hipSurfaceObject_t surface = surface_of(array);
    halve<<<1, 32>>>(surface);
    HIP_OK(hipMemcpyAtoH(values.data(), array, 0, 64));
    for (int i = 0; i < 32; ++i) CHECK(static_cast<float>(values[i]) == (i * 1.5f - 7) / 2);
    HIP_OK(hipDestroySurfaceObject(surface));

    hipResourceDesc resource{};
    resource.resType = hipResourceTypeArray;
    hipSurfaceObject_t none = nullptr;
    CHECK(hipCreateSurfaceObject(&none, &resource) == hipErrorInvalidHandle);
    resource.res.array.array = array;
    resource.resType = hipResourceTypeLinear;
    CHECK(hipCreateSurfaceObject(&none, &resource) == hipErrorInvalidValue);
    resource.resType = hipResourceTypeArray;
    CHECK(hipCreateSurfaceObject(nullptr, &resource) == hipErrorInvalidValue);
    HIP_OK(hipFreeArray(array));
    CHECK(hipCreateSurfaceObject(&none, &resource) == hipErrorContextIsDestroyed);
}
