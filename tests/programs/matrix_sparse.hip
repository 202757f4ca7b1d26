// Matrix instructions with a sparse A (SMFMAC) against products in double precision. Of each four elements in a row of A
// two are stored; the index register says which.
#include "check.h"
#include "matrix_data.h"

template <class Op, int cbsz, int abid>
__global__ void multiply(const typename Op::A *a, const typename Op::B *b, const typename Op::D *c, const int *index,
                         typename Op::D *d) {
    const int lane = threadIdx.x;
    d[lane] = Op::template call<cbsz, abid>(a[lane], b[lane], c[lane], index[lane]);
}

#define OP(NAME, SIZE, DEPTH, EA, EB, TA, TB, TD)                                                                      \
    struct NAME {                                                                                                      \
        static constexpr Shape shape = {SIZE, DEPTH, 1, EA, EB};                                                       \
        static constexpr const char *name = #NAME;                                                                     \
        using A = TA;                                                                                                  \
        using B = TB;                                                                                                  \
        using D = TD;                                                                                                  \
        template <int cbsz, int abid> static __device__ D call(A a, B b, D c, int index) {                             \
            return __builtin_amdgcn_##NAME(a, b, c, index, cbsz, abid);                                                \
        }                                                                                                              \
    };
OP(smfmac_f32_32x32x16_f16, 32, 16, F16, F16, Half4, Half8, Float16)
OP(smfmac_f32_16x16x32_f16, 16, 32, F16, F16, Half4, Half8, Float4)
OP(smfmac_f32_32x32x16_bf16, 32, 16, BF16, BF16, Short4, Short8, Float16)
OP(smfmac_f32_16x16x32_bf16, 16, 32, BF16, BF16, Short4, Short8, Float4)
OP(smfmac_i32_32x32x32_i8, 32, 32, I8, I8, Int2, Int4, Int16)
OP(smfmac_i32_16x16x64_i8, 16, 64, I8, I8, Int2, Int4, Int4)
OP(smfmac_f32_32x32x32_fp8_fp8, 32, 32, FP8, FP8, Int2, Int4, Float16)
OP(smfmac_f32_32x32x32_fp8_bf8, 32, 32, FP8, BF8, Int2, Int4, Float16)
OP(smfmac_f32_32x32x32_bf8_fp8, 32, 32, BF8, FP8, Int2, Int4, Float16)
OP(smfmac_f32_32x32x32_bf8_bf8, 32, 32, BF8, BF8, Int2, Int4, Float16)
OP(smfmac_f32_16x16x64_fp8_fp8, 16, 64, FP8, FP8, Int2, Int4, Float4)
OP(smfmac_f32_16x16x64_fp8_bf8, 16, 64, FP8, BF8, Int2, Int4, Float4)
OP(smfmac_f32_16x16x64_bf8_fp8, 16, 64, BF8, FP8, Int2, Int4, Float4)
OP(smfmac_f32_16x16x64_bf8_bf8, 16, 64, BF8, BF8, Int2, Int4, Float4)

template <class Op, int cbsz, int abid> void check_once(bool whole_numbers) {
    constexpr Shape s = Op::shape;
    const int held = s.size * s.depth / 64; // elements of a row of A, zeros included, that one work-item has
    Operand<typename Op::A> a(s.a, whole_numbers);
    Operand<typename Op::B> b(s.b, whole_numbers);
    Accumulators<typename Op::D> c(s.a), d(s.a);
    c.fill();
    std::vector<int> index(64);
    for (int &i : index) i = static_cast<int>(random_bits() >> 20);
    // The set that counts: two different places of each four, in rising order.
    const int set_bits = held, set = cbsz == 0 ? abid : 0;
    std::vector<std::vector<int>> places(64);
    for (int lane = 0; lane < 64; ++lane) {
        for (int four = 0; four < held / 4; ++four) {
            int first = static_cast<int>(random_bits() >> 40) % 3;
            int second = first + 1 + static_cast<int>(random_bits() >> 40) % (3 - first);
            for (int place : {first, second}) {
                const int bit = set * set_bits + 2 * static_cast<int>(places[lane].size());
                index[lane] = static_cast<int>((static_cast<unsigned>(index[lane]) & ~(3u << bit)) |
                                               static_cast<unsigned>(place) << bit);
                places[lane].push_back(4 * four + place);
            }
        }
    }
    DeviceArray<typename Op::A> da(a.registers);
    DeviceArray<typename Op::B> db(b.registers);
    DeviceArray<typename Op::D> dc(c.registers), dd(64);
    DeviceArray<int> di(index);
    multiply<Op, cbsz, abid><<<1, 64>>>(da.get(), db.get(), dc.get(), di.get(), dd.get());
    d.registers = dd.values();
    for (int i = 0; i < s.size; ++i) {
        std::vector<double> row(s.depth, 0.0); // A[i][..] with its zeros
        for (int part = 0; part < s.depth / held; ++part) {
            const int lane = s.size * part + i;
            for (int stored = 0; stored < held / 2; ++stored) {
                row[part * held + places[lane][stored]] = a.value(lane, stored);
            }
        }
        for (int j = 0; j < s.size; ++j) {
            const int lane = s.size == 16 ? 16 * (i / 4) + j : 32 * (i / 4 % 2) + j;
            const int slot = s.size == 16 ? i % 4 : 4 * (i / 8) + i % 4;
            double sum = c.value(lane, slot), size = std::fabs(sum);
            for (int k = 0; k < s.depth; ++k) {
                const double product = row[k] * b.value(s.size * (k / held) + j, k % held);
                sum += product;
                size += std::fabs(product);
            }
            if (s.a == I8) sum = static_cast<int32_t>(static_cast<int64_t>(sum));
            const double given = d.value(lane, slot);
            const double allowed = whole_numbers || s.a == I8 ? 0 : size * 1e-6 * s.depth;
            if (!(std::fabs(given - sum) <= allowed)) {
                std::fprintf(stderr, "%s cbsz %d abid %d: row %d column %d is %.9g, not %.9g\n", Op::name, cbsz, abid, i,
                             j, given, sum);
                std::exit(1);
            }
        }
    }
}
template <class Op, int last_set> void check() {
    for (const bool whole : {true, false}) {
        check_once<Op, 0, 0>(whole);
        check_once<Op, 0, last_set>(whole);
        check_once<Op, 1, 1>(whole); // the first set whatever abid says
    }
}

int main() {
    check<smfmac_f32_32x32x16_f16, 3>(), check<smfmac_f32_16x16x32_f16, 2>();
    check<smfmac_f32_32x32x16_bf16, 1>(), check<smfmac_f32_16x16x32_bf16, 3>();
    check<smfmac_i32_32x32x32_i8, 1>(), check<smfmac_i32_16x16x64_i8, 1>();
    check<smfmac_f32_32x32x32_fp8_fp8, 1>(), check<smfmac_f32_32x32x32_fp8_bf8, 1>();
    check<smfmac_f32_32x32x32_bf8_fp8, 1>(), check<smfmac_f32_32x32x32_bf8_bf8, 1>();
    check<smfmac_f32_16x16x64_fp8_fp8, 1>(), check<smfmac_f32_16x16x64_fp8_bf8, 1>();
    check<smfmac_f32_16x16x64_bf8_fp8, 1>(), check<smfmac_f32_16x16x64_bf8_bf8, 1>();
}
