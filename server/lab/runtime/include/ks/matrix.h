// Matrix instructions: the 64 work-items of a wave hand their registers together and the product is computed once.
#pragma once
#pragma clang system_header
#include <ks/matrix_instructions.h>
#include <ks/work_items.h>
#include <string.h>
#include <type_traits>

namespace ks {

/// The registers of a wave's work-items. A work-item that goes on may bring the operands of its next instruction while
/// others have not read their results: `d` is therefore apart. Strides are those of the largest shape.
struct alignas(64) MatrixRegisters {
    uint64_t a[64];
    uint64_t b[2][64]; ///< lower and upper eight bytes
    int32_t index[64]; ///< where the elements of a sparse A stood
    alignas(64) int32_t c[64][32];
    alignas(64) int32_t d[64][32];
};

/// Registers for each wave of the thread's block; null until ks_matrix_registers was called on the thread.
KS_RUNTIME_TLS MatrixRegisters *matrix_registers;
extern "C" MatrixRegisters *ks_make_matrix_registers();

/// The instruction's modifiers, as the builtins take them.
struct MatrixModifiers {
    int cbsz, abid, blgp;
};

/// d = a * b + c for the work-items in `active`; the operands of others count as zero.
extern "C" void ks_multiply_matrices(MatrixInstruction which, MatrixRegisters &registers, uint64_t active,
                                     MatrixModifiers modifiers);

/// `count` elements of T as a vector of the compiler; one is a plain T.
template <class T, int count> struct MatrixVector {
    typedef T Type __attribute__((vector_size(count * sizeof(T))));
};
template <class T> struct MatrixVector<T, 1> { typedef T Type; };
template <class T, int count> using MatrixVectorOf = typename MatrixVector<T, count>::Type;

/// The type in which a builtin takes `count` elements of A or B.
template <Element element, int count, bool sparse> constexpr auto matrix_operand() {
    if constexpr (element == kF64) {
        return double{};
    } else if constexpr (element == kF32 || element == kXf32) {
        return MatrixVectorOf<float, count>{};
    } else if constexpr (element == kF16) {
        return MatrixVectorOf<_Float16, count>{};
    } else if constexpr (element == kBf16) {
        return MatrixVectorOf<short, count>{};
    } else if constexpr (sparse) {
        return MatrixVectorOf<int, count / 4>{};
    } else {
        return std::conditional_t<count == 4, int, long>{};
    }
}
template <MatrixInstruction which> struct MatrixTypes {
    static constexpr MatrixShape shape = kMatrixShapes[which];
    static constexpr int elements = shape.elements();
    using A = decltype(matrix_operand<shape.a, shape.sparse ? elements / 2 : elements, shape.sparse>());
    using B = decltype(matrix_operand<shape.b, elements, shape.sparse>());
    using Accumulator = std::conditional_t<shape.a == kF64, double, std::conditional_t<shape.counts(), int, float>>;
    using D = MatrixVectorOf<Accumulator, shape.accumulators()>;
};

#ifdef KS_TRACE

/// Sixteen bytes of a work-item's accumulators: as many as pass through a register.
typedef int MatrixPart __attribute__((vector_size(16)));
struct MatrixParts {
    MatrixPart part[8];
};

/// Part `number` of what a matrix instruction gave, by the number that it returned. (An instruction that returned all parts
/// would return them in memory.)
extern "C" KS_TRACE_EXCHANGE MatrixPart ks_trace_matrix_part(uint64_t result, unsigned number);

/// Calls ks_op_NAME, which computes the product for the wave.
template <MatrixInstruction which, class Call, class Types = MatrixTypes<which>>
static KS_INLINE typename Types::D trace_matrices(typename Types::A a, typename Types::B b, typename Types::D c, Call call) {
    constexpr size_t parts = (sizeof c + sizeof(MatrixPart) - 1) / sizeof(MatrixPart);
    uint64_t a_bits = 0, b_bits[2] = {0, 0};
    memcpy(&a_bits, &a, sizeof a);
    memcpy(b_bits, &b, sizeof b);
    MatrixParts in{}, out{};
    memcpy(&in, &c, sizeof c);
    const uint64_t result = call(a_bits, b_bits[0], b_bits[1], in.part);
#pragma unroll
    for (unsigned i = 0; i < parts; ++i) out.part[i] = ks_trace_matrix_part(result, i);
    typename Types::D d;
    memcpy(&d, &out, sizeof d);
    return d;
}

#else

template <MatrixInstruction which, class Types = MatrixTypes<which>>
static KS_INLINE typename Types::D multiply_matrices(typename Types::A a, typename Types::B b, typename Types::D c,
                                                     int index, MatrixModifiers modifiers, uint32_t site) {
    const uint32_t linear = current->index.ks_linear;
    MatrixRegisters *all = matrix_registers;
    if (__builtin_expect(all == nullptr, 0)) {
        all = ks_make_matrix_registers();
    }
    MatrixRegisters &wave = all[linear / kWaveSize];
    const uint32_t lane = linear % kWaveSize;
    uint64_t bits[2] = {0, 0};
    memcpy(bits, &a, sizeof a);
    wave.a[lane] = bits[0];
    bits[0] = 0;
    memcpy(bits, &b, sizeof b);
    wave.b[0][lane] = bits[0];
    if constexpr (Types::shape.sparse) {
        wave.b[1][lane] = bits[1];
        wave.index[lane] = index;
    }
    memcpy(wave.c[lane], &c, sizeof c);
    suspend(kWave, site);
    // The first of those that take part goes on first.
    const uint64_t active = block.waves[linear / kWaveSize].active;
    if (lane == static_cast<uint32_t>(__builtin_ctzll(active))) {
        ks_multiply_matrices(which, wave, active, modifiers);
    }
    typename Types::D d;
    memcpy(&d, wave.d[lane], sizeof d);
    return d;
}

#endif

} // namespace ks

#if KS_WAVE_SIZE == 64 && defined(KS_TRACE)
// Takes the operands' bits, the accumulators in parts, the index of a sparse A, and the modifiers.
#define KS_MATRIX_PARAMETERS                                                                                           \
    uint64_t a, uint64_t b, uint64_t b_high, ::ks::MatrixPart c0, ::ks::MatrixPart c1, ::ks::MatrixPart c2,            \
        ::ks::MatrixPart c3, ::ks::MatrixPart c4, ::ks::MatrixPart c5, ::ks::MatrixPart c6, ::ks::MatrixPart c7,       \
        int index, int cbsz, int abid, int blgp, uint32_t site
#define KS_TRACED(name, A_INDEX, CBSZ, ABID, BLGP)                                                                     \
    return ::ks::trace_matrices<::ks::k_##name>(                                                                       \
        a, b, c, [=](uint64_t a_bits, uint64_t b_low, uint64_t b_high, const ::ks::MatrixPart *parts)                  \
                     __attribute__((always_inline)) {                                                                  \
                         return ks_op___builtin_amdgcn_##name(a_bits, b_low, b_high, parts[0], parts[1], parts[2],     \
                                                              parts[3], parts[4], parts[5], parts[6], parts[7],        \
                                                              A_INDEX, CBSZ, ABID, BLGP, ks_site);                     \
                     });
#define KS_DENSE(name, ...)                                                                                            \
    extern "C" KS_TRACE_EXCHANGE uint64_t ks_op___builtin_amdgcn_##name(KS_MATRIX_PARAMETERS);                         \
    static KS_INLINE ::ks::MatrixTypes<::ks::k_##name>::D __builtin_amdgcn_##name(                                     \
        ::ks::MatrixTypes<::ks::k_##name>::A a, ::ks::MatrixTypes<::ks::k_##name>::B b,                                \
        ::ks::MatrixTypes<::ks::k_##name>::D c, int cbsz, int abid, int blgp, uint32_t ks_site = KS_SITE) {            \
        KS_TRACED(name, 0, cbsz, abid, blgp)                                                                           \
    }
KS_FOR_EACH_DENSE_MATRIX_INSTRUCTION(KS_DENSE)
#undef KS_DENSE
#define KS_SPARSE(name, ...)                                                                                           \
    extern "C" KS_TRACE_EXCHANGE uint64_t ks_op___builtin_amdgcn_##name(KS_MATRIX_PARAMETERS);                         \
    static KS_INLINE ::ks::MatrixTypes<::ks::k_##name>::D __builtin_amdgcn_##name(                                     \
        ::ks::MatrixTypes<::ks::k_##name>::A a, ::ks::MatrixTypes<::ks::k_##name>::B b,                                \
        ::ks::MatrixTypes<::ks::k_##name>::D c, int index, int cbsz, int abid, uint32_t ks_site = KS_SITE) {           \
        KS_TRACED(name, index, cbsz, abid, 0)                                                                          \
    }
KS_FOR_EACH_SPARSE_MATRIX_INSTRUCTION(KS_SPARSE)
#undef KS_SPARSE
#undef KS_TRACED
#elif KS_WAVE_SIZE == 64
#define KS_DENSE(name, ...)                                                                                            \
    static KS_INLINE ::ks::MatrixTypes<::ks::k_##name>::D __builtin_amdgcn_##name(                                     \
        ::ks::MatrixTypes<::ks::k_##name>::A a, ::ks::MatrixTypes<::ks::k_##name>::B b,                                \
        ::ks::MatrixTypes<::ks::k_##name>::D c, int cbsz, int abid, int blgp, uint32_t ks_site = KS_SITE) {            \
        return ::ks::multiply_matrices<::ks::k_##name>(a, b, c, 0, {cbsz, abid, blgp}, ks_site);                       \
    }
KS_FOR_EACH_DENSE_MATRIX_INSTRUCTION(KS_DENSE)
#undef KS_DENSE
#define KS_SPARSE(name, ...)                                                                                           \
    static KS_INLINE ::ks::MatrixTypes<::ks::k_##name>::D __builtin_amdgcn_##name(                                     \
        ::ks::MatrixTypes<::ks::k_##name>::A a, ::ks::MatrixTypes<::ks::k_##name>::B b,                                \
        ::ks::MatrixTypes<::ks::k_##name>::D c, int index, int cbsz, int abid, uint32_t ks_site = KS_SITE) {           \
        return ::ks::multiply_matrices<::ks::k_##name>(a, b, c, index, {cbsz, abid, 0}, ks_site);                      \
    }
KS_FOR_EACH_SPARSE_MATRIX_INSTRUCTION(KS_SPARSE)
#undef KS_SPARSE
#else
#define KS_NO_WAVE64(name, ...)                                                                                        \
    template <class... A>                                                                                              \
    __attribute__((unavailable("matrix instructions need waves of 64 work-items: compile without KS_WAVE_SIZE=32")))   \
    int __builtin_amdgcn_##name(A &&...);
KS_FOR_EACH_DENSE_MATRIX_INSTRUCTION(KS_NO_WAVE64)
KS_FOR_EACH_SPARSE_MATRIX_INSTRUCTION(KS_NO_WAVE64)
#undef KS_NO_WAVE64
#endif

#define KS_FOREIGN(name)                                                                                               \
    template <class... A>                                                                                              \
    __attribute__((unavailable("gfx942 has no such matrix instruction; use one that it has")))                         \
    int __builtin_amdgcn_##name(A &&...);
KS_FOR_EACH_FOREIGN_MATRIX_INSTRUCTION(KS_FOREIGN)
#undef KS_FOREIGN
