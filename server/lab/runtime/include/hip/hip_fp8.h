// 8-bit floating point.
#pragma once
#pragma clang system_header
#include <ks/fp8.h>
