// Constants.
#pragma once
#pragma clang system_header
#include <ks/math_constants.h>
