// Settings that public libraries of headers read. They choose what a host compiler can compile: the other choice is GPU
// assembly.
#pragma once
#pragma clang system_header

// rocPRIM: plain loads and stores instead of instructions that name a cache policy.
#ifndef ROCPRIM_THREAD_LOAD_USE_CACHE_MODIFIERS
#define ROCPRIM_THREAD_LOAD_USE_CACHE_MODIFIERS 0
#endif
#ifndef ROCPRIM_THREAD_STORE_USE_CACHE_MODIFIERS
#define ROCPRIM_THREAD_STORE_USE_CACHE_MODIFIERS 0
#endif
