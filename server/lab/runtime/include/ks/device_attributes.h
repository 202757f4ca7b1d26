// Attributes of the device: X(name, number, value), where the value is taken from the properties `p`.
#pragma once
#pragma clang system_header

#define KS_FOR_EACH_ATTRIBUTE(X) \
    X(hipDeviceAttributeEccEnabled, 0, p.ECCEnabled) \
    X(hipDeviceAttributeAccessPolicyMaxWindowSize, 1, p.accessPolicyMaxWindowSize) \
    X(hipDeviceAttributeAsyncEngineCount, 2, p.asyncEngineCount) \
    X(hipDeviceAttributeCanMapHostMemory, 3, p.canMapHostMemory) \
    X(hipDeviceAttributeCanUseHostPointerForRegisteredMem, 4, p.canUseHostPointerForRegisteredMem) \
    X(hipDeviceAttributeClockRate, 5, p.clockRate) \
    X(hipDeviceAttributeComputeMode, 6, p.computeMode) \
    X(hipDeviceAttributeComputePreemptionSupported, 7, p.computePreemptionSupported) \
    X(hipDeviceAttributeConcurrentKernels, 8, p.concurrentKernels) \
    X(hipDeviceAttributeConcurrentManagedAccess, 9, p.concurrentManagedAccess) \
    X(hipDeviceAttributeCooperativeLaunch, 10, p.cooperativeLaunch) \
    X(hipDeviceAttributeCooperativeMultiDeviceLaunch, 11, p.cooperativeMultiDeviceLaunch) \
    X(hipDeviceAttributeDeviceOverlap, 12, p.deviceOverlap) \
    X(hipDeviceAttributeDirectManagedMemAccessFromHost, 13, p.directManagedMemAccessFromHost) \
    X(hipDeviceAttributeGlobalL1CacheSupported, 14, p.globalL1CacheSupported) \
    X(hipDeviceAttributeHostNativeAtomicSupported, 15, p.hostNativeAtomicSupported) \
    X(hipDeviceAttributeIntegrated, 16, p.integrated) \
    X(hipDeviceAttributeIsMultiGpuBoard, 17, p.isMultiGpuBoard) \
    X(hipDeviceAttributeKernelExecTimeout, 18, p.kernelExecTimeoutEnabled) \
    X(hipDeviceAttributeL2CacheSize, 19, p.l2CacheSize) \
    X(hipDeviceAttributeLocalL1CacheSupported, 20, p.localL1CacheSupported) \
    X(hipDeviceAttributeComputeCapabilityMajor, 23, p.major) \
    X(hipDeviceAttributeManagedMemory, 24, p.managedMemory) \
    X(hipDeviceAttributeMaxBlocksPerMultiProcessor, 25, p.maxBlocksPerMultiProcessor) \
    X(hipDeviceAttributeMaxBlockDimX, 26, p.maxThreadsDim[0]) \
    X(hipDeviceAttributeMaxBlockDimY, 27, p.maxThreadsDim[1]) \
    X(hipDeviceAttributeMaxBlockDimZ, 28, p.maxThreadsDim[2]) \
    X(hipDeviceAttributeMaxGridDimX, 29, p.maxGridSize[0]) \
    X(hipDeviceAttributeMaxGridDimY, 30, p.maxGridSize[1]) \
    X(hipDeviceAttributeMaxGridDimZ, 31, p.maxGridSize[2]) \
    X(hipDeviceAttributeMaxSurface1D, 32, p.maxSurface1D) \
    X(hipDeviceAttributeMaxSurface1DLayered, 33, p.maxSurface1DLayered[0]) \
    X(hipDeviceAttributeMaxSurface2D, 34, p.maxSurface2D[0]) \
    X(hipDeviceAttributeMaxSurface2DLayered, 35, p.maxSurface2DLayered[0]) \
    X(hipDeviceAttributeMaxSurface3D, 36, p.maxSurface3D[0]) \
    X(hipDeviceAttributeMaxSurfaceCubemap, 37, p.maxSurfaceCubemap) \
    X(hipDeviceAttributeMaxSurfaceCubemapLayered, 38, p.maxSurfaceCubemapLayered[0]) \
    X(hipDeviceAttributeMaxTexture1DWidth, 39, p.maxTexture1D) \
    X(hipDeviceAttributeMaxTexture1DLayered, 40, p.maxTexture1DLayered[0]) \
    X(hipDeviceAttributeMaxTexture1DLinear, 41, p.maxTexture1DLinear) \
    X(hipDeviceAttributeMaxTexture1DMipmap, 42, p.maxTexture1DMipmap) \
    X(hipDeviceAttributeMaxTexture2DWidth, 43, p.maxTexture2D[0]) \
    X(hipDeviceAttributeMaxTexture2DHeight, 44, p.maxTexture2D[1]) \
    X(hipDeviceAttributeMaxTexture2DGather, 45, p.maxTexture2DGather[0]) \
    X(hipDeviceAttributeMaxTexture2DLayered, 46, p.maxTexture2DLayered[0]) \
    X(hipDeviceAttributeMaxTexture2DLinear, 47, p.maxTexture2DLinear[0]) \
    X(hipDeviceAttributeMaxTexture2DMipmap, 48, p.maxTexture2DMipmap[0]) \
    X(hipDeviceAttributeMaxTexture3DWidth, 49, p.maxTexture3D[0]) \
    X(hipDeviceAttributeMaxTexture3DHeight, 50, p.maxTexture3D[1]) \
    X(hipDeviceAttributeMaxTexture3DDepth, 51, p.maxTexture3D[2]) \
    X(hipDeviceAttributeMaxTexture3DAlt, 52, p.maxTexture3DAlt[0]) \
    X(hipDeviceAttributeMaxTextureCubemap, 53, p.maxTextureCubemap) \
    X(hipDeviceAttributeMaxTextureCubemapLayered, 54, p.maxTextureCubemapLayered[0]) \
    X(hipDeviceAttributeMaxThreadsDim, 55, p.maxThreadsDim[0]) \
    X(hipDeviceAttributeMaxThreadsPerBlock, 56, p.maxThreadsPerBlock) \
    X(hipDeviceAttributeMaxThreadsPerMultiProcessor, 57, p.maxThreadsPerMultiProcessor) \
    X(hipDeviceAttributeMaxPitch, 58, static_cast<int>(p.memPitch)) \
    X(hipDeviceAttributeMemoryBusWidth, 59, p.memoryBusWidth) \
    X(hipDeviceAttributeMemoryClockRate, 60, p.memoryClockRate) \
    X(hipDeviceAttributeComputeCapabilityMinor, 61, p.minor) \
    X(hipDeviceAttributeMultiGpuBoardGroupID, 62, p.multiGpuBoardGroupID) \
    X(hipDeviceAttributeMultiprocessorCount, 63, p.multiProcessorCount) \
    X(hipDeviceAttributePageableMemoryAccess, 65, p.pageableMemoryAccess) \
    X(hipDeviceAttributePageableMemoryAccessUsesHostPageTables, 66, p.pageableMemoryAccessUsesHostPageTables) \
    X(hipDeviceAttributePciBusId, 67, p.pciBusID) \
    X(hipDeviceAttributePciDeviceId, 68, p.pciDeviceID) \
    X(hipDeviceAttributePciDomainID, 69, p.pciDomainID) \
    X(hipDeviceAttributePersistingL2CacheMaxSize, 70, p.persistingL2CacheMaxSize) \
    X(hipDeviceAttributeMaxRegistersPerBlock, 71, p.regsPerBlock) \
    X(hipDeviceAttributeMaxRegistersPerMultiprocessor, 72, p.regsPerMultiprocessor) \
    X(hipDeviceAttributeReservedSharedMemPerBlock, 73, static_cast<int>(p.reservedSharedMemPerBlock)) \
    X(hipDeviceAttributeMaxSharedMemoryPerBlock, 74, static_cast<int>(p.sharedMemPerBlock)) \
    X(hipDeviceAttributeSharedMemPerBlockOptin, 75, static_cast<int>(p.sharedMemPerBlockOptin)) \
    X(hipDeviceAttributeSharedMemPerMultiprocessor, 76, static_cast<int>(p.sharedMemPerMultiprocessor)) \
    X(hipDeviceAttributeSingleToDoublePrecisionPerfRatio, 77, p.singleToDoublePrecisionPerfRatio) \
    X(hipDeviceAttributeStreamPrioritiesSupported, 78, p.streamPrioritiesSupported) \
    X(hipDeviceAttributeSurfaceAlignment, 79, static_cast<int>(p.surfaceAlignment)) \
    X(hipDeviceAttributeTccDriver, 80, p.tccDriver) \
    X(hipDeviceAttributeTextureAlignment, 81, static_cast<int>(p.textureAlignment)) \
    X(hipDeviceAttributeTexturePitchAlignment, 82, static_cast<int>(p.texturePitchAlignment)) \
    X(hipDeviceAttributeTotalConstantMemory, 83, static_cast<int>(p.totalConstMem)) \
    X(hipDeviceAttributeTotalGlobalMem, 84, static_cast<int>(p.totalGlobalMem>INT32_MAX?INT32_MAX:p.totalGlobalMem)) \
    X(hipDeviceAttributeUnifiedAddressing, 85, p.unifiedAddressing) \
    X(hipDeviceAttributeWarpSize, 87, p.warpSize) \
    X(hipDeviceAttributeMemoryPoolsSupported, 88, p.memoryPoolsSupported) \
    X(hipDeviceAttributeVirtualMemoryManagementSupported, 89, 0) \
    X(hipDeviceAttributeHostRegisterSupported, 90, p.hostRegisterSupported) \
    X(hipDeviceAttributeMemoryPoolSupportedHandleTypes, 91, static_cast<int>(p.memoryPoolSupportedHandleTypes)) \
    X(hipDeviceAttributeClockInstructionRate, 10000, p.clockInstructionRate) \
    X(hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, 10002, static_cast<int>(p.maxSharedMemoryPerMultiProcessor)) \
    X(hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc, 10007, p.cooperativeMultiDeviceUnmatchedFunc) \
    X(hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim, 10008, p.cooperativeMultiDeviceUnmatchedGridDim) \
    X(hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim, 10009, p.cooperativeMultiDeviceUnmatchedBlockDim) \
    X(hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem, 10010, p.cooperativeMultiDeviceUnmatchedSharedMem) \
    X(hipDeviceAttributeIsLargeBar, 10011, p.isLargeBar) \
    X(hipDeviceAttributeAsicRevision, 10012, p.asicRevision) \
    X(hipDeviceAttributeCanUseStreamWaitValue, 10013, 1) \
    X(hipDeviceAttributeImageSupport, 10014, 1) \
    X(hipDeviceAttributePhysicalMultiProcessorCount, 10015, p.multiProcessorCount) \
    X(hipDeviceAttributeFineGrainSupport, 10016, 1) \
    X(hipDeviceAttributeWallClockRate, 10017, 100000)

enum hipDeviceAttribute_t {
    hipDeviceAttributeCudaCompatibleBegin = 0,
#define KS_ENUMERATOR(name, number, value) name = number,
    KS_FOR_EACH_ATTRIBUTE(KS_ENUMERATOR)
#undef KS_ENUMERATOR
    // Known by name, without a value here: asking is hipErrorInvalidValue.
    hipDeviceAttributeLuid = 21,
    hipDeviceAttributeLuidDeviceNodeMask = 22,
    hipDeviceAttributeHdpMemFlushCntl = 10005,
    hipDeviceAttributeHdpRegFlushCntl = 10006,
    hipDeviceAttributeCudaCompatibleEnd = 9999,
    hipDeviceAttributeAmdSpecificBegin = 10000,
    hipDeviceAttributeAmdSpecificEnd = 19999,
    hipDeviceAttributeVendorSpecificBegin = 20000,
};
