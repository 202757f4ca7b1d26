// Not provided: a program that needs it must say so at once.
#pragma once
#error "hip_fp8 (8-bit floating point) is not supported by the CPU runtime: time this program on a device instead"
