// Half precision: operators, pairs, implicit conversions, shuffles and atomics. half_formats.hip has every value.
#include "check.h"
#include <hip/hip_fp16.h>

static_assert(sizeof(__half) == 2 && sizeof(__half2) == 4 && alignof(half2) == 4);

__global__ void axpy(float a, const __half *x, __half *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma(__float2half(a), x[i], y[i]);
}
__global__ void operators(int *wrong) {
    int bad = 0;
    const half a = __float2half(1.5f), b = 2;
    bad += !(a + b == half(3.5f)) + !(a - b == half(-0.5f)) + !(a * b == half(3)) + !(b / a > half(1.33f));
    bad += !(-a < b) + !(__hgt(b, a)) + !(__half2float(a * 2.0f) == 3.0f) + !(float(a) + 1 == 2.5f);
    bad += !(__half2float(__float2half(1.0f / 3)) == 0.333251953125f); // rounded to 11 bits
    bad += !(__half_as_ushort(half(1.0f)) == 0x3c00) + !(__ushort_as_half(0xc000) == half(-2.0f));
    bad += !(__half2int_rn(half(2.5f)) == 2) + !(__hisnan(__ushort_as_half(0x7e00)));
    const half2 p = __floats2half2_rn(1, 2), q = __half2half2(half(3));
    const float2 r = __half22float2(__hfma2(p, q, q));
    bad += !(r.x == 6 && r.y == 9) + !(__low2float(p + q) == 4) + !(__high2float(__hmul2(p, q)) == 6);
    bad += !(__half2float(hsqrt(half(4.0f))) == 2) + !(__half2float(hexp(half(0.0f))) == 1);
    half c = 1.0f;
    c += half(0.0004f); // too little for 11 bits
    bad += !(c == half(1.0f));
    *wrong = bad;
}
__global__ void sum(float *out) {
    half v = half(static_cast<float>(threadIdx.x % 8));
    for (int d = 32; d > 0; d /= 2) v += __shfl_xor(v, d);
    out[threadIdx.x] = __half2float(v);
}

__global__ void conversions(int *wrong) {
    int bad = 0;
    const half h = 2.75f, zero = 0;
    const int i = h;
    const double d = h;
    const unsigned char byte = static_cast<unsigned char>(h);
    bad += (i != 2) + (d != 2.75) + (byte != 2) + (h ? 0 : 1) + (zero ? 1 : 0) + !(!zero) + !(half(true) == 1);
    bad += !(1 + h == 3.75f) + !(h * 2 == half(5.5)) + !(0.5 < h) + !(h >= 2u) + !(8 / half(2) == 4);
    half v = h;
    bad += !(v++ == 2.75f) + !(v == 3.75f) + !(--v == 2.75f);
    volatile half kept;
    kept = __half_raw(h);
    bad += !(half(static_cast<__half_raw>(kept)) == h);
    const __half_raw raw = h;
    bad += (raw.x != 0x4180) + (static_cast<float>(raw.data) != 2.75f);
    half2 p = make_half2(half(1), half(-2));
    const __half2_raw pair = p;
    bad += (static_cast<float>(pair.data.x) != 1) + (pair.y.x != 0xc000);
    bad += !(half2(pair) == p) + !((p++).x == half(1)) + !(p == make_half2(2, -1)) + !(-p < make_half2(0, 2));
    p /= half2(half(2));
    bad += !(p.x == half(1)) + !(p.y == half(-0.5f));
    const half2 lows = __lows2half2(p, -p), highs = __highs2half2(p, -p), swapped = __lowhigh2highlow(p);
    bad += !(lows == make_half2(1, -1)) + !(highs == make_half2(-0.5f, 0.5f)) + !(swapped == make_half2(-0.5f, 1));
    bad += amd_mixed_dot(make_half2(3, 4), make_half2(5, -6), 0.25f, false) != -8.75f;
    bad += amd_mixed_dot(make_half2(3, 4), make_half2(5, 6), 0.25f, true) != 1;
    *wrong = bad;
}
/// Each work-item adds to the pair and reads the neighbour's pair.
__global__ void pairs(half2 *total, half *single, const half2 *values, float2 *neighbour) {
    const half2 mine = __ldg(values + threadIdx.x);
    unsafeAtomicAdd(total, mine);
    atomicAdd(single, __low2half(mine));
    neighbour[threadIdx.x] = __half22float2(__shfl_down(mine, 1));
}

int main() {
    const int n = 300;
    std::vector<__half> x(n), y(n);
    for (int i = 0; i < n; ++i) {
        x[i] = __float2half(i * 0.25f);
        y[i] = __float2half(1.0f);
    }
    DeviceArray<__half> dx(x), dy(y);
    axpy<<<(n + 63) / 64, 64>>>(2.0f, dx.get(), dy.get(), n);
    for (int i = 0; i < n; ++i) CHECK(__half2float(dy.values()[i]) == i * 0.5f + 1.0f);
    DeviceArray<int> wrong(1);
    operators<<<1, 1>>>(wrong.get());
    CHECK(wrong.values()[0] == 0);
    DeviceArray<float> sums(64);
    sum<<<1, 64>>>(sums.get());
    for (float v : sums.values()) CHECK(v == 224);
    DeviceArray<int> unlike(1);
    conversions<<<1, 1>>>(unlike.get());
    CHECK(unlike.values()[0] == 0);

    std::vector<half2> values(64);
    float low = 0, high = 0;
    for (int i = 0; i < 64; ++i) {
        values[i] = __floats2half2_rn(i % 5 - 1.0f, i * 0.25f);
        low += i % 5 - 1.0f, high += i * 0.25f;
    }
    DeviceArray<half2> in(values), total(1);
    DeviceArray<half> single(1);
    DeviceArray<float2> neighbours(64);
    pairs<<<1, 64>>>(total.get(), single.get(), in.get(), neighbours.get());
    CHECK(__low2float(total.values()[0]) == low && __high2float(total.values()[0]) == high);
    CHECK(__half2float(single.values()[0]) == low);
    const std::vector<float2> moved = neighbours.values();
    for (int i = 0; i < 63; ++i) CHECK(moved[i].x == (i + 1) % 5 - 1.0f && moved[i].y == (i + 1) * 0.25f);
    CHECK(moved[63].x == 63 % 5 - 1.0f && moved[63].y == 63 * 0.25f);
}
