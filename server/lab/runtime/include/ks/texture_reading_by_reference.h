// Reading texture references in kernels, by the functions that read texture objects.
#pragma once
#pragma clang system_header
#include <ks/texture_references.h>
#include <ks/textures.h>

namespace ks {

template <class T, hipTextureReadMode mode> struct ReadAs {
    using Type = T;
};
template <class T> struct ReadAs<T, hipReadModeNormalizedFloat> {
    using Type = float;
};
template <class T, unsigned n> struct ReadAs<HIP_vector_type<T, n>, hipReadModeNormalizedFloat> {
    using Type = HIP_vector_type<float, n>;
};

} // namespace ks

#define KS_BY_REFERENCE(NAME, DIMENSIONS, PARAMETERS, ARGUMENTS)                                                       \
    template <class T, hipTextureReadMode mode>                                                                        \
    static KS_INLINE typename ::ks::ReadAs<T, mode>::Type NAME(const texture<T, DIMENSIONS, mode> &reference,          \
                                                               KS_UNPAREN PARAMETERS) {                                \
        return NAME<typename ::ks::ReadAs<T, mode>::Type>(reference.textureObject, KS_UNPAREN ARGUMENTS);              \
    }
KS_BY_REFERENCE(tex1Dfetch, hipTextureType1D, (int x), (x))
KS_BY_REFERENCE(tex1D, hipTextureType1D, (float x), (x))
KS_BY_REFERENCE(tex2D, hipTextureType2D, (float x, float y), (x, y))
KS_BY_REFERENCE(tex3D, hipTextureType3D, (float x, float y, float z), (x, y, z))
KS_BY_REFERENCE(tex1DLayered, hipTextureType1DLayered, (float x, int layer), (x, layer))
KS_BY_REFERENCE(tex2DLayered, hipTextureType2DLayered, (float x, float y, int layer), (x, y, layer))
KS_BY_REFERENCE(tex1DLod, hipTextureType1D, (float x, float level), (x, level))
KS_BY_REFERENCE(tex2DLod, hipTextureType2D, (float x, float y, float level), (x, y, level))
KS_BY_REFERENCE(tex3DLod, hipTextureType3D, (float x, float y, float z, float level), (x, y, z, level))
#undef KS_BY_REFERENCE
