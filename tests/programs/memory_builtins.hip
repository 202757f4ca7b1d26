// The compiler's own names for memory: buffers with a bound, loads into shared memory, atomic additions; and the work-item's
// place, clocks and what steers a device's pipelines.
#include "check.h"
#include <cstring>

typedef unsigned UInt2 __attribute__((ext_vector_type(2)));
typedef unsigned UInt3 __attribute__((ext_vector_type(3)));
typedef unsigned UInt4 __attribute__((ext_vector_type(4)));
typedef _Float16 Half2 __attribute__((ext_vector_type(2)));
typedef short Short2 __attribute__((ext_vector_type(2)));

__global__ void buffers(unsigned char *from, unsigned char *to, int bytes, unsigned *out) {
    const int t = threadIdx.x;
    const auto source = __builtin_amdgcn_make_buffer_rsrc(from, 0, bytes, 0x00027000);
    const auto target = __builtin_amdgcn_make_buffer_rsrc(to, 0, bytes, 0x00027000);
    unsigned *at = out + t * 13;
    at[0] = __builtin_amdgcn_raw_buffer_load_b8(source, t, 0, 0);
    at[1] = __builtin_amdgcn_raw_buffer_load_b16(source, t * 2, 4, 0);
    at[2] = __builtin_amdgcn_raw_buffer_load_b32(source, t * 4, 8, 0);
    const UInt2 two = __builtin_amdgcn_raw_buffer_load_b64(source, t * 8, 0, 0);
    const UInt3 three = __builtin_amdgcn_raw_buffer_load_b96(source, t * 12, 0, 0);
    const UInt4 four = __builtin_amdgcn_raw_buffer_load_b128(source, t * 16, 0, 0);
    at[3] = two[0], at[4] = two[1];
    at[5] = three[0], at[6] = three[1], at[7] = three[2];
    at[8] = four[0], at[9] = four[1], at[10] = four[2], at[11] = four[3];
    at[12] = __builtin_amdgcn_raw_buffer_load_b32(source, -4, 0, 0); // far behind the end
    if (t < 10) __builtin_amdgcn_raw_buffer_store_b32(t + 1000u, target, t * 4, 0, 0);
    if (t == 10) __builtin_amdgcn_raw_buffer_store_b64(UInt2{7, 8}, target, 40, 0, 0);
    if (t == 11) __builtin_amdgcn_raw_buffer_store_b96(UInt3{9, 10, 11}, target, 48, 0, 0);
    if (t == 12) __builtin_amdgcn_raw_buffer_store_b128(UInt4{12, 13, 14, 15}, target, bytes - 8, 0, 0); // half of it is out
    if (t == 13) __builtin_amdgcn_raw_buffer_store_b8(0xab, target, 60, 1, 0);
    if (t == 14) __builtin_amdgcn_raw_buffer_store_b16(0xcdef, target, 62, 0, 0);
    if (t == 15) __builtin_amdgcn_raw_buffer_store_b8(0xff, target, bytes, 0, 0);
}
void check_buffers() {
    const int bytes = 200;
    std::vector<unsigned char> data(2048);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i * 151 % 251 + 1);
    DeviceArray<unsigned char> from(data), to(256);
    DeviceArray<unsigned> output(64 * 13);
    buffers<<<1, 64>>>(from.get(), to.get(), bytes, output.get());
    const auto out = output.values();
    const auto read = [&](int offset, int size) {
        unsigned value = 0;
        if (offset + size <= bytes) std::memcpy(&value, data.data() + offset, size);
        return value;
    };
    for (int t = 0; t < 64; ++t) {
        const unsigned *at = out.data() + t * 13;
        CHECK(at[0] == read(t, 1) && at[1] == read(t * 2 + 4, 2) && at[2] == read(t * 4 + 8, 4));
        for (int i = 0; i < 2; ++i) CHECK(at[3 + i] == read(t * 8 + 4 * i, 4));
        for (int i = 0; i < 3; ++i) CHECK(at[5 + i] == read(t * 12 + 4 * i, 4));
        for (int i = 0; i < 4; ++i) CHECK(at[8 + i] == read(t * 16 + 4 * i, 4));
        CHECK(at[12] == 0);
    }
    const auto written = to.values();
    unsigned words[64];
    std::memcpy(words, written.data(), 256);
    for (unsigned i = 0; i < 10; ++i) CHECK(words[i] == 1000 + i);
    for (unsigned i = 10; i < 15; ++i) CHECK(words[i] == i - 3);
    CHECK(words[15] == 0xcdefab00);
    CHECK(words[48] == 12 && words[49] == 13 && words[50] == 0 && words[51] == 0);
}

#ifdef __KS_CPU_RUNTIME__
#define GLOBAL
#define SHARED
#else
#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3)))
#endif
struct Sums {
    float f32[3];
    double f64[5];
    Half2 f16[2];
    Short2 bf16[2];
    float shared_f32, shared_low, shared_high;
    double shared_f64;
    Half2 shared_f16;
    Short2 shared_bf16;
    unsigned counter[2];
    unsigned long wide_counter[2];
};
/// Numbers whose sums are exact in any order; as a bfloat16, 1 is 0x3f80 and 2 is 0x4000.
__global__ void atomics(Sums *sums) {
    const int t = threadIdx.x;
    (void)__builtin_amdgcn_global_atomic_fadd_f32((GLOBAL float *)&sums->f32[0], 1.0f + t);
    (void)__builtin_amdgcn_flat_atomic_fadd_f32(&sums->f32[1], 0.5f * t);
    (void)__builtin_amdgcn_global_atomic_fadd_f64((GLOBAL double *)&sums->f64[0], 1.0 + t);
    (void)__builtin_amdgcn_flat_atomic_fadd_f64(&sums->f64[1], 0.25 * t);
    (void)__builtin_amdgcn_global_atomic_fmin_f64((GLOBAL double *)&sums->f64[2], 3.0 - t % 50);
    (void)__builtin_amdgcn_global_atomic_fmax_f64((GLOBAL double *)&sums->f64[3], 2.0 * (t % 41));
    (void)__builtin_amdgcn_flat_atomic_fmin_f64(&sums->f64[4], -7.0 * (t % 9));
    (void)__builtin_amdgcn_flat_atomic_fmax_f64(&sums->f64[4], -1000.0);
    (void)__builtin_amdgcn_global_atomic_fadd_v2f16((GLOBAL Half2 *)&sums->f16[0], Half2{1, 2});
    (void)__builtin_amdgcn_flat_atomic_fadd_v2f16(&sums->f16[1], Half2{3, -1});
    (void)__builtin_amdgcn_global_atomic_fadd_v2bf16((GLOBAL Short2 *)&sums->bf16[0], Short2{0x3f80, 0x4000});
    (void)__builtin_amdgcn_flat_atomic_fadd_v2bf16(&sums->bf16[1], Short2{0x4000, 0x3f80});
    (void)__builtin_amdgcn_atomic_inc32(&sums->counter[0], 9u, __ATOMIC_RELAXED, "agent");
    (void)__builtin_amdgcn_atomic_dec32(&sums->counter[1], 6u, __ATOMIC_RELAXED, "agent");
    (void)__builtin_amdgcn_atomic_inc64(&sums->wide_counter[0], 10ul, __ATOMIC_RELAXED, "agent");
    (void)__builtin_amdgcn_atomic_dec64(&sums->wide_counter[1], 4ul, __ATOMIC_RELAXED, "agent");

    __shared__ float sum, low, high;
    __shared__ double wide;
    __shared__ Half2 half_sum;
    __shared__ Short2 bfloat_sum;
    if (t == 0) sum = low = high = 0, wide = 0, half_sum = Half2{0, 0}, bfloat_sum = Short2{0, 0};
    __syncthreads();
    (void)__builtin_amdgcn_ds_faddf((SHARED float *)&sum, 2.0f * t, 0, 0, false);
    (void)__builtin_amdgcn_ds_atomic_fadd_f32((SHARED float *)&sum, 1.0f);
    (void)__builtin_amdgcn_ds_fminf((SHARED float *)&low, -3.0f * t, 0, 0, false);
    (void)__builtin_amdgcn_ds_fmaxf((SHARED float *)&high, 5.0f * t, 0, 0, false);
    (void)__builtin_amdgcn_ds_atomic_fadd_f64((SHARED double *)&wide, 3.0 * t);
    (void)__builtin_amdgcn_ds_atomic_fadd_v2f16((SHARED Half2 *)&half_sum, Half2{2, 1});
    (void)__builtin_amdgcn_ds_atomic_fadd_v2bf16((SHARED Short2 *)&bfloat_sum, Short2{0x3f80, 0x3f80});
    __syncthreads();
    if (t == 0) {
        sums->shared_f32 = sum, sums->shared_low = low, sums->shared_high = high, sums->shared_f64 = wide;
        sums->shared_f16 = half_sum, sums->shared_bf16 = bfloat_sum;
    }
}
void check_atomics() {
    DeviceArray<Sums> output(1);
    const int n = 128;
    atomics<<<1, n>>>(output.get());
    const Sums s = output.values()[0];
    const double all = n * (n - 1) / 2;
    CHECK(s.f32[0] == n + all && s.f32[1] == 0.5 * all);
    CHECK(s.f64[0] == n + all && s.f64[1] == 0.25 * all && s.f64[2] == -46 && s.f64[3] == 80 && s.f64[4] == -56);
    CHECK((float)s.f16[0][0] == n && (float)s.f16[0][1] == 2 * n && (float)s.f16[1][0] == 3 * n && (float)s.f16[1][1] == -n);
    CHECK(s.bf16[0][0] == 0x4300 && s.bf16[0][1] == 0x4380 && s.bf16[1][0] == 0x4380 && s.bf16[1][1] == 0x4300); // 128, 256
    CHECK(s.shared_f32 == 2 * all + n && s.shared_low == -3 * (n - 1) && s.shared_high == 5 * (n - 1));
    CHECK(s.shared_f64 == 3 * all && (float)s.shared_f16[0] == 2 * n && (float)s.shared_f16[1] == n);
    CHECK(s.shared_bf16[0] == 0x4300 && s.shared_bf16[1] == 0x4300);
    CHECK(s.counter[0] == n % 10 && s.wide_counter[0] == n % 11);
    CHECK(s.counter[1] == 6 - (n - 1) % 7 && s.wide_counter[1] == 4 - (n - 1) % 5);
}

__global__ void to_shared(const unsigned *from, unsigned *out) {
    __shared__ unsigned staged[128];
    const int t = threadIdx.x, wave = t / 64;
    __builtin_amdgcn_global_load_lds((GLOBAL void *)(from + (t * 5 + 3) % 128), (SHARED void *)(staged + wave * 64), 4, 0, 0);
    __builtin_amdgcn_s_waitcnt(0x0f70);
    __syncthreads();
    out[t] = staged[127 - t];
}
__global__ void places(unsigned *out, unsigned long long *times) {
    const unsigned block = __builtin_amdgcn_workgroup_id_x() + 3 * (__builtin_amdgcn_workgroup_id_y() + 2 * __builtin_amdgcn_workgroup_id_z());
    const unsigned item = __builtin_amdgcn_workitem_id_x() + 8 * (__builtin_amdgcn_workitem_id_y() + 4 * __builtin_amdgcn_workitem_id_z());
    unsigned *at = out + (block * 64 + item) * 8;
    at[0] = block * 64 + item;
    at[1] = __builtin_amdgcn_workgroup_size_x() * 10000 + __builtin_amdgcn_workgroup_size_y() * 100 + __builtin_amdgcn_workgroup_size_z();
    at[2] = __builtin_amdgcn_grid_size_x(), at[3] = __builtin_amdgcn_grid_size_y(), at[4] = __builtin_amdgcn_grid_size_z();
    at[5] = __builtin_amdgcn_wavefrontsize();
    unsigned long long before = __builtin_amdgcn_s_memtime(), real = __builtin_amdgcn_s_memrealtime();
    __builtin_amdgcn_s_sleep(1);
    __builtin_amdgcn_s_setprio(1);
    __builtin_amdgcn_sched_barrier(0);
    __builtin_amdgcn_sched_group_barrier(8, 1, 0);
    __builtin_amdgcn_iglp_opt(0);
    __builtin_amdgcn_s_dcache_inv();
    __builtin_amdgcn_s_dcache_wb();
    __builtin_amdgcn_buffer_wbinvl1();
    __builtin_amdgcn_buffer_wbinvl1_vol();
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
    __builtin_amdgcn_s_barrier();
    at[6] = __builtin_amdgcn_s_memtime() >= before;
    at[7] = __builtin_amdgcn_s_memrealtime() >= real;
    times[0] = before, times[1] = real;
}
void check_the_rest() {
    std::vector<unsigned> from(128);
    for (unsigned i = 0; i < 128; ++i) from[i] = i * i + 7;
    DeviceArray<unsigned> input(from), staged(128), output(12 * 64 * 8);
    DeviceArray<unsigned long long> times(2);
    to_shared<<<1, 128>>>(input.get(), staged.get());
    const auto out = staged.values();
    for (int t = 0; t < 128; ++t) CHECK(out[t] == from[((127 - t) * 5 + 3) % 128]);
    places<<<dim3(3, 2, 2), dim3(8, 4, 2)>>>(output.get(), times.get());
    const auto where = output.values();
    for (unsigned i = 0; i < 12 * 64; ++i) {
        const unsigned *at = where.data() + i * 8;
        CHECK(at[0] == i && at[1] == 80402 && at[2] == 24 && at[3] == 8 && at[4] == 4 && at[5] == 64 && at[6] && at[7]);
    }
    CHECK(times.values()[0] > 0 && times.values()[1] > 0);
}

int main() {
    check_buffers();
    check_atomics();
    check_the_rest();
}
