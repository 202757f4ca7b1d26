// The matrix instructions of gfx942 (MFMA, and SMFMAC with a sparse A): their shapes and element types.
//
// Source: AMD Instinct MI300 (CDNA3) instruction set architecture, "Matrix arithmetic instructions"; the names are LLVM's.
#pragma once
#pragma clang system_header

// X(name, rows of A and columns of B, depth, blocks, elements of A, elements of B)
#define KS_FOR_EACH_DENSE_MATRIX_INSTRUCTION(X)                                                                        \
    X(mfma_f32_32x32x1f32, 32, 1, 2, kF32, kF32)                                                                       \
    X(mfma_f32_16x16x1f32, 16, 1, 4, kF32, kF32)                                                                       \
    X(mfma_f32_4x4x1f32, 4, 1, 16, kF32, kF32)                                                                         \
    X(mfma_f32_32x32x2f32, 32, 2, 1, kF32, kF32)                                                                       \
    X(mfma_f32_16x16x4f32, 16, 4, 1, kF32, kF32)                                                                       \
    X(mfma_f32_32x32x4_xf32, 32, 4, 1, kXf32, kXf32)                                                                   \
    X(mfma_f32_16x16x8_xf32, 16, 8, 1, kXf32, kXf32)                                                                   \
    X(mfma_f32_32x32x4f16, 32, 4, 2, kF16, kF16)                                                                       \
    X(mfma_f32_16x16x4f16, 16, 4, 4, kF16, kF16)                                                                       \
    X(mfma_f32_4x4x4f16, 4, 4, 16, kF16, kF16)                                                                         \
    X(mfma_f32_32x32x8f16, 32, 8, 1, kF16, kF16)                                                                       \
    X(mfma_f32_16x16x16f16, 16, 16, 1, kF16, kF16)                                                                     \
    X(mfma_f32_32x32x4bf16_1k, 32, 4, 2, kBf16, kBf16)                                                                 \
    X(mfma_f32_16x16x4bf16_1k, 16, 4, 4, kBf16, kBf16)                                                                 \
    X(mfma_f32_4x4x4bf16_1k, 4, 4, 16, kBf16, kBf16)                                                                   \
    X(mfma_f32_32x32x8bf16_1k, 32, 8, 1, kBf16, kBf16)                                                                 \
    X(mfma_f32_16x16x16bf16_1k, 16, 16, 1, kBf16, kBf16)                                                               \
    X(mfma_i32_32x32x4i8, 32, 4, 2, kI8, kI8)                                                                          \
    X(mfma_i32_16x16x4i8, 16, 4, 4, kI8, kI8)                                                                          \
    X(mfma_i32_4x4x4i8, 4, 4, 16, kI8, kI8)                                                                            \
    X(mfma_i32_32x32x16_i8, 32, 16, 1, kI8, kI8)                                                                       \
    X(mfma_i32_16x16x32_i8, 16, 32, 1, kI8, kI8)                                                                       \
    X(mfma_f32_32x32x16_fp8_fp8, 32, 16, 1, kFp8, kFp8)                                                                \
    X(mfma_f32_32x32x16_fp8_bf8, 32, 16, 1, kFp8, kBf8)                                                                \
    X(mfma_f32_32x32x16_bf8_fp8, 32, 16, 1, kBf8, kFp8)                                                                \
    X(mfma_f32_32x32x16_bf8_bf8, 32, 16, 1, kBf8, kBf8)                                                                \
    X(mfma_f32_16x16x32_fp8_fp8, 16, 32, 1, kFp8, kFp8)                                                                \
    X(mfma_f32_16x16x32_fp8_bf8, 16, 32, 1, kFp8, kBf8)                                                                \
    X(mfma_f32_16x16x32_bf8_fp8, 16, 32, 1, kBf8, kFp8)                                                                \
    X(mfma_f32_16x16x32_bf8_bf8, 16, 32, 1, kBf8, kBf8)                                                                \
    X(mfma_f64_16x16x4f64, 16, 4, 1, kF64, kF64)                                                                       \
    X(mfma_f64_4x4x4f64, 4, 4, 4, kF64, kF64)

// Of each four elements in a row of A two are kept; the depth counts all of them.
#define KS_FOR_EACH_SPARSE_MATRIX_INSTRUCTION(X)                                                                       \
    X(smfmac_f32_32x32x16_f16, 32, 16, 1, kF16, kF16)                                                                  \
    X(smfmac_f32_16x16x32_f16, 16, 32, 1, kF16, kF16)                                                                  \
    X(smfmac_f32_32x32x16_bf16, 32, 16, 1, kBf16, kBf16)                                                               \
    X(smfmac_f32_16x16x32_bf16, 16, 32, 1, kBf16, kBf16)                                                               \
    X(smfmac_i32_32x32x32_i8, 32, 32, 1, kI8, kI8)                                                                     \
    X(smfmac_i32_16x16x64_i8, 16, 64, 1, kI8, kI8)                                                                     \
    X(smfmac_f32_32x32x32_fp8_fp8, 32, 32, 1, kFp8, kFp8)                                                              \
    X(smfmac_f32_32x32x32_fp8_bf8, 32, 32, 1, kFp8, kBf8)                                                              \
    X(smfmac_f32_32x32x32_bf8_fp8, 32, 32, 1, kBf8, kFp8)                                                              \
    X(smfmac_f32_32x32x32_bf8_bf8, 32, 32, 1, kBf8, kBf8)                                                              \
    X(smfmac_f32_16x16x64_fp8_fp8, 16, 64, 1, kFp8, kFp8)                                                              \
    X(smfmac_f32_16x16x64_fp8_bf8, 16, 64, 1, kFp8, kBf8)                                                              \
    X(smfmac_f32_16x16x64_bf8_fp8, 16, 64, 1, kBf8, kFp8)                                                              \
    X(smfmac_f32_16x16x64_bf8_bf8, 16, 64, 1, kBf8, kBf8)

// Known to the compiler, but instructions of older devices only.
#define KS_FOR_EACH_FOREIGN_MATRIX_INSTRUCTION(X)                                                                      \
    X(mfma_f32_32x32x2bf16)                                                                                            \
    X(mfma_f32_16x16x2bf16)                                                                                            \
    X(mfma_f32_4x4x2bf16)                                                                                              \
    X(mfma_f32_32x32x4bf16)                                                                                            \
    X(mfma_f32_16x16x8bf16)                                                                                            \
    X(mfma_i32_32x32x8i8)                                                                                              \
    X(mfma_i32_16x16x16i8)

namespace ks {

/// What a matrix holds. kXf32 is a float of which 10 bits of mantissa count; kFp8 and kBf8 are e4m3fnuz and e5m2fnuz.
enum Element { kF32, kXf32, kF16, kBf16, kI8, kFp8, kBf8, kF64 };

/// One instruction: `blocks` products of a `size` x `depth` and a `depth` x `size` matrix each.
struct MatrixShape {
    int size, depth, blocks;
    Element a, b;
    bool sparse;

    /// Elements of B, and of A before it was compressed, that each work-item brings.
    constexpr int elements() const { return size * depth * blocks / 64; }
    /// Elements of the accumulators that each work-item holds.
    constexpr int accumulators() const { return size * size * blocks / 64; }
    constexpr bool counts() const { return a == kI8; }
};

enum MatrixInstruction {
#define KS_NUMBER(name, ...) k_##name,
    KS_FOR_EACH_DENSE_MATRIX_INSTRUCTION(KS_NUMBER) KS_FOR_EACH_SPARSE_MATRIX_INSTRUCTION(KS_NUMBER)
#undef KS_NUMBER
        kMatrixInstructions
};

inline constexpr MatrixShape kMatrixShapes[] = {
#define KS_SHAPE(name, size, depth, blocks, a, b) {size, depth, blocks, a, b, false},
    KS_FOR_EACH_DENSE_MATRIX_INSTRUCTION(KS_SHAPE)
#undef KS_SHAPE
#define KS_SHAPE(name, size, depth, blocks, a, b) {size, depth, blocks, a, b, true},
        KS_FOR_EACH_SPARSE_MATRIX_INSTRUCTION(KS_SHAPE)
#undef KS_SHAPE
};

} // namespace ks
