// Groups within a block: ranks, sizes, exchanges and votes of blocks, tiles, coalesced groups and their parts.
#include "check.h"
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int kBlock = 200; // not a multiple of the wave, nor of the tiles

static unsigned noise(unsigned x) {
    x = (x ^ 61) ^ (x >> 16);
    x *= 9;
    x ^= x >> 4;
    return x * 0x27d4eb2d;
}

__global__ void block_facts(unsigned *out) {
    cg::thread_block block = cg::this_thread_block();
    const unsigned rank = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    cg::thread_group base = block;
    __shared__ unsigned shared[60];
    shared[rank] = rank * 3 + 1;
    block.sync();
    const unsigned other = shared[59 - rank];
    cg::sync(block);
    shared[rank] = 7 * rank;
    base.sync();
    out[rank] = block.thread_rank() == rank && block.size() == 60 && cg::group_size(block) == 60 &&
                block.group_index().x == blockIdx.x && block.thread_index().y == threadIdx.y && block.is_valid() &&
                base.thread_rank() == rank && cg::thread_rank(base) == rank && base.size() == 60 &&
                block.group_dim().y == 4 && other == (59 - rank) * 3 + 1 && shared[(rank + 1) % 60] == (rank + 1) % 60 * 7;
}

// What each operation of a tile gives, one row for each.
template <unsigned size> __global__ void tile(const int *in, const float *weights, long long *out) {
    auto block = cg::this_thread_block();
    auto part = cg::tiled_partition<size>(block);
    const int i = block.thread_rank(), value = in[i];
    int agree = -1;
    long long *row = out + i;
    row[0 * kBlock] = part.thread_rank();
    row[1 * kBlock] = part.meta_group_rank() * 1000 + part.meta_group_size();
    row[2 * kBlock] = part.shfl(value, 1);
    row[3 * kBlock] = part.shfl_down(value, 1);
    row[4 * kBlock] = part.shfl_up(value, 1);
    row[5 * kBlock] = part.shfl_xor(value, size / 2);
    row[6 * kBlock] = part.ballot(value % 3 == 0);
    row[7 * kBlock] = part.any(value % 11 == 0);
    row[8 * kBlock] = part.all(value % 11 != 0);
    row[9 * kBlock] = part.match_any(value % 4);
    row[10 * kBlock] = part.match_all(value / 1000, agree);
    row[11 * kBlock] = agree;
    float sum = weights[i];
    for (unsigned step = size / 2; step > 0; step /= 2) sum += part.shfl_xor(sum, step);
    row[12 * kBlock] = (long long)sum;
    part.sync();
    cg::thread_block_tile<size> forgetful = part;
    row[13 * kBlock] = forgetful.meta_group_rank() + forgetful.size();
}

template <unsigned size> void check_tile(const std::vector<int> &in, const std::vector<float> &weights) {
    DeviceArray<int> device_in(in);
    DeviceArray<float> device_weights(weights);
    DeviceArray<long long> device_out(14 * kBlock);
    tile<size><<<1, kBlock>>>(device_in.get(), device_weights.get(), device_out.get());
    HIP_OK(hipGetLastError());
    const std::vector<long long> out = device_out.values();
    for (int i = 0; i < kBlock; ++i) {
        const int begin = i / (int)size * (int)size, end = std::min(kBlock, begin + (int)size);
        auto at = [&](int j) { return in[j]; };
        long long votes = 0, any = 0, all = 1, equal = 0, same = 1, members = 0;
        float sum = 0;
        for (int j = begin; j < end; ++j) {
            votes |= (long long)(in[j] % 3 == 0) << (j - begin);
            any |= in[j] % 11 == 0;
            all &= in[j] % 11 != 0;
            equal |= (long long)(in[j] % 4 == in[i] % 4) << (j - begin);
            same &= in[j] / 1000 == in[i] / 1000;
            members |= 1ll << (j - begin);
            sum += weights[j];
        }
        const bool whole = end - begin == (int)size;
        auto got = [&](int row) { return out[row * kBlock + i]; };
        CHECK(got(0) == i - begin);
        CHECK(got(1) == i / (int)size * 1000 + (kBlock + (int)size - 1) / (int)size);
        CHECK(got(2) == (size == 1 ? at(i) : at(begin + 1)));
        if (whole) { // reading from a work-item that does not exist is not defined
            CHECK(got(3) == at(i + 1 < end ? i + 1 : i));
            CHECK(got(4) == at(i > begin ? i - 1 : i));
            CHECK(got(5) == at(begin + ((i - begin) ^ (int)(size / 2))));
            CHECK(got(12) == (long long)sum);
        }
        CHECK(got(6) == votes && got(7) == any && got(8) == all && got(9) == equal);
        CHECK(got(10) == (same ? members : 0) && got(11) == same);
        CHECK(got(13) == i / (int)size + (int)size);
    }
}

// Tiles whose size the kernel learns, and tiles of tiles.
__global__ void dynamic_tiles(const int *in, int *out, unsigned outer, unsigned inner) {
    auto block = cg::this_thread_block();
    cg::thread_group big = cg::tiled_partition(block, outer);
    cg::thread_group small = cg::tiled_partition(big, inner);
    auto fixed = cg::tiled_partition<32>(block);
    auto nested = cg::tiled_partition<4>(fixed);
    __shared__ int shared[kBlock];
    const int i = block.thread_rank();
    shared[i] = in[i];
    small.sync();
    // The sum of the small tile's values, each read by its first work-item after the tile's barrier.
    int sum = 0;
    if (small.thread_rank() == 0) {
        for (unsigned j = 0; j < small.size() && i + j < blockDim.x; ++j) sum += shared[i + j];
    }
    big.sync();
    out[i] = sum;
    out[kBlock + i] = big.thread_rank() * 100 + small.thread_rank();
    out[2 * kBlock + i] = big.size();
    out[3 * kBlock + i] = nested.meta_group_rank() * 100 + nested.meta_group_size() * 10 + nested.thread_rank();
}

// Groups of those who are together in a branch.
__global__ void together(const int *in, long long *out, int *counter) {
    const int i = threadIdx.x, value = in[i];
    long long *row = out + i;
    if (value % 3 != 0) {
        cg::coalesced_group group = cg::coalesced_threads();
        row[0] = group.size() * 100 + group.thread_rank();
        row[kBlock] = group.shfl(value, 2);
        row[2 * kBlock] = group.shfl_down(value, 3);
        row[3 * kBlock] = group.shfl_up(value, 2);
        row[4 * kBlock] = group.ballot(value % 2);
        row[5 * kBlock] = group.any(value % 17 == 0) * 10 + group.all(value % 17 != 0);
        row[6 * kBlock] = group.match_any(value % 5);
        // The usual use: one atomic for all.
        int base = 0;
        if (group.thread_rank() == 0) base = atomicAdd(counter, (int)group.size());
        base = group.shfl(base, 0);
        row[7 * kBlock] = base + group.thread_rank();
        cg::coalesced_group odd = cg::binary_partition(group, value % 2 != 0);
        row[8 * kBlock] = odd.size() * 100 + odd.thread_rank();
        row[9 * kBlock] = odd.shfl(value, 0);
        cg::coalesced_group four = cg::tiled_partition(group, 4);
        row[10 * kBlock] = four.meta_group_rank() * 1000 + four.meta_group_size() * 10 + four.thread_rank();
        row[11 * kBlock] = four.shfl(value, four.size() - 1);
        group.sync();
    } else {
        auto part = cg::binary_partition(cg::tiled_partition<64>(cg::this_thread_block()), false);
        row[0] = -(long long)part.size();
    }
}

// Only one tile of a wave reaches its barrier; the others are at the block's, or have ended.
__global__ void one_tile(int *out) {
    auto part = cg::tiled_partition<16>(cg::this_thread_block());
    __shared__ int shared[64];
    if (part.meta_group_rank() == 3) return;
    if (part.meta_group_rank() == 1) {
        for (int turn = 0; turn < 3; ++turn) {
            shared[threadIdx.x] = 10 * turn + part.thread_rank();
            part.sync();
            out[threadIdx.x] += shared[16 + (part.thread_rank() + 1) % 16];
            part.sync();
        }
    }
    __syncthreads();
    if (part.meta_group_rank() == 0) out[threadIdx.x] = shared[16 + threadIdx.x];
}

static void check_together(const std::vector<int> &in) {
    DeviceArray<int> device_in(in), counter(1);
    DeviceArray<long long> device_out(12 * kBlock);
    together<<<1, kBlock>>>(device_in.get(), device_out.get(), counter.get());
    const std::vector<long long> out = device_out.values();
    std::vector<int> places;
    for (int wave = 0; wave < kBlock; wave += 64) {
        std::vector<int> group;
        for (int i = wave; i < std::min(kBlock, wave + 64); ++i) {
            if (in[i] % 3 != 0) group.push_back(i);
        }
        const int size = group.size();
        for (int rank = 0; rank < size; ++rank) {
            const int i = group[rank], value = in[i];
            auto got = [&](int row) { return out[row * kBlock + i]; };
            long long votes = 0, equal = 0;
            bool any = false;
            std::vector<int> like;
            for (int j = 0; j < size; ++j) {
                votes |= (long long)(in[group[j]] % 2) << j;
                equal |= (long long)(in[group[j]] % 5 == value % 5) << j;
                any |= in[group[j]] % 17 == 0;
                if (in[group[j]] % 2 == value % 2) like.push_back(group[j]);
            }
            CHECK(got(0) == size * 100 + rank);
            CHECK(got(1) == in[group[2 % size]]);
            CHECK(got(2) == in[group[rank + 3 < size ? rank + 3 : rank]]);
            CHECK(got(3) == in[group[rank >= 2 ? rank - 2 : rank]]);
            CHECK(got(4) == votes && got(5) == any * 10 + !any && got(6) == equal);
            places.push_back(got(7));
            const int place = std::find(like.begin(), like.end(), i) - like.begin();
            CHECK(got(8) == (int)like.size() * 100 + place && got(9) == in[like[0]]);
            CHECK(got(10) == rank / 4 * 1000 + (size + 3) / 4 * 10 + rank % 4);
            CHECK(got(11) == in[group[std::min(size, rank / 4 * 4 + 4) - 1]]);
        }
    }
    std::sort(places.begin(), places.end());
    for (size_t i = 0; i < places.size(); ++i) CHECK(places[i] == (int)i);
    CHECK(counter.values()[0] == (int)places.size());
}

int main() {
    DeviceArray<unsigned> right(60);
    block_facts<<<1, dim3(5, 4, 3)>>>(right.get());
    CHECK(right.values() == std::vector<unsigned>(60, 1));

    std::vector<int> in(kBlock);
    std::vector<float> weights(kBlock);
    for (int i = 0; i < kBlock; ++i) {
        in[i] = noise(i) % 1013;
        weights[i] = (float)(noise(i + 1000) % 500);
    }
    check_tile<64>(in, weights);
    check_tile<32>(in, weights);
    check_tile<16>(in, weights);
    check_tile<8>(in, weights);
    check_tile<2>(in, weights);
    check_tile<1>(in, weights);
    for (int &value : in) value = value % 7 == 0 ? value + 1000 : value;
    check_tile<4>(in, weights);

    DeviceArray<int> device_in(in), tiles(4 * kBlock);
    dynamic_tiles<<<1, kBlock>>>(device_in.get(), tiles.get(), 32, 8);
    const std::vector<int> got = tiles.values();
    for (int i = 0; i < kBlock; ++i) {
        int sum = 0;
        for (int j = i; i % 8 == 0 && j < i + 8; ++j) sum += in[j];
        CHECK(got[i] == sum);
        CHECK(got[kBlock + i] == i % 32 * 100 + i % 8);
        CHECK(got[2 * kBlock + i] == (i < 192 ? 32 : 8));
        CHECK(got[3 * kBlock + i] == i % 32 / 4 * 100 + 8 * 10 + i % 4);
    }

    check_together(in);

    DeviceArray<int> tile_out(64);
    one_tile<<<1, 64>>>(tile_out.get());
    const std::vector<int> values = tile_out.values();
    for (int i = 0; i < 16; ++i) CHECK(values[i] == 20 + i && values[16 + i] == 30 + 3 * ((i + 1) % 16));
    for (int i = 32; i < 64; ++i) CHECK(values[i] == 0);
}
