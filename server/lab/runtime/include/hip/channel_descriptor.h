// Channel descriptors.
#pragma once
#pragma clang system_header
#include <ks/channel_descriptor.h>
