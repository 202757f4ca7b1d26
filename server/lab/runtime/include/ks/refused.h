// What this runtime does not have. Each name is known, so that its use is a compile error that says what is missing;
// nothing here ever does nothing.
#pragma once
#pragma clang system_header
#include <ks/errors.h>

#define KS_REFUSED_TEXT(feature)                                                                                       \
    __attribute__((unavailable("not supported by the CPU runtime: " feature "; time this program on a device instead")))
#define KS_REFUSE(name, feature) template <class... A> KS_REFUSED_TEXT(feature) hipError_t name(A &&...);
#define KS_REFUSE_VALUE(name, feature) template <class T = void, class... A> KS_REFUSED_TEXT(feature) T name(A &&...);
#define KS_REFUSE_TYPE(name, feature) typedef struct ks_##name *name KS_REFUSED_TEXT(feature);
// A handle that headers name without using it: it cannot be made, as the functions that would are refused.
#define KS_EMPTY_HANDLE(name) typedef struct ks_##name *name;

#define KS_MODULES "loading code at run time (modules)"
KS_EMPTY_HANDLE(hipModule_t)
KS_EMPTY_HANDLE(hipFunction_t)
KS_REFUSE(hipModuleLoad, KS_MODULES)
KS_REFUSE(hipModuleLoadData, KS_MODULES)
KS_REFUSE(hipModuleLoadDataEx, KS_MODULES)
KS_REFUSE(hipModuleUnload, KS_MODULES)
KS_REFUSE(hipModuleGetFunction, KS_MODULES)
KS_REFUSE(hipModuleGetGlobal, KS_MODULES)
KS_REFUSE(hipModuleLaunchKernel, KS_MODULES)
KS_REFUSE(hipExtModuleLaunchKernel, KS_MODULES)
KS_REFUSE(hipHccModuleLaunchKernel, KS_MODULES)

#define KS_PEER_CONTEXTS "access between contexts"
KS_REFUSE(hipCtxEnablePeerAccess, KS_PEER_CONTEXTS)
KS_REFUSE(hipCtxDisablePeerAccess, KS_PEER_CONTEXTS)

#define KS_ADDRESSES "looking functions of HIP up by name"
KS_REFUSE(hipGetProcAddress, KS_ADDRESSES)

#define KS_REFERENCES "looking texture references up by name, and mipmaps behind them"
KS_REFUSE(hipBindTextureToMipmappedArray, KS_REFERENCES)
KS_REFUSE(hipGetTextureReference, KS_REFERENCES)

#define KS_CUBE_MAPS "cube maps"
KS_REFUSE_VALUE(texCubemap, KS_CUBE_MAPS)
KS_REFUSE_VALUE(texCubemapLod, KS_CUBE_MAPS)
KS_REFUSE_VALUE(texCubemapGrad, KS_CUBE_MAPS)
KS_REFUSE_VALUE(texCubemapLayered, KS_CUBE_MAPS)
KS_REFUSE_VALUE(texCubemapLayeredLod, KS_CUBE_MAPS)
KS_REFUSE_VALUE(texCubemapLayeredGrad, KS_CUBE_MAPS)
KS_REFUSE_VALUE(surfCubemapread, KS_CUBE_MAPS)
KS_REFUSE_VALUE(surfCubemapwrite, KS_CUBE_MAPS)
KS_REFUSE_VALUE(surfCubemapLayeredread, KS_CUBE_MAPS)
KS_REFUSE_VALUE(surfCubemapLayeredwrite, KS_CUBE_MAPS)

#define KS_DRIVER_TEXTURES "the driver interface's texture objects; use hipCreateTextureObject"
KS_REFUSE(hipTexObjectCreate, KS_DRIVER_TEXTURES)
KS_REFUSE(hipTexObjectDestroy, KS_DRIVER_TEXTURES)

#define KS_IPC "sharing memory between processes (IPC)"
KS_REFUSE_TYPE(hipIpcMemHandle_t, KS_IPC)
KS_REFUSE_TYPE(hipIpcEventHandle_t, KS_IPC)
KS_REFUSE(hipIpcGetMemHandle, KS_IPC)
KS_REFUSE(hipIpcOpenMemHandle, KS_IPC)
KS_REFUSE(hipIpcCloseMemHandle, KS_IPC)
KS_REFUSE(hipIpcGetEventHandle, KS_IPC)
KS_REFUSE(hipIpcOpenEventHandle, KS_IPC)

#define KS_VIRTUAL_MEMORY "virtual memory management"
KS_REFUSE(hipMemCreate, KS_VIRTUAL_MEMORY)
KS_REFUSE(hipMemMap, KS_VIRTUAL_MEMORY)
KS_REFUSE(hipMemAddressReserve, KS_VIRTUAL_MEMORY)

#define KS_SHARED_POOLS "sharing memory pools between processes"
KS_REFUSE(hipMemPoolExportToShareableHandle, KS_SHARED_POOLS)
KS_REFUSE(hipMemPoolImportFromShareableHandle, KS_SHARED_POOLS)
KS_REFUSE(hipMemPoolExportPointer, KS_SHARED_POOLS)
KS_REFUSE(hipMemPoolImportPointer, KS_SHARED_POOLS)

#define KS_INTEROP "graphics and external memory"
KS_REFUSE(hipImportExternalMemory, KS_INTEROP)
KS_REFUSE(hipImportExternalSemaphore, KS_INTEROP)
KS_REFUSE(hipGraphicsGLRegisterBuffer, KS_INTEROP)
KS_REFUSE(hipGraphicsMapResources, KS_INTEROP)

#define KS_PROFILER "control of a profiler"
KS_REFUSE(hipProfilerStart, KS_PROFILER)
KS_REFUSE(hipProfilerStop, KS_PROFILER)

#define KS_RANGES "attributes of memory ranges"
KS_REFUSE(hipMemRangeGetAttribute, KS_RANGES)
KS_REFUSE(hipMemRangeGetAttributes, KS_RANGES)

// Builtins that read or write a device's own registers and queues.
#define KS_REGISTERS "a device's hardware registers, queues and code addresses"
#define KS_REFUSE_BUILTIN(name, feature) template <class... A> KS_REFUSED_TEXT(feature) int __builtin_amdgcn_##name(A &&...);
KS_REFUSE_BUILTIN(s_getreg, KS_REGISTERS)
KS_REFUSE_BUILTIN(s_setreg, KS_REGISTERS)
KS_REFUSE_BUILTIN(s_getpc, KS_REGISTERS)
KS_REFUSE_BUILTIN(s_sendmsg, KS_REGISTERS)
KS_REFUSE_BUILTIN(s_sendmsghalt, KS_REGISTERS)
KS_REFUSE_BUILTIN(get_fpenv, KS_REGISTERS)
KS_REFUSE_BUILTIN(set_fpenv, KS_REGISTERS)
KS_REFUSE_BUILTIN(dispatch_ptr, KS_REGISTERS)
KS_REFUSE_BUILTIN(queue_ptr, KS_REGISTERS)
KS_REFUSE_BUILTIN(implicitarg_ptr, KS_REGISTERS)
KS_REFUSE_BUILTIN(kernarg_segment_ptr, KS_REGISTERS)
KS_REFUSE_BUILTIN(groupstaticsize, KS_REGISTERS)
KS_REFUSE_BUILTIN(endpgm, "ending a work-item in the middle of a kernel")
KS_REFUSE_BUILTIN(is_shared, "asking in which memory an address lies")
KS_REFUSE_BUILTIN(is_private, "asking in which memory an address lies")
KS_REFUSE_VALUE(__smid, KS_REGISTERS)
#undef KS_REFUSE_BUILTIN
#undef KS_EMPTY_HANDLE
#undef KS_REFUSE_TYPE
#undef KS_REFUSE_VALUE
#undef KS_REFUSE
