// Vector types.
#pragma once
#pragma clang system_header
#include <ks/vector_types.h>
