// Where a work-item stands: dim3, threadIdx, blockIdx, blockDim, gridDim.
#pragma once
#pragma clang system_header
#include <ks/qualifiers.h>
#include <ks/trace.h>
#include <ks/vector_types.h>

/// Extents of a grid or a block; an extent that is not given is 1.
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(const uint3 &v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};

namespace ks {

/// The type of blockIdx, blockDim and gridDim.
struct Extent {
    unsigned x, y, z;
    constexpr operator dim3() const { return {x, y, z}; }
    constexpr operator uint3() const { return uint3{x, y, z}; }
};

/// The type of threadIdx. It carries the work-item's linear number in its block too: 16 bytes, one load and one
/// store, when a work-item resumes.
struct alignas(16) ItemIndex {
    unsigned x, y, z;
    unsigned ks_linear;
    constexpr operator dim3() const { return {x, y, z}; }
    constexpr operator uint3() const { return uint3{x, y, z}; }
};

} // namespace ks

#ifdef KS_TRACE

namespace ks {

// Objects without contents: each member is a call that the optimiser may move and join, as a device's register.
#define KS_PLACE_MEMBER(D, FUNCTION)                                                                                   \
    static KS_INLINE unsigned get_##D() { return FUNCTION(); }                                                         \
    __declspec(property(get = get_##D)) unsigned D
#define KS_PLACE(NAME, PREFIX, ...)                                                                                    \
    struct NAME {                                                                                                      \
        KS_PLACE_MEMBER(x, PREFIX##_x);                                                                                \
        KS_PLACE_MEMBER(y, PREFIX##_y);                                                                                \
        KS_PLACE_MEMBER(z, PREFIX##_z);                                                                                \
        KS_INLINE operator dim3() const { return {PREFIX##_x(), PREFIX##_y(), PREFIX##_z()}; }                         \
        KS_INLINE operator uint3() const { return uint3{PREFIX##_x(), PREFIX##_y(), PREFIX##_z()}; }                   \
        __VA_ARGS__                                                                                                    \
    }
#define KS_PLACE_EXTENT(PREFIX)                                                                                        \
    KS_INLINE operator Extent() const { return {PREFIX##_x(), PREFIX##_y(), PREFIX##_z()}; }
KS_PLACE(ThreadPlace, ks_trace_thread, KS_PLACE_MEMBER(ks_linear, ks_trace_thread_linear);
         KS_INLINE operator ItemIndex() const { return {x, y, z, ks_linear}; });
KS_PLACE(BlockPlace, ks_trace_block, KS_PLACE_EXTENT(ks_trace_block));
KS_PLACE(BlockExtent, ks_trace_block_dim, KS_PLACE_EXTENT(ks_trace_block_dim));
KS_PLACE(GridExtent, ks_trace_grid_dim, KS_PLACE_EXTENT(ks_trace_grid_dim));
#undef KS_PLACE_EXTENT
#undef KS_PLACE
#undef KS_PLACE_MEMBER

} // namespace ks

inline constexpr ::ks::ThreadPlace threadIdx{};
inline constexpr ::ks::BlockPlace blockIdx{};
inline constexpr ::ks::BlockExtent blockDim{};
inline constexpr ::ks::GridExtent gridDim{};

#else

// One set for each thread. They are internal to the translation unit, not part of the runtime library: the launcher's
// loop stores threadIdx.x and calls the kernel inlined, and clang forwards that store to the kernel's reads only when it
// can see that no pointer of the kernel reaches the variable. That is what lets a loop over work-items be vectorised.
//
// A program whose units share inline device functions must be built with KS_SEVERAL_UNITS: the linker keeps one copy of
// such a function, which must then find the same variables whichever unit launched.
#ifdef KS_SEVERAL_UNITS
#define KS_ITEM_VARIABLE inline __thread __attribute__((visibility("hidden"), tls_model("initial-exec")))
#else
#define KS_ITEM_VARIABLE static __thread __attribute__((unused, tls_model("initial-exec")))
#endif
KS_ITEM_VARIABLE ::ks::ItemIndex threadIdx;
KS_ITEM_VARIABLE ::ks::Extent blockIdx;
KS_ITEM_VARIABLE ::ks::Extent blockDim;
KS_ITEM_VARIABLE ::ks::Extent gridDim;
#undef KS_ITEM_VARIABLE

#endif

#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)

/// Work-items that exchange values with each other directly: 64, as on MI300, unless the program is compiled for 32.
inline constexpr int warpSize = KS_WAVE_SIZE;
