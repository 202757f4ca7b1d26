// Every matrix instruction of gfx942 against products in double precision. Where an element stands in the registers is
// said here as AMD's documentation says it (element to work-item and register), apart for A, B and C/D.
#include "check.h"
#include "matrix_data.h"

template <class Op, int cbsz, int abid, int blgp>
__global__ void multiply(const typename Op::A *a, const typename Op::B *b, const typename Op::D *c, typename Op::D *d) {
    const int lane = threadIdx.x;
    d[lane] = Op::template call<cbsz, abid, blgp>(a[lane], b[lane], c[lane]);
}

#define OP(NAME, SIZE, DEPTH, BLOCKS, EA, EB, TA, TB, TD)                                                              \
    struct NAME {                                                                                                      \
        static constexpr Shape shape = {SIZE, DEPTH, BLOCKS, EA, EB};                                                  \
        static constexpr const char *name = #NAME;                                                                     \
        using A = TA;                                                                                                  \
        using B = TB;                                                                                                  \
        using D = TD;                                                                                                  \
        template <int cbsz, int abid, int blgp> static __device__ D call(A a, B b, D c) {                              \
            return __builtin_amdgcn_##NAME(a, b, c, cbsz, abid, blgp);                                                 \
        }                                                                                                              \
    };
OP(mfma_f32_32x32x1f32, 32, 1, 2, F32, F32, float, float, Float32)
OP(mfma_f32_16x16x1f32, 16, 1, 4, F32, F32, float, float, Float16)
OP(mfma_f32_4x4x1f32, 4, 1, 16, F32, F32, float, float, Float4)
OP(mfma_f32_32x32x2f32, 32, 2, 1, F32, F32, float, float, Float16)
OP(mfma_f32_16x16x4f32, 16, 4, 1, F32, F32, float, float, Float4)
OP(mfma_f32_32x32x4_xf32, 32, 4, 1, XF32, XF32, Float2, Float2, Float16)
OP(mfma_f32_16x16x8_xf32, 16, 8, 1, XF32, XF32, Float2, Float2, Float4)
OP(mfma_f32_32x32x4f16, 32, 4, 2, F16, F16, Half4, Half4, Float32)
OP(mfma_f32_16x16x4f16, 16, 4, 4, F16, F16, Half4, Half4, Float16)
OP(mfma_f32_4x4x4f16, 4, 4, 16, F16, F16, Half4, Half4, Float4)
OP(mfma_f32_32x32x8f16, 32, 8, 1, F16, F16, Half4, Half4, Float16)
OP(mfma_f32_16x16x16f16, 16, 16, 1, F16, F16, Half4, Half4, Float4)
OP(mfma_f32_32x32x4bf16_1k, 32, 4, 2, BF16, BF16, Short4, Short4, Float32)
OP(mfma_f32_16x16x4bf16_1k, 16, 4, 4, BF16, BF16, Short4, Short4, Float16)
OP(mfma_f32_4x4x4bf16_1k, 4, 4, 16, BF16, BF16, Short4, Short4, Float4)
OP(mfma_f32_32x32x8bf16_1k, 32, 8, 1, BF16, BF16, Short4, Short4, Float16)
OP(mfma_f32_16x16x16bf16_1k, 16, 16, 1, BF16, BF16, Short4, Short4, Float4)
OP(mfma_i32_32x32x4i8, 32, 4, 2, I8, I8, int, int, Int32)
OP(mfma_i32_16x16x4i8, 16, 4, 4, I8, I8, int, int, Int16)
OP(mfma_i32_4x4x4i8, 4, 4, 16, I8, I8, int, int, Int4)
OP(mfma_i32_32x32x16_i8, 32, 16, 1, I8, I8, long, long, Int16)
OP(mfma_i32_16x16x32_i8, 16, 32, 1, I8, I8, long, long, Int4)
OP(mfma_f32_32x32x16_fp8_fp8, 32, 16, 1, FP8, FP8, long, long, Float16)
OP(mfma_f32_32x32x16_fp8_bf8, 32, 16, 1, FP8, BF8, long, long, Float16)
OP(mfma_f32_32x32x16_bf8_fp8, 32, 16, 1, BF8, FP8, long, long, Float16)
OP(mfma_f32_32x32x16_bf8_bf8, 32, 16, 1, BF8, BF8, long, long, Float16)
OP(mfma_f32_16x16x32_fp8_fp8, 16, 32, 1, FP8, FP8, long, long, Float4)
OP(mfma_f32_16x16x32_fp8_bf8, 16, 32, 1, FP8, BF8, long, long, Float4)
OP(mfma_f32_16x16x32_bf8_fp8, 16, 32, 1, BF8, FP8, long, long, Float4)
OP(mfma_f32_16x16x32_bf8_bf8, 16, 32, 1, BF8, BF8, long, long, Float4)
OP(mfma_f64_16x16x4f64, 16, 4, 1, F64, F64, double, double, Double4)
OP(mfma_f64_4x4x4f64, 4, 4, 4, F64, F64, double, double, double)

struct Place {
    int lane, slot;
};
Place place_of_a(const Shape &s, int block, int i, int k) {
    if (s.a == F64) return {4 * block + 16 * k + i, 0};
    if (s.blocks > 1) return {s.size * block + i, k};
    const int held = s.size * s.depth / 64;
    return {s.size * (k / held) + i, k % held};
}
Place place_of_b(const Shape &s, int block, int k, int j) {
    if (s.b == F64) return {4 * block + 16 * k + j, 0};
    if (s.blocks > 1) return {s.size * block + j, k};
    const int held = s.size * s.depth / 64;
    return {s.size * (k / held) + j, k % held};
}
Place place_of_d(const Shape &s, int block, int i, int j) {
    if (s.a == F64) return s.size == 16 ? Place{16 * (i % 4) + j, i / 4} : Place{16 * i + 4 * block + j, 0};
    if (s.size == 4) return {4 * block + j, i};
    if (s.size == 16) return {16 * (i / 4) + j, 4 * block + i % 4};
    return {32 * (i / 4 % 2) + j, 16 * block + 4 * (i / 8) + i % 4};
}

/// The work-item whose register of B is read instead of `lane`'s.
int group_of_b(int lane, int blgp) {
    if (blgp == 1 || blgp == 2) return lane % 32 + 32 * (blgp - 1);
    if (blgp == 3) return (lane + 16) % 64;
    return blgp >= 4 ? lane % 16 + 16 * (blgp - 4) : lane;
}

template <class Op, int cbsz = 0, int abid = 0, int blgp = 0> void check(bool whole_numbers) {
    constexpr Shape s = Op::shape;
    Operand<typename Op::A> a(s.a, whole_numbers);
    Operand<typename Op::B> b(s.b, whole_numbers);
    Accumulators<typename Op::D> c(s.a), d(s.a);
    c.fill();
    DeviceArray<typename Op::A> da(a.registers);
    DeviceArray<typename Op::B> db(b.registers);
    DeviceArray<typename Op::D> dc(c.registers), dd(64);
    multiply<Op, cbsz, abid, blgp><<<1, 64>>>(da.get(), db.get(), dc.get(), dd.get());
    d.registers = dd.values();
    const bool doubles = s.a == F64;
    for (int block = 0; block < s.blocks; ++block) {
        for (int i = 0; i < s.size; ++i) {
            for (int j = 0; j < s.size; ++j) {
                const Place at = place_of_d(s, block, i, j);
                double sum = c.value(at.lane, at.slot), size = std::fabs(sum);
                if (doubles && blgp & 4) sum = -sum;
                for (int k = 0; k < s.depth; ++k) {
                    const int source_block = doubles ? block : (block >> cbsz << cbsz) + abid;
                    const Place pa = place_of_a(s, source_block, i, k), pb = place_of_b(s, block, k, j);
                    double x = a.value(pa.lane, pa.slot);
                    double y = b.value(doubles ? pb.lane : group_of_b(pb.lane, blgp), pb.slot);
                    if (doubles && blgp & 1) x = -x;
                    if (doubles && blgp & 2) y = -y;
                    sum += x * y;
                    size += std::fabs(x * y);
                }
                const double given = d.value(at.lane, at.slot);
                const double allowed = whole_numbers || s.a == I8 ? 0 : size * (doubles ? 1e-15 : 1e-6) * s.depth;
                if (s.a == I8) sum = static_cast<int32_t>(static_cast<int64_t>(sum)); // wraps
                if (!(std::fabs(given - sum) <= allowed)) {
                    std::fprintf(stderr, "%s cbsz %d abid %d blgp %d: block %d row %d column %d is %.9g, not %.9g\n",
                                 Op::name, cbsz, abid, blgp, block, i, j, given, sum);
                    std::exit(1);
                }
            }
        }
    }
}
template <class Op, int cbsz = 0, int abid = 0, int blgp = 0> void check_both() {
    check<Op, cbsz, abid, blgp>(true);
    check<Op, cbsz, abid, blgp>(false);
}
template <class Op> void check_groups_of_b() {
    check_both<Op, 0, 0, 1>();
    check_both<Op, 0, 0, 2>();
    check_both<Op, 0, 0, 3>();
    check_both<Op, 0, 0, 4>();
    check_both<Op, 0, 0, 5>();
    check_both<Op, 0, 0, 6>();
    check_both<Op, 0, 0, 7>();
}

/// Half of the wave takes part: it gets the product of what it brought, the other half keeps its values.
__global__ void half_a_wave(const float *a, const float *b, Float4 *d) {
    const int lane = threadIdx.x;
    Float4 c = {1, 2, 3, 4};
    if (lane < 32) c = __builtin_amdgcn_mfma_f32_4x4x1f32(a[lane], b[lane], c, 0, 0, 0);
    d[lane] = c;
}
/// Results feed the next instruction, with different shapes in turn and several waves.
__global__ void chain(const float *a, const float *b, Float4 *d) {
    const int lane = threadIdx.x % 64;
    const float x = a[lane] + threadIdx.x / 64, y = b[lane];
    Float4 sum = {0, 0, 0, 0};
    Float16 other = {};
    for (int turn = 0; turn < 3; ++turn) {
        sum = __builtin_amdgcn_mfma_f32_4x4x1f32(x, y, sum, 0, 0, 0);
        other = __builtin_amdgcn_mfma_f32_16x16x1f32(x, y, other, 0, 0, 0);
        __syncthreads();
    }
    sum[0] += other[0];
    d[threadIdx.x] = sum;
}
void check_flow() {
    std::vector<float> a(64), b(64);
    for (int i = 0; i < 64; ++i) a[i] = static_cast<float>(i * 7 % 23), b[i] = static_cast<float>(i * 5 % 19);
    DeviceArray<float> da(a), db(b);
    DeviceArray<Float4> dd(256);
    half_a_wave<<<1, 64>>>(da.get(), db.get(), dd.get());
    std::vector<Float4> d = dd.values();
    for (int lane = 0; lane < 64; ++lane) {
        for (int i = 0; i < 4; ++i) {
            CHECK(d[lane][i] == i + 1 + (lane < 32 ? a[lane / 4 * 4 + i] * b[lane] : 0));
        }
    }
    chain<<<1, 256>>>(da.get(), db.get(), dd.get());
    d = dd.values();
    for (int t = 0; t < 256; ++t) {
        const int lane = t % 64, wave = t / 64;
        for (int i = 0; i < 4; ++i) {
            float expected = 3 * (a[lane / 4 * 4 + i] + wave) * b[lane];
            if (i == 0) expected += 3 * (a[lane / 16 * 4] + wave) * b[lane % 16];
            CHECK(d[t][i] == expected);
        }
    }
}

int main() {
    check_both<mfma_f32_32x32x1f32>(), check_both<mfma_f32_16x16x1f32>(), check_both<mfma_f32_4x4x1f32>();
    check_both<mfma_f32_32x32x2f32>(), check_both<mfma_f32_16x16x4f32>();
    check_both<mfma_f32_32x32x4_xf32>(), check_both<mfma_f32_16x16x8_xf32>();
    check_both<mfma_f32_32x32x4f16>(), check_both<mfma_f32_16x16x4f16>(), check_both<mfma_f32_4x4x4f16>();
    check_both<mfma_f32_32x32x8f16>(), check_both<mfma_f32_16x16x16f16>();
    check_both<mfma_f32_32x32x4bf16_1k>(), check_both<mfma_f32_16x16x4bf16_1k>();
    check_both<mfma_f32_4x4x4bf16_1k>(), check_both<mfma_f32_32x32x8bf16_1k>();
    check_both<mfma_f32_16x16x16bf16_1k>();
    check_both<mfma_i32_32x32x4i8>(), check_both<mfma_i32_16x16x4i8>(), check_both<mfma_i32_4x4x4i8>();
    check_both<mfma_i32_32x32x16_i8>(), check_both<mfma_i32_16x16x32_i8>();
    check_both<mfma_f32_32x32x16_fp8_fp8>(), check_both<mfma_f32_32x32x16_fp8_bf8>();
    check_both<mfma_f32_32x32x16_bf8_fp8>(), check_both<mfma_f32_32x32x16_bf8_bf8>();
    check_both<mfma_f32_16x16x32_fp8_fp8>(), check_both<mfma_f32_16x16x32_fp8_bf8>();
    check_both<mfma_f32_16x16x32_bf8_fp8>(), check_both<mfma_f32_16x16x32_bf8_bf8>();
    check_both<mfma_f64_16x16x4f64>(), check_both<mfma_f64_4x4x4f64>();

    check_both<mfma_f32_32x32x1f32, 1, 1>();
    check_both<mfma_f32_16x16x4f16, 1, 0>(), check_both<mfma_f32_16x16x4f16, 2, 3>();
    check_both<mfma_f32_4x4x4bf16_1k, 2, 1>(), check_both<mfma_i32_4x4x4i8, 4, 11>();
    check_both<mfma_f32_4x4x1f32, 3, 5, 3>();
    check_groups_of_b<mfma_f32_16x16x4f32>();
    check_groups_of_b<mfma_f32_32x32x4f16>();
    check_groups_of_b<mfma_i32_16x16x4i8>();
    check_groups_of_b<mfma_f64_16x16x4f64>(); // there the bits are signs of A, B and C
    check_flow();
}
