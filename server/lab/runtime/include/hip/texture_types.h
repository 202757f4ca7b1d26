// Types of textures.
#pragma once
#pragma clang system_header
#include <ks/channel_descriptor.h>
#include <ks/texture_types.h>
