// How large textures, surfaces and arrays may be, in elements. MI300 has no texture units; these are the limits of AMD
// devices that have them.
#pragma once

namespace ks {

inline constexpr int kMaxTextureSide = 16384, kMaxTextureDepth = 8192, kMaxTextureLayers = 8192;
/// Elements of device memory that one texture reads as a row.
inline constexpr int kMaxTextureLinear = 1 << 27;
/// Of the address of device memory that a texture reads, and of its pitch. Bytes.
inline constexpr int kTextureAlignment = 256;

} // namespace ks
