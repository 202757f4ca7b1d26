// Types of the host API.
#pragma once
#pragma clang system_header
#include <ks/array_types.h>
