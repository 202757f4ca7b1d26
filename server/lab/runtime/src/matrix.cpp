// Products of the matrix instructions, one for a wave. Each sum is a chain of fused multiply-adds in the order of k.
#include "matrix_elements.h"
#include "fault.h"
#include <ks/matrix.h>
#include <stdlib.h>
#include <utility>

namespace ks {

__thread MatrixRegisters *matrix_registers;

namespace {

typedef float Quad __attribute__((ext_vector_type(4)));
typedef int QuadOfInt __attribute__((ext_vector_type(4)));
typedef int SixteenInts __attribute__((ext_vector_type(16)));

/// Reads 4 or 16 floats or ints from an address that need not be aligned.
template <class V> V load(const void *from) {
    V value;
    memcpy(&value, from, sizeof value);
    return value;
}

/// Where a sum starts, and how it is given back: counts are exact as floats (32 products of bytes), but what they are
/// added to wraps as an int.
template <bool counts, class Floats, class Ints> struct Sum {
    Floats value;
    explicit Sum(const int32_t *c) { value = counts ? Floats(0.0f) : load<Floats>(c); }
    void add(Floats a, Floats b) { value = __builtin_elementwise_fma(a, b, value); }
    void store(int32_t *d, const int32_t *c) const {
        if constexpr (counts) {
            const Ints sum = load<Ints>(c) + __builtin_convertvector(value, Ints);
            memcpy(d, &sum, sizeof sum);
        } else {
            memcpy(d, &value, sizeof value);
        }
    }
};

/// Size 32: a work-item holds, of its column, four rows, skips four (they are with the work-item 32 further), and so on.
/// Its 16 accumulators of a block are one vector.
template <MatrixInstruction which>
void multiply_32(const float (*a)[64], const float (*b)[64], const MatrixRegisters &in, MatrixRegisters &out) {
    constexpr MatrixShape shape = kMatrixShapes[which];
    constexpr int elements = shape.elements(), groups = shape.blocks == 1 ? 2 : 1;
    for (int block = 0; block < shape.blocks; ++block) {
        for (int half = 0; half < 2; ++half) {
            Sixteen rows[groups * elements];
            for (int k = 0; k < groups * elements; ++k) {
                const float *column = a[k % elements] + 32 * (groups == 2 ? k / elements : block);
                const Sixteen low = load<Sixteen>(column), high = load<Sixteen>(column + 16);
                rows[k] = half == 0 ? __builtin_shufflevector(low, high, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24,
                                                              25, 26, 27)
                                    : __builtin_shufflevector(low, high, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23,
                                                              28, 29, 30, 31);
            }
            constexpr int together = 8;
            for (int column = 0; column < 32; column += together) {
                const auto at = [&](int32_t const(*c)[32], int i) { return c[32 * half + column + i] + 16 * block; };
                using SumOf16 = Sum<shape.counts(), Sixteen, SixteenInts>;
                SumOf16 sums[together] = {SumOf16(at(in.c, 0)), SumOf16(at(in.c, 1)), SumOf16(at(in.c, 2)),
                                          SumOf16(at(in.c, 3)), SumOf16(at(in.c, 4)), SumOf16(at(in.c, 5)),
                                          SumOf16(at(in.c, 6)), SumOf16(at(in.c, 7))};
                for (int k = 0; k < groups * elements; ++k) {
                    const float *row = b[k % elements] + 32 * (groups == 2 ? k / elements : block) + column;
                    for (int i = 0; i < together; ++i) sums[i].add(rows[k], row[i]);
                }
                for (int i = 0; i < together; ++i) {
                    sums[i].store(out.d[32 * half + column + i] + 16 * block, at(in.c, i));
                }
            }
        }
    }
}

/// Size 16 and one block: a work-item holds four rows of its column. Four neighbours make one vector, and the whole
/// result is 16 of them.
template <MatrixInstruction which>
void multiply_16(const float (*a)[64], const float (*b)[64], const MatrixRegisters &in, MatrixRegisters &out) {
    constexpr MatrixShape shape = kMatrixShapes[which];
    constexpr int elements = shape.elements();
    Sixteen sums[4][4]; // rows / 4, columns / 4
    for (int lane = 0; lane < 64; ++lane) {
        const Quad c = shape.counts() ? Quad(0.0f) : load<Quad>(in.c[lane]);
        memcpy(reinterpret_cast<float *>(&sums[lane / 16][lane / 4 % 4]) + lane % 4 * 4, &c, sizeof c);
    }
    for (int k = 0; k < 4 * elements; ++k) {
        const float *column = a[k % elements] + 16 * (k / elements), *row = b[k % elements] + 16 * (k / elements);
        Sixteen factors[4];
        for (int j = 0; j < 4; ++j) {
            const Quad four = load<Quad>(row + 4 * j);
            factors[j] = __builtin_shufflevector(four, four, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
        }
        for (int i = 0; i < 4; ++i) {
            const Quad four = load<Quad>(column + 4 * i);
            const Sixteen rows = __builtin_shufflevector(four, four, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
            for (int j = 0; j < 4; ++j) sums[i][j] = __builtin_elementwise_fma(rows, factors[j], sums[i][j]);
        }
    }
    for (int lane = 0; lane < 64; ++lane) {
        Quad d = load<Quad>(reinterpret_cast<const float *>(&sums[lane / 16][lane / 4 % 4]) + lane % 4 * 4);
        if constexpr (shape.counts()) {
            const QuadOfInt sum = load<QuadOfInt>(in.c[lane]) + __builtin_convertvector(d, QuadOfInt);
            memcpy(out.d[lane], &sum, sizeof sum);
        } else {
            memcpy(out.d[lane], &d, sizeof d);
        }
    }
}

/// Several blocks of size 16 (a work-item holds four rows of each), or 16 blocks of size 4 (four work-items a block).
template <MatrixInstruction which>
void multiply_blocks(const float (*a)[64], const float (*b)[64], const MatrixRegisters &in, MatrixRegisters &out) {
    constexpr MatrixShape shape = kMatrixShapes[which];
    constexpr int held = shape.size == 4 ? 1 : shape.blocks;
    for (int lane = 0; lane < 64; ++lane) {
        for (int block = 0; block < held; ++block) {
            const int row = shape.size == 4 ? lane / 4 * 4 : 16 * block + lane / 16 * 4;
            const int column = shape.size == 4 ? lane : 16 * block + lane % 16;
            const int32_t *c = in.c[lane] + 4 * block;
            Sum<shape.counts(), Quad, QuadOfInt> sum(c);
            for (int k = 0; k < shape.elements(); ++k) sum.add(load<Quad>(a[k] + row), b[k][column]);
            sum.store(out.d[lane] + 4 * block, c);
        }
    }
}

/// Work-items of a block of A read the registers of the block that cbsz and abid name.
template <MatrixInstruction which> void broadcast_block(float (*a)[64], MatrixModifiers modifiers) {
    constexpr MatrixShape shape = kMatrixShapes[which];
    if (modifiers.cbsz == 0) {
        return;
    }
    for (int k = 0; k < shape.elements(); ++k) {
        float source[64];
        memcpy(source, a[k], sizeof source);
        for (int lane = 0; lane < 64; ++lane) {
            const int block = (lane / shape.size >> modifiers.cbsz << modifiers.cbsz) + modifiers.abid;
            a[k][lane] = source[block * shape.size + lane % shape.size];
        }
    }
}

/// The work-item whose registers of B `lane` reads.
int blgp_source(int lane, int blgp) {
    switch (blgp) {
    case 1: return lane % 32;
    case 2: return lane % 32 + 32;
    case 3: return (lane + 16) % 64;
    case 4:
    case 5:
    case 6:
    case 7: return lane % 16 + 16 * (blgp - 4);
    default: return lane;
    }
}
template <MatrixInstruction which> void permute_groups(float (*b)[64], int blgp) {
    constexpr MatrixShape shape = kMatrixShapes[which];
    if (blgp == 0) {
        return;
    }
    for (int k = 0; k < shape.elements(); ++k) {
        float source[64];
        memcpy(source, b[k], sizeof source);
        for (int lane = 0; lane < 64; ++lane) b[k][lane] = source[blgp_source(lane, blgp)];
    }
}

/// What the instruction does not have must be zero, as the assembler demands.
template <MatrixInstruction which> void check(MatrixModifiers modifiers) {
    constexpr MatrixShape shape = kMatrixShapes[which];
    constexpr bool broadcasts = shape.blocks > 1 && shape.a != kF64;
    constexpr bool permutes = shape.blocks > 1 || shape.a == kF32 || shape.a == kF64;
    const bool wrong_broadcast =
        !shape.sparse && (broadcasts ? modifiers.cbsz < 0 || shape.blocks >> modifiers.cbsz == 0 ||
                                           modifiers.abid < 0 || modifiers.abid >> modifiers.cbsz != 0
                                     : modifiers.cbsz != 0 || modifiers.abid != 0);
    if (wrong_broadcast || modifiers.blgp < 0 || modifiers.blgp > (permutes ? 7 : 0)) {
        fail("misused_builtin", "a matrix instruction got cbsz, abid or blgp that it does not have on gfx942; pass 0");
    }
}

/// Double precision. In register r a work-item holds row 4 r + lane / 16; of the blocks of size 4, row lane / 16.
template <MatrixInstruction which> void multiply_doubles(MatrixRegisters &registers, uint64_t active, int negations) {
    constexpr MatrixShape shape = kMatrixShapes[which];
    const auto operand = [active](const uint64_t *bits, int lane, bool negated) {
        const double value = (active >> lane & 1) != 0 ? __builtin_bit_cast(double, bits[lane]) : 0.0;
        return negated ? -value : value;
    };
    for (int lane = 0; lane < 64; ++lane) {
        for (int r = 0; r < shape.accumulators(); ++r) {
            const int first = shape.size == 4 ? lane / 4 % 4 * 4 : 0;
            const int row = 4 * r + lane / 16, column = lane % shape.size;
            double sum;
            memcpy(&sum, registers.c[lane] + 2 * r, sizeof sum);
            sum = (negations & 4) != 0 ? -sum : sum;
            for (int k = 0; k < 4; ++k) {
                sum = __builtin_fma(operand(registers.a, 16 * k + first + row, negations & 1),
                                    operand(registers.b[0], 16 * k + first + column, (negations & 2) != 0), sum);
            }
            memcpy(registers.d[lane] + 2 * r, &sum, sizeof sum);
        }
    }
}

template <MatrixInstruction which>
void multiply(MatrixRegisters &registers, uint64_t active, MatrixModifiers modifiers) {
    constexpr MatrixShape shape = kMatrixShapes[which];
    check<which>(modifiers);
    if constexpr (shape.a == kF64) {
        multiply_doubles<which>(registers, active, modifiers.blgp);
    } else {
        alignas(64) float a[shape.elements()][64], b[shape.elements()][64];
        if constexpr (shape.sparse) {
            unpack_sparse<shape.a, shape.elements()>(registers.a, registers.index, modifiers, active, a);
            unpack<shape.b, shape.elements() / 2>(registers.b[0], active, b);
            unpack<shape.b, shape.elements() / 2>(registers.b[1], active, b + shape.elements() / 2);
        } else {
            unpack<shape.a, shape.elements()>(registers.a, active, a);
            unpack<shape.b, shape.elements()>(registers.b[0], active, b);
            broadcast_block<which>(a, modifiers);
            permute_groups<which>(b, modifiers.blgp);
        }
        if constexpr (shape.size == 32) {
            multiply_32<which>(a, b, registers, registers);
        } else if constexpr (shape.size == 16 && shape.blocks == 1) {
            multiply_16<which>(a, b, registers, registers);
        } else {
            multiply_blocks<which>(a, b, registers, registers);
        }
    }
}

using Multiply = void (*)(MatrixRegisters &, uint64_t, MatrixModifiers);
template <int... numbers> struct Table {
    static constexpr Multiply all[] = {&multiply<static_cast<MatrixInstruction>(numbers)>...};
};
template <int... numbers> Table<numbers...> table_of(std::integer_sequence<int, numbers...>);
using AllInstructions = decltype(table_of(std::make_integer_sequence<int, kMatrixInstructions>()));

} // namespace

extern "C" {

__attribute__((visibility("default"))) MatrixRegisters *ks_make_matrix_registers() {
    matrix_registers = static_cast<MatrixRegisters *>(aligned_alloc(64, kMaxWaves * sizeof(MatrixRegisters)));
    if (matrix_registers == nullptr) {
        fail("out_of_memory", "the runtime has no memory left for the operands of matrix instructions");
    }
    return matrix_registers;
}

__attribute__((visibility("default"))) void ks_multiply_matrices(MatrixInstruction which, MatrixRegisters &registers,
                                                                 uint64_t active, MatrixModifiers modifiers) {
    AllInstructions::all[which](registers, active, modifiers);
}
}

} // namespace ks
