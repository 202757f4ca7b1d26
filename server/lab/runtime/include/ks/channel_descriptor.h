// Channel descriptors of the types that textures can hold.
#pragma once
#pragma clang system_header
#include <ks/array_types.h>
#include <ks/vector_types.h>
#include <type_traits>

static inline hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind) {
    return {x, y, z, w, kind};
}
static inline hipChannelFormatDesc hipCreateChannelDescHalf() { return {16, 0, 0, 0, hipChannelFormatKindFloat}; }
static inline hipChannelFormatDesc hipCreateChannelDescHalf1() { return {16, 0, 0, 0, hipChannelFormatKindFloat}; }
static inline hipChannelFormatDesc hipCreateChannelDescHalf2() { return {16, 16, 0, 0, hipChannelFormatKindFloat}; }
static inline hipChannelFormatDesc hipCreateChannelDescHalf4() { return {16, 16, 16, 16, hipChannelFormatKindFloat}; }

namespace ks {

/// A type's channels: itself, or what a vector type holds.
template <class T> struct Channels {
    using Scalar = T;
    static constexpr unsigned kCount = 1;
};
template <class T, unsigned n> struct Channels<HIP_vector_type<T, n>> {
    using Scalar = T;
    static constexpr unsigned kCount = n;
};

} // namespace ks

/// What is no channel's type gives a descriptor of kind None.
template <class T> static inline hipChannelFormatDesc hipCreateChannelDesc() {
    using Scalar = typename ::ks::Channels<T>::Scalar;
    constexpr unsigned n = ::ks::Channels<T>::kCount;
    if constexpr (!(std::is_integral_v<Scalar> || std::is_same_v<Scalar, float>) || std::is_same_v<Scalar, bool>) {
        return {0, 0, 0, 0, hipChannelFormatKindNone};
    } else {
        constexpr int bits = 8 * sizeof(Scalar);
        constexpr hipChannelFormatKind kind = std::is_same_v<Scalar, float> ? hipChannelFormatKindFloat
                                              : std::is_unsigned_v<Scalar> ? hipChannelFormatKindUnsigned
                                                                           : hipChannelFormatKindSigned;
        return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0, kind};
    }
}
