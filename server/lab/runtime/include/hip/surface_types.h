// Not provided: a program that needs it must say so at once.
#pragma once
#error "surfaces is not supported by the CPU runtime: write through a pointer, or time this program on a device instead"
