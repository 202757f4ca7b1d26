// Not provided: a program that needs it must say so at once.
#pragma once
#error "the library hipFFT is not supported by the CPU runtime: time this program on a device instead"
