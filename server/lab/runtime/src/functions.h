// Kernels launched by pointer.
#pragma once
#include <ks/launch.h>
#include <stddef.h>
#include <stdint.h>

namespace ks {

/// The name of the kernel whose launch by pointer is under way on this thread.
const char *name_of_pointer_launch();
/// Whether that launch is a cooperative one.
bool pointer_launch_is_cooperative();
/// Whether the launch was only to be described, see describe_launch; then it now is.
bool take_description(const Launch &launch);
/// How many blocks of that size can be on the device at once.
uint64_t resident_blocks(unsigned block_size, size_t shared_bytes);

} // namespace ks
