// Matrix instructions as traced code calls them.
#include "../src/fault.h"
#include "../src/worker.h"
#include <ks/matrix.h>
#include <stdlib.h>

namespace ks::trace {
namespace {

/// Results of a work-item's last instructions: the optimiser may ask for parts of several.
constexpr size_t kKept = 64;
struct Results {
    uint64_t count;
    int32_t d[kKept][32];
};
Results *results; ///< of each work-item

uint64_t multiply(MatrixInstruction which, uint64_t a, uint64_t b, uint64_t b_high, const MatrixPart (&c)[8], int index,
                  MatrixModifiers modifiers, uint32_t site) {
    const uint32_t linear = current->index.ks_linear, lane = linear % worker.wave_size;
    MatrixRegisters *all = matrix_registers != nullptr ? matrix_registers : ks_make_matrix_registers();
    MatrixRegisters &wave = all[linear / worker.wave_size];
    wave.a[lane] = a;
    wave.b[0][lane] = b;
    wave.b[1][lane] = b_high;
    wave.index[lane] = index;
    memcpy(wave.c[lane], c, sizeof wave.c[lane]);
    switch_items(kWave, site);
    // The first of those that take part goes on first.
    const uint64_t active = block.waves[linear / worker.wave_size].active;
    if (lane == static_cast<uint32_t>(__builtin_ctzll(active))) {
        ks_multiply_matrices(which, wave, active, modifiers);
    }
    if (results == nullptr) {
        results = static_cast<Results *>(calloc(kMaxBlockSize, sizeof(Results)));
        if (results == nullptr) {
            fail("out_of_memory", "the tracing runtime has no memory left for the results of matrix instructions");
        }
    }
    Results &mine = results[linear];
    memcpy(mine.d[++mine.count % kKept], wave.d[lane], sizeof wave.d[lane]);
    return mine.count;
}

} // namespace
} // namespace ks::trace

namespace ks {
extern "C" __attribute__((visibility("default"))) MatrixPart ks_trace_matrix_part(uint64_t number, unsigned part) {
    const trace::Results &mine = trace::results[current->index.ks_linear];
    if (mine.count - number >= trace::kKept) {
        fail("trace_matrix", "the result of a matrix instruction was asked for too late; report this");
    }
    MatrixPart value;
    memcpy(&value, &mine.d[number % trace::kKept][4 * part], sizeof value);
    return value;
}
} // namespace ks

#define KS_DEFINE(name, ...)                                                                                           \
    extern "C" __attribute__((visibility("default"))) uint64_t ks_op___builtin_amdgcn_##name(KS_MATRIX_PARAMETERS) {   \
        return ks::trace::multiply(ks::k_##name, a, b, b_high, {c0, c1, c2, c3, c4, c5, c6, c7}, index,                \
                                   {cbsz, abid, blgp}, site);                                                          \
    }
KS_FOR_EACH_DENSE_MATRIX_INSTRUCTION(KS_DEFINE)
KS_FOR_EACH_SPARSE_MATRIX_INSTRUCTION(KS_DEFINE)
