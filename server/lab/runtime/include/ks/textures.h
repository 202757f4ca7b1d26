// Reading textures, and reading and writing surfaces, in kernels. The work is done in the library (src/sampling.cpp).
#pragma once
#pragma clang system_header
#include <ks/channel_descriptor.h>
#include <ks/math.h>
#include <ks/texture_types.h>

namespace ks {

/// What the device's texture unit delivers: four channels, each a float or an integer of 32 bits by its format. Channels
/// that an element does not have are 0, the fourth 1.
struct Texel {
    uint32_t channel[4];
};
/// Where to sample: as many coordinates as the texture has dimensions, as floats; the layer counts from 0.
struct Coordinates {
    float x, y, z;
    int layer;
};
extern "C" Texel ks_texture_sample(hipTextureObject_t texture, Coordinates at);
/// One element, by its number, without filter. Outside: zeros.
extern "C" Texel ks_texture_fetch(hipTextureObject_t texture, int index);
/// Channel `channel` of the four elements that linear filtering would blend.
extern "C" Texel ks_texture_gather(hipTextureObject_t texture, float x, float y, int channel);

/// `x` counts bytes, the others elements and layers. Outside: reading gives zeros, writing does nothing.
struct SurfacePosition {
    int x, y, z, layer;
};
extern "C" Texel ks_surface_read(hipSurfaceObject_t surface, SurfacePosition at);
extern "C" void ks_surface_write(hipSurfaceObject_t surface, SurfacePosition at, Texel texel);

template <class S>
inline constexpr bool kIsChannel =
    std::is_same_v<S, char> || std::is_same_v<S, signed char> || std::is_same_v<S, unsigned char> ||
    std::is_same_v<S, short> || std::is_same_v<S, unsigned short> || std::is_same_v<S, int> ||
    std::is_same_v<S, unsigned> || std::is_same_v<S, float>;
/// The types that HIP's texture and surface functions have.
template <class T>
inline constexpr bool kIsTexel = kIsChannel<typename Channels<T>::Scalar> && Channels<T>::kCount != 3;

/// As AMD's headers map it: 32 bits stay as they are, fewer are the lower ones. So the type must fit the texture.
template <class S> static KS_INLINE S from_channel(uint32_t bits) {
    if constexpr (sizeof(S) == 4) {
        return __builtin_bit_cast(S, bits);
    } else {
        return static_cast<S>(bits);
    }
}
template <class S> static KS_INLINE uint32_t to_channel(S value) {
    if constexpr (sizeof(S) == 4) {
        return __builtin_bit_cast(uint32_t, value);
    } else {
        return static_cast<uint32_t>(static_cast<int>(value));
    }
}
template <class T> static KS_INLINE T from_texel(const Texel &texel) {
    using S = typename Channels<T>::Scalar;
    if constexpr (std::is_same_v<S, T>) {
        return from_channel<S>(texel.channel[0]);
    } else {
        T value{};
        value.x = from_channel<S>(texel.channel[0]);
        if constexpr (Channels<T>::kCount > 1) value.y = from_channel<S>(texel.channel[1]);
        if constexpr (Channels<T>::kCount > 3) {
            value.z = from_channel<S>(texel.channel[2]);
            value.w = from_channel<S>(texel.channel[3]);
        }
        return value;
    }
}
template <class T> static KS_INLINE Texel to_texel(const T &value) {
    using S = typename Channels<T>::Scalar;
    Texel texel{};
    if constexpr (std::is_same_v<S, T>) {
        texel.channel[0] = to_channel<S>(value);
    } else {
        texel.channel[0] = to_channel<S>(value.x);
        if constexpr (Channels<T>::kCount > 1) texel.channel[1] = to_channel<S>(value.y);
        if constexpr (Channels<T>::kCount > 3) {
            texel.channel[2] = to_channel<S>(value.z);
            texel.channel[3] = to_channel<S>(value.w);
        }
    }
    return texel;
}

} // namespace ks

#define KS_IF_TEXEL class = std::enable_if_t<::ks::kIsTexel<T>>
// Each function in HIP's two forms: returning the value, and storing it.
#define KS_TEXTURE(NAME, PARAMETERS, ARGUMENTS, TEXEL)                                                                 \
    template <class T, KS_IF_TEXEL> static KS_INLINE T NAME(hipTextureObject_t texture, KS_UNPAREN PARAMETERS) {       \
        return ::ks::from_texel<T>(TEXEL);                                                                             \
    }                                                                                                                  \
    template <class T, KS_IF_TEXEL>                                                                                    \
    static KS_INLINE void NAME(T *value, hipTextureObject_t texture, KS_UNPAREN PARAMETERS) {                          \
        *value = NAME<T>(texture, KS_UNPAREN ARGUMENTS);                                                               \
    }
#define KS_SAMPLE(...) ::ks::ks_texture_sample(texture, {__VA_ARGS__})
KS_TEXTURE(tex1Dfetch, (int x), (x), ::ks::ks_texture_fetch(texture, x))
KS_TEXTURE(tex1D, (float x), (x), KS_SAMPLE(x, 0, 0, 0))
KS_TEXTURE(tex2D, (float x, float y), (x, y), KS_SAMPLE(x, y, 0, 0))
KS_TEXTURE(tex3D, (float x, float y, float z), (x, y, z), KS_SAMPLE(x, y, z, 0))
KS_TEXTURE(tex1DLayered, (float x, int layer), (x, layer), KS_SAMPLE(x, 0, 0, layer))
KS_TEXTURE(tex2DLayered, (float x, float y, int layer), (x, y, layer), KS_SAMPLE(x, y, 0, layer))
// Without mipmaps there is one level, whatever level or gradient is asked for.
KS_TEXTURE(tex1DLod, (float x, float level), (x, level), KS_SAMPLE(x, 0, 0, 0))
KS_TEXTURE(tex2DLod, (float x, float y, float level), (x, y, level), KS_SAMPLE(x, y, 0, 0))
KS_TEXTURE(tex3DLod, (float x, float y, float z, float level), (x, y, z, level), KS_SAMPLE(x, y, z, 0))
KS_TEXTURE(tex1DLayeredLod, (float x, int layer, float level), (x, layer, level), KS_SAMPLE(x, 0, 0, layer))
KS_TEXTURE(tex2DLayeredLod, (float x, float y, int layer, float level), (x, y, layer, level),
           KS_SAMPLE(x, y, 0, layer))
KS_TEXTURE(tex1DGrad, (float x, float dx, float dy), (x, dx, dy), KS_SAMPLE(x, 0, 0, 0))
KS_TEXTURE(tex2DGrad, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy), KS_SAMPLE(x, y, 0, 0))
KS_TEXTURE(tex3DGrad, (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy), KS_SAMPLE(x, y, z, 0))
KS_TEXTURE(tex1DLayeredGrad, (float x, int layer, float dx, float dy), (x, layer, dx, dy), KS_SAMPLE(x, 0, 0, layer))
KS_TEXTURE(tex2DLayeredGrad, (float x, float y, int layer, float2 dx, float2 dy), (x, y, layer, dx, dy),
           KS_SAMPLE(x, y, 0, layer))
KS_TEXTURE(tex2Dgather, (float x, float y, int channel = 0), (x, y, channel),
           ::ks::ks_texture_gather(texture, x, y, channel))
#undef KS_SAMPLE
#undef KS_TEXTURE

#define KS_SURFACE(NAME, PARAMETERS, ...)                                                                              \
    template <class T, KS_IF_TEXEL>                                                                                    \
    static KS_INLINE void NAME##read(T *data, hipSurfaceObject_t surface, KS_UNPAREN PARAMETERS) {                     \
        *data = ::ks::from_texel<T>(::ks::ks_surface_read(surface, {__VA_ARGS__}));                                    \
    }                                                                                                                  \
    template <class T, KS_IF_TEXEL>                                                                                    \
    static KS_INLINE void NAME##write(T data, hipSurfaceObject_t surface, KS_UNPAREN PARAMETERS) {                     \
        ::ks::ks_surface_write(surface, {__VA_ARGS__}, ::ks::to_texel(data));                                          \
    }
KS_SURFACE(surf1D, (int x), x, 0, 0, 0)
KS_SURFACE(surf2D, (int x, int y), x, y, 0, 0)
KS_SURFACE(surf3D, (int x, int y, int z), x, y, z, 0)
KS_SURFACE(surf1DLayered, (int x, int layer), x, 0, 0, layer)
KS_SURFACE(surf2DLayered, (int x, int y, int layer), x, y, 0, layer)
#undef KS_SURFACE
#undef KS_IF_TEXEL
