// Arrays, and memory and copies in three dimensions: random copies between host, pitched memory and arrays, against a
// model that moves elements one by one; every other way of copying; what arrays tell; errors.
#include "check.h"
#include <cstring>
#include <random>

using Element = uint2;
const size_t kElement = sizeof(Element);

/// A volume that can be copied to and from, and what should be in it.
struct Volume {
    hipExtent extent; // in elements
    hipArray_t array = nullptr;
    hipPitchedPtr memory{};
    std::vector<Element> host, model;

    Element &expected(size_t x, size_t y, size_t z) { return model[(z * extent.height + y) * extent.width + x]; }
};
enum Kind { kHost, kPitched, kArray };

Volume make_volume(Kind kind, size_t w, size_t h, size_t d) {
    Volume v;
    v.extent = make_hipExtent(w, h, d);
    v.model.assign(w * h * d, make_uint2(0, 0));
    if (kind == kHost) {
        v.host = v.model;
        v.memory = make_hipPitchedPtr(v.host.data(), w * kElement, w * kElement, h);
    } else if (kind == kPitched) {
        HIP_OK(hipMalloc3D(&v.memory, make_hipExtent(w * kElement, h, d)));
        CHECK(v.memory.pitch >= w * kElement && v.memory.pitch % 64 == 0 && v.memory.ysize == h);
        HIP_OK(hipMemset3D(v.memory, 0, make_hipExtent(w * kElement, h, d)));
    } else {
        const hipChannelFormatDesc format = hipCreateChannelDesc<Element>();
        HIP_OK(hipMalloc3DArray(&v.array, &format, v.extent, hipArrayDefault));
        hipMemcpy3DParms clear{};
        clear.srcPtr = make_hipPitchedPtr(v.model.data(), w * kElement, w * kElement, h);
        clear.dstArray = v.array;
        clear.extent = v.extent;
        clear.kind = hipMemcpyHostToDevice;
        HIP_OK(hipMemcpy3D(&clear));
    }
    return v;
}
__global__ void read_array(hipSurfaceObject_t surface, Element *out, int w, int h, int d) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < w * h * d) surf3Dread(out + i, surface, i % w * static_cast<int>(sizeof(Element)), i / w % h, i / (w * h));
}
/// The contents, by another way than the copies that are tested.
std::vector<Element> contents(const Volume &v) {
    const size_t count = v.model.size(), w = v.extent.width, h = v.extent.height;
    if (v.array != nullptr) {
        hipResourceDesc resource{};
        resource.resType = hipResourceTypeArray;
        resource.res.array.array = v.array;
        hipSurfaceObject_t surface = nullptr;
        HIP_OK(hipCreateSurfaceObject(&surface, &resource));
        DeviceArray<Element> out(count);
        read_array<<<(count + 63) / 64, 64>>>(surface, out.get(), w, h, v.extent.depth);
        const std::vector<Element> all = out.values();
        HIP_OK(hipDestroySurfaceObject(surface));
        return all;
    }
    std::vector<Element> all(count);
    for (size_t row = 0; row < count / w; ++row) {
        HIP_OK(hipMemcpy(&all[row * w], static_cast<char *>(v.memory.ptr) + row * v.memory.pitch, w * kElement, hipMemcpyDefault));
    }
    return all;
}
void check_contents(const Volume &v) {
    const std::vector<Element> all = contents(v);
    for (size_t i = 0; i < all.size(); ++i) CHECK(all[i] == v.model[i]);
}

void check_random_copies() {
    std::mt19937 random(2024);
    std::vector<Volume> volumes;
    volumes.push_back(make_volume(kHost, 23, 9, 7));
    volumes.push_back(make_volume(kHost, 11, 14, 5));
    volumes.push_back(make_volume(kPitched, 37, 6, 8));
    volumes.push_back(make_volume(kPitched, 12, 13, 4));
    volumes.push_back(make_volume(kArray, 17, 10, 6));
    volumes.push_back(make_volume(kArray, 31, 8, 9));
    for (int turn = 0; turn < 400; ++turn) {
        Volume &from = volumes[random() % volumes.size()];
        Volume &to = volumes[random() % volumes.size()];
        if (&from == &to) continue;
        if (!from.host.empty()) { // the host writes something new
            const size_t i = random() % from.host.size();
            from.host[i] = from.model[i] = make_uint2(random(), turn);
        }
        const auto part = [&random](size_t a, size_t b) { return 1 + random() % std::min(a, b); };
        const hipExtent size = make_hipExtent(part(from.extent.width, to.extent.width), part(from.extent.height, to.extent.height),
                                              part(from.extent.depth, to.extent.depth));
        const auto place = [&](const Volume &v) {
            return make_hipPos(random() % (v.extent.width - size.width + 1), random() % (v.extent.height - size.height + 1),
                               random() % (v.extent.depth - size.depth + 1));
        };
        const hipPos a = place(from), b = place(to);
        const auto in_bytes = [](const Volume &v, hipPos p) { return v.array != nullptr ? p : make_hipPos(p.x * kElement, p.y, p.z); };
        hipMemcpy3DParms copy{};
        copy.srcArray = from.array, copy.srcPtr = from.memory, copy.srcPos = in_bytes(from, a);
        copy.dstArray = to.array, copy.dstPtr = to.memory, copy.dstPos = in_bytes(to, b);
        const bool elements = from.array != nullptr || to.array != nullptr;
        copy.extent = make_hipExtent(size.width * (elements ? 1 : kElement), size.height, size.depth);
        copy.kind = hipMemcpyDefault;
        HIP_OK(turn % 2 ? hipMemcpy3D(&copy) : hipMemcpy3DAsync(&copy, nullptr));
        for (size_t z = 0; z < size.depth; ++z)
            for (size_t y = 0; y < size.height; ++y)
                for (size_t x = 0; x < size.width; ++x) to.expected(b.x + x, b.y + y, b.z + z) = from.expected(a.x + x, a.y + y, a.z + z);
        if (turn % 40 == 39) {
            for (const Volume &v : volumes) check_contents(v);
        }
    }
    hipMemcpy3DParms wrong{};
    wrong.srcPtr = volumes[0].memory;
    wrong.dstArray = volumes[4].array;
    wrong.extent = make_hipExtent(18, 1, 1); // one more than the array is wide
    wrong.kind = hipMemcpyHostToDevice;
    CHECK(hipMemcpy3D(&wrong) == hipErrorInvalidValue);
    wrong.extent.width = 17, wrong.dstPos.z = 6;
    CHECK(hipMemcpy3D(&wrong) == hipErrorInvalidValue);
    wrong.dstPos.z = 0, wrong.dstPtr = volumes[2].memory; // both an array and a pointer
    CHECK(hipMemcpy3D(&wrong) == hipErrorInvalidValue);
    wrong.dstArray = nullptr, wrong.extent = make_hipExtent(8, 6, 9); // more slices than there are
    CHECK(hipMemcpy3D(&wrong) == hipErrorInvalidValue);
    CHECK(hipMemcpy3D(nullptr) == hipErrorInvalidValue);

    // Filling leaves everything beside the box as it is.
    Volume &filled = volumes[2];
    hipPitchedPtr inner = filled.memory;
    inner.ptr = static_cast<char *>(inner.ptr) + 2 * inner.pitch + 3 * kElement;
    HIP_OK(hipMemset3D(inner, 0xab, make_hipExtent(5 * kElement, 3, 4)));
    for (size_t z = 0; z < 4; ++z)
        for (size_t y = 2; y < 5; ++y)
            for (size_t x = 3; x < 8; ++x) filled.expected(x, y, z) = make_uint2(0xabababab, 0xabababab);
    for (Volume &v : volumes) {
        check_contents(v);
        if (v.array != nullptr) {
            HIP_OK(hipFreeArray(v.array));
        } else if (v.host.empty()) {
            HIP_OK(hipFree(v.memory.ptr));
        }
    }
}

void check_two_dimensions() {
    const size_t w = 19, h = 12;
    const hipChannelFormatDesc format = hipCreateChannelDesc<float>();
    hipArray_t first = nullptr, second = nullptr;
    HIP_OK(hipMallocArray(&first, &format, w, h));
    HIP_OK(hipMallocArray(&second, &format, w, h));
    std::vector<float> model(w * h), in(25 * h), out(w * h);
    for (size_t i = 0; i < in.size(); ++i) in[i] = 100 + i;
    HIP_OK(hipMemcpyToArray(first, 0, 0, model.data(), w * h * sizeof(float), hipMemcpyHostToDevice));
    HIP_OK(hipMemcpy2DToArray(first, 4 * sizeof(float), 3, in.data(), 25 * sizeof(float), 9 * sizeof(float), 5, hipMemcpyHostToDevice));
    for (size_t y = 0; y < 5; ++y)
        for (size_t x = 0; x < 9; ++x) model[(y + 3) * w + x + 4] = in[y * 25 + x];
    HIP_OK(hipMemcpy2DFromArray(out.data(), w * sizeof(float), first, 0, 0, w * sizeof(float), h, hipMemcpyDeviceToHost));
    CHECK(out == model);
    HIP_OK(hipMemcpy2DArrayToArray(second, 0, 0, first, 0, 0, w * sizeof(float), h, hipMemcpyDeviceToDevice));
    HIP_OK(hipMemcpy2DArrayToArray(second, 8 * sizeof(float), 6, first, 4 * sizeof(float), 3, 6 * sizeof(float), 4, hipMemcpyDeviceToDevice));
    std::vector<float> moved = model;
    for (size_t y = 0; y < 4; ++y)
        for (size_t x = 0; x < 6; ++x) moved[(y + 6) * w + x + 8] = model[(y + 3) * w + x + 4];
    HIP_OK(hipMemcpyFromArray(out.data(), second, 0, 0, w * h * sizeof(float), hipMemcpyDeviceToHost));
    CHECK(out == moved);

    HIP_OK(hipMemcpyHtoA(second, 30 * sizeof(float), in.data(), 40 * sizeof(float)));
    std::copy(in.begin(), in.begin() + 40, moved.begin() + 30);
    DeviceArray<float> device(w * h);
    HIP_OK(hipMemcpyAtoD(device.get(), second, 0, w * h * sizeof(float)));
    CHECK(device.values() == moved);
    HIP_OK(hipMemcpyDtoA(first, sizeof(float), device.get(), 50 * sizeof(float)));
    std::copy(moved.begin(), moved.begin() + 50, model.begin() + 1);
    HIP_OK(hipMemcpyAtoH(out.data(), first, 0, w * h * sizeof(float)));
    CHECK(out == model);
    HIP_OK(hipMemcpyAtoA(second, 0, first, 20 * sizeof(float), 60 * sizeof(float)));
    std::copy(model.begin() + 20, model.begin() + 80, moved.begin());

    hip_Memcpy2D rows{};
    rows.srcMemoryType = hipMemoryTypeArray, rows.srcArray = second, rows.srcXInBytes = 8, rows.srcY = 1;
    rows.dstMemoryType = hipMemoryTypeDevice, rows.dstDevice = device.get(), rows.dstPitch = w * sizeof(float);
    rows.WidthInBytes = 10 * sizeof(float), rows.Height = 7;
    HIP_OK(hipMemcpyParam2D(&rows));
    std::vector<float> linear = device.values();
    for (size_t y = 0; y < 7; ++y)
        for (size_t x = 0; x < 10; ++x) CHECK(linear[y * w + x] == moved[(y + 1) * w + x + 2]);

    CHECK(hipMemcpy2DToArray(first, 0, 8, in.data(), 25 * sizeof(float), w * sizeof(float), 5, hipMemcpyHostToDevice) == hipErrorInvalidValue);
    CHECK(hipMemcpy2DToArray(first, 0, 0, in.data(), 8, w * sizeof(float), 5, hipMemcpyHostToDevice) == hipErrorInvalidPitchValue);
    CHECK(hipMemcpyToArray(first, 4, 0, in.data(), w * h * sizeof(float), hipMemcpyHostToDevice) == hipErrorInvalidValue);
    HIP_OK(hipFreeArray(first));
    CHECK(hipFreeArray(first) == hipErrorContextIsDestroyed);
    CHECK(hipFreeArray(nullptr) == hipErrorInvalidValue);
    HIP_OK(hipArrayDestroy(second));
}

void check_driver_copy() {
    HIP_ARRAY3D_DESCRIPTOR d{};
    d.Width = 6, d.Height = 5, d.Depth = 4, d.Format = HIP_AD_FORMAT_UNSIGNED_INT16, d.NumChannels = 2;
    hipArray_t array = nullptr;
    HIP_OK(hipArray3DCreate(&array, &d));
    std::vector<ushort2> in(6 * 5 * 4), out(6 * 5 * 4, make_ushort2(9, 9));
    for (size_t i = 0; i < in.size(); ++i) in[i] = make_ushort2(i, 1000 - i);
    HIP_MEMCPY3D copy{};
    copy.srcMemoryType = hipMemoryTypeHost, copy.srcHost = in.data(), copy.srcPitch = 24, copy.srcHeight = 5;
    copy.dstMemoryType = hipMemoryTypeArray, copy.dstArray = array;
    copy.WidthInBytes = 24, copy.Height = 5, copy.Depth = 4;
    HIP_OK(hipDrvMemcpy3D(&copy));
    HIP_MEMCPY3D back{};
    back.srcMemoryType = hipMemoryTypeArray, back.srcArray = array, back.srcXInBytes = 4, back.srcY = 2, back.srcZ = 1;
    back.dstMemoryType = hipMemoryTypeHost, back.dstHost = out.data(), back.dstPitch = 24, back.dstHeight = 5;
    back.WidthInBytes = 16, back.Height = 3, back.Depth = 2;
    HIP_OK(hipDrvMemcpy3D(&back));
    for (int z = 0; z < 4; ++z)
        for (int y = 0; y < 5; ++y)
            for (int x = 0; x < 6; ++x) {
                const bool copied = z < 2 && y < 3 && x < 4;
                CHECK(out[(z * 5 + y) * 6 + x] == (copied ? in[((z + 1) * 5 + y + 2) * 6 + x + 1] : make_ushort2(9, 9)));
            }
    HIP_ARRAY3D_DESCRIPTOR told{};
    HIP_OK(hipArray3DGetDescriptor(&told, array));
    CHECK(told.Width == 6 && told.Height == 5 && told.Depth == 4 && told.Format == d.Format && told.NumChannels == 2);
    HIP_OK(hipArrayDestroy(array));
}

void check_descriptions() {
    const auto same = [](hipChannelFormatDesc d, int x, int y, int z, int w, hipChannelFormatKind f) {
        return d.x == x && d.y == y && d.z == z && d.w == w && d.f == f;
    };
    CHECK(same(hipCreateChannelDesc<float>(), 32, 0, 0, 0, hipChannelFormatKindFloat));
    CHECK(same(hipCreateChannelDesc<uchar4>(), 8, 8, 8, 8, hipChannelFormatKindUnsigned));
    CHECK(same(hipCreateChannelDesc<short2>(), 16, 16, 0, 0, hipChannelFormatKindSigned));
    CHECK(same(hipCreateChannelDescHalf4(), 16, 16, 16, 16, hipChannelFormatKindFloat));
    hipArray_t array = nullptr;
    hipChannelFormatDesc format = hipCreateChannelDesc<short2>();
    HIP_OK(hipMalloc3DArray(&array, &format, make_hipExtent(5, 0, 3), hipArrayLayered));
    hipChannelFormatDesc told{};
    hipExtent extent{};
    unsigned flags = 0;
    HIP_OK(hipArrayGetInfo(&told, &extent, &flags, array));
    CHECK(same(told, 16, 16, 0, 0, hipChannelFormatKindSigned) && flags == hipArrayLayered);
    CHECK(extent.width == 5 && extent.height == 0 && extent.depth == 3);
    HIP_OK(hipFreeArray(array));
    CHECK(hipArrayGetInfo(&told, &extent, &flags, array) == hipErrorInvalidHandle);
    CHECK(hipMallocArray(nullptr, &format, 4) == hipErrorInvalidValue);
    CHECK(hipMallocArray(&array, &format, 0) == hipErrorInvalidValue);
    CHECK(hipMallocArray(&array, &format, 4, 4, hipArrayLayered) == hipErrorInvalidValue);
    CHECK(hipMalloc3DArray(&array, &format, make_hipExtent(4, 0, 4), hipArrayDefault) == hipErrorInvalidValue);
    format = hipCreateChannelDesc(8, 8, 8, 0, hipChannelFormatKindUnsigned); // three channels
    CHECK(hipMallocArray(&array, &format, 4) == hipErrorInvalidValue);
    format = hipCreateChannelDesc(8, 16, 0, 0, hipChannelFormatKindUnsigned); // unlike channels
    CHECK(hipMallocArray(&array, &format, 4) == hipErrorInvalidValue);
}

int main() {
    check_random_copies();
    check_two_dimensions();
    check_driver_copy();
    check_descriptions();
}
