// The driver interface's contexts. All are views of the one device: what they keep is who is current, and flags.
#pragma once
#pragma clang system_header
#include <ks/api_types.h>

typedef struct ihipCtx_t *hipCtx_t;

extern "C" {
hipError_t hipCtxCreate(hipCtx_t *context, unsigned flags, hipDevice_t device);
hipError_t hipCtxDestroy(hipCtx_t context);
hipError_t hipCtxPushCurrent(hipCtx_t context);
hipError_t hipCtxPopCurrent(hipCtx_t *context);
hipError_t hipCtxSetCurrent(hipCtx_t context);
hipError_t hipCtxGetCurrent(hipCtx_t *context);
hipError_t hipCtxGetDevice(hipDevice_t *device);
hipError_t hipCtxGetApiVersion(hipCtx_t context, int *version);
hipError_t hipCtxGetFlags(unsigned *flags);
hipError_t hipCtxSynchronize();
hipError_t hipCtxGetCacheConfig(hipFuncCache_t *configuration);
hipError_t hipCtxSetCacheConfig(hipFuncCache_t configuration);
hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig *configuration);
hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig configuration);
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *context, hipDevice_t device);
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device);
hipError_t hipDevicePrimaryCtxReset(hipDevice_t device);
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned *flags, int *active);
hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned flags);
}
