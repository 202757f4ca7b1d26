// Qualifiers.
#pragma once
#pragma clang system_header
#include <ks/qualifiers.h>
