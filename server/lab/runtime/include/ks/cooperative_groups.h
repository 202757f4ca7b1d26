// Cooperative groups: sets of work-items that wait for each other and exchange values among themselves.
//
// Each group is a small value. Tiles and coalesced groups lie in one wave and are a mask of its lanes; their exchanges
// are the wave's, see ks/cross_lane.h, of which each group reads its own part: a group never waits for more than that the
// others of its wave have arrived somewhere.
#pragma once
#pragma clang system_header
#include <assert.h>
#include <ks/cross_lane.h>
#include <ks/index.h>
#include <ks/synchronize.h>

extern "C" {
/// Whether the kernel that runs was launched with hipLaunchCooperativeKernel.
bool ks_grid_is_cooperative();
/// Called by each of the `members` work-items of the block that reach a grid's barrier; the last waits for all other
/// blocks, on behalf of its own. Ends the program with a message where that can never happen.
void ks_grid_arrive(unsigned members);
}

namespace cooperative_groups {

class coalesced_group;
class thread_block;
template <unsigned size, class Parent = void> class thread_block_tile;
template <unsigned size, class Parent>
coalesced_group binary_partition(const thread_block_tile<size, Parent> &parent, bool predicate,
                                 uint32_t ks_site = KS_SITE);

namespace impl {

enum class Kind { kMultiGrid, kGrid, kBlock, kTile, kCoalesced };

static KS_INLINE uint64_t below(unsigned lane) { return (uint64_t{1} << lane) - 1; }
/// `size` lanes from the one at which the calling work-item's aligned tile begins.
static KS_INLINE uint64_t tile_lanes(unsigned size) {
    const uint64_t ones = size >= 64 ? ~uint64_t{0} : below(size);
    return ones << (::ks::lane() & ~(size - 1));
}
/// The lane of the member with number `rank` among `lanes`; there must be that many.
static KS_INLINE unsigned lane_of(uint64_t lanes, unsigned rank) {
    for (; rank > 0; --rank) {
        lanes &= lanes - 1;
    }
    return static_cast<unsigned>(__builtin_ctzll(lanes));
}
/// The bits of `votes` at the members' lanes, moved together: one for each rank.
static KS_INLINE uint64_t by_rank(uint64_t votes, uint64_t lanes) {
    uint64_t result = 0;
    for (uint64_t bit = 1; lanes != 0; lanes &= lanes - 1, bit <<= 1) {
        if ((votes & lanes & -lanes) != 0) {
            result |= bit;
        }
    }
    return result;
}

static KS_INLINE unsigned block_rank() { return threadIdx.ks_linear; }
static KS_INLINE unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }
static KS_INLINE uint64_t block_number() {
    return (uint64_t{blockIdx.z} * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
static KS_INLINE uint64_t block_count() { return uint64_t{gridDim.x} * gridDim.y * gridDim.z; }

/// All blocks of the grid wait for each other.
static KS_INLINE void grid_barrier(uint32_t site) {
    ks_grid_arrive(::ks::barrier_with_predicate(true, site).arrived);
    ::ks::suspend(::ks::kBarrier, site);
}

/// What tiles and coalesced groups can do: `lanes` are the members, the caller among them.
template <class T> static KS_INLINE T shuffle(uint64_t lanes, T value, int rank, uint32_t site) {
    const int size = __builtin_popcountll(lanes);
    const int wrapped = (rank % size + size) % size;
    return ::ks::exchange(value, lane_of(lanes, static_cast<unsigned>(wrapped)), site);
}
/// From the member `delta` ranks above (below, if negative), or from the caller itself where there is none.
template <class T> static KS_INLINE T shuffle_by(uint64_t lanes, T value, int64_t delta, uint32_t site) {
    const int64_t size = __builtin_popcountll(lanes);
    const int64_t rank = __builtin_popcountll(lanes & below(::ks::lane()));
    const int64_t source = rank + delta;
    const bool outside = source < 0 || source >= size;
    return ::ks::exchange(value, lane_of(lanes, static_cast<unsigned>(outside ? rank : source)), site);
}
static KS_INLINE uint64_t vote(uint64_t lanes, bool predicate, uint32_t site) {
    return ::ks::vote(predicate, site) & lanes;
}
/// The members whose value equals the caller's, by lane.
template <class T> static KS_INLINE uint64_t equal_lanes(uint64_t lanes, T value, uint32_t site, uint64_t *active = nullptr) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>, "values of up to 8 bytes can be matched");
    const auto &wave = ::ks::gather(value, site);
    if (active != nullptr) {
        *active = wave.active;
    }
    uint64_t equal = 0;
    for (uint64_t rest = lanes & wave.active; rest != 0; rest &= rest - 1) {
        T other;
        const uint64_t bits = wave.out[static_cast<unsigned>(__builtin_ctzll(rest))];
        memcpy(&other, &bits, sizeof other);
        equal |= other == value ? rest & -rest : 0;
    }
    return equal;
}
/// `equal_lanes` where all members agree, else 0; the same for all of them.
template <class T> static KS_INLINE uint64_t all_equal(uint64_t lanes, T value, int &agree, uint32_t site) {
    uint64_t active = 0;
    const uint64_t equal = equal_lanes(lanes, value, site, &active);
    const uint64_t present = lanes & active;
    agree = equal == present;
    return agree ? present : 0;
}

} // namespace impl

/// The base of all groups, which a group of any kind can be passed as.
class thread_group {
  public:
    unsigned size() const { return size_; }
    unsigned num_threads() const { return size_; }
    unsigned cg_type() const { return static_cast<unsigned>(kind_); }
    unsigned thread_rank() const {
        switch (kind_) {
        case impl::Kind::kBlock: return impl::block_rank();
        case impl::Kind::kTile:
        case impl::Kind::kCoalesced: return lane_rank();
        default: return static_cast<unsigned>(impl::block_number() * impl::block_size() + impl::block_rank());
        }
    }
    bool is_valid() const { return kind_ > impl::Kind::kGrid || ks_grid_is_cooperative(); }
    void sync(uint32_t ks_site = KS_SITE) const {
        switch (kind_) {
        case impl::Kind::kBlock: return __syncthreads(ks_site);
        case impl::Kind::kTile:
        case impl::Kind::kCoalesced: return __syncwarp(lanes_, ks_site);
        default: impl::grid_barrier(ks_site);
        }
    }

  protected:
    thread_group(impl::Kind kind, unsigned size, uint64_t lanes = 0, unsigned number = 0, unsigned count = 1)
        : kind_(kind), size_(size), lanes_(lanes), number_(number), count_(count) {}
    unsigned lane_rank() const { return static_cast<unsigned>(__builtin_popcountll(lanes_ & impl::below(::ks::lane()))); }

    impl::Kind kind_;
    unsigned size_;
    uint64_t lanes_;         ///< the members, where the group lies in one wave
    unsigned number_, count_; ///< of the parts that its parent was cut into

    friend thread_group this_thread();
    friend thread_group tiled_partition(const thread_group &parent, unsigned tile_size);
};

/// The calling work-item alone.
inline thread_group this_thread() {
    return thread_group(impl::Kind::kCoalesced, 1, uint64_t{1} << ::ks::lane());
}

/// The grid. Its barrier needs a cooperative launch.
class grid_group : public thread_group {
  public:
    dim3 group_dim() const { return blockDim; }
    dim3 dim_blocks() const { return gridDim; }
    dim3 block_index() const { return blockIdx; }
    uint64_t num_blocks() const { return impl::block_count(); }
    uint64_t block_rank() const { return impl::block_number(); }

  private:
    grid_group()
        : thread_group(impl::Kind::kGrid, static_cast<unsigned>(impl::block_count() * impl::block_size())) {}
    friend grid_group this_grid();
};
inline grid_group this_grid() { return {}; }

/// The grids of a launch on several devices: one, as there is one device.
class multi_grid_group : public thread_group {
  public:
    unsigned num_grids() const { return 1; }
    unsigned grid_rank() const { return 0; }

  private:
    multi_grid_group()
        : thread_group(impl::Kind::kMultiGrid, static_cast<unsigned>(impl::block_count() * impl::block_size())) {}
    friend multi_grid_group this_multi_grid();
};
inline multi_grid_group this_multi_grid() { return {}; }

class thread_block : public thread_group {
  public:
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static unsigned thread_rank() { return impl::block_rank(); }
    static unsigned size() { return impl::block_size(); }
    static unsigned num_threads() { return impl::block_size(); }
    static bool is_valid() { return true; }
    static void sync(uint32_t ks_site = KS_SITE) { __syncthreads(ks_site); }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }

  private:
    thread_block() : thread_group(impl::Kind::kBlock, impl::block_size()) {}
    friend thread_block this_thread_block();
};
inline thread_block this_thread_block() { return {}; }

/// A tile whose size is known when the kernel runs.
class tiled_group : public thread_group {
  protected:
    explicit tiled_group(const thread_group &group) : thread_group(group) {}
    tiled_group(unsigned size, uint64_t lanes, unsigned number, unsigned count)
        : thread_group(impl::Kind::kTile, size, lanes, number, count) {}
    friend tiled_group tiled_partition(const tiled_group &parent, unsigned tile_size);
};

/// Work-items of one wave that were together when the group was made.
class coalesced_group : public thread_group {
  public:
    unsigned thread_rank() const { return lane_rank(); }
    unsigned meta_group_rank() const { return number_; }
    unsigned meta_group_size() const { return count_; }
    template <class T> T shfl(T value, int rank, uint32_t ks_site = KS_SITE) const {
        return impl::shuffle(lanes_, value, rank, ks_site);
    }
    template <class T> T shfl_down(T value, unsigned delta, uint32_t ks_site = KS_SITE) const {
        return impl::shuffle_by(lanes_, value, delta, ks_site);
    }
    template <class T> T shfl_up(T value, unsigned delta, uint32_t ks_site = KS_SITE) const {
        return impl::shuffle_by(lanes_, value, -int64_t{delta}, ks_site);
    }
    unsigned long long ballot(int predicate, uint32_t ks_site = KS_SITE) const {
        return impl::by_rank(impl::vote(lanes_, predicate != 0, ks_site), lanes_);
    }
    int any(int predicate, uint32_t ks_site = KS_SITE) const {
        return impl::vote(lanes_, predicate != 0, ks_site) != 0;
    }
    int all(int predicate, uint32_t ks_site = KS_SITE) const {
        return impl::vote(lanes_, predicate == 0, ks_site) == 0;
    }
    template <class T> unsigned long long match_any(T value, uint32_t ks_site = KS_SITE) const {
        return impl::by_rank(impl::equal_lanes(lanes_, value, ks_site), lanes_);
    }
    template <class T> unsigned long long match_all(T value, int &agree, uint32_t ks_site = KS_SITE) const {
        return impl::by_rank(impl::all_equal(lanes_, value, agree, ks_site), lanes_);
    }

  private:
    explicit coalesced_group(uint64_t lanes, unsigned number = 0, unsigned count = 1)
        : thread_group(impl::Kind::kCoalesced, static_cast<unsigned>(__builtin_popcountll(lanes)), lanes, number,
                       count) {}
    friend coalesced_group coalesced_threads(uint32_t ks_site);
    friend coalesced_group tiled_partition(const coalesced_group &parent, unsigned tile_size);
    friend coalesced_group binary_partition(const coalesced_group &parent, bool predicate, uint32_t ks_site);
    template <unsigned size, class Parent>
    friend coalesced_group binary_partition(const thread_block_tile<size, Parent> &parent, bool predicate,
                                            uint32_t ks_site);
};
inline coalesced_group coalesced_threads(uint32_t ks_site = KS_SITE) {
    return coalesced_group(::ks::vote(true, ks_site));
}

/// A tile of a size that is known to the compiler: a power of two of at most a wave, aligned in the block.
template <unsigned tile_size, class Parent> class thread_block_tile : public tiled_group {
    static_assert(tile_size != 0 && (tile_size & (tile_size - 1)) == 0 && tile_size <= ::ks::kWaveSize,
                  "a tile's size is a power of two of at most a wave");

  public:
    /// Also from a tile that knows its parent's type: it forgets it.
    template <class Other> thread_block_tile(const thread_block_tile<tile_size, Other> &other) : tiled_group(other) {}

    static constexpr unsigned size() { return tile_size; }
    static constexpr unsigned num_threads() { return tile_size; }
    static unsigned thread_rank() { return ::ks::lane() & (tile_size - 1); }
    static void sync(uint32_t ks_site = KS_SITE) {
        __syncwarp((~0ull >> (64 - tile_size)) << (::ks::lane() & ~(tile_size - 1)), ks_site);
    }
    unsigned meta_group_rank() const { return number_; }
    unsigned meta_group_size() const { return count_; }

    template <class T> T shfl(T value, int rank, uint32_t ks_site = KS_SITE) const {
        return __shfl(value, rank, tile_size, ks_site);
    }
    template <class T> T shfl_down(T value, unsigned delta, uint32_t ks_site = KS_SITE) const {
        return __shfl_down(value, delta, tile_size, ks_site);
    }
    template <class T> T shfl_up(T value, unsigned delta, uint32_t ks_site = KS_SITE) const {
        return __shfl_up(value, delta, tile_size, ks_site);
    }
    template <class T> T shfl_xor(T value, unsigned mask, uint32_t ks_site = KS_SITE) const {
        return __shfl_xor(value, static_cast<int>(mask), tile_size, ks_site);
    }
    unsigned long long ballot(int predicate, uint32_t ks_site = KS_SITE) const {
        return impl::vote(lanes(), predicate != 0, ks_site) >> first_lane();
    }
    int any(int predicate, uint32_t ks_site = KS_SITE) const {
        return impl::vote(lanes(), predicate != 0, ks_site) != 0;
    }
    int all(int predicate, uint32_t ks_site = KS_SITE) const {
        return impl::vote(lanes(), predicate == 0, ks_site) == 0;
    }
    template <class T> unsigned long long match_any(T value, uint32_t ks_site = KS_SITE) const {
        return impl::equal_lanes(lanes(), value, ks_site) >> first_lane();
    }
    template <class T> unsigned long long match_all(T value, int &agree, uint32_t ks_site = KS_SITE) const {
        return impl::all_equal(lanes(), value, agree, ks_site) >> first_lane();
    }

  private:
    static unsigned first_lane() { return ::ks::lane() & ~(tile_size - 1); }
    static uint64_t lanes() { return impl::tile_lanes(tile_size); }
    thread_block_tile(unsigned number, unsigned count)
        : tiled_group(tile_size, lanes(), number, count) {}

    template <unsigned size, class P> friend thread_block_tile<size, P> tiled_partition(const P &parent);
    template <unsigned size, class P>
    friend coalesced_group binary_partition(const thread_block_tile<size, P> &parent, bool predicate, uint32_t ks_site);
};

/// Cuts a block or a tile into tiles, a coalesced group into groups of `tile_size` neighbours by rank.
inline thread_group tiled_partition(const thread_group &parent, unsigned tile_size) {
    assert(tile_size != 0 && (tile_size & (tile_size - 1)) == 0 && tile_size <= ::ks::kWaveSize &&
           "a tile's size is a power of two of at most a wave");
    const unsigned rank = parent.thread_rank(), size = parent.size();
    const unsigned number = rank / tile_size, count = (size + tile_size - 1) / tile_size;
    const unsigned members = number + 1 < count ? tile_size : size - number * tile_size;
    if (parent.kind_ == impl::Kind::kCoalesced) {
        uint64_t lanes = 0, rest = parent.lanes_;
        for (unsigned i = 0; rest != 0; ++i, rest &= rest - 1) {
            lanes |= i / tile_size == number ? rest & -rest : 0;
        }
        return thread_group(impl::Kind::kCoalesced, members, lanes, number, count);
    }
    if (parent.kind_ == impl::Kind::kTile && size <= tile_size) {
        return parent;
    }
    return thread_group(impl::Kind::kTile, members, impl::tile_lanes(tile_size), number, count);
}
inline thread_group tiled_partition(const thread_block &parent, unsigned tile_size) {
    return tiled_partition(static_cast<const thread_group &>(parent), tile_size);
}
inline tiled_group tiled_partition(const tiled_group &parent, unsigned tile_size) {
    return tiled_group(tiled_partition(static_cast<const thread_group &>(parent), tile_size));
}
inline coalesced_group tiled_partition(const coalesced_group &parent, unsigned tile_size) {
    const unsigned rank = parent.thread_rank();
    uint64_t lanes = 0, rest = parent.lanes_;
    if (tile_size == 0 || (tile_size & (tile_size - 1)) != 0) {
        return coalesced_group(0);
    }
    for (unsigned i = 0; rest != 0; ++i, rest &= rest - 1) {
        lanes |= i / tile_size == rank / tile_size ? rest & -rest : 0;
    }
    return coalesced_group(lanes, rank / tile_size, (parent.size() + tile_size - 1) / tile_size);
}
template <unsigned size, class Parent> thread_block_tile<size, Parent> tiled_partition(const Parent &parent) {
    return thread_block_tile<size, Parent>(parent.thread_rank() / size, (parent.size() + size - 1) / size);
}

/// The members of `parent` for which `predicate` is the same as for the caller.
inline coalesced_group binary_partition(const coalesced_group &parent, bool predicate, uint32_t ks_site = KS_SITE) {
    const uint64_t chosen = impl::vote(parent.lanes_, predicate, ks_site);
    return coalesced_group(predicate ? chosen : parent.lanes_ & ~chosen);
}
template <unsigned size, class Parent>
coalesced_group binary_partition(const thread_block_tile<size, Parent> &parent, bool predicate, uint32_t ks_site) {
    const uint64_t chosen = impl::vote(parent.lanes(), predicate, ks_site);
    return coalesced_group(predicate ? chosen : parent.lanes() & ~chosen);
}

template <class Group> unsigned group_size(const Group &group) { return group.size(); }
template <class Group> unsigned thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> bool is_valid(const Group &group) { return group.is_valid(); }
template <class Group> void sync(const Group &group, uint32_t ks_site = KS_SITE) { group.sync(ks_site); }

} // namespace cooperative_groups
