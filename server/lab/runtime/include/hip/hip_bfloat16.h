// bfloat16, the older type.
#pragma once
#pragma clang system_header
#include <ks/hip_bfloat16.h>
