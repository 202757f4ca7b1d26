// Kept where programs look for it.
#pragma once
#pragma clang system_header
#include <hip/hip_cooperative_groups.h>
