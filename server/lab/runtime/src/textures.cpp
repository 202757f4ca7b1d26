// Creation of texture and surface objects.
#include "allocations.h"
#include "errors.h"
#include "handles.h"
#include "texture_limits.h"
#include "texture_view.h"
#include <algorithm>

namespace ks {
namespace {

// Never destroyed: static objects of the program may still destroy theirs.
Handles<__hip_texture> &textures() {
    static auto *const all = new Handles<__hip_texture>;
    return *all;
}
Handles<__hip_surface> &surfaces() {
    static auto *const all = new Handles<__hip_surface>;
    return *all;
}

template <class T> hipError_t destroy(Handles<T> &all, T *object) {
    if (object != nullptr && !all.remove(object)) {
        return remember(hipErrorInvalidHandle);
    }
    delete object;
    return hipSuccess;
}

ElementGrid grid_of(const hipArray &array) {
    const int height = static_cast<int>(array.rows()), slices = static_cast<int>(array.slices());
    return {array.data,
            array.row_bytes(),
            array.row_bytes() * array.rows(),
            static_cast<int>(array.extent.width),
            height,
            array.layered() ? 1 : slices,
            array.layered() ? slices : 1,
            array.format};
}

bool aligned(const void *address) { return reinterpret_cast<uintptr_t>(address) % kTextureAlignment == 0; }

hipError_t grid_of_row(const hipResourceDesc &resource, ElementGrid *grid) {
    const auto &row = resource.res.linear;
    const std::optional<ElementFormat> format = element_format(row.desc);
    if (!format || row.devPtr == nullptr || !aligned(row.devPtr) || row.sizeInBytes < format->bytes() ||
        row.sizeInBytes / format->bytes() > kMaxTextureLinear ||
        !allocations().accessible(row.devPtr, row.sizeInBytes)) {
        return hipErrorInvalidValue;
    }
    const int width = static_cast<int>(row.sizeInBytes / format->bytes());
    *grid = {static_cast<char *>(row.devPtr), row.sizeInBytes, row.sizeInBytes, width, 1, 1, 1, *format};
    return hipSuccess;
}

hipError_t grid_of_rows(const hipResourceDesc &resource, ElementGrid *grid) {
    const auto &rows = resource.res.pitch2D;
    const std::optional<ElementFormat> format = element_format(rows.desc);
    if (!format || rows.devPtr == nullptr || !aligned(rows.devPtr) || rows.pitchInBytes % kTextureAlignment != 0 ||
        rows.width == 0 || rows.width > kMaxTextureSide || rows.height == 0 || rows.height > kMaxTextureSide ||
        rows.width * format->bytes() > rows.pitchInBytes || rows.pitchInBytes > INT32_MAX ||
        !allocations().accessible(rows.devPtr, rows.pitchInBytes * (rows.height - 1) + rows.width * format->bytes())) {
        return hipErrorInvalidValue;
    }
    *grid = {static_cast<char *>(rows.devPtr),
             rows.pitchInBytes,
             rows.pitchInBytes * rows.height,
             static_cast<int>(rows.width),
             static_cast<int>(rows.height),
             1,
             1,
             *format};
    return hipSuccess;
}

hipError_t grid_of_array(const hipResourceDesc &resource, ElementGrid *grid) {
    const hipArray *array = resource.res.array.array;
    if (array == nullptr) {
        return hipErrorInvalidHandle;
    }
    if (!arrays().exists(array)) {
        return hipErrorContextIsDestroyed;
    }
    *grid = grid_of(*array);
    return hipSuccess;
}

hipError_t grid_of_resource(const hipResourceDesc &resource, ElementGrid *grid) {
    switch (resource.resType) {
    case hipResourceTypeArray: {
        const hipError_t error = grid_of_array(resource, grid);
        return error == hipErrorInvalidHandle ? hipErrorInvalidValue : error;
    }
    case hipResourceTypeLinear: return grid_of_row(resource, grid);
    case hipResourceTypePitch2D: return grid_of_rows(resource, grid);
    case hipResourceTypeMipmappedArray: return hipErrorNotSupported;
    }
    return hipErrorInvalidValue;
}

bool valid_description(const hipTextureDesc &d) {
    const bool modes = std::all_of(d.addressMode, d.addressMode + 3, [](hipTextureAddressMode mode) {
        return mode >= hipAddressModeWrap && mode <= hipAddressModeBorder;
    });
    return modes && (d.filterMode == hipFilterModePoint || d.filterMode == hipFilterModeLinear) &&
           (d.readMode == hipReadModeElementType || d.readMode == hipReadModeNormalizedFloat);
}

/// The view's name for a format: they count up by kind and bits, and for each by channels.
hipResourceViewFormat view_format(const ElementFormat &format) {
    const int by_bits = format.bits == 8 ? 0 : format.bits == 16 ? 2 : 4;
    const int kind = format.kind == hipChannelFormatKindFloat   ? 6 + (format.bits == 32)
                     : format.kind == hipChannelFormatKindSigned ? by_bits + 1
                                                                 : by_bits;
    return static_cast<hipResourceViewFormat>(1 + 3 * kind + static_cast<int>(format.channels / 2));
}

/// Whether a view leaves everything as it is.
bool changes_nothing(const hipResourceViewDesc &view, const ElementGrid &grid) {
    const auto same = [](size_t asked, int is) { return asked == 0 || asked == static_cast<size_t>(is); };
    const bool same_format = view.format == hipResViewFormatNone || view.format == view_format(grid.format);
    return same_format && same(view.width, grid.width) && same(view.height, grid.height) &&
           same(view.depth, std::max(grid.depth, grid.layers)) && view.firstMipmapLevel == 0 &&
           view.lastMipmapLevel == 0 && view.firstLayer == 0 && same(view.lastLayer, grid.layers - 1);
}

hipError_t create_texture(hipTextureObject_t *out, const hipResourceDesc &resource, const hipTextureDesc &d,
                          const hipResourceViewDesc *view) {
    __hip_texture texture{};
    texture.resource = resource;
    texture.description = d;
    if (!valid_description(d)) {
        return hipErrorInvalidValue;
    }
    if (view != nullptr && resource.resType != hipResourceTypeArray) {
        return hipErrorInvalidValue;
    }
    const hipError_t error = grid_of_resource(resource, &texture.grid);
    if (error != hipSuccess) {
        return error;
    }
    if (d.maxAnisotropy != 0 || d.mipmapLevelBias != 0 || (view != nullptr && !changes_nothing(*view, texture.grid))) {
        return hipErrorNotSupported;
    }
    const ElementFormat &format = texture.grid.format;
    const bool is_float = format.kind == hipChannelFormatKindFloat;
    const bool normalizes = d.readMode == hipReadModeNormalizedFloat && format.bits < 32;
    texture.reads_floats = is_float || normalizes;
    texture.decodes_srgb = d.sRGB != 0;
    if (texture.decodes_srgb && !(normalizes && format.kind == hipChannelFormatKindUnsigned && format.bits == 8)) {
        return hipErrorInvalidValue;
    }
    // One row of memory is read element by element only.
    texture.linear = d.filterMode == hipFilterModeLinear && resource.resType != hipResourceTypeLinear;
    if (texture.linear && !texture.reads_floats) {
        return hipErrorInvalidValue;
    }
    texture.normalized_coordinates = d.normalizedCoords != 0;
    for (int i = 0; i < 3; ++i) {
        const hipTextureAddressMode mode = d.addressMode[i];
        const bool repeats = mode == hipAddressModeWrap || mode == hipAddressModeMirror;
        texture.address_mode[i] = repeats && !texture.normalized_coordinates ? hipAddressModeClamp : mode;
    }
    *out = textures().add(new __hip_texture(texture));
    return hipSuccess;
}

} // namespace
} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipCreateTextureObject(hipTextureObject_t *texture, const hipResourceDesc *resource,
                                  const hipTextureDesc *description, const hipResourceViewDesc *view) {
    if (texture == nullptr || resource == nullptr || description == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    return remember(create_texture(texture, *resource, *description, view));
}
hipError_t hipDestroyTextureObject(hipTextureObject_t texture) {
    return destroy(textures(), texture);
}
hipError_t hipGetTextureObjectResourceDesc(hipResourceDesc *resource, hipTextureObject_t texture) {
    if (resource == nullptr || !textures().contains(texture)) {
        return remember(hipErrorInvalidValue);
    }
    *resource = texture->resource;
    return hipSuccess;
}
hipError_t hipGetTextureObjectTextureDesc(hipTextureDesc *description, hipTextureObject_t texture) {
    if (description == nullptr || !textures().contains(texture)) {
        return remember(hipErrorInvalidValue);
    }
    *description = texture->description;
    return hipSuccess;
}
hipError_t hipCreateSurfaceObject(hipSurfaceObject_t *surface, const hipResourceDesc *resource) {
    if (surface == nullptr || resource == nullptr || resource->resType != hipResourceTypeArray) {
        return remember(hipErrorInvalidValue);
    }
    __hip_surface created{};
    const hipError_t error = grid_of_array(*resource, &created.grid);
    if (error != hipSuccess) {
        return remember(error);
    }
    *surface = surfaces().add(new __hip_surface(created));
    return hipSuccess;
}
hipError_t hipDestroySurfaceObject(hipSurfaceObject_t surface) {
    return destroy(surfaces(), surface);
}
}
#pragma GCC visibility pop
