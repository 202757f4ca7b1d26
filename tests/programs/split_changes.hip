// Variables of split kernels that are changed or hidden in ways that are easy to overlook: work-items keep their own.
#include "check.h"
#include <utility>

#define PLUS_ONE(x) ((x) + 1)

struct Args {
    int weights[4];
    int bias;
};

struct Holder {
    int &value;
};

__device__ void fill(int *values, int first) {
    for (int i = 0; i < 4; ++i) values[i] = first + i;
}

template <class T> __device__ void assign(T to) { to = threadIdx.x; }

__global__ void hidden_parameter(int *out, int n) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    const int sum = n + t, twice = sum * 2;
    s[t] = sum;
    __syncthreads();
    for (int n = 0; n < 3; ++n) {
        const int sum = s[(t + n) & 63];
        __syncthreads();
        out[t] += sum * n + twice;
    }
}

__global__ void swapped_buffers(int *out, int n) {
    __shared__ int first[64], second[64];
    int *from = first, *to = second;
    const int t = threadIdx.x;
    from[t] = t;
    __syncthreads();
    for (int i = 0; i < n; ++i) {
        to[t] = from[(t + 1) & 63] + i;
        __syncthreads();
        std::swap(from, to);
    }
    out[t] = from[t];
}

__global__ void changed_through_something(int *out, int n) {
    const int t = threadIdx.x;
    int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0, j = n;
    (a) = t;
    (t & 1 ? b : c) = PLUS_ONE(t);
    reinterpret_cast<int &>(d) = t * 2;
    [&r = e] { r = threadIdx.x * 3; }();
    Holder{f}.value = t * 4;
    [](int &r) { r = threadIdx.x * 5; }(g);
    assign<int &>(h);
    ++(i);
    if (t & 2) std::swap(i, j);
    __syncthreads();
    out[t] = a + 7 * b + 11 * c + 13 * d + 17 * e + 19 * f + 23 * g + 29 * h + 31 * i + 37 * j;
}

__global__ void arrays_in_parameters(int *out, Args args) {
    const int t = threadIdx.x;
    fill(args.weights, t);
    __syncthreads();
    out[t] = args.weights[3] * args.bias;
}

__global__ void elements_by_reference(int *out, Args args) {
    const int t = threadIdx.x;
    for (int &weight : args.weights) weight *= t;
    __syncthreads();
    out[t] = args.weights[2] + args.bias;
}

// `half` names a type as well; what follows from the variable must not be made again once it has changed.
__global__ void named_as_a_type(int *out, int n) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    int half = n * t;
    const int sum = half + t;
    half += 1;
    s[t] = sum;
    __syncthreads();
    out[t] = sum + 3 * half + 5 * s[63 - t];
}

__device__ int other, scale;

// Some function's constant has the name of a variable that the kernel changes.
__global__ void named_as_a_constant(int *out) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    const int before = scale + t;
    s[t] = before;
    __syncthreads();
    if (t == 0) scale = 100;
    __syncthreads();
    out[t] = 3 * before + 5 * s[63 - t] + other;
}

// The loop's own variable lives in the loop, whatever else is kept.
__global__ void ranged_over(int *out, int n) {
    const int t = threadIdx.x;
    int values[4] = {t, n, 2, 3};
    int *second = &values[1];
    __syncthreads();
    for (int &value : values) value += t;
    for (int value : values) *second += value;
    __syncthreads();
    out[t] = values[1];
}

template <class Launch, class Expected> void run(const char *name, Launch launch, Expected expected) {
    DeviceArray<int> out(64);
    launch(out.get());
    HIP_OK(hipGetLastError());
    const std::vector<int> found = out.values();
    for (int t = 0; t < 64; ++t) {
        if (found[t] != expected(t)) std::fprintf(stderr, "%s: %d: %d, not %d\n", name, t, found[t], expected(t));
        CHECK(found[t] == expected(t));
    }
}

int main() {
    const Args args{{3, 5, 7, 9}, 4};
    run("hidden_parameter", [](int *out) { hidden_parameter<<<1, 64>>>(out, 5); },
        [](int t) { return (5 + (t + 1) % 64) + 2 * (5 + (t + 2) % 64) + 3 * 2 * (5 + t); });
    run("swapped_buffers", [](int *out) { swapped_buffers<<<1, 64>>>(out, 5); },
        [](int t) { return (t + 5) % 64 + 0 + 1 + 2 + 3 + 4; });
    run("changed_through_something", [](int *out) { changed_through_something<<<1, 64>>>(out, 9); }, [](int t) {
        const int odd = t & 1, swapped = (t & 2) != 0;
        return t + (odd ? 7 : 11) * (t + 1) + 13 * 2 * t + 17 * 3 * t + 19 * 4 * t + 23 * 5 * t + 29 * t +
               31 * (swapped ? 9 : 1) + 37 * (swapped ? 1 : 9);
    });
    run("arrays_in_parameters", [&](int *out) { arrays_in_parameters<<<1, 64>>>(out, args); },
        [](int t) { return (t + 3) * 4; });
    run("elements_by_reference", [&](int *out) { elements_by_reference<<<1, 64>>>(out, args); },
        [](int t) { return 7 * t + 4; });
    run("named_as_a_type", [](int *out) { named_as_a_type<<<1, 64>>>(out, 5); },
        [](int t) { return 6 * t + 3 * (5 * t + 1) + 5 * 6 * (63 - t); });
    const int scale = 0;
    run("named_as_a_constant", [](int *out) { named_as_a_constant<<<1, 64>>>(out); },
        [scale](int t) { return scale + 3 * t + 5 * (63 - t); });
    run("ranged_over", [](int *out) { ranged_over<<<1, 64>>>(out, 7); }, [](int t) {
        int values[4] = {2 * t, 7 + t, 2 + t, 3 + t};
        for (int i = 0; i < 4; ++i) values[1] += values[i];
        return values[1];
    });
    return 0;
}
