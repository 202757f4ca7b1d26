// Vector types: layout, construction, operators, loads of a whole vector.
#include "check.h"

static_assert(sizeof(float4) == 16 && alignof(float4) == 16);
static_assert(sizeof(float3) == 12 && alignof(float3) == 4);
static_assert(sizeof(float2) == 8 && alignof(float2) == 8);
static_assert(sizeof(double4) == 32 && sizeof(double2) == 16 && alignof(double2) == 16);
static_assert(sizeof(char4) == 4 && alignof(uchar4) == 4 && sizeof(short3) == 6 && sizeof(longlong2) == 16);
static_assert(std::is_trivially_default_constructible_v<float4> && std::is_trivially_copyable_v<int3>);

__global__ void scale(float4 *v, int n) {
    __shared__ float4 tile[64]; // shared vectors need no constructor
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) tile[threadIdx.x] = v[i] * 2.0f + make_float4(1, 2, 3, 4);
    __syncthreads();
    if (i < n) v[i] = tile[threadIdx.x];
}
__global__ void operators(int *wrong) {
    int bad = 0;
    const int4 a = make_int4(7, 8, 9, 10), b{1, 2, 3, 4};
    bad += !(a + b == make_int4(8, 10, 12, 14)) + !(a - b == make_int4(6, 6, 6, 6));
    bad += !(a * b == make_int4(7, 16, 27, 40)) + !(a / b == make_int4(7, 4, 3, 2)) + !(a % b == make_int4(0, 0, 0, 2));
    bad += !((a & b) == make_int4(1, 0, 1, 0)) + !((a | b) == make_int4(7, 10, 11, 14));
    bad += !((a ^ b) == make_int4(6, 10, 10, 14)) + !((b << 1) == make_int4(2, 4, 6, 8)) + !((a >> 1).x == 3);
    bad += !(-a == make_int4(-7, -8, -9, -10)) + !(~b == make_int4(-2, -3, -4, -5)) + !(a != b);
    bad += !(10 - b == make_int4(9, 8, 7, 6)) + !(b * 3 == 3 * b);
    float2 f(1.5f, 2.5f);
    f += make_float2(1, 1);
    f *= 2.0f;
    f -= 1;
    f /= make_float2(2, 3);
    bad += !(f.x == 2 && f.y == 2);
    bad += !(f == 2.0f) + !(f++ == make_float2(2, 2)) + !(++f == float2(4.0f)) + !(--f == float2(3.0f));
    const float3 all(4.0f);
    bad += !(all.x == 4 && all.y == 4 && all.z == 4);
    const uchar4 wraps = make_uchar4(250, 1, 2, 3) + make_uchar4(10, 0, 0, 0);
    bad += !(wraps.x == 4);
    const double1 one = make_double1(3.5);
    bad += !(one.x == 3.5);
    const uint3 u = dim3(1, 2, 3);
    const dim3 d = u;
    bad += !(d.z == 3) + !(sizeof(u) == 12);
    const ulonglong2 wide = make_ulonglong2(1ull << 40, 2);
    bad += !((wide >> 8).x == 1ull << 32);
    *wrong = bad;
}

int main() {
    const int n = 100;
    std::vector<float> flat(4 * n);
    for (int i = 0; i < 4 * n; ++i) flat[i] = i;
    DeviceArray<float> data(flat);
    scale<<<2, 64>>>(reinterpret_cast<float4 *>(data.get()), n);
    const auto values = data.values();
    for (int i = 0; i < 4 * n; ++i) CHECK(values[i] == 2 * flat[i] + i % 4 + 1);
    DeviceArray<int> wrong(1);
    operators<<<1, 1>>>(wrong.get());
    CHECK(wrong.values()[0] == 0);
}
