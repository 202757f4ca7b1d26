// Half precision.
#pragma once
#pragma clang system_header
#include <ks/half.h>
