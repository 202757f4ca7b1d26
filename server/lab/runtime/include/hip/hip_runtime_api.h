// The host side of HIP.
#pragma once
#pragma clang system_header
#include <hip/hip_version.h>
#include <ks/api_types.h>
#include <ks/array_api.h>
#include <ks/channel_descriptor.h>
#include <ks/device_api.h>
#include <ks/errors.h>
#include <ks/function_api.h>
#include <ks/context_api.h>
#include <ks/graph_api.h>
#include <ks/memory_api.h>
#include <ks/pointer_api.h>
#include <ks/pool_api.h>
#include <ks/qualifiers.h>
#include <ks/refused.h>
#include <ks/stream_api.h>
#include <ks/texture_references.h>
#include <ks/texture_types.h>
