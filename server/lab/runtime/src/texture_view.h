// What a texture or surface object refers to.
#pragma once
#include "arrays.h"
#include <ks/texture_types.h>

namespace ks {

/// Elements in memory. Dimensions that there are not have extent 1.
struct ElementGrid {
    char *data;
    size_t pitch, slice; ///< bytes from row to row, and from slice (or layer) to slice
    int width, height, depth, layers;
    ElementFormat format;
};

} // namespace ks

struct __hip_texture {
    ks::ElementGrid grid;
    hipTextureAddressMode address_mode[3]; ///< as they take effect
    bool linear, normalized_coordinates;
    bool reads_floats; ///< else integers of 32 bits
    bool decodes_srgb;
    hipResourceDesc resource; ///< as they were given
    hipTextureDesc description;
};

struct __hip_surface {
    ks::ElementGrid grid;
};
