// AMD's extensions of the launch interface.
#pragma once
#pragma clang system_header
#include <ks/launch_extensions.h>
