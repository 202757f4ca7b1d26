// Not provided: a program that needs it must say so at once.
#pragma once
#error "textures is not supported by the CPU runtime: read through a pointer, or time this program on a device instead"
