// Bit and integer intrinsics against values worked out by hand.
#include "check.h"

__global__ void compute(long long *out, int minus_two, unsigned big, unsigned long long wide) {
    int i = 0;
    out[i++] = __popc(0xf0f0u);
    out[i++] = __popcll(wide);
    out[i++] = __clz(1) * 100 + __clz(0);
    out[i++] = __clzll(1) * 100 + __clzll(0);
    out[i++] = __ffs(8) * 100 + __ffs(0);
    out[i++] = __ffsll(1ull << 40);
    out[i++] = __brev(1u);
    out[i++] = __brevll(2ull) >> 32;
    out[i++] = __byte_perm(0x33221100, 0x77665544, 0x7410);
    out[i++] = __funnelshift_l(0x80000000u, 1u, 4);
    out[i++] = __funnelshift_r(0x80000000u, 1u, 4);
    out[i++] = __funnelshift_lc(7u, 1u, 40);
    out[i++] = __umulhi(big, 4u);
    out[i++] = __mulhi(minus_two, 1 << 30);
    out[i++] = __mul24(minus_two, 3);
    out[i++] = __umul24(0xff000003u, 5u);
    out[i++] = __sad(minus_two, 5, 10u);
    out[i++] = __usad(3u, 5u, 1u);
    out[i++] = __hadd(minus_two, 5);
    out[i++] = __rhadd(3, 4);
    out[i++] = __umul64hi(wide, 2ull);
    out[i++] = __float2int_rn(2.5f) * 10 + __float2int_rz(-2.7f);
    out[i++] = __float2int_rd(-2.1f) * 10 + __float2int_ru(2.1f);
    out[i++] = __float2uint_rn(3e10f);
    out[i++] = __double2ll_rn(1e12);
    out[i++] = __float_as_int(1.0f);
    out[i++] = __double2hiint(1.0) + __double2loint(1.0);
    out[i++] = static_cast<long long>(__hiloint2double(0x40000000, 0) * 10 + __int_as_float(0x40400000));
    out[i++] = min(3, 5u) + max(-1ll, 2) * 10;
    out[i++] = static_cast<long long>(min(2.5f, 1.5) * 10 + max(2.0f, nanf("")));
    out[i++] = __bitextract_u32(0xabcdu, 4, 8);
}

int main() {
    const long long expected[] = {8,          33,         3132,       6364, 400,        41,
                                  0x80000000, 0x40000000, 0x77441100, 0x18, 0x18000000, 7,
                                  3,          -1,         -6,         15,   17,         3,
                                  1,          4,          1,          18,   -27,        0xffffffff,
                                  1000000000000, 0x3f800000, 0x3ff00000, 23, 23,        17, 0xbc};
    const size_t count = sizeof expected / sizeof *expected;
    DeviceArray<long long> out(count);
    compute<<<1, 1>>>(out.get(), -2, 0xf0000000u, 0x80000000ffffffffull);
    const auto values = out.values();
    for (size_t i = 0; i < count; ++i) {
        if (values[i] != expected[i]) {
            std::fprintf(stderr, "result %zu is %llx, not %llx\n", i, values[i], expected[i]);
            return 1;
        }
    }
}
