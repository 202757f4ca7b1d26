// Not provided: a program that needs it must say so at once.
#pragma once
#error "hip_cooperative_groups (cooperative groups) is not supported by the CPU runtime: use __syncthreads and the shuffles, or time this program on a device instead"
