// Not provided: a program that needs it must say so at once.
#pragma once
#error "hiprtc (compilation at run time) is not supported by the CPU runtime: time this program on a device instead"
