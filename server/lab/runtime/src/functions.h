// Kernels launched by pointer.
#pragma once

namespace ks {

/// The name of the kernel whose launch by pointer is under way on this thread.
const char *name_of_pointer_launch();

} // namespace ks
