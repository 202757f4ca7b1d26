// The compiler's own names for exchanges inside a wave: DPP, ds_swizzle, ds_permute, lane reads, comparisons.
#include "check.h"
#include <functional>

constexpr int kOld = -1000; // plus the lane

template <int control, int row_mask, int bank_mask, bool zero>
__global__ void update(const int *in, int *out) {
    const int lane = threadIdx.x;
    out[lane] = __builtin_amdgcn_update_dpp(kOld + lane, in[lane], control, row_mask, bank_mask, zero);
}
/// The control words, each with the lane that it reads as the instruction set says; negative: none.
using Source = std::function<int(int)>;
template <int control> void check_dpp(const std::vector<int> &in, Source source) {
    const auto check = [&](auto kernel, int row_mask, int bank_mask, bool zero, int lanes) {
        DeviceArray<int> input(in), output(64);
        kernel<<<1, lanes>>>(input.get(), output.get());
        const std::vector<int> out = output.values();
        for (int lane = 0; lane < lanes; ++lane) {
            const int from = source(lane);
            int expected = from >= 0 && from < lanes ? in[from] : zero ? 0 : kOld + lane;
            if (!(row_mask >> lane / 16 & 1) || !(bank_mask >> lane % 16 / 4 & 1)) expected = kOld + lane;
            if (out[lane] != expected) {
                std::fprintf(stderr, "control %#x rows %#x banks %#x zero %d: lane %d got %d, not %d\n", control, row_mask,
                             bank_mask, zero, lane, out[lane], expected);
                std::exit(1);
            }
        }
    };
    check(update<control, 15, 15, false>, 15, 15, false, 64);
    check(update<control, 15, 15, true>, 15, 15, true, 64);
    check(update<control, 10, 15, false>, 10, 15, false, 64);
    check(update<control, 15, 6, true>, 15, 6, true, 64);
    check(update<control, 15, 15, true>, 15, 15, true, 40); // a wave that is not full
}
__global__ void prefix_sum(const int *in, int *out) {
    const int lane = threadIdx.x;
    int sum = in[lane];
    sum += __builtin_amdgcn_update_dpp(0, sum, 0x111, 0xf, 0xf, false);
    sum += __builtin_amdgcn_update_dpp(0, sum, 0x112, 0xf, 0xf, false);
    sum += __builtin_amdgcn_update_dpp(0, sum, 0x114, 0xf, 0xf, false);
    sum += __builtin_amdgcn_update_dpp(0, sum, 0x118, 0xf, 0xf, false);
    sum += __builtin_amdgcn_update_dpp(0, sum, 0x142, 0xa, 0xf, false);
    sum += __builtin_amdgcn_update_dpp(0, sum, 0x143, 0xc, 0xf, false);
    out[lane] = sum;
    out[64 + lane] = __builtin_amdgcn_mov_dpp(in[lane], 0xb1, 0xf, 0xf, true) + // neighbours change places
                     1000 * __hip_move_dpp(in[lane], 0x140, 0xf, 0xf, true);
}
void check_all_dpp(const std::vector<int> &in) {
    check_dpp<0x1b>(in, [](int l) { return l / 4 * 4 + 3 - l % 4; }); // quad_perm [3,2,1,0]
    check_dpp<0x09>(in, [](int l) { return l / 4 * 4 + (l % 4 == 0 ? 1 : l % 4 == 1 ? 2 : 0); });
    check_dpp<0x101>(in, [](int l) { return l % 16 + 1 < 16 ? l + 1 : -1; });
    check_dpp<0x105>(in, [](int l) { return l % 16 + 5 < 16 ? l + 5 : -1; });
    check_dpp<0x10f>(in, [](int l) { return l % 16 + 15 < 16 ? l + 15 : -1; });
    check_dpp<0x113>(in, [](int l) { return l % 16 >= 3 ? l - 3 : -1; });
    check_dpp<0x127>(in, [](int l) { return l / 16 * 16 + (l % 16 + 16 - 7) % 16; });
    check_dpp<0x130>(in, [](int l) { return l < 63 ? l + 1 : -1; });
    check_dpp<0x134>(in, [](int l) { return (l + 1) % 64; });
    check_dpp<0x138>(in, [](int l) { return l - 1; });
    check_dpp<0x13c>(in, [](int l) { return (l + 63) % 64; });
    check_dpp<0x140>(in, [](int l) { return l / 16 * 16 + 15 - l % 16; });
    check_dpp<0x141>(in, [](int l) { return l / 8 * 8 + 7 - l % 8; });
    check_dpp<0x142>(in, [](int l) { return l / 16 * 16 - 1; });
    check_dpp<0x143>(in, [](int l) { return l < 32 ? -1 : 31; });
    check_dpp<0x15a>(in, [](int l) { return l / 16 * 16 + 10; });

    DeviceArray<int> input(in), output(128);
    prefix_sum<<<1, 64>>>(input.get(), output.get());
    const std::vector<int> out = output.values();
    int sum = 0;
    for (int l = 0; l < 64; ++l) {
        sum += in[l];
        CHECK(out[l] == sum);
        CHECK(out[64 + l] == in[l ^ 1] + 1000 * in[l / 16 * 16 + 15 - l % 16]);
    }
}

template <int pattern> __global__ void swizzle(const int *in, int *out) {
    const int lane = threadIdx.x;
    out[lane] = __builtin_amdgcn_ds_swizzle(in[lane], pattern);
    out[64 + lane] = __hip_ds_swizzle(in[lane], pattern);
    out[128 + lane] = static_cast<int>(__hip_ds_swizzlef(static_cast<float>(in[lane]), pattern));
}
template <int pattern> void check_swizzle(const std::vector<int> &in, Source source) {
    for (const int lanes : {64, 50}) {
        DeviceArray<int> input(in), output(192);
        swizzle<pattern><<<1, lanes>>>(input.get(), output.get());
        const std::vector<int> out = output.values();
        for (int l = 0; l < lanes; ++l) {
            const int expected = source(l) < lanes ? in[source(l)] : 0;
            CHECK(out[l] == expected && out[64 + l] == expected && out[128 + l] == expected);
        }
    }
}
void check_all_swizzles(const std::vector<int> &in) {
    check_swizzle<0x041f>(in, [](int l) { return l ^ 1; });                      // exchange with bit 0
    check_swizzle<0x401f>(in, [](int l) { return l ^ 16; });                     // exchange halves of 32
    check_swizzle<0x0018>(in, [](int l) { return l / 8 * 8; });                  // broadcast the first of eight
    check_swizzle<0x1c00 + 0x1f>(in, [](int l) { return l ^ 7; });
    check_swizzle<(3 << 10) | (4 << 5) | 0x1b>(in, [](int l) { return l / 32 * 32 + (((l % 32 & 27) | 4) ^ 3); });
    check_swizzle<0x8000 | 0x4e>(in, [](int l) { return l ^ 2; });               // fours: [2,3,0,1]
    check_swizzle<0xc000 | 5 << 5>(in, [](int l) { return l / 32 * 32 + (l + 5) % 32; });
    check_swizzle<0xc400 | 5 << 5>(in, [](int l) { return l / 32 * 32 + (l + 27) % 32; });
    check_swizzle<0xe000>(in, [](int l) { // bits reversed
        int r = 0;
        for (int b = 0; b < 5; ++b) r |= (l >> b & 1) << (4 - b);
        return l / 32 * 32 + r;
    });
}

__global__ void permutes(const int *in, const int *address, int *out) {
    const int t = threadIdx.x;
    int *at = out + t * 10;
    at[0] = __builtin_amdgcn_ds_bpermute(address[t], in[t]);
    at[1] = __builtin_amdgcn_ds_permute(address[t], in[t]);
    at[2] = __builtin_amdgcn_readlane(in[t], 37);
    at[3] = __builtin_amdgcn_readfirstlane(in[t]);
    at[4] = __builtin_amdgcn_readlane(in[t], 3);
    at[5] = -1;
    if (t % 3 == 1) at[5] = __builtin_amdgcn_ds_permute(4 * (t / 2), in[t]); // some targets get nothing, some are not there
    at[6] = __hip_ds_bpermute(address[t], in[t]) + __hip_ds_permute(address[t], in[t]);
    at[7] = static_cast<int>(__hip_ds_bpermutef(address[t], static_cast<float>(in[t])));
    at[8] = static_cast<int>(__hip_ds_permutef(address[t], static_cast<float>(in[t])));
    __builtin_amdgcn_wave_barrier();
    at[9] = static_cast<int>(__builtin_amdgcn_mbcnt_hi(0xf0f0f0f0u, __builtin_amdgcn_mbcnt_lo(0x33333333u, 5)));
}
void check_permutes(const std::vector<int> &in) {
    std::vector<int> address(64);
    for (int l = 0; l < 64; ++l) address[l] = 4 * (l * 7 % 50) + 256 * (l % 2); // the upper part is ignored
    DeviceArray<int> input(in), addresses(address), output(640);
    permutes<<<1, 64>>>(input.get(), addresses.get(), output.get());
    const std::vector<int> out = output.values();
    std::vector<int> pushed(64, 0), some(64, 0);
    for (int l = 0; l < 64; ++l) pushed[l * 7 % 50] = in[l];
    for (int l = 1; l < 64; l += 3) some[l / 2] = in[l];
    for (int l = 0; l < 64; ++l) {
        const int *at = out.data() + l * 10;
        const int pulled = in[l * 7 % 50];
        CHECK(at[0] == pulled);
        CHECK(at[1] == pushed[l]);
        CHECK(at[2] == in[37]);
        CHECK(at[3] == in[0] && at[4] == in[3]);
        CHECK(at[5] == (l % 3 == 1 ? some[l] : -1));
        CHECK(at[6] == pulled + pushed[l]);
        CHECK(at[7] == pulled && at[8] == pushed[l]);
        int below = 5;
        for (int b = 0; b < l; ++b) below += b < 32 ? 0x33333333u >> b & 1 : 0xf0f0f0f0u >> (b - 32) & 1;
        CHECK(at[9] == below);
    }
}

template <class T> __global__ void compare(const T *a, const T *b, unsigned long long *out);
#define COMPARE(T, NAME, LESS, SAME, NOT)                                                                              \
    template <> __global__ void compare<T>(const T *a, const T *b, unsigned long long *out) {                          \
        const int t = threadIdx.x;                                                                                     \
        out[t * 3] = __builtin_amdgcn_##NAME(a[t], b[t], LESS);                                                        \
        out[t * 3 + 1] = __builtin_amdgcn_##NAME(a[t], b[t], SAME);                                                    \
        out[t * 3 + 2] = __builtin_amdgcn_##NAME(a[t], b[t], NOT);                                                     \
    }
// The numbers of LLVM's comparisons: less; equal; not greater or equal (and, of floats, unordered).
COMPARE(unsigned, uicmp, 36, 32, 37)
COMPARE(int, sicmp, 40, 32, 41)
COMPARE(unsigned long, uicmpl, 36, 32, 37)
COMPARE(long, sicmpl, 40, 32, 41)
COMPARE(float, fcmpf, 4, 1, 12)
COMPARE(double, fcmp, 4, 1, 12)
template <class T> void check_compare(bool floats) {
    std::vector<T> a(64), b(64);
    for (int l = 0; l < 64; ++l) a[l] = static_cast<T>(l * 5 % 13 - 6), b[l] = static_cast<T>(l * 3 % 11 - 5);
    if (floats) a[9] = static_cast<T>(NAN);
    DeviceArray<T> da(a), db(b);
    DeviceArray<unsigned long long> output(64 * 3);
    compare<T><<<1, 64>>>(da.get(), db.get(), output.get());
    unsigned long long less = 0, same = 0, third = 0;
    for (int l = 0; l < 64; ++l) {
        less |= static_cast<unsigned long long>(a[l] < b[l]) << l;
        same |= static_cast<unsigned long long>(a[l] == b[l]) << l;
        third |= static_cast<unsigned long long>(floats ? !(a[l] >= b[l]) : a[l] <= b[l]) << l;
    }
    const auto out = output.values();
    for (int l = 0; l < 64; ++l) CHECK(out[l * 3] == less && out[l * 3 + 1] == same && out[l * 3 + 2] == third);
}

__global__ void masks(unsigned long long *out) {
    const int t = threadIdx.x;
    unsigned long long *at = out + t * 4;
    at[0] = __builtin_amdgcn_ballot_w64(t % 5 == 2);
    at[1] = at[2] = at[3] = 0;
    if (t % 7 < 3) {
        at[1] = __builtin_amdgcn_read_exec();
        at[2] = __builtin_amdgcn_read_exec_lo();
        at[3] = __builtin_amdgcn_read_exec_hi();
    }
}
void check_masks() {
    DeviceArray<unsigned long long> output(256);
    masks<<<1, 64>>>(output.get());
    const auto out = output.values();
    unsigned long long fifths = 0, sevenths = 0;
    for (int l = 0; l < 64; ++l) fifths |= (l % 5 == 2 ? 1ull : 0) << l, sevenths |= (l % 7 < 3 ? 1ull : 0) << l;
    for (int l = 0; l < 64; ++l) {
        const bool in = l % 7 < 3;
        CHECK(out[l * 4] == fifths && out[l * 4 + 1] == (in ? sevenths : 0));
        CHECK(out[l * 4 + 2] == (in ? sevenths & 0xffffffff : 0) && out[l * 4 + 3] == (in ? sevenths >> 32 : 0));
    }
}

int main() {
    std::vector<int> in(64);
    for (int l = 0; l < 64; ++l) in[l] = l * 37 % 101 + 1;
    check_all_dpp(in);
    check_all_swizzles(in);
    check_permutes(in);
    check_compare<unsigned>(false), check_compare<int>(false), check_compare<unsigned long>(false);
    check_compare<long>(false), check_compare<float>(true), check_compare<double>(true);
    check_masks();
}
