// hipExtLaunchKernelGGL: a launch between two events.
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>

#define hipExtLaunchKernelGGL(kernel, ...) KS_LAUNCH_BETWEEN_EVENTS((kernel), __VA_ARGS__)
#define KS_LAUNCH_BETWEEN_EVENTS(kernel, grid, block, shared, stream, start, stop, flags, ...)                         \
    do {                                                                                                               \
        if (hipEvent_t ks_start = (start)) (void)hipEventRecord(ks_start, stream);                                     \
        KS_LAUNCH_FIBERS(kernel, (grid, block, shared, stream), (__VA_ARGS__));                                        \
        if (hipEvent_t ks_stop = (stop)) (void)hipEventRecord(ks_stop, stream);                                        \
    } while (0)
