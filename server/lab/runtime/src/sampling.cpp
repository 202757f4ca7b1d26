// What a texture unit does: addresses, formats, filters. And the reads and writes of surfaces.
#include "fault.h"
#include "texture_view.h"
#include <ks/textures.h>
#include <math.h>
#include <string.h>

namespace ks {
namespace {

constexpr int kOutside = -1;

/// The elements that a coordinate touches; kOutside stands for the border.
struct Taps {
    int first, second;
    float weight; ///< of the second
};

int address(int i, int extent, hipTextureAddressMode mode) {
    if (i >= 0 && i < extent) {
        return i;
    }
    switch (mode) {
    case hipAddressModeBorder: return kOutside;
    // The coordinate was brought into the first period already; what lies outside is a neighbour of that.
    case hipAddressModeWrap: return i < 0 ? i + extent : i - extent;
    case hipAddressModeMirror: return i < 0 || i == 2 * extent ? 0 : 2 * extent - 1 - i;
    default: return i < 0 ? 0 : extent - 1;
    }
}

/// A coordinate in elements, so far within the range that it fits an integer.
float in_elements(float c, int extent, hipTextureAddressMode mode, bool normalized) {
    if (normalized) {
        if (mode == hipAddressModeWrap) {
            c -= floorf(c);
        } else if (mode == hipAddressModeMirror) {
            c -= 2.0f * floorf(0.5f * c); // the image and its mirror image
        }
        c *= static_cast<float>(extent);
    }
    const float outside = 2.0f, last = static_cast<float>(2 * extent);
    return c > -outside ? fminf(c, last + outside) : -outside; // NaN goes below
}

Taps point_tap(float c, int extent, hipTextureAddressMode mode, bool normalized) {
    const int i = static_cast<int>(floorf(in_elements(c, extent, mode, normalized)));
    return {address(i, extent, mode), 0, 0.0f};
}
/// The hardware places coordinates on 1/256 of an element.
Taps linear_taps(float c, int extent, hipTextureAddressMode mode, bool normalized) {
    const float at = roundf((in_elements(c, extent, mode, normalized) - 0.5f) * 256.0f) / 256.0f;
    const float below = floorf(at);
    const int i = static_cast<int>(below);
    return {address(i, extent, mode), address(i + 1, extent, mode), at - below};
}

const char *element(const ElementGrid &grid, int x, int y, int slice) {
    return grid.data + slice * grid.slice + y * grid.pitch + x * grid.format.bytes();
}

/// A channel's bits, extended to 32 as its kind asks.
uint32_t channel_bits(const ElementFormat &format, const char *at, unsigned channel) {
    const char *first = at + channel * (format.bits / 8);
    const bool is_signed = format.kind == hipChannelFormatKindSigned;
    if (format.bits == 8) {
        return is_signed ? static_cast<uint32_t>(static_cast<int8_t>(*first)) : static_cast<uint8_t>(*first);
    }
    if (format.bits == 16) {
        uint16_t bits;
        memcpy(&bits, first, sizeof bits);
        return is_signed ? static_cast<uint32_t>(static_cast<int16_t>(bits)) : bits;
    }
    uint32_t bits;
    memcpy(&bits, first, sizeof bits);
    return bits;
}

float srgb_to_linear(float c) { return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f); }

/// A channel as a float: floats as they are, integers of 8 and 16 bits as parts of the largest.
float channel_float(const ElementFormat &format, uint32_t bits) {
    if (format.kind == hipChannelFormatKindFloat) {
        return format.bits == 16 ? static_cast<float>(__builtin_bit_cast(_Float16, static_cast<uint16_t>(bits)))
                                 : __builtin_bit_cast(float, bits);
    }
    if (format.kind == hipChannelFormatKindUnsigned) {
        return static_cast<float>(bits) / static_cast<float>((1u << format.bits) - 1);
    }
    const float largest = static_cast<float>((1u << (format.bits - 1)) - 1);
    return fmaxf(static_cast<float>(static_cast<int32_t>(bits)) / largest, -1.0f);
}

struct Color {
    float channel[4];
};

Color read_color(const __hip_texture &texture, int x, int y, int slice) {
    if (x == kOutside || y == kOutside || slice == kOutside) {
        Color border;
        memcpy(border.channel, texture.description.borderColor, sizeof border.channel);
        return border;
    }
    const ElementFormat &format = texture.grid.format;
    const char *at = element(texture.grid, x, y, slice);
    Color color{{0, 0, 0, 1}};
    for (unsigned i = 0; i < format.channels; ++i) {
        const float value = channel_float(format, channel_bits(format, at, i));
        color.channel[i] = texture.decodes_srgb && i < 3 ? srgb_to_linear(value) : value;
    }
    return color;
}

Texel read_integers(const __hip_texture &texture, int x, int y, int slice) {
    Texel texel{{0, 0, 0, 1}};
    if (x == kOutside || y == kOutside || slice == kOutside) {
        for (int i = 0; i < 4; ++i) {
            texel.channel[i] = static_cast<uint32_t>(static_cast<int32_t>(texture.description.borderColor[i]));
        }
        return texel;
    }
    const ElementFormat &format = texture.grid.format;
    const char *at = element(texture.grid, x, y, slice);
    for (unsigned i = 0; i < format.channels; ++i) {
        texel.channel[i] = channel_bits(format, at, i);
    }
    return texel;
}

Texel read_texel(const __hip_texture &texture, int x, int y, int slice) {
    return texture.reads_floats ? __builtin_bit_cast(Texel, read_color(texture, x, y, slice))
                                : read_integers(texture, x, y, slice);
}

int layer_of(const ElementGrid &grid, int layer) {
    return layer < 0 ? 0 : layer >= grid.layers ? grid.layers - 1 : layer;
}

/// The slice of a texture with depth, or the layer of one with layers.
Taps slice_taps(const __hip_texture &texture, const Coordinates &at, bool linear) {
    const ElementGrid &grid = texture.grid;
    if (grid.depth == 1) {
        return {layer_of(grid, at.layer), 0, 0.0f};
    }
    return (linear ? linear_taps : point_tap)(at.z, grid.depth, texture.address_mode[2], texture.normalized_coordinates);
}
/// Of a texture without rows the second coordinate means nothing.
Taps row_taps(const __hip_texture &texture, float y, bool linear) {
    if (texture.grid.height == 1) {
        return {0, 0, 0.0f};
    }
    return (linear ? linear_taps : point_tap)(y, texture.grid.height, texture.address_mode[1],
                                              texture.normalized_coordinates);
}

Texel sample_linear(const __hip_texture &texture, const Coordinates &at) {
    const Taps x = linear_taps(at.x, texture.grid.width, texture.address_mode[0], texture.normalized_coordinates);
    const Taps y = row_taps(texture, at.y, true), z = slice_taps(texture, at, true);
    Color sum{};
    for (int corner = 0; corner < 8; ++corner) {
        const bool right = (corner & 1) != 0, down = (corner & 2) != 0, behind = (corner & 4) != 0;
        const float weight = (right ? x.weight : 1 - x.weight) * (down ? y.weight : 1 - y.weight) *
                             (behind ? z.weight : 1 - z.weight);
        if (weight == 0) {
            continue; // what has no weight is not looked at: an infinity there would not be left out
        }
        const Color color = read_color(texture, right ? x.second : x.first, down ? y.second : y.first,
                                       behind ? z.second : z.first);
        for (int i = 0; i < 4; ++i) {
            sum.channel[i] += weight * color.channel[i];
        }
    }
    return __builtin_bit_cast(Texel, sum);
}

const __hip_texture &existing(hipTextureObject_t texture) {
    if (texture == nullptr) {
        fail("null_texture", "a kernel reads from a texture object that is null: create it with hipCreateTextureObject");
    }
    return *texture;
}
const ElementGrid &existing(hipSurfaceObject_t surface) {
    if (surface == nullptr) {
        fail("null_surface", "a kernel uses a surface object that is null: create it with hipCreateSurfaceObject");
    }
    return surface->grid;
}

/// The element at a position, or null outside.
char *surface_element(const ElementGrid &grid, const SurfacePosition &at) {
    const int x = at.x / static_cast<int>(grid.format.bytes());
    const bool inside = at.x >= 0 && x < grid.width && at.y >= 0 && at.y < grid.height && at.z >= 0 &&
                        at.z < grid.depth && at.layer >= 0 && at.layer < grid.layers;
    return inside ? const_cast<char *>(element(grid, x, at.y, at.z + at.layer)) : nullptr;
}

} // namespace
} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

Texel ks::ks_texture_sample(hipTextureObject_t object, Coordinates at) {
    const __hip_texture &texture = existing(object);
    if (texture.linear) {
        return sample_linear(texture, at);
    }
    const Taps x = point_tap(at.x, texture.grid.width, texture.address_mode[0], texture.normalized_coordinates);
    return read_texel(texture, x.first, row_taps(texture, at.y, false).first, slice_taps(texture, at, false).first);
}
Texel ks::ks_texture_fetch(hipTextureObject_t object, int index) {
    const __hip_texture &texture = existing(object);
    return index >= 0 && index < texture.grid.width ? read_texel(texture, index, 0, 0) : Texel{};
}
Texel ks::ks_texture_gather(hipTextureObject_t object, float at_x, float at_y, int channel) {
    const __hip_texture &texture = existing(object);
    const Taps x = linear_taps(at_x, texture.grid.width, texture.address_mode[0], texture.normalized_coordinates);
    const Taps y = linear_taps(at_y, texture.grid.height, texture.address_mode[1], texture.normalized_coordinates);
    const int i = channel & 3;
    return {{read_texel(texture, x.first, y.second, 0).channel[i], read_texel(texture, x.second, y.second, 0).channel[i],
             read_texel(texture, x.second, y.first, 0).channel[i], read_texel(texture, x.first, y.first, 0).channel[i]}};
}

Texel ks::ks_surface_read(hipSurfaceObject_t surface, SurfacePosition at) {
    const ElementGrid &grid = existing(surface);
    const char *from = surface_element(grid, at);
    if (from == nullptr) {
        return {};
    }
    const bool half = grid.format.kind == hipChannelFormatKindFloat && grid.format.bits == 16;
    Texel texel{{0, 0, 0, 1}};
    for (unsigned i = 0; i < grid.format.channels; ++i) {
        const uint32_t bits = channel_bits(grid.format, from, i);
        texel.channel[i] = half ? __builtin_bit_cast(uint32_t, channel_float(grid.format, bits)) : bits;
    }
    return texel;
}
void ks::ks_surface_write(hipSurfaceObject_t surface, SurfacePosition at, Texel texel) {
    const ElementGrid &grid = existing(surface);
    char *to = surface_element(grid, at);
    if (to == nullptr) {
        return;
    }
    const size_t bytes = grid.format.bits / 8;
    const bool half = grid.format.kind == hipChannelFormatKindFloat && grid.format.bits == 16;
    for (unsigned i = 0; i < grid.format.channels; ++i) {
        uint32_t bits = texel.channel[i];
        if (half) {
            bits = __builtin_bit_cast(uint16_t, static_cast<_Float16>(__builtin_bit_cast(float, bits)));
        }
        memcpy(to + i * bytes, &bits, bytes); // the lower bytes come first
    }
}
}
#pragma GCC visibility pop
