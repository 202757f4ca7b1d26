// Types of surfaces.
#pragma once
#pragma clang system_header
#include <ks/texture_types.h>
