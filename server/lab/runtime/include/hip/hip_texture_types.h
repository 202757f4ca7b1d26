// Types of textures.
#pragma once
#pragma clang system_header
#include <hip/texture_types.h>
