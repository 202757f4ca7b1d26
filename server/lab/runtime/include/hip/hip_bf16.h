// bfloat16.
#pragma once
#pragma clang system_header
#include <ks/bfloat16.h>
