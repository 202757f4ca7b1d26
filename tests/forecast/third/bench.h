// What the files of the third suite share: buffers, checks, and the bench that times a variant. ../README.md says how they
// are built and timed.
#pragma once
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#if defined(KS_WAVE_SIZE)
#define WARP KS_WAVE_SIZE
#elif defined(__HIP_PLATFORM_NVIDIA__)
#define WARP 32
#else
#define WARP 64
#endif

#ifdef SMALL
#define SIZE(real, small) (small)
#else
#define SIZE(real, small) (real)
#endif

#define CK(call)                                                                                                       \
    do {                                                                                                               \
        hipError_t error_ = (call);                                                                                    \
        if (error_ != hipSuccess) {                                                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error_));                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/// Bit i is set where the wave's work-item i says so; all of the wave must be there.
static __device__ __forceinline__ unsigned long long wave_ballot(int says) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __ballot_sync(0xffffffffu, says);
#else
    return __ballot(says);
#endif
}

/// Random numbers that are the same on each machine.
struct Random {
    uint64_t state;
    explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15ull + 1) {}
    uint32_t next() {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        uint32_t high = static_cast<uint32_t>(state >> 32);
        return high ^ (high >> 15);
    }
    uint32_t below(uint32_t n) { return static_cast<uint32_t>((static_cast<uint64_t>(next()) * n) >> 32); }
    float uniform(float low, float high) { return low + (high - low) * (next() >> 8) * (1.0f / 16777216); }
};

inline std::vector<float> random_floats(size_t n, float low, float high, uint64_t seed) {
    Random random(seed);
    std::vector<float> values(n);
    for (float &value : values) value = random.uniform(low, high);
    return values;
}

inline std::vector<unsigned> random_words(size_t n, uint64_t seed) {
    Random random(seed);
    std::vector<unsigned> values(n);
    for (unsigned &value : values) value = random.next();
    return values;
}

struct Written {
    void *data;
    size_t bytes;
    bool cleared;
};
inline std::vector<Written> &written() {
    static std::vector<Written> all;
    return all;
}

/// Device memory of n values, freed with the object.
template <class T> struct Device {
    T *data = nullptr;
    size_t n;
    explicit Device(size_t count) : n(count) { CK(hipMalloc(reinterpret_cast<void **>(&data), n * sizeof(T))); }
    explicit Device(const std::vector<T> &from) : Device(from.size()) { upload(from); }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
    ~Device() { CK(hipFree(data)); }
    void upload(const std::vector<T> &from) { CK(hipMemcpy(data, from.data(), n * sizeof(T), hipMemcpyHostToDevice)); }
    std::vector<T> host() const {
        std::vector<T> values(n);
        CK(hipMemcpy(values.data(), data, n * sizeof(T), hipMemcpyDeviceToHost));
        return values;
    }
    operator T *() const { return data; }
    template <class U> U *as() const { return reinterpret_cast<U *>(data); }
};

enum class Before { poisoned, cleared };

/// What a variant writes: poisoned before its first launch, or set to zero before each, outside of the time.
template <class T> struct Output : Device<T> {
    explicit Output(size_t count, Before before = Before::poisoned) : Device<T>(count) {
        written().push_back({this->data, count * sizeof(T), before == Before::cleared});
    }
    ~Output() {
        auto &all = written();
        all.erase(std::remove_if(all.begin(), all.end(), [&](const Written &w) { return w.data == this->data; }),
                  all.end());
    }
};

template <class T> static T div_up(T n, T d) { return (n + d - 1) / d; }

/// Near by an error relative to 1 + |wanted|; never for NaN.
inline bool near_to(double got, double wanted, double tolerance) {
    return std::fabs(got - wanted) <= tolerance * (1 + std::fabs(wanted));
}

/// Whether `right(index)` holds for both ends of 0..n and for `count` indices between, at random.
template <class F> static bool sampled(size_t n, size_t count, F right) {
    Random random(11);
    for (size_t q = 0; q < count + 128; q++) {
        size_t i = q < 64 ? q : q < 128 ? n - 1 - (q - 64) : random.below(static_cast<uint32_t>(n));
        if (i < n && !right(i)) {
            fprintf(stderr, "wrong at %zu of %zu\n", i, n);
            return false;
        }
    }
    return true;
}

inline std::string &filter() {
    static std::string text;
    return text;
}
inline bool &failed() {
    static bool any = false;
    return any;
}

/// Whether a variant of this family can be among those asked for.
inline bool wanted(const char *family) {
    size_t slash = filter().find('/');
    if (slash == std::string::npos) return true;
    std::string name = family, end = filter().substr(0, slash);
    return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

#if !defined(SMALL) && !defined(ONCE)
static __global__ void flush_read(const float4 *from, float *sum, int n) {
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 q = from[i];
        v += q.x + q.y + q.z + q.w;
    }
    if (v == 12345.f) *sum = v;
}

/// Median of 20 repetitions in microseconds, after three that do not count, each with the caches flushed.
template <class R> static float time_of(R run) {
    static const size_t bytes = 256u << 20;
    static Device<char> space(bytes);
    static Device<float> sum(1);
    hipEvent_t begin, end;
    CK(hipEventCreate(&begin));
    CK(hipEventCreate(&end));
    std::vector<float> times;
    for (int repetition = 0; repetition < 23; repetition++) {
        for (const Written &w : written())
            if (w.cleared || repetition == 0) CK(hipMemset(w.data, w.cleared ? 0 : 0xA5, w.bytes));
        CK(hipMemset(space, repetition, bytes));
        flush_read<<<dim3(1024), dim3(256)>>>(space.as<float4>(), sum, static_cast<int>(bytes / 16));
        CK(hipEventRecord(begin, 0));
        run();
        CK(hipEventRecord(end, 0));
        CK(hipEventSynchronize(end));
        CK(hipGetLastError());
        float ms;
        CK(hipEventElapsedTime(&ms, begin, end));
        if (repetition >= 3) times.push_back(ms * 1e3f);
    }
    std::sort(times.begin(), times.end());
    return (times[9] + times[10]) / 2;
}
#else
template <class R> static float time_of(R run) {
    for (const Written &w : written()) CK(hipMemset(w.data, w.cleared ? 0 : 0xA5, w.bytes));
    run();
    CK(hipGetLastError());
    CK(hipDeviceSynchronize());
    return 0;
}
#endif

/// Times a variant, checks what its last launch left, and prints the line.
template <class R, class C> static void bench(const char *family, const char *variant, R run, C check) {
    if ((std::string(family) + "/" + variant).find(filter()) == std::string::npos) return;
    float us = time_of(run);
#ifdef ONCE
    bool right = true;
    (void)check;
#else
    bool right = check();
#endif
    failed() |= !right;
    printf("%s %s %.2f %d\n", family, variant, us, static_cast<int>(right));
    fflush(stdout);
}

/// The argument, if any: a part of "family/variant".
inline void read_filter(int argc, char **argv) { filter() = argc > 1 ? argv[1] : ""; }
