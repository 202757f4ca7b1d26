// Textures: every address mode, filter, kind of coordinate and format in one, two and three dimensions, against a
// sampler that is written from their definition; rows of memory, pitched memory, layers, gathering, sRGB, errors.
#include "check.h"
#include <cstdint>
#include <cstring>
#include <random>

/// An image on the host; extents of dimensions that it does not have are 1.
struct Image {
    int extent[3];
    hipChannelFormatDesc format;
    std::vector<unsigned char> bytes;

    int channels() const { return (format.x != 0) + (format.y != 0) + (format.z != 0) + (format.w != 0); }
    int element() const { return channels() * format.x / 8; }
    /// An integer, or a float's value.
    double stored(int x, int y, int z, int channel) const {
        const unsigned char *at = &bytes[((static_cast<size_t>(z) * extent[1] + y) * extent[0] + x) * element() + channel * format.x / 8];
        const bool is_signed = format.f == hipChannelFormatKindSigned;
        if (format.f == hipChannelFormatKindFloat) {
            if (format.x == 32) {
                float f;
                std::memcpy(&f, at, 4);
                return f;
            }
            const unsigned code = at[0] | at[1] << 8, exponent = code >> 10 & 31, fraction = code & 1023;
            const double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
            return code >> 15 ? -value : value;
        }
        int64_t value = 0;
        for (int i = 0; i < format.x / 8; ++i) value |= static_cast<int64_t>(at[i]) << (8 * i);
        return static_cast<double>(is_signed && value >> (format.x - 1) ? value - (int64_t{1} << format.x) : value);
    }
};
Image random_image(int w, int h, int d, hipChannelFormatDesc format, unsigned seed) {
    Image image{{w, h, d}, format, {}};
    std::mt19937 random(seed);
    const size_t count = static_cast<size_t>(w) * h * d * image.channels();
    for (size_t i = 0; i < count; ++i) {
        if (format.f == hipChannelFormatKindFloat) {
            const float value = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 8;
            const _Float16 half = static_cast<_Float16>(value);
            const unsigned char *from = reinterpret_cast<const unsigned char *>(&value);
            if (format.x == 16) from = reinterpret_cast<const unsigned char *>(&half);
            image.bytes.insert(image.bytes.end(), from, from + format.x / 8);
        } else {
            for (int byte = 0; byte < format.x / 8; ++byte) image.bytes.push_back(static_cast<unsigned char>(random()));
        }
    }
    return image;
}

/// What a texture gives for a channel, by the definition of its modes, in double.
class Sampler {
  public:
    Sampler(const Image &image, const hipTextureDesc &mode) : image_(image), mode_(mode) {}

    double at(const double *coordinate, int channel) const {
        int taps[3][2];
        double weights[3][2];
        for (int d = 0; d < 3; ++d) {
            const int n = image_.extent[d];
            if (n == 1) {
                taps[d][0] = taps[d][1] = 0, weights[d][0] = 1, weights[d][1] = 0;
                continue;
            }
            double c = coordinate[d] * (mode_.normalizedCoords ? n : 1);
            if (mode_.filterMode == hipFilterModePoint) {
                taps[d][0] = taps[d][1] = index(static_cast<long>(std::floor(c)), n, d);
                weights[d][0] = 1, weights[d][1] = 0;
            } else {
                c = std::floor((c - 0.5) * 256 + 0.5) / 256;
                const double below = std::floor(c);
                for (int i = 0; i < 2; ++i) taps[d][i] = index(static_cast<long>(below) + i, n, d);
                weights[d][0] = 1 - (c - below), weights[d][1] = c - below;
            }
        }
        double sum = 0;
        for (int i = 0; i < 8; ++i) {
            const int x = i & 1, y = i >> 1 & 1, z = i >> 2;
            sum += weights[0][x] * weights[1][y] * weights[2][z] * value(taps[0][x], taps[1][y], taps[2][z], channel);
        }
        return sum;
    }

  private:
    int index(long i, long n, int d) const {
        hipTextureAddressMode mode = mode_.addressMode[d];
        if (!mode_.normalizedCoords && (mode == hipAddressModeWrap || mode == hipAddressModeMirror)) mode = hipAddressModeClamp;
        if (mode == hipAddressModeWrap) return static_cast<int>((i % n + n) % n);
        if (mode == hipAddressModeMirror) {
            const long j = (i % (2 * n) + 2 * n) % (2 * n);
            return static_cast<int>(j < n ? j : 2 * n - 1 - j);
        }
        if (i >= 0 && i < n) return static_cast<int>(i);
        return mode == hipAddressModeBorder ? -1 : i < 0 ? 0 : static_cast<int>(n) - 1;
    }
    double value(int x, int y, int z, int channel) const {
        if (x < 0 || y < 0 || z < 0) return mode_.borderColor[channel];
        if (channel >= image_.channels()) return channel == 3 ? 1 : 0;
        const double stored = image_.stored(x, y, z, channel);
        const bool integer = image_.format.f != hipChannelFormatKindFloat;
        if (!integer || mode_.readMode == hipReadModeElementType || image_.format.x == 32) return stored;
        const bool is_signed = image_.format.f == hipChannelFormatKindSigned;
        const double part = std::fmax(-1, stored / (std::ldexp(1, image_.format.x - is_signed) - 1));
        if (!mode_.sRGB || channel == 3) return part;
        return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
    }

    const Image &image_;
    const hipTextureDesc &mode_;
};

template <class T> __global__ void sample(hipTextureObject_t texture, const float4 *at, T *out, int dimensions, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (dimensions == 1) out[i] = tex1D<T>(texture, at[i].x);
    if (dimensions == 2) out[i] = tex2D<T>(texture, at[i].x, at[i].y);
    if (dimensions == 3) out[i] = tex3D<T>(texture, at[i].x, at[i].y, at[i].z);
}

class Array {
  public:
    explicit Array(const Image &image, unsigned flags = 0) {
        const bool layered = (flags & hipArrayLayered) != 0;
        const hipExtent all = make_hipExtent(image.extent[0], image.extent[1] == 1 && (layered || image.extent[2] == 1) ? 0 : image.extent[1],
                                             image.extent[2] == 1 && !layered ? 0 : image.extent[2]);
        HIP_OK(hipMalloc3DArray(&array_, &image.format, all, flags));
        hipMemcpy3DParms copy{};
        const size_t pitch = image.extent[0] * image.element();
        copy.srcPtr = make_hipPitchedPtr(const_cast<unsigned char *>(image.bytes.data()), pitch, pitch, image.extent[1]);
        copy.dstArray = array_;
        copy.extent = make_hipExtent(image.extent[0], image.extent[1], image.extent[2]);
        copy.kind = hipMemcpyHostToDevice;
        HIP_OK(hipMemcpy3D(&copy));
    }
    ~Array() { (void)hipFreeArray(array_); }
    Array(const Array &) = delete;
    hipArray_t get() const { return array_; }
    hipResourceDesc resource() const {
        hipResourceDesc r{};
        r.resType = hipResourceTypeArray;
        r.res.array.array = array_;
        return r;
    }

  private:
    hipArray_t array_ = nullptr;
};

const int kSamples = 256;
/// Random places around the image, and some exactly on edges and middles of elements.
std::vector<float4> places(const Image &image, bool normalized, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<float4> all;
    for (int i = 0; i < kSamples; ++i) {
        float c[3];
        for (int d = 0; d < 3; ++d) {
            const int n = image.extent[d];
            const double elements = i % 4 == 0 ? static_cast<int>(random() % (5 * n)) * 0.5 : random() / 4294967296.0 * 5 * n - 2 * n;
            c[d] = static_cast<float>(normalized ? elements / n : elements);
        }
        all.push_back(make_float4(c[0], c[1], c[2], 0));
    }
    return all;
}
/// Whether `got` is right for the place, or for one so near that floats do not tell them apart. What lies exactly on an
/// edge or a middle is not moved.
bool right(const Sampler &sampler, const Image &image, const hipTextureDesc &mode, float4 at, int channel, double got, double tolerance) {
    for (int nudge = 0; nudge < 27; ++nudge) {
        const double c[3] = {at.x, at.y, at.z};
        double near[3];
        for (int d = 0, rest = nudge; d < 3; ++d, rest /= 3) {
            const double halves = 2 * c[d] * (mode.normalizedCoords ? image.extent[d] : 1);
            const double step = halves == std::floor(halves) ? 0 : 2e-6 * (mode.normalizedCoords ? 1 : image.extent[d]);
            near[d] = c[d] + (rest % 3 - (rest % 3 == 2 ? 3 : 0)) * step;
        }
        if (std::fabs(sampler.at(near, channel) - got) <= tolerance) return true;
    }
    return false;
}

template <class S> double channel_of(S v, int) { return v; }
template <class S, unsigned n> double channel_of(const HIP_vector_type<S, n> &v, int channel) {
    return channel == 0 ? v.x : channel == 1 ? v.y : channel == 2 ? v.z : v.w;
}
template <class S> constexpr int kChannels = 1;
template <class S, unsigned n> constexpr int kChannels<HIP_vector_type<S, n>> = n;

template <class T> void check_texture(const Image &image, const hipResourceDesc &resource, const hipTextureDesc &mode, int dimensions,
                                      double tolerance, unsigned seed) {
    hipTextureObject_t texture = nullptr;
    HIP_OK(hipCreateTextureObject(&texture, &resource, &mode, nullptr));
    const std::vector<float4> at = places(image, mode.normalizedCoords != 0, seed);
    DeviceArray<float4> in(at);
    DeviceArray<T> out(kSamples);
    sample<T><<<2, kSamples / 2>>>(texture, in.get(), out.get(), dimensions, kSamples);
    const std::vector<T> got = out.values();
    const Sampler sampler(image, mode);
    for (int i = 0; i < kSamples; ++i) {
        for (int c = 0; c < kChannels<T>; ++c) {
            CHECK(right(sampler, image, mode, at[i], c, channel_of(got[i], c), tolerance));
        }
    }
    HIP_OK(hipDestroyTextureObject(texture));
}

/// All modes for one format. `T` is what the kernel reads.
template <class T> void check_modes(hipChannelFormatDesc format, hipTextureReadMode read, bool linear, double tolerance) {
    const int extents[3][3] = {{16, 1, 1}, {8, 7, 1}, {6, 5, 4}};
    for (int dimensions = 1; dimensions <= 3; ++dimensions) {
        const int *e = extents[dimensions - 1];
        const Image image = random_image(e[0], e[1], e[2], format, dimensions);
        const Array array(image);
        for (int combination = 0; combination < 16; ++combination) {
            hipTextureDesc mode{};
            for (int d = 0; d < 3; ++d) mode.addressMode[d] = static_cast<hipTextureAddressMode>((combination + d * (combination / 8)) % 4);
            mode.normalizedCoords = combination / 4 % 2;
            mode.filterMode = linear && combination / 8 ? hipFilterModeLinear : hipFilterModePoint;
            mode.readMode = read;
            for (int c = 0; c < 4; ++c) mode.borderColor[c] = static_cast<float>(c + 1);
            check_texture<T>(image, array.resource(), mode, dimensions, tolerance, combination);
        }
    }
}

void check_formats() {
    const auto element = hipReadModeElementType, normalized = hipReadModeNormalizedFloat;
    check_modes<float>(hipCreateChannelDesc<float>(), element, true, 2e-4);
    check_modes<float4>(hipCreateChannelDesc<float4>(), element, true, 2e-4);
    check_modes<float4>(hipCreateChannelDesc<float2>(), element, true, 2e-4);
    check_modes<float>(hipCreateChannelDescHalf(), element, true, 2e-4);
    check_modes<float>(hipCreateChannelDesc<unsigned char>(), normalized, true, 2e-6);
    check_modes<float4>(hipCreateChannelDesc<uchar4>(), normalized, true, 2e-6);
    check_modes<float4>(hipCreateChannelDesc<char4>(), normalized, true, 2e-6);
    check_modes<float>(hipCreateChannelDesc<short>(), normalized, true, 2e-6);
    check_modes<float>(hipCreateChannelDesc<unsigned short>(), normalized, true, 2e-6);
    check_modes<unsigned char>(hipCreateChannelDesc<unsigned char>(), element, false, 0);
    check_modes<uchar4>(hipCreateChannelDesc<uchar4>(), element, false, 0);
    check_modes<short>(hipCreateChannelDesc<short>(), element, false, 0);
    check_modes<int>(hipCreateChannelDesc<int>(), element, false, 0);
    check_modes<unsigned>(hipCreateChannelDesc<unsigned>(), normalized, false, 0);
}

__global__ void fetch(hipTextureObject_t texture, int *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) tex1Dfetch(out + i, texture, i - 10);
}
void check_memory() {
    std::vector<int> row(300);
    for (int i = 0; i < 300; ++i) row[i] = 7 * i - 1000;
    DeviceArray<int> memory(row);
    hipResourceDesc linear{};
    linear.resType = hipResourceTypeLinear;
    linear.res.linear.devPtr = memory.get();
    linear.res.linear.desc = hipCreateChannelDesc<int>();
    linear.res.linear.sizeInBytes = 300 * sizeof(int);
    hipTextureDesc mode{};
    hipTextureObject_t texture = nullptr;
    HIP_OK(hipCreateTextureObject(&texture, &linear, &mode, nullptr));
    DeviceArray<int> out(320);
    fetch<<<5, 64>>>(texture, out.get(), 320);
    const std::vector<int> got = out.values();
    for (int i = 0; i < 320; ++i) CHECK(got[i] == (i >= 10 && i < 310 ? row[i - 10] : 0));
    hipResourceDesc told{};
    HIP_OK(hipGetTextureObjectResourceDesc(&told, texture));
    CHECK(told.res.linear.devPtr == memory.get());
    HIP_OK(hipDestroyTextureObject(texture));

    const Image image = random_image(45, 21, 1, hipCreateChannelDesc<float>(), 77);
    float *rows = nullptr;
    size_t pitch = 0;
    HIP_OK(hipMallocPitch(&rows, &pitch, 45 * sizeof(float), 21));
    HIP_OK(hipMemcpy2D(rows, pitch, image.bytes.data(), 45 * sizeof(float), 45 * sizeof(float), 21, hipMemcpyHostToDevice));
    hipResourceDesc pitched{};
    pitched.resType = hipResourceTypePitch2D;
    pitched.res.pitch2D.devPtr = rows;
    pitched.res.pitch2D.desc = image.format;
    pitched.res.pitch2D.width = 45;
    pitched.res.pitch2D.height = 21;
    pitched.res.pitch2D.pitchInBytes = pitch;
    mode.addressMode[0] = mode.addressMode[1] = mode.addressMode[2] = hipAddressModeMirror;
    mode.filterMode = hipFilterModeLinear;
    mode.normalizedCoords = 1;
    check_texture<float>(image, pitched, mode, 2, 2e-4, 5);
    HIP_OK(hipFree(rows));
}

__global__ void layers(hipTextureObject_t rows, hipTextureObject_t areas, float *out) {
    const int i = threadIdx.x, layer = static_cast<int>(i / 16) - 1;
    out[2 * i] = tex1DLayered<float>(rows, i % 16 + 0.5f, layer);
    out[2 * i + 1] = tex2DLayered<float>(areas, i % 4 + 0.5f, i / 4 % 4 + 0.5f, layer);
}
__global__ void levels(hipTextureObject_t area, float *wrong) {
    const float x = threadIdx.x * 0.37f, y = threadIdx.x * 0.11f, plain = tex2D<float>(area, x, y);
    const bool same = tex2DLod<float>(area, x, y, 3.0f) == plain &&
                      tex2DGrad<float>(area, x, y, make_float2(1, 2), make_float2(3, 4)) == plain;
    if (!same) atomicAdd(wrong, 1.0f);
}
__global__ void gather(hipTextureObject_t area, int4 *out) {
    out[threadIdx.x] = tex2Dgather<int4>(area, threadIdx.x % 8 + 1.0f, threadIdx.x / 8 + 1.0f, 1);
}
hipTextureObject_t create(const Array &array, const hipTextureDesc &mode) {
    const hipResourceDesc resource = array.resource();
    hipTextureObject_t texture = nullptr;
    HIP_OK(hipCreateTextureObject(&texture, &resource, &mode, nullptr));
    return texture;
}
void check_others() {
    const Image rows = random_image(16, 1, 5, hipCreateChannelDesc<float>(), 1), areas = random_image(4, 4, 6, hipCreateChannelDesc<float>(), 2);
    const Array row_array(rows, hipArrayLayered), area_array(areas, hipArrayLayered);
    hipTextureDesc mode{};
    for (auto &m : mode.addressMode) m = hipAddressModeClamp;
    const hipTextureObject_t row_texture = create(row_array, mode), area_texture = create(area_array, mode);
    DeviceArray<float> out(2 * 128);
    layers<<<1, 128>>>(row_texture, area_texture, out.get());
    const std::vector<float> got = out.values();
    for (int i = 0; i < 128; ++i) {
        const int layer = i / 16 - 1;
        CHECK(got[2 * i] == rows.stored(i % 16, 0, std::min(std::max(layer, 0), 4), 0));
        CHECK(got[2 * i + 1] == areas.stored(i % 4, i / 4 % 4, std::min(std::max(layer, 0), 5), 0));
    }
    HIP_OK(hipDestroyTextureObject(row_texture));
    HIP_OK(hipDestroyTextureObject(area_texture));

    const Image pairs = random_image(10, 6, 1, hipCreateChannelDesc<int2>(), 3);
    const Array pair_array(pairs, hipArrayTextureGather);
    const hipTextureObject_t pair_texture = create(pair_array, mode);
    DeviceArray<int4> corners(32);
    gather<<<1, 32>>>(pair_texture, corners.get());
    const std::vector<int4> four = corners.values();
    for (int i = 0; i < 32; ++i) {
        const int x = i % 8, y = i / 8;
        CHECK(four[i].x == pairs.stored(x, y + 1, 0, 1) && four[i].y == pairs.stored(x + 1, y + 1, 0, 1));
        CHECK(four[i].z == pairs.stored(x + 1, y, 0, 1) && four[i].w == pairs.stored(x, y, 0, 1));
    }
    HIP_OK(hipDestroyTextureObject(pair_texture));

    const Image colors = random_image(8, 8, 1, hipCreateChannelDesc<uchar4>(), 4);
    const Array color_array(colors);
    mode.readMode = hipReadModeNormalizedFloat, mode.filterMode = hipFilterModeLinear, mode.sRGB = 1;
    check_texture<float4>(colors, color_array.resource(), mode, 2, 4e-6, 6);
    const hipTextureObject_t color_texture = create(color_array, mode);
    DeviceArray<float> wrong(1);
    levels<<<1, 64>>>(color_texture, wrong.get());
    CHECK(wrong.values()[0] == 0);
    HIP_OK(hipDestroyTextureObject(color_texture));
}

void check_errors() {
    const Image image = random_image(8, 8, 1, hipCreateChannelDesc<unsigned char>(), 9);
    const Array array(image);
    hipResourceDesc resource = array.resource();
    hipTextureDesc mode{};
    hipTextureObject_t texture = nullptr;
    CHECK(hipCreateTextureObject(nullptr, &resource, &mode, nullptr) == hipErrorInvalidValue);
    CHECK(hipCreateTextureObject(&texture, &resource, nullptr, nullptr) == hipErrorInvalidValue);
    mode.filterMode = hipFilterModeLinear; // integers cannot be blended
    CHECK(hipCreateTextureObject(&texture, &resource, &mode, nullptr) == hipErrorInvalidValue);
    mode.filterMode = hipFilterModePoint;
    mode.maxAnisotropy = 4;
    CHECK(hipCreateTextureObject(&texture, &resource, &mode, nullptr) == hipErrorNotSupported);
    mode.maxAnisotropy = 0;
    hipResourceViewDesc view{};
    view.format = hipResViewFormatUnsignedChar1, view.width = view.height = 8; // as it is
    HIP_OK(hipCreateTextureObject(&texture, &resource, &mode, &view));
    HIP_OK(hipDestroyTextureObject(texture));
    view.format = hipResViewFormatSignedChar1;
    CHECK(hipCreateTextureObject(&texture, &resource, &mode, &view) == hipErrorNotSupported);
    resource.res.array.array = nullptr;
    CHECK(hipCreateTextureObject(&texture, &resource, &mode, nullptr) == hipErrorInvalidValue);
    DeviceArray<int> memory(64);
    hipResourceDesc linear{};
    linear.resType = hipResourceTypeLinear;
    linear.res.linear.devPtr = memory.get() + 1; // not aligned
    linear.res.linear.desc = hipCreateChannelDesc<int>();
    linear.res.linear.sizeInBytes = 16;
    CHECK(hipCreateTextureObject(&texture, &linear, &mode, nullptr) == hipErrorInvalidValue);
    linear.res.linear.devPtr = memory.get();
    linear.res.linear.sizeInBytes = 65 * sizeof(int); // beyond the allocation
    CHECK(hipCreateTextureObject(&texture, &linear, &mode, nullptr) == hipErrorInvalidValue);
    CHECK(hipDestroyTextureObject(nullptr) == hipSuccess);
    int supported = 0;
    HIP_OK(hipDeviceGetAttribute(&supported, hipDeviceAttributeImageSupport, 0));
    CHECK(supported == 1);
}

int main() {
    check_formats();
    check_memory();
    check_others();
    check_errors();
}
