// Kernels that can be split at their barriers into loops over the work-items, with locals of all kinds that live across
// barriers. Prints a checksum of what each writes; the expected ones come from runs in which each work-item had a stack
// of its own. Neighbours read each other's values, so that a barrier too few or too many changes the result.
#include "check.h"
#include <cstdint>

constexpr int kSize = 192, kGrid = 3;
#define UNROLLED 4

__device__ int mix(int x) { return static_cast<int>(static_cast<uint32_t>(x) * 2654435761u >> 7); }
__device__ void add_to(int &sum, int x) { sum += x; }
__device__ int *pick(int *a, int *b, bool first) { return first ? a : b; }
struct Pair {
    int a, b;
    __device__ int sum() const { return a + b; }
    __device__ Pair &operator+=(int x) { a += x; b ^= a; return *this; }
};

__global__ void scalars(int *out, int n) {
    __shared__ int s[kSize];
    const int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
    int sum = mix(g), k = 3;
    unsigned char narrow = static_cast<unsigned char>(sum);
    bool odd = (sum & 1) != 0;
    double d = t * 0.5;
    for (int i = 0; i < n; ++i) {
        s[t] = sum + narrow;
        __syncthreads();
        sum = s[(t + 1) % blockDim.x] ^ (sum << 1);
        narrow += odd ? 3 : 250;
        if (sum % 3 == 0) odd = !odd;
        d = d * 0.5 + (sum & 15);
        k += i;
        __syncthreads();
    }
    out[g] = sum + narrow + odd + static_cast<int>(d * 16) + k;
}
__global__ void arrays(int *out, int n) {
    __shared__ int s[kSize];
    const int t = threadIdx.x;
    int acc[UNROLLED] = {t, t + 1};
    int grid[2][3];
    for (int i = 0; i < 6; ++i) grid[i / 3][i % 3] = mix(t + i);
    const int table[3] = {5, 7, 11};
    for (int i = 0; i < n; ++i) {
        s[t] = acc[i % UNROLLED];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < UNROLLED; ++j) acc[j] += s[(t + j) % blockDim.x] * table[i % 3] + grid[j & 1][j % 3];
        __syncthreads();
        grid[i & 1][i % 3] ^= acc[t % UNROLLED];
    }
    int total = 0;
    for (int a : acc) total = total * 31 + a;
    out[blockIdx.x * blockDim.x + t] = total + grid[1][2];
}
__global__ void pointers_to_locals(int *out) {
    __shared__ int s[kSize];
    const int t = threadIdx.x;
    int first = mix(t), second = mix(t + 1000), third[3] = {1, 2, 3};
    int *chosen = pick(&first, &second, t % 3 == 0);
    int *element = third + t % 3;
    int &named = t & 1 ? first : second;
    s[t] = *chosen;
    __syncthreads();
    *chosen += s[kSize - 1 - t];
    *element = first ^ second;
    named -= 5;
    __syncthreads();
    s[t] = first + third[2];
    __syncthreads();
    add_to(second, s[(t + 7) % kSize]);
    out[blockIdx.x * blockDim.x + t] = first * 3 + second + third[0] + third[1] + third[2] + *chosen;
}
__global__ void structures(int *out, int n) {
    __shared__ Pair s[kSize];
    const int t = threadIdx.x;
    Pair p{t, mix(t)};
    Pair q = p;
    dim3 where(t, 2, 3);
    int4 v = make_int4(t, 1, 2, 3);
    for (int i = 0; i < n; i++) {
        s[t] = p;
        __syncthreads();
        q += s[(t + i) % kSize].b;
        p = s[(t + 3) % kSize];
        where.y += q.a & 3;
        v.w ^= v.x + i;
        v.x += p.sum();
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = p.sum() * 7 + q.sum() + static_cast<int>(where.y) + v.x + v.w;
}
template <class T, int N> __global__ void templated(T *out, T scale) {
    __shared__ T s[N];
    const auto t = threadIdx.x;
    auto mine = static_cast<T>(mix(t));
    auto next = mine * scale;
    T other = mine;
    for (int half = N / 2; half > 0; half >>= 1) {
        s[t] = next;
        __syncthreads();
        auto read = s[(t + half) % N];
        __syncthreads();
        next = read + other;
        other = mine + static_cast<T>(half);
    }
    out[blockIdx.x * N + t] = next + other;
}
__global__ void early_returns(int *out, int n) {
    __shared__ int s[kSize];
    const int t = threadIdx.x;
    s[t] = t;
    if (t >= n) return;
    if (blockIdx.x == 1) {
        out[blockIdx.x * blockDim.x + t] = -1;
        return;
    }
    int sum = 0;
    for (int i = 0; i < 6; ++i) {
        __syncthreads();
        for (int j = 0; j < 3; ++j) {
            if (t == 40 * i + j) return;
            sum += s[(t + j) % n];
        }
        __syncthreads();
        s[t] = sum + i;
    }
    out[blockIdx.x * blockDim.x + t] = sum;
}
__global__ void all_return_from_an_endless_loop(int *out) {
    __shared__ int s[kSize];
    const int t = threadIdx.x;
    int turns = 0;
    s[t] = 0;
    while (true) {
        __syncthreads();
        if (turns > t % 5) {
            out[blockIdx.x * blockDim.x + t] = turns * 10 + s[(t + 1) % kSize];
            return;
        }
        ++turns;
        __syncthreads();
        s[t] = turns;
    }
}
__global__ void jumps(int *out, int n) {
    __shared__ int s[kSize];
    const int t = threadIdx.x;
    int sum = t;
    for (int i = 0; i < 10; ++i) {
        if (i == n) continue;
        s[t] = sum;
        __syncthreads();
        switch (sum % 4) {
        case 0: sum += 1; break;
        case 1: sum += s[(t + 1) % kSize]; // falls through
        case 2: sum -= 2; break;
        default: sum ^= i;
        }
        __syncthreads();
        for (int j = 0;; ++j) {
            if (j == 2) continue;
            if (j > t % 4) break;
            sum += j;
        }
        if (i > n + 4) break;
    }
    int k = 0;
    do {
        __syncthreads();
        s[t] = sum + k;
        __syncthreads();
        sum += s[kSize - 1 - t];
        k += 2;
        if (k == 4) continue;
        sum ^= 1;
    } while (k < n + 2);
    while (k > 0) {
        if (k % 2 == 0) {
            __syncthreads();
            s[t] = sum;
        } else if (k == 3) {
            sum += 3;
        } else {
            __syncthreads();
            sum += s[(t + k) % kSize];
        }
        --k;
    }
    out[blockIdx.x * blockDim.x + t] = sum;
}
__global__ void nested(int *out, int rows, int columns) {
    __shared__ int s[kSize];
    const int t = threadIdx.x;
    int sum = 1;
    for (int r = 0; r < rows; ++r) {
        int row = mix(r + t);
        const int base = r * 5;
        for (int c = r; c < columns; ++c) {
            int cell = row + c;
            s[t] = cell;
            __syncthreads();
            row += s[(t + base + c) % kSize];
            __syncthreads();
            sum = sum * 3 + cell - row;
        }
        if (rows > 2) {
            s[t] = sum;
            __syncthreads();
            {
                int inner = s[(t + 1) % kSize];
                __syncthreads();
                s[t] = inner;
            }
            __syncthreads();
        }
        sum += row;
    }
    out[blockIdx.x * blockDim.x + t] = sum + s[t];
}
__global__ void changed_parameters(int *out, const int *in, int n) {
    extern __shared__ int s[];
    out += blockIdx.x * blockDim.x;
    const int t = threadIdx.x;
    int sum = 0;
    int offset = 1;
    for (int left = n; left > 0; left -= 2) {
        const int mine = in[t] + offset;
        s[t] = mine;
        __syncthreads();
        sum += s[(t + offset) % blockDim.x] * mine;
        __syncthreads();
        in += 3;
        offset <<= 1;
        if (offset > 8) {
            offset = 1;
        }
    }
    out[t] = sum;
}
__global__ void names_hidden_by_others(int *out, int n) {
    __shared__ int s[kSize];
    const int t = threadIdx.x;
    int i = t, x = 1;
    s[t] = i;
    __syncthreads();
    for (int i = 0; i < n; ++i) {
        int x = s[(t + i) % kSize];
        __syncthreads();
        { int i = x + 1; s[t] = i; }
        __syncthreads();
        for (int x = 0; x < 2; ++x) s[t] += x + i;
        __syncthreads();
    }
    auto add = [&](int x) { i += x; return i + s[t]; };
    x += add(2);
    out[blockIdx.x * blockDim.x + t] = i + x;
}
__global__ void two_dimensions(int *out, int n) {
    __shared__ int s[8][25];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * 8 + y, column = blockIdx.x * 24 + x;
    int value = mix(row * 100 + column);
    for (int k = 0; k < n; ++k) {
        s[y][x] = value;
        __syncthreads();
        value = s[(y + 1) % 8][x] + s[y][(x + k) % 24] * (threadIdx.z + 1);
        __syncthreads();
    }
    out[blockIdx.x * kSize + y * 24 + x] = value;
}
__global__ void references(int *out) {
    __shared__ int s[kSize];
    int &mine = s[threadIdx.x];
    mine = mix(threadIdx.x);
    __syncthreads();
    const int next = s[(threadIdx.x + 1) % kSize];
    __syncthreads();
    mine += next;
    __syncthreads();
    auto *cell = &out[blockIdx.x * kSize + threadIdx.x];
    __syncthreads();
    *cell = s[kSize - 1 - threadIdx.x];
}

namespace {
void report(const char *name, DeviceArray<int> &out) {
    uint32_t sum = 17;
    for (int v : out.values()) sum = sum * 1000003u ^ static_cast<uint32_t>(v);
    std::printf("%s %08x\n", name, sum);
}
} // namespace

#define RUN(kernel, ...)                                                                                               \
    do {                                                                                                               \
        DeviceArray<int> out(kGrid *kSize);                                                                            \
        kernel<<<kGrid, kSize, kSize * sizeof(int)>>>(out.get(), ##__VA_ARGS__);                                       \
        report(#kernel, out);                                                                                          \
    } while (0)

int main() {
    std::vector<int> numbers(kSize * 2);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i * i % 97);
    DeviceArray<int> in(numbers);
    RUN(scalars, 9);
    RUN(arrays, 7);
    RUN(pointers_to_locals);
    RUN(structures, 5);
    RUN((templated<int, kSize>), 3);
    RUN(early_returns, 150);
    RUN(early_returns, 0);
    RUN(all_return_from_an_endless_loop);
    for (int n : {0, 3, 12}) RUN(jumps, n);
    RUN(nested, 4, 6);
    RUN(nested, 2, 2);
    RUN(changed_parameters, in.get(), 12);
    RUN(names_hidden_by_others, 5);
    RUN(references);

    // The same launches where the compiler sees the kernel's name: whole blocks are run at once.
    DeviceArray<int> out(kGrid * kSize);
    scalars<<<kGrid, kSize>>>(out.get(), 9);
    report("scalars", out);
    early_returns<<<kGrid, kSize>>>(out.get(), 150);
    report("early_returns", out);
    two_dimensions<<<dim3(3), dim3(24, 8)>>>(out.get(), 6);
    report("two_dimensions", out);
    templated<int, 64><<<kGrid, 64>>>(out.get(), -3);
    report("templated 64", out);
    arrays<<<2, 65>>>(out.get(), 7);
    report("arrays", out);
    changed_parameters<<<1, 1, 4>>>(out.get(), in.get(), 12);
    report("changed_parameters", out);
}
