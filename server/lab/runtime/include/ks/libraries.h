// Settings that public libraries of headers read. They choose what a host compiler can compile: the other choice is GPU
// assembly.
#pragma once
#pragma clang system_header

// rocPRIM: its kernels ask the compiler for the processor, its host functions the runtime; both must choose the same sizes.
#ifndef __amdgcn_processor__
#define __amdgcn_processor__ "gfx942"
#endif
// rocPRIM: plain loads and stores instead of instructions that name a cache policy.
#ifndef ROCPRIM_THREAD_LOAD_USE_CACHE_MODIFIERS
#define ROCPRIM_THREAD_LOAD_USE_CACHE_MODIFIERS 0
#endif
#ifndef ROCPRIM_THREAD_STORE_USE_CACHE_MODIFIERS
#define ROCPRIM_THREAD_STORE_USE_CACHE_MODIFIERS 0
#endif

// hipCUB: GridQueue has functions of one signature for the host and for the device, which one pass cannot tell apart. It is
// left out; nothing else of hipCUB needs it.
#define HIPCUB_ROCPRIM_GRID_GRID_QUEUE_HPP_
