// The host side of HIP.
#pragma once
#pragma clang system_header
#include <ks/api_types.h>
#include <ks/errors.h>
#include <ks/memory_api.h>
#include <ks/qualifiers.h>
#include <ks/stream_api.h>
