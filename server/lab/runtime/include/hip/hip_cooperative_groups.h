// Cooperative groups.
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>
#include <ks/cooperative_groups.h>
