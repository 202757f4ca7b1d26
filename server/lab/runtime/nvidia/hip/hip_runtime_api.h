// HIP's host API on CUDA: names only. Everything a HIP name means here is what CUDA documents for the name beside it.
// What has no counterpart is not declared, so that its use is a compile error that names it.
#pragma once
#include <cuda_runtime.h>
#include <hip/hip_version.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// By these programs choose their HIP branch.
#define __HIP_PLATFORM_NVIDIA__ 1
#define __HIPCC__ 1
#if defined(__CUDA_ARCH__)
#define __HIP_DEVICE_COMPILE__ 1
#endif

// ---------------------------------------------------------------------------------------------------- types
typedef cudaError_t hipError_t;
typedef cudaStream_t hipStream_t;
typedef cudaEvent_t hipEvent_t;
typedef cudaMemcpyKind hipMemcpyKind;
typedef cudaMemoryType hipMemoryType;
typedef cudaPointerAttributes hipPointerAttribute_t;
typedef cudaFuncAttributes hipFuncAttributes;
typedef cudaFuncAttribute hipFuncAttribute;
typedef cudaFuncCache hipFuncCache_t;
typedef cudaHostFn_t hipHostFn_t;
typedef cudaStreamCallback_t hipStreamCallback_t;
typedef cudaGraph_t hipGraph_t;
typedef cudaGraphExec_t hipGraphExec_t;
typedef cudaGraphNode_t hipGraphNode_t;
typedef cudaStreamCaptureMode hipStreamCaptureMode;
typedef cudaStreamCaptureStatus hipStreamCaptureStatus;
typedef cudaKernelNodeParams hipKernelNodeParams;
typedef cudaMemsetParams hipMemsetParams;
typedef cudaHostNodeParams hipHostNodeParams;
typedef cudaMemPool_t hipMemPool_t;
typedef cudaExtent hipExtent;
typedef cudaPos hipPos;
typedef cudaPitchedPtr hipPitchedPtr;
typedef cudaArray_t hipArray_t;
typedef cudaChannelFormatDesc hipChannelFormatDesc;
typedef cudaResourceDesc hipResourceDesc;
typedef cudaTextureDesc hipTextureDesc;
typedef cudaTextureObject_t hipTextureObject_t;
typedef cudaSurfaceObject_t hipSurfaceObject_t;
typedef int hipDevice_t;

// ---------------------------------------------------------------------------------------------------- errors
#define hipSuccess cudaSuccess
#define hipErrorInvalidValue cudaErrorInvalidValue
#define hipErrorOutOfMemory cudaErrorMemoryAllocation
#define hipErrorMemoryAllocation cudaErrorMemoryAllocation
#define hipErrorNotInitialized cudaErrorInitializationError
#define hipErrorInitializationError cudaErrorInitializationError
#define hipErrorInvalidConfiguration cudaErrorInvalidConfiguration
#define hipErrorInvalidDevice cudaErrorInvalidDevice
#define hipErrorInvalidDeviceFunction cudaErrorInvalidDeviceFunction
#define hipErrorInvalidDevicePointer cudaErrorInvalidDevicePointer
#define hipErrorInvalidMemcpyDirection cudaErrorInvalidMemcpyDirection
#define hipErrorInvalidPitchValue cudaErrorInvalidPitchValue
#define hipErrorInvalidSymbol cudaErrorInvalidSymbol
#define hipErrorInvalidHandle cudaErrorInvalidResourceHandle
#define hipErrorInvalidResourceHandle cudaErrorInvalidResourceHandle
#define hipErrorInvalidContext cudaErrorDeviceUninitialized
#define hipErrorInvalidImage cudaErrorInvalidKernelImage
#define hipErrorNoDevice cudaErrorNoDevice
#define hipErrorNoBinaryForGpu cudaErrorNoKernelImageForDevice
#define hipErrorInsufficientDriver cudaErrorInsufficientDriver
#define hipErrorNotReady cudaErrorNotReady
#define hipErrorNotFound cudaErrorSymbolNotFound
#define hipErrorNotSupported cudaErrorNotSupported
#define hipErrorIllegalAddress cudaErrorIllegalAddress
#define hipErrorIllegalState cudaErrorIllegalState
#define hipErrorAssert cudaErrorAssert
#define hipErrorLaunchFailure cudaErrorLaunchFailure
#define hipErrorLaunchOutOfResources cudaErrorLaunchOutOfResources
#define hipErrorLaunchTimeOut cudaErrorLaunchTimeout
#define hipErrorCooperativeLaunchTooLarge cudaErrorCooperativeLaunchTooLarge
#define hipErrorPeerAccessAlreadyEnabled cudaErrorPeerAccessAlreadyEnabled
#define hipErrorPeerAccessNotEnabled cudaErrorPeerAccessNotEnabled
#define hipErrorPeerAccessUnsupported cudaErrorPeerAccessUnsupported
#define hipErrorHostMemoryAlreadyRegistered cudaErrorHostMemoryAlreadyRegistered
#define hipErrorHostMemoryNotRegistered cudaErrorHostMemoryNotRegistered
#define hipErrorStreamCaptureUnsupported cudaErrorStreamCaptureUnsupported
#define hipErrorStreamCaptureInvalidated cudaErrorStreamCaptureInvalidated
#define hipErrorStreamCaptureImplicit cudaErrorStreamCaptureImplicit
#define hipErrorGraphExecUpdateFailure cudaErrorGraphExecUpdateFailure
#define hipErrorUnknown cudaErrorUnknown

#define hipGetLastError cudaGetLastError
#define hipPeekAtLastError cudaPeekAtLastError
#define hipGetErrorString cudaGetErrorString

/// The error's name as HIP spells it (hipErrorInvalidValue). The text stays valid until the thread's next call.
static inline const char *hipGetErrorName(hipError_t error) {
  static thread_local char name[96];
  const char *cuda = cudaGetErrorName(error);
  if (strncmp(cuda, "cuda", 4) != 0) return cuda;
  if (error == cudaErrorMemoryAllocation) return "hipErrorOutOfMemory";
  strcpy(name, "hip");
  strncat(name, cuda + 4, sizeof name - 4);
  return name;
}

// ---------------------------------------------------------------------------------------------------- device
#define hipSetDevice cudaSetDevice
#define hipGetDevice cudaGetDevice
#define hipGetDeviceCount cudaGetDeviceCount
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipDeviceReset cudaDeviceReset
#define hipDeviceGetStreamPriorityRange cudaDeviceGetStreamPriorityRange
#define hipDeviceCanAccessPeer cudaDeviceCanAccessPeer
#define hipDeviceEnablePeerAccess cudaDeviceEnablePeerAccess
#define hipDeviceDisablePeerAccess cudaDeviceDisablePeerAccess
#define hipDeviceSetCacheConfig cudaDeviceSetCacheConfig
#define hipSetDeviceFlags cudaSetDeviceFlags
#define hipDeviceScheduleAuto cudaDeviceScheduleAuto
#define hipDeviceScheduleSpin cudaDeviceScheduleSpin
#define hipDeviceScheduleYield cudaDeviceScheduleYield
#define hipDeviceScheduleBlockingSync cudaDeviceScheduleBlockingSync
#define hipDriverGetVersion cudaDriverGetVersion
#define hipRuntimeGetVersion cudaRuntimeGetVersion

typedef cudaDeviceAttr hipDeviceAttribute_t;
#define hipDeviceGetAttribute cudaDeviceGetAttribute
#define hipDeviceAttributeClockRate cudaDevAttrClockRate
#define hipDeviceAttributeMemoryClockRate cudaDevAttrMemoryClockRate
#define hipDeviceAttributeMemoryBusWidth cudaDevAttrGlobalMemoryBusWidth
#define hipDeviceAttributeL2CacheSize cudaDevAttrL2CacheSize
#define hipDeviceAttributeMultiprocessorCount cudaDevAttrMultiProcessorCount
#define hipDeviceAttributeWarpSize cudaDevAttrWarpSize
#define hipDeviceAttributeMaxThreadsPerBlock cudaDevAttrMaxThreadsPerBlock
#define hipDeviceAttributeMaxThreadsPerMultiProcessor cudaDevAttrMaxThreadsPerMultiProcessor
#define hipDeviceAttributeMaxBlockDimX cudaDevAttrMaxBlockDimX
#define hipDeviceAttributeMaxBlockDimY cudaDevAttrMaxBlockDimY
#define hipDeviceAttributeMaxBlockDimZ cudaDevAttrMaxBlockDimZ
#define hipDeviceAttributeMaxGridDimX cudaDevAttrMaxGridDimX
#define hipDeviceAttributeMaxGridDimY cudaDevAttrMaxGridDimY
#define hipDeviceAttributeMaxGridDimZ cudaDevAttrMaxGridDimZ
#define hipDeviceAttributeMaxRegistersPerBlock cudaDevAttrMaxRegistersPerBlock
#define hipDeviceAttributeMaxSharedMemoryPerBlock cudaDevAttrMaxSharedMemoryPerBlock
#define hipDeviceAttributeMaxSharedMemoryPerMultiprocessor cudaDevAttrMaxSharedMemoryPerMultiprocessor
#define hipDeviceAttributeTotalConstantMemory cudaDevAttrTotalConstantMemory
#define hipDeviceAttributeComputeCapabilityMajor cudaDevAttrComputeCapabilityMajor
#define hipDeviceAttributeComputeCapabilityMinor cudaDevAttrComputeCapabilityMinor
#define hipDeviceAttributeCooperativeLaunch cudaDevAttrCooperativeLaunch
#define hipDeviceAttributeManagedMemory cudaDevAttrManagedMemory
#define hipDeviceAttributeConcurrentKernels cudaDevAttrConcurrentKernels

/// CUDA's properties and the members that HIP has besides. Clocks are in kHz; CUDA 13 keeps them as attributes only.
struct hipDeviceProp_t : cudaDeviceProp {
  int clockRate;
  int memoryClockRate;
  int maxSharedMemoryPerMultiProcessor;
  char gcnArchName[256]; // "sm_90"
};

static inline hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device) {
  hipError_t error = cudaGetDeviceProperties(properties, device);
  if (error != cudaSuccess) return error;
  error = cudaDeviceGetAttribute(&properties->clockRate, cudaDevAttrClockRate, device);
  if (error != cudaSuccess) return error;
  error = cudaDeviceGetAttribute(&properties->memoryClockRate, cudaDevAttrMemoryClockRate, device);
  if (error != cudaSuccess) return error;
  properties->maxSharedMemoryPerMultiProcessor = (int)properties->sharedMemPerMultiprocessor;
  memset(properties->gcnArchName, 0, sizeof properties->gcnArchName);
  memcpy(properties->gcnArchName, "sm_", 3);
  char *digits = properties->gcnArchName + 3;
  if (properties->major > 9) *digits++ = (char)('0' + properties->major / 10);
  *digits++ = (char)('0' + properties->major % 10);
  *digits = (char)('0' + properties->minor);
  return cudaSuccess;
}

// ---------------------------------------------------------------------------------------------------- memory
#define hipMalloc cudaMalloc
#define hipFree cudaFree
#define hipMallocManaged cudaMallocManaged
#define hipMemAttachGlobal cudaMemAttachGlobal
#define hipMallocPitch cudaMallocPitch
#define hipMallocAsync cudaMallocAsync
#define hipFreeAsync cudaFreeAsync
#define hipHostFree cudaFreeHost
#define hipFreeHost cudaFreeHost
#define hipHostMallocDefault cudaHostAllocDefault
#define hipHostMallocPortable cudaHostAllocPortable
#define hipHostMallocMapped cudaHostAllocMapped
#define hipHostMallocWriteCombined cudaHostAllocWriteCombined
#define hipHostMallocNonCoherent cudaHostAllocDefault
#define hipHostMallocCoherent cudaHostAllocDefault
#define hipHostRegister cudaHostRegister
#define hipHostRegisterDefault cudaHostRegisterDefault
#define hipHostRegisterMapped cudaHostRegisterMapped
#define hipHostUnregister cudaHostUnregister
#define hipHostGetDevicePointer cudaHostGetDevicePointer
#define hipMemGetInfo cudaMemGetInfo
#define hipMemcpy cudaMemcpy
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpy2D cudaMemcpy2D
#define hipMemcpy2DAsync cudaMemcpy2DAsync
#define hipMemcpyPeer cudaMemcpyPeer
#define hipMemcpyPeerAsync cudaMemcpyPeerAsync
#define hipMemset cudaMemset
#define hipMemsetAsync cudaMemsetAsync
#define hipMemset2D cudaMemset2D
#define hipMemset2DAsync cudaMemset2DAsync
#define hipMemcpyHostToHost cudaMemcpyHostToHost
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define hipMemcpyDefault cudaMemcpyDefault
#define hipMemoryTypeHost cudaMemoryTypeHost
#define hipMemoryTypeDevice cudaMemoryTypeDevice
#define hipMemoryTypeManaged cudaMemoryTypeManaged
#define hipMemoryTypeUnregistered cudaMemoryTypeUnregistered
#define hipPointerGetAttributes cudaPointerGetAttributes

/// `flags` are hipHostMalloc* values; the coherence ones have no meaning here and are zero.
template <class T> static inline hipError_t hipHostMalloc(T **pointer, size_t bytes, unsigned flags = 0) {
  return cudaHostAlloc((void **)pointer, bytes, flags);
}
template <class T> static inline hipError_t hipMallocHost(T **pointer, size_t bytes) {
  return cudaHostAlloc((void **)pointer, bytes, cudaHostAllocDefault);
}

/// HIP names a device by its number (hipCpuDeviceId is the host); CUDA 13 takes a place.
#define hipCpuDeviceId cudaCpuDeviceId
#if CUDART_VERSION >= 13000
static inline cudaMemLocation ks_place(int device) {
  cudaMemLocation place = {};
  place.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  place.id = device == cudaCpuDeviceId ? 0 : device;
  return place;
}
static inline hipError_t hipMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice, int device) {
  return cudaMemAdvise(pointer, bytes, advice, ks_place(device));
}
static inline hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes, int device, hipStream_t stream = 0) {
  return cudaMemPrefetchAsync(pointer, bytes, ks_place(device), 0, stream);
}
#else
#define hipMemAdvise cudaMemAdvise
#define hipMemPrefetchAsync cudaMemPrefetchAsync
#endif

// HIP code writes both `symbol` and `HIP_SYMBOL(symbol)`; CUDA takes the variable itself.
#define HIP_SYMBOL(symbol) symbol
#define hipMemcpyToSymbol cudaMemcpyToSymbol
#define hipMemcpyToSymbolAsync cudaMemcpyToSymbolAsync
#define hipMemcpyFromSymbol cudaMemcpyFromSymbol
#define hipMemcpyFromSymbolAsync cudaMemcpyFromSymbolAsync
#define hipGetSymbolAddress cudaGetSymbolAddress
#define hipGetSymbolSize cudaGetSymbolSize

static inline hipError_t hipMemsetD8(void *target, unsigned char value, size_t count) { return cudaMemset(target, value, count); }

#define hipMemAdviseSetReadMostly cudaMemAdviseSetReadMostly
#define hipMemAdviseUnsetReadMostly cudaMemAdviseUnsetReadMostly
#define hipMemAdviseSetPreferredLocation cudaMemAdviseSetPreferredLocation
#define hipMalloc3D cudaMalloc3D
#define hipMalloc3DArray cudaMalloc3DArray
#define hipMallocArray cudaMallocArray
#define hipFreeArray cudaFreeArray
#define hipMemcpy3D cudaMemcpy3D
#define hipMemcpy3DParms cudaMemcpy3DParms
#define hipMemcpy2DToArray cudaMemcpy2DToArray
#define hipMemcpy2DFromArray cudaMemcpy2DFromArray
#define hipMemset3D cudaMemset3D
#define make_hipExtent make_cudaExtent
#define make_hipPos make_cudaPos
#define make_hipPitchedPtr make_cudaPitchedPtr
#define hipArrayDefault cudaArrayDefault
#define hipArrayLayered cudaArrayLayered
#define hipArraySurfaceLoadStore cudaArraySurfaceLoadStore

// ---------------------------------------------------------------------------------------------------- textures and surfaces
#define hipCreateChannelDesc cudaCreateChannelDesc
#define hipChannelFormatKind cudaChannelFormatKind
#define hipChannelFormatKindSigned cudaChannelFormatKindSigned
#define hipChannelFormatKindUnsigned cudaChannelFormatKindUnsigned
#define hipChannelFormatKindFloat cudaChannelFormatKindFloat
#define hipResourceTypeArray cudaResourceTypeArray
#define hipResourceTypeLinear cudaResourceTypeLinear
#define hipResourceTypePitch2D cudaResourceTypePitch2D
#define hipReadModeElementType cudaReadModeElementType
#define hipReadModeNormalizedFloat cudaReadModeNormalizedFloat
#define hipFilterModePoint cudaFilterModePoint
#define hipFilterModeLinear cudaFilterModeLinear
#define hipAddressModeWrap cudaAddressModeWrap
#define hipAddressModeClamp cudaAddressModeClamp
#define hipAddressModeMirror cudaAddressModeMirror
#define hipAddressModeBorder cudaAddressModeBorder
#define hipCreateTextureObject cudaCreateTextureObject
#define hipDestroyTextureObject cudaDestroyTextureObject
#define hipCreateSurfaceObject cudaCreateSurfaceObject
#define hipDestroySurfaceObject cudaDestroySurfaceObject

// ---------------------------------------------------------------------------------------------------- streams, events, graphs
#define hipStreamDefault cudaStreamDefault
#define hipStreamNonBlocking cudaStreamNonBlocking
#define hipStreamPerThread cudaStreamPerThread
#define hipStreamLegacy cudaStreamLegacy
#define hipStreamCreate cudaStreamCreate
#define hipStreamCreateWithFlags cudaStreamCreateWithFlags
#define hipStreamCreateWithPriority cudaStreamCreateWithPriority
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStreamQuery cudaStreamQuery
#define hipStreamWaitEvent cudaStreamWaitEvent
#define hipStreamGetFlags cudaStreamGetFlags
#define hipStreamGetPriority cudaStreamGetPriority
#define hipStreamAddCallback cudaStreamAddCallback
#define hipLaunchHostFunc cudaLaunchHostFunc
#define hipEventDefault cudaEventDefault
#define hipEventBlockingSync cudaEventBlockingSync
#define hipEventDisableTiming cudaEventDisableTiming
#define hipEventCreate cudaEventCreate
#define hipEventCreateWithFlags cudaEventCreateWithFlags
#define hipEventDestroy cudaEventDestroy
#define hipEventRecord cudaEventRecord
#define hipEventQuery cudaEventQuery
#define hipEventSynchronize cudaEventSynchronize
#define hipEventElapsedTime cudaEventElapsedTime
#define hipStreamBeginCapture cudaStreamBeginCapture
#define hipStreamEndCapture cudaStreamEndCapture
#define hipStreamIsCapturing cudaStreamIsCapturing
#define hipStreamCaptureModeGlobal cudaStreamCaptureModeGlobal
#define hipStreamCaptureModeThreadLocal cudaStreamCaptureModeThreadLocal
#define hipStreamCaptureModeRelaxed cudaStreamCaptureModeRelaxed
#define hipStreamCaptureStatusNone cudaStreamCaptureStatusNone
#define hipStreamCaptureStatusActive cudaStreamCaptureStatusActive
#define hipStreamCaptureStatusInvalidated cudaStreamCaptureStatusInvalidated
#define hipGraphCreate cudaGraphCreate
#define hipGraphDestroy cudaGraphDestroy
#define hipGraphLaunch cudaGraphLaunch
#define hipGraphExecDestroy cudaGraphExecDestroy
#define hipGraphAddKernelNode cudaGraphAddKernelNode
#define hipGraphAddEmptyNode cudaGraphAddEmptyNode
#define hipGraphAddHostNode cudaGraphAddHostNode
#define hipGraphAddMemsetNode cudaGraphAddMemsetNode
#define hipGraphAddMemcpyNode1D cudaGraphAddMemcpyNode1D
#define hipGraphGetNodes cudaGraphGetNodes
#define hipGraphExecKernelNodeSetParams cudaGraphExecKernelNodeSetParams
#define hipGraphKernelNodeGetParams cudaGraphKernelNodeGetParams
#define hipGraphKernelNodeSetParams cudaGraphKernelNodeSetParams
#define hipGraphAddEventRecordNode cudaGraphAddEventRecordNode
#define hipGraphAddEventWaitNode cudaGraphAddEventWaitNode

/// HIP's five arguments; CUDA 12 and later report a failed node through the returned error alone.
static inline hipError_t hipGraphInstantiate(hipGraphExec_t *executable, hipGraph_t graph, hipGraphNode_t *, char *, size_t) {
  return cudaGraphInstantiate(executable, graph, 0);
}

// ---------------------------------------------------------------------------------------------------- kernels
#define hipFuncGetAttributes cudaFuncGetAttributes
#define hipFuncSetAttribute cudaFuncSetAttribute
#define hipFuncSetCacheConfig cudaFuncSetCacheConfig
#define hipFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributeMaxDynamicSharedMemorySize
#define hipFuncAttributePreferredSharedMemoryCarveout cudaFuncAttributePreferredSharedMemoryCarveout
#define hipFuncCachePreferNone cudaFuncCachePreferNone
#define hipFuncCachePreferShared cudaFuncCachePreferShared
#define hipFuncCachePreferL1 cudaFuncCachePreferL1
#define hipFuncCachePreferEqual cudaFuncCachePreferEqual
#define hipLaunchKernel cudaLaunchKernel
#define hipLaunchCooperativeKernel cudaLaunchCooperativeKernel
#define hipOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessor
#define hipOccupancyMaxPotentialBlockSize cudaOccupancyMaxPotentialBlockSize
#define hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
#define hipOccupancyDefault cudaOccupancyDefault
#define hipProfilerStart cudaProfilerStart
#define hipProfilerStop cudaProfilerStop
