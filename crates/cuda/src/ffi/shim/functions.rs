// Made by crates/cuda/tools/generate_shim.py from cust_raw 0.11.3: do not edit.

forward! {
    fn cuInit(a0: c_uint);
    fn cuDriverGetVersion(a0: *mut c_int);
    fn cuDeviceGet(a0: *mut CUdevice, a1: c_int);
    fn cuDeviceGetCount(a0: *mut c_int);
    fn cuDeviceGetName(a0: *mut c_char, a1: c_int, a2: CUdevice);
    fn cuDeviceGetUuid(a0: *mut CUuuid, a1: CUdevice);
    fn cuDeviceGetUuid_v2(a0: *mut CUuuid, a1: CUdevice);
    fn cuDeviceGetLuid(a0: *mut c_char, a1: *mut c_uint, a2: CUdevice);
    fn cuDeviceTotalMem_v2(a0: *mut usize, a1: CUdevice);
    fn cuDeviceGetTexture1DLinearMaxWidth(a0: *mut usize, a1: CUarray_format, a2: c_uint, a3: CUdevice);
    fn cuDeviceGetAttribute(a0: *mut c_int, a1: CUdevice_attribute, a2: CUdevice);
    fn cuDeviceGetNvSciSyncAttributes(a0: *mut c_void, a1: CUdevice, a2: c_int);
    fn cuDeviceSetMemPool(a0: CUdevice, a1: CUmemoryPool);
    fn cuDeviceGetMemPool(a0: *mut CUmemoryPool, a1: CUdevice);
    fn cuDeviceGetDefaultMemPool(a0: *mut CUmemoryPool, a1: CUdevice);
    fn cuFlushGPUDirectRDMAWrites(a0: CUflushGPUDirectRDMAWritesTarget, a1: CUflushGPUDirectRDMAWritesScope);
    fn cuDeviceGetProperties(a0: *mut CUdevprop, a1: CUdevice);
    fn cuDeviceComputeCapability(a0: *mut c_int, a1: *mut c_int, a2: CUdevice);
    fn cuDevicePrimaryCtxRetain(a0: *mut CUcontext, a1: CUdevice);
    fn cuDevicePrimaryCtxRelease_v2(a0: CUdevice);
    fn cuDevicePrimaryCtxSetFlags_v2(a0: CUdevice, a1: c_uint);
    fn cuDevicePrimaryCtxGetState(a0: CUdevice, a1: *mut c_uint, a2: *mut c_int);
    fn cuDevicePrimaryCtxReset_v2(a0: CUdevice);
    fn cuDeviceGetExecAffinitySupport(a0: *mut c_int, a1: CUexecAffinityType, a2: CUdevice);
    fn cuCtxCreate_v2(a0: *mut CUcontext, a1: c_uint, a2: CUdevice);
    fn cuCtxCreate_v3(a0: *mut CUcontext, a1: *mut CUexecAffinityParam, a2: c_int, a3: c_uint, a4: CUdevice);
    fn cuCtxDestroy_v2(a0: CUcontext);
    fn cuCtxPushCurrent_v2(a0: CUcontext);
    fn cuCtxPopCurrent_v2(a0: *mut CUcontext);
    fn cuCtxSetCurrent(a0: CUcontext);
    fn cuCtxGetCurrent(a0: *mut CUcontext);
    fn cuCtxGetDevice(a0: *mut CUdevice);
    fn cuCtxGetFlags(a0: *mut c_uint);
    fn cuCtxSynchronize();
    fn cuCtxSetLimit(a0: CUlimit, a1: usize);
    fn cuCtxGetLimit(a0: *mut usize, a1: CUlimit);
    fn cuCtxGetCacheConfig(a0: *mut CUfunc_cache);
    fn cuCtxSetCacheConfig(a0: CUfunc_cache);
    fn cuCtxGetSharedMemConfig(a0: *mut CUsharedconfig);
    fn cuCtxSetSharedMemConfig(a0: CUsharedconfig);
    fn cuCtxGetApiVersion(a0: CUcontext, a1: *mut c_uint);
    fn cuCtxGetStreamPriorityRange(a0: *mut c_int, a1: *mut c_int);
    fn cuCtxResetPersistingL2Cache();
    fn cuCtxGetExecAffinity(a0: *mut CUexecAffinityParam, a1: CUexecAffinityType);
    fn cuCtxAttach(a0: *mut CUcontext, a1: c_uint);
    fn cuCtxDetach(a0: CUcontext);
    fn cuModuleLoad(a0: *mut CUmodule, a1: *const c_char);
    fn cuModuleLoadData(a0: *mut CUmodule, a1: *const c_void);
    fn cuModuleLoadDataEx(a0: *mut CUmodule, a1: *const c_void, a2: c_uint, a3: *mut CUjit_option, a4: *mut *mut c_void);
    fn cuModuleLoadFatBinary(a0: *mut CUmodule, a1: *const c_void);
    fn cuModuleUnload(a0: CUmodule);
    fn cuModuleGetFunction(a0: *mut CUfunction, a1: CUmodule, a2: *const c_char);
    fn cuModuleGetGlobal_v2(a0: *mut CUdeviceptr, a1: *mut usize, a2: CUmodule, a3: *const c_char);
    fn cuModuleGetTexRef(a0: *mut CUtexref, a1: CUmodule, a2: *const c_char);
    fn cuModuleGetSurfRef(a0: *mut CUsurfref, a1: CUmodule, a2: *const c_char);
    fn cuLinkCreate_v2(a0: c_uint, a1: *mut CUjit_option, a2: *mut *mut c_void, a3: *mut CUlinkState);
    fn cuLinkAddData_v2(a0: CUlinkState, a1: CUjitInputType, a2: *mut c_void, a3: usize, a4: *const c_char, a5: c_uint, a6: *mut CUjit_option, a7: *mut *mut c_void);
    fn cuLinkAddFile_v2(a0: CUlinkState, a1: CUjitInputType, a2: *const c_char, a3: c_uint, a4: *mut CUjit_option, a5: *mut *mut c_void);
    fn cuLinkComplete(a0: CUlinkState, a1: *mut *mut c_void, a2: *mut usize);
    fn cuLinkDestroy(a0: CUlinkState);
    fn cuMemGetInfo_v2(a0: *mut usize, a1: *mut usize);
    fn cuMemAlloc_v2(a0: *mut CUdeviceptr, a1: usize);
    fn cuMemAllocPitch_v2(a0: *mut CUdeviceptr, a1: *mut usize, a2: usize, a3: usize, a4: c_uint);
    fn cuMemFree_v2(a0: CUdeviceptr);
    fn cuMemGetAddressRange_v2(a0: *mut CUdeviceptr, a1: *mut usize, a2: CUdeviceptr);
    fn cuMemAllocHost_v2(a0: *mut *mut c_void, a1: usize);
    fn cuMemFreeHost(a0: *mut c_void);
    fn cuMemHostAlloc(a0: *mut *mut c_void, a1: usize, a2: c_uint);
    fn cuMemHostGetDevicePointer_v2(a0: *mut CUdeviceptr, a1: *mut c_void, a2: c_uint);
    fn cuMemHostGetFlags(a0: *mut c_uint, a1: *mut c_void);
    fn cuMemAllocManaged(a0: *mut CUdeviceptr, a1: usize, a2: c_uint);
    fn cuDeviceGetByPCIBusId(a0: *mut CUdevice, a1: *const c_char);
    fn cuDeviceGetPCIBusId(a0: *mut c_char, a1: c_int, a2: CUdevice);
    fn cuIpcGetEventHandle(a0: *mut CUipcEventHandle, a1: CUevent);
    fn cuIpcOpenEventHandle(a0: *mut CUevent, a1: CUipcEventHandle);
    fn cuIpcGetMemHandle(a0: *mut CUipcMemHandle, a1: CUdeviceptr);
    fn cuIpcOpenMemHandle_v2(a0: *mut CUdeviceptr, a1: CUipcMemHandle, a2: c_uint);
    fn cuIpcCloseMemHandle(a0: CUdeviceptr);
    fn cuMemHostRegister_v2(a0: *mut c_void, a1: usize, a2: c_uint);
    fn cuMemHostUnregister(a0: *mut c_void);
    fn cuMemcpy(a0: CUdeviceptr, a1: CUdeviceptr, a2: usize);
    fn cuMemcpyPeer(a0: CUdeviceptr, a1: CUcontext, a2: CUdeviceptr, a3: CUcontext, a4: usize);
    fn cuMemcpyHtoD_v2(a0: CUdeviceptr, a1: *const c_void, a2: usize);
    fn cuMemcpyDtoH_v2(a0: *mut c_void, a1: CUdeviceptr, a2: usize);
    fn cuMemcpyDtoD_v2(a0: CUdeviceptr, a1: CUdeviceptr, a2: usize);
    fn cuMemcpyDtoA_v2(a0: CUarray, a1: usize, a2: CUdeviceptr, a3: usize);
    fn cuMemcpyAtoD_v2(a0: CUdeviceptr, a1: CUarray, a2: usize, a3: usize);
    fn cuMemcpyHtoA_v2(a0: CUarray, a1: usize, a2: *const c_void, a3: usize);
    fn cuMemcpyAtoH_v2(a0: *mut c_void, a1: CUarray, a2: usize, a3: usize);
    fn cuMemcpyAtoA_v2(a0: CUarray, a1: usize, a2: CUarray, a3: usize, a4: usize);
    fn cuMemcpy2D_v2(a0: *const CUDA_MEMCPY2D);
    fn cuMemcpy2DUnaligned_v2(a0: *const CUDA_MEMCPY2D);
    fn cuMemcpy3D_v2(a0: *const CUDA_MEMCPY3D);
    fn cuMemcpy3DPeer(a0: *const CUDA_MEMCPY3D_PEER);
    fn cuMemcpyAsync(a0: CUdeviceptr, a1: CUdeviceptr, a2: usize, a3: CUstream);
    fn cuMemcpyPeerAsync(a0: CUdeviceptr, a1: CUcontext, a2: CUdeviceptr, a3: CUcontext, a4: usize, a5: CUstream);
    fn cuMemcpyHtoDAsync_v2(a0: CUdeviceptr, a1: *const c_void, a2: usize, a3: CUstream);
    fn cuMemcpyDtoHAsync_v2(a0: *mut c_void, a1: CUdeviceptr, a2: usize, a3: CUstream);
    fn cuMemcpyDtoDAsync_v2(a0: CUdeviceptr, a1: CUdeviceptr, a2: usize, a3: CUstream);
    fn cuMemcpyHtoAAsync_v2(a0: CUarray, a1: usize, a2: *const c_void, a3: usize, a4: CUstream);
    fn cuMemcpyAtoHAsync_v2(a0: *mut c_void, a1: CUarray, a2: usize, a3: usize, a4: CUstream);
    fn cuMemcpy2DAsync_v2(a0: *const CUDA_MEMCPY2D, a1: CUstream);
    fn cuMemcpy3DAsync_v2(a0: *const CUDA_MEMCPY3D, a1: CUstream);
    fn cuMemcpy3DPeerAsync(a0: *const CUDA_MEMCPY3D_PEER, a1: CUstream);
    fn cuMemsetD8_v2(a0: CUdeviceptr, a1: c_uchar, a2: usize);
    fn cuMemsetD16_v2(a0: CUdeviceptr, a1: c_ushort, a2: usize);
    fn cuMemsetD32_v2(a0: CUdeviceptr, a1: c_uint, a2: usize);
    fn cuMemsetD2D8_v2(a0: CUdeviceptr, a1: usize, a2: c_uchar, a3: usize, a4: usize);
    fn cuMemsetD2D16_v2(a0: CUdeviceptr, a1: usize, a2: c_ushort, a3: usize, a4: usize);
    fn cuMemsetD2D32_v2(a0: CUdeviceptr, a1: usize, a2: c_uint, a3: usize, a4: usize);
    fn cuMemsetD8Async(a0: CUdeviceptr, a1: c_uchar, a2: usize, a3: CUstream);
    fn cuMemsetD16Async(a0: CUdeviceptr, a1: c_ushort, a2: usize, a3: CUstream);
    fn cuMemsetD32Async(a0: CUdeviceptr, a1: c_uint, a2: usize, a3: CUstream);
    fn cuMemsetD2D8Async(a0: CUdeviceptr, a1: usize, a2: c_uchar, a3: usize, a4: usize, a5: CUstream);
    fn cuMemsetD2D16Async(a0: CUdeviceptr, a1: usize, a2: c_ushort, a3: usize, a4: usize, a5: CUstream);
    fn cuMemsetD2D32Async(a0: CUdeviceptr, a1: usize, a2: c_uint, a3: usize, a4: usize, a5: CUstream);
    fn cuArrayCreate_v2(a0: *mut CUarray, a1: *const CUDA_ARRAY_DESCRIPTOR);
    fn cuArrayGetDescriptor_v2(a0: *mut CUDA_ARRAY_DESCRIPTOR, a1: CUarray);
    fn cuArrayGetSparseProperties(a0: *mut CUDA_ARRAY_SPARSE_PROPERTIES, a1: CUarray);
    fn cuMipmappedArrayGetSparseProperties(a0: *mut CUDA_ARRAY_SPARSE_PROPERTIES, a1: CUmipmappedArray);
    fn cuArrayGetPlane(a0: *mut CUarray, a1: CUarray, a2: c_uint);
    fn cuArrayDestroy(a0: CUarray);
    fn cuArray3DCreate_v2(a0: *mut CUarray, a1: *const CUDA_ARRAY3D_DESCRIPTOR);
    fn cuArray3DGetDescriptor_v2(a0: *mut CUDA_ARRAY3D_DESCRIPTOR, a1: CUarray);
    fn cuMipmappedArrayCreate(a0: *mut CUmipmappedArray, a1: *const CUDA_ARRAY3D_DESCRIPTOR, a2: c_uint);
    fn cuMipmappedArrayGetLevel(a0: *mut CUarray, a1: CUmipmappedArray, a2: c_uint);
    fn cuMipmappedArrayDestroy(a0: CUmipmappedArray);
    fn cuMemAddressReserve(a0: *mut CUdeviceptr, a1: usize, a2: usize, a3: CUdeviceptr, a4: c_ulonglong);
    fn cuMemAddressFree(a0: CUdeviceptr, a1: usize);
    fn cuMemCreate(a0: *mut CUmemGenericAllocationHandle, a1: usize, a2: *const CUmemAllocationProp, a3: c_ulonglong);
    fn cuMemRelease(a0: CUmemGenericAllocationHandle);
    fn cuMemMap(a0: CUdeviceptr, a1: usize, a2: usize, a3: CUmemGenericAllocationHandle, a4: c_ulonglong);
    fn cuMemMapArrayAsync(a0: *mut CUarrayMapInfo, a1: c_uint, a2: CUstream);
    fn cuMemUnmap(a0: CUdeviceptr, a1: usize);
    fn cuMemSetAccess(a0: CUdeviceptr, a1: usize, a2: *const CUmemAccessDesc, a3: usize);
    fn cuMemGetAccess(a0: *mut c_ulonglong, a1: *const CUmemLocation, a2: CUdeviceptr);
    fn cuMemExportToShareableHandle(a0: *mut c_void, a1: CUmemGenericAllocationHandle, a2: CUmemAllocationHandleType, a3: c_ulonglong);
    fn cuMemImportFromShareableHandle(a0: *mut CUmemGenericAllocationHandle, a1: *mut c_void, a2: CUmemAllocationHandleType);
    fn cuMemGetAllocationGranularity(a0: *mut usize, a1: *const CUmemAllocationProp, a2: CUmemAllocationGranularity_flags);
    fn cuMemGetAllocationPropertiesFromHandle(a0: *mut CUmemAllocationProp, a1: CUmemGenericAllocationHandle);
    fn cuMemRetainAllocationHandle(a0: *mut CUmemGenericAllocationHandle, a1: *mut c_void);
    fn cuMemFreeAsync(a0: CUdeviceptr, a1: CUstream);
    fn cuMemAllocAsync(a0: *mut CUdeviceptr, a1: usize, a2: CUstream);
    fn cuMemPoolTrimTo(a0: CUmemoryPool, a1: usize);
    fn cuMemPoolSetAttribute(a0: CUmemoryPool, a1: CUmemPool_attribute, a2: *mut c_void);
    fn cuMemPoolGetAttribute(a0: CUmemoryPool, a1: CUmemPool_attribute, a2: *mut c_void);
    fn cuMemPoolSetAccess(a0: CUmemoryPool, a1: *const CUmemAccessDesc, a2: usize);
    fn cuMemPoolGetAccess(a0: *mut CUmemAccess_flags, a1: CUmemoryPool, a2: *mut CUmemLocation);
    fn cuMemPoolCreate(a0: *mut CUmemoryPool, a1: *const CUmemPoolProps);
    fn cuMemPoolDestroy(a0: CUmemoryPool);
    fn cuMemAllocFromPoolAsync(a0: *mut CUdeviceptr, a1: usize, a2: CUmemoryPool, a3: CUstream);
    fn cuMemPoolExportToShareableHandle(a0: *mut c_void, a1: CUmemoryPool, a2: CUmemAllocationHandleType, a3: c_ulonglong);
    fn cuMemPoolImportFromShareableHandle(a0: *mut CUmemoryPool, a1: *mut c_void, a2: CUmemAllocationHandleType, a3: c_ulonglong);
    fn cuMemPoolExportPointer(a0: *mut CUmemPoolPtrExportData, a1: CUdeviceptr);
    fn cuMemPoolImportPointer(a0: *mut CUdeviceptr, a1: CUmemoryPool, a2: *mut CUmemPoolPtrExportData);
    fn cuPointerGetAttribute(a0: *mut c_void, a1: CUpointer_attribute, a2: CUdeviceptr);
    fn cuMemPrefetchAsync(a0: CUdeviceptr, a1: usize, a2: CUdevice, a3: CUstream);
    fn cuMemAdvise(a0: CUdeviceptr, a1: usize, a2: CUmem_advise, a3: CUdevice);
    fn cuMemRangeGetAttribute(a0: *mut c_void, a1: usize, a2: CUmem_range_attribute, a3: CUdeviceptr, a4: usize);
    fn cuMemRangeGetAttributes(a0: *mut *mut c_void, a1: *mut usize, a2: *mut CUmem_range_attribute, a3: usize, a4: CUdeviceptr, a5: usize);
    fn cuPointerSetAttribute(a0: *const c_void, a1: CUpointer_attribute, a2: CUdeviceptr);
    fn cuPointerGetAttributes(a0: c_uint, a1: *mut CUpointer_attribute, a2: *mut *mut c_void, a3: CUdeviceptr);
    fn cuStreamCreate(a0: *mut CUstream, a1: c_uint);
    fn cuStreamCreateWithPriority(a0: *mut CUstream, a1: c_uint, a2: c_int);
    fn cuStreamGetPriority(a0: CUstream, a1: *mut c_int);
    fn cuStreamGetFlags(a0: CUstream, a1: *mut c_uint);
    fn cuStreamGetCtx(a0: CUstream, a1: *mut CUcontext);
    fn cuStreamWaitEvent(a0: CUstream, a1: CUevent, a2: c_uint);
    fn cuStreamAddCallback(a0: CUstream, a1: CUstreamCallback, a2: *mut c_void, a3: c_uint);
    fn cuStreamBeginCapture_v2(a0: CUstream, a1: CUstreamCaptureMode);
    fn cuThreadExchangeStreamCaptureMode(a0: *mut CUstreamCaptureMode);
    fn cuStreamEndCapture(a0: CUstream, a1: *mut CUgraph);
    fn cuStreamIsCapturing(a0: CUstream, a1: *mut CUstreamCaptureStatus);
    fn cuStreamGetCaptureInfo(a0: CUstream, a1: *mut CUstreamCaptureStatus, a2: *mut cuuint64_t);
    fn cuStreamGetCaptureInfo_v2(a0: CUstream, a1: *mut CUstreamCaptureStatus, a2: *mut cuuint64_t, a3: *mut CUgraph, a4: *mut *const CUgraphNode, a5: *mut usize);
    fn cuStreamUpdateCaptureDependencies(a0: CUstream, a1: *mut CUgraphNode, a2: usize, a3: c_uint);
    fn cuStreamAttachMemAsync(a0: CUstream, a1: CUdeviceptr, a2: usize, a3: c_uint);
    fn cuStreamQuery(a0: CUstream);
    fn cuStreamSynchronize(a0: CUstream);
    fn cuStreamDestroy_v2(a0: CUstream);
    fn cuStreamCopyAttributes(a0: CUstream, a1: CUstream);
    fn cuStreamGetAttribute(a0: CUstream, a1: CUstreamAttrID, a2: *mut CUstreamAttrValue);
    fn cuStreamSetAttribute(a0: CUstream, a1: CUstreamAttrID, a2: *const CUstreamAttrValue);
    fn cuEventCreate(a0: *mut CUevent, a1: c_uint);
    fn cuEventRecord(a0: CUevent, a1: CUstream);
    fn cuEventRecordWithFlags(a0: CUevent, a1: CUstream, a2: c_uint);
    fn cuEventQuery(a0: CUevent);
    fn cuEventSynchronize(a0: CUevent);
    fn cuEventDestroy_v2(a0: CUevent);
    fn cuEventElapsedTime(a0: *mut f32, a1: CUevent, a2: CUevent);
    fn cuImportExternalMemory(a0: *mut CUexternalMemory, a1: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC);
    fn cuExternalMemoryGetMappedBuffer(a0: *mut CUdeviceptr, a1: CUexternalMemory, a2: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC);
    fn cuExternalMemoryGetMappedMipmappedArray(a0: *mut CUmipmappedArray, a1: CUexternalMemory, a2: *const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC);
    fn cuDestroyExternalMemory(a0: CUexternalMemory);
    fn cuImportExternalSemaphore(a0: *mut CUexternalSemaphore, a1: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC);
    fn cuSignalExternalSemaphoresAsync(a0: *const CUexternalSemaphore, a1: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, a2: c_uint, a3: CUstream);
    fn cuWaitExternalSemaphoresAsync(a0: *const CUexternalSemaphore, a1: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, a2: c_uint, a3: CUstream);
    fn cuDestroyExternalSemaphore(a0: CUexternalSemaphore);
    fn cuStreamWaitValue32(a0: CUstream, a1: CUdeviceptr, a2: cuuint32_t, a3: c_uint);
    fn cuStreamWaitValue64(a0: CUstream, a1: CUdeviceptr, a2: cuuint64_t, a3: c_uint);
    fn cuStreamWriteValue32(a0: CUstream, a1: CUdeviceptr, a2: cuuint32_t, a3: c_uint);
    fn cuStreamWriteValue64(a0: CUstream, a1: CUdeviceptr, a2: cuuint64_t, a3: c_uint);
    fn cuStreamBatchMemOp(a0: CUstream, a1: c_uint, a2: *mut CUstreamBatchMemOpParams, a3: c_uint);
    fn cuFuncGetAttribute(a0: *mut c_int, a1: CUfunction_attribute, a2: CUfunction);
    fn cuFuncSetAttribute(a0: CUfunction, a1: CUfunction_attribute, a2: c_int);
    fn cuFuncSetCacheConfig(a0: CUfunction, a1: CUfunc_cache);
    fn cuFuncSetSharedMemConfig(a0: CUfunction, a1: CUsharedconfig);
    fn cuFuncGetModule(a0: *mut CUmodule, a1: CUfunction);
    fn cuLaunchKernel(a0: CUfunction, a1: c_uint, a2: c_uint, a3: c_uint, a4: c_uint, a5: c_uint, a6: c_uint, a7: c_uint, a8: CUstream, a9: *mut *mut c_void, a10: *mut *mut c_void);
    fn cuLaunchCooperativeKernel(a0: CUfunction, a1: c_uint, a2: c_uint, a3: c_uint, a4: c_uint, a5: c_uint, a6: c_uint, a7: c_uint, a8: CUstream, a9: *mut *mut c_void);
    fn cuLaunchCooperativeKernelMultiDevice(a0: *mut CUDA_LAUNCH_PARAMS, a1: c_uint, a2: c_uint);
    fn cuLaunchHostFunc(a0: CUstream, a1: CUhostFn, a2: *mut c_void);
    fn cuFuncSetBlockShape(a0: CUfunction, a1: c_int, a2: c_int, a3: c_int);
    fn cuFuncSetSharedSize(a0: CUfunction, a1: c_uint);
    fn cuParamSetSize(a0: CUfunction, a1: c_uint);
    fn cuParamSeti(a0: CUfunction, a1: c_int, a2: c_uint);
    fn cuParamSetf(a0: CUfunction, a1: c_int, a2: f32);
    fn cuParamSetv(a0: CUfunction, a1: c_int, a2: *mut c_void, a3: c_uint);
    fn cuLaunch(a0: CUfunction);
    fn cuLaunchGrid(a0: CUfunction, a1: c_int, a2: c_int);
    fn cuLaunchGridAsync(a0: CUfunction, a1: c_int, a2: c_int, a3: CUstream);
    fn cuParamSetTexRef(a0: CUfunction, a1: c_int, a2: CUtexref);
    fn cuGraphCreate(a0: *mut CUgraph, a1: c_uint);
    fn cuGraphAddKernelNode(a0: *mut CUgraphNode, a1: CUgraph, a2: *const CUgraphNode, a3: usize, a4: *const CUDA_KERNEL_NODE_PARAMS);
    fn cuGraphKernelNodeGetParams(a0: CUgraphNode, a1: *mut CUDA_KERNEL_NODE_PARAMS);
    fn cuGraphKernelNodeSetParams(a0: CUgraphNode, a1: *const CUDA_KERNEL_NODE_PARAMS);
    fn cuGraphAddMemcpyNode(a0: *mut CUgraphNode, a1: CUgraph, a2: *const CUgraphNode, a3: usize, a4: *const CUDA_MEMCPY3D, a5: CUcontext);
    fn cuGraphMemcpyNodeGetParams(a0: CUgraphNode, a1: *mut CUDA_MEMCPY3D);
    fn cuGraphMemcpyNodeSetParams(a0: CUgraphNode, a1: *const CUDA_MEMCPY3D);
    fn cuGraphAddMemsetNode(a0: *mut CUgraphNode, a1: CUgraph, a2: *const CUgraphNode, a3: usize, a4: *const CUDA_MEMSET_NODE_PARAMS, a5: CUcontext);
    fn cuGraphMemsetNodeGetParams(a0: CUgraphNode, a1: *mut CUDA_MEMSET_NODE_PARAMS);
    fn cuGraphMemsetNodeSetParams(a0: CUgraphNode, a1: *const CUDA_MEMSET_NODE_PARAMS);
    fn cuGraphAddHostNode(a0: *mut CUgraphNode, a1: CUgraph, a2: *const CUgraphNode, a3: usize, a4: *const CUDA_HOST_NODE_PARAMS);
    fn cuGraphHostNodeGetParams(a0: CUgraphNode, a1: *mut CUDA_HOST_NODE_PARAMS);
    fn cuGraphHostNodeSetParams(a0: CUgraphNode, a1: *const CUDA_HOST_NODE_PARAMS);
    fn cuGraphAddChildGraphNode(a0: *mut CUgraphNode, a1: CUgraph, a2: *const CUgraphNode, a3: usize, a4: CUgraph);
    fn cuGraphChildGraphNodeGetGraph(a0: CUgraphNode, a1: *mut CUgraph);
    fn cuGraphAddEmptyNode(a0: *mut CUgraphNode, a1: CUgraph, a2: *const CUgraphNode, a3: usize);
    fn cuGraphAddEventRecordNode(a0: *mut CUgraphNode, a1: CUgraph, a2: *const CUgraphNode, a3: usize, a4: CUevent);
    fn cuGraphEventRecordNodeGetEvent(a0: CUgraphNode, a1: *mut CUevent);
    fn cuGraphEventRecordNodeSetEvent(a0: CUgraphNode, a1: CUevent);
    fn cuGraphAddEventWaitNode(a0: *mut CUgraphNode, a1: CUgraph, a2: *const CUgraphNode, a3: usize, a4: CUevent);
    fn cuGraphEventWaitNodeGetEvent(a0: CUgraphNode, a1: *mut CUevent);
    fn cuGraphEventWaitNodeSetEvent(a0: CUgraphNode, a1: CUevent);
    fn cuGraphAddExternalSemaphoresSignalNode(a0: *mut CUgraphNode, a1: CUgraph, a2: *const CUgraphNode, a3: usize, a4: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
    fn cuGraphExternalSemaphoresSignalNodeGetParams(a0: CUgraphNode, a1: *mut CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
    fn cuGraphExternalSemaphoresSignalNodeSetParams(a0: CUgraphNode, a1: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
    fn cuGraphAddExternalSemaphoresWaitNode(a0: *mut CUgraphNode, a1: CUgraph, a2: *const CUgraphNode, a3: usize, a4: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS);
    fn cuGraphExternalSemaphoresWaitNodeGetParams(a0: CUgraphNode, a1: *mut CUDA_EXT_SEM_WAIT_NODE_PARAMS);
    fn cuGraphExternalSemaphoresWaitNodeSetParams(a0: CUgraphNode, a1: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS);
    fn cuGraphAddMemAllocNode(a0: *mut CUgraphNode, a1: CUgraph, a2: *const CUgraphNode, a3: usize, a4: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
    fn cuGraphMemAllocNodeGetParams(a0: CUgraphNode, a1: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
    fn cuGraphAddMemFreeNode(a0: *mut CUgraphNode, a1: CUgraph, a2: *const CUgraphNode, a3: usize, a4: CUdeviceptr);
    fn cuGraphMemFreeNodeGetParams(a0: CUgraphNode, a1: *mut CUdeviceptr);
    fn cuDeviceGraphMemTrim(a0: CUdevice);
    fn cuDeviceGetGraphMemAttribute(a0: CUdevice, a1: CUgraphMem_attribute, a2: *mut c_void);
    fn cuDeviceSetGraphMemAttribute(a0: CUdevice, a1: CUgraphMem_attribute, a2: *mut c_void);
    fn cuGraphClone(a0: *mut CUgraph, a1: CUgraph);
    fn cuGraphNodeFindInClone(a0: *mut CUgraphNode, a1: CUgraphNode, a2: CUgraph);
    fn cuGraphNodeGetType(a0: CUgraphNode, a1: *mut CUgraphNodeType);
    fn cuGraphGetNodes(a0: CUgraph, a1: *mut CUgraphNode, a2: *mut usize);
    fn cuGraphGetRootNodes(a0: CUgraph, a1: *mut CUgraphNode, a2: *mut usize);
    fn cuGraphGetEdges(a0: CUgraph, a1: *mut CUgraphNode, a2: *mut CUgraphNode, a3: *mut usize);
    fn cuGraphNodeGetDependencies(a0: CUgraphNode, a1: *mut CUgraphNode, a2: *mut usize);
    fn cuGraphNodeGetDependentNodes(a0: CUgraphNode, a1: *mut CUgraphNode, a2: *mut usize);
    fn cuGraphAddDependencies(a0: CUgraph, a1: *const CUgraphNode, a2: *const CUgraphNode, a3: usize);
    fn cuGraphRemoveDependencies(a0: CUgraph, a1: *const CUgraphNode, a2: *const CUgraphNode, a3: usize);
    fn cuGraphDestroyNode(a0: CUgraphNode);
    fn cuGraphInstantiate_v2(a0: *mut CUgraphExec, a1: CUgraph, a2: *mut CUgraphNode, a3: *mut c_char, a4: usize);
    fn cuGraphInstantiateWithFlags(a0: *mut CUgraphExec, a1: CUgraph, a2: c_ulonglong);
    fn cuGraphExecKernelNodeSetParams(a0: CUgraphExec, a1: CUgraphNode, a2: *const CUDA_KERNEL_NODE_PARAMS);
    fn cuGraphExecMemcpyNodeSetParams(a0: CUgraphExec, a1: CUgraphNode, a2: *const CUDA_MEMCPY3D, a3: CUcontext);
    fn cuGraphExecMemsetNodeSetParams(a0: CUgraphExec, a1: CUgraphNode, a2: *const CUDA_MEMSET_NODE_PARAMS, a3: CUcontext);
    fn cuGraphExecHostNodeSetParams(a0: CUgraphExec, a1: CUgraphNode, a2: *const CUDA_HOST_NODE_PARAMS);
    fn cuGraphExecChildGraphNodeSetParams(a0: CUgraphExec, a1: CUgraphNode, a2: CUgraph);
    fn cuGraphExecEventRecordNodeSetEvent(a0: CUgraphExec, a1: CUgraphNode, a2: CUevent);
    fn cuGraphExecEventWaitNodeSetEvent(a0: CUgraphExec, a1: CUgraphNode, a2: CUevent);
    fn cuGraphExecExternalSemaphoresSignalNodeSetParams(a0: CUgraphExec, a1: CUgraphNode, a2: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
    fn cuGraphExecExternalSemaphoresWaitNodeSetParams(a0: CUgraphExec, a1: CUgraphNode, a2: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS);
    fn cuGraphUpload(a0: CUgraphExec, a1: CUstream);
    fn cuGraphLaunch(a0: CUgraphExec, a1: CUstream);
    fn cuGraphExecDestroy(a0: CUgraphExec);
    fn cuGraphDestroy(a0: CUgraph);
    fn cuGraphExecUpdate(a0: CUgraphExec, a1: CUgraph, a2: *mut CUgraphNode, a3: *mut CUgraphExecUpdateResult);
    fn cuGraphKernelNodeCopyAttributes(a0: CUgraphNode, a1: CUgraphNode);
    fn cuGraphKernelNodeGetAttribute(a0: CUgraphNode, a1: CUkernelNodeAttrID, a2: *mut CUkernelNodeAttrValue);
    fn cuGraphKernelNodeSetAttribute(a0: CUgraphNode, a1: CUkernelNodeAttrID, a2: *const CUkernelNodeAttrValue);
    fn cuGraphDebugDotPrint(a0: CUgraph, a1: *const c_char, a2: c_uint);
    fn cuUserObjectCreate(a0: *mut CUuserObject, a1: *mut c_void, a2: CUhostFn, a3: c_uint, a4: c_uint);
    fn cuUserObjectRetain(a0: CUuserObject, a1: c_uint);
    fn cuUserObjectRelease(a0: CUuserObject, a1: c_uint);
    fn cuGraphRetainUserObject(a0: CUgraph, a1: CUuserObject, a2: c_uint, a3: c_uint);
    fn cuGraphReleaseUserObject(a0: CUgraph, a1: CUuserObject, a2: c_uint);
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(a0: *mut c_int, a1: CUfunction, a2: c_int, a3: usize);
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(a0: *mut c_int, a1: CUfunction, a2: c_int, a3: usize, a4: c_uint);
    fn cuOccupancyMaxPotentialBlockSize(a0: *mut c_int, a1: *mut c_int, a2: CUfunction, a3: CUoccupancyB2DSize, a4: usize, a5: c_int);
    fn cuOccupancyMaxPotentialBlockSizeWithFlags(a0: *mut c_int, a1: *mut c_int, a2: CUfunction, a3: CUoccupancyB2DSize, a4: usize, a5: c_int, a6: c_uint);
    fn cuOccupancyAvailableDynamicSMemPerBlock(a0: *mut usize, a1: CUfunction, a2: c_int, a3: c_int);
    fn cuTexRefSetArray(a0: CUtexref, a1: CUarray, a2: c_uint);
    fn cuTexRefSetMipmappedArray(a0: CUtexref, a1: CUmipmappedArray, a2: c_uint);
    fn cuTexRefSetAddress_v2(a0: *mut usize, a1: CUtexref, a2: CUdeviceptr, a3: usize);
    fn cuTexRefSetAddress2D_v3(a0: CUtexref, a1: *const CUDA_ARRAY_DESCRIPTOR, a2: CUdeviceptr, a3: usize);
    fn cuTexRefSetFormat(a0: CUtexref, a1: CUarray_format, a2: c_int);
    fn cuTexRefSetAddressMode(a0: CUtexref, a1: c_int, a2: CUaddress_mode);
    fn cuTexRefSetFilterMode(a0: CUtexref, a1: CUfilter_mode);
    fn cuTexRefSetMipmapFilterMode(a0: CUtexref, a1: CUfilter_mode);
    fn cuTexRefSetMipmapLevelBias(a0: CUtexref, a1: f32);
    fn cuTexRefSetMipmapLevelClamp(a0: CUtexref, a1: f32, a2: f32);
    fn cuTexRefSetMaxAnisotropy(a0: CUtexref, a1: c_uint);
    fn cuTexRefSetBorderColor(a0: CUtexref, a1: *mut f32);
    fn cuTexRefSetFlags(a0: CUtexref, a1: c_uint);
    fn cuTexRefGetAddress_v2(a0: *mut CUdeviceptr, a1: CUtexref);
    fn cuTexRefGetArray(a0: *mut CUarray, a1: CUtexref);
    fn cuTexRefGetMipmappedArray(a0: *mut CUmipmappedArray, a1: CUtexref);
    fn cuTexRefGetAddressMode(a0: *mut CUaddress_mode, a1: CUtexref, a2: c_int);
    fn cuTexRefGetFilterMode(a0: *mut CUfilter_mode, a1: CUtexref);
    fn cuTexRefGetFormat(a0: *mut CUarray_format, a1: *mut c_int, a2: CUtexref);
    fn cuTexRefGetMipmapFilterMode(a0: *mut CUfilter_mode, a1: CUtexref);
    fn cuTexRefGetMipmapLevelBias(a0: *mut f32, a1: CUtexref);
    fn cuTexRefGetMipmapLevelClamp(a0: *mut f32, a1: *mut f32, a2: CUtexref);
    fn cuTexRefGetMaxAnisotropy(a0: *mut c_int, a1: CUtexref);
    fn cuTexRefGetBorderColor(a0: *mut f32, a1: CUtexref);
    fn cuTexRefGetFlags(a0: *mut c_uint, a1: CUtexref);
    fn cuTexRefCreate(a0: *mut CUtexref);
    fn cuTexRefDestroy(a0: CUtexref);
    fn cuSurfRefSetArray(a0: CUsurfref, a1: CUarray, a2: c_uint);
    fn cuSurfRefGetArray(a0: *mut CUarray, a1: CUsurfref);
    fn cuTexObjectCreate(a0: *mut CUtexObject, a1: *const CUDA_RESOURCE_DESC, a2: *const CUDA_TEXTURE_DESC, a3: *const CUDA_RESOURCE_VIEW_DESC);
    fn cuTexObjectDestroy(a0: CUtexObject);
    fn cuTexObjectGetResourceDesc(a0: *mut CUDA_RESOURCE_DESC, a1: CUtexObject);
    fn cuTexObjectGetTextureDesc(a0: *mut CUDA_TEXTURE_DESC, a1: CUtexObject);
    fn cuTexObjectGetResourceViewDesc(a0: *mut CUDA_RESOURCE_VIEW_DESC, a1: CUtexObject);
    fn cuSurfObjectCreate(a0: *mut CUsurfObject, a1: *const CUDA_RESOURCE_DESC);
    fn cuSurfObjectDestroy(a0: CUsurfObject);
    fn cuSurfObjectGetResourceDesc(a0: *mut CUDA_RESOURCE_DESC, a1: CUsurfObject);
    fn cuDeviceCanAccessPeer(a0: *mut c_int, a1: CUdevice, a2: CUdevice);
    fn cuCtxEnablePeerAccess(a0: CUcontext, a1: c_uint);
    fn cuCtxDisablePeerAccess(a0: CUcontext);
    fn cuDeviceGetP2PAttribute(a0: *mut c_int, a1: CUdevice_P2PAttribute, a2: CUdevice, a3: CUdevice);
    fn cuGraphicsUnregisterResource(a0: CUgraphicsResource);
    fn cuGraphicsSubResourceGetMappedArray(a0: *mut CUarray, a1: CUgraphicsResource, a2: c_uint, a3: c_uint);
    fn cuGraphicsResourceGetMappedMipmappedArray(a0: *mut CUmipmappedArray, a1: CUgraphicsResource);
    fn cuGraphicsResourceGetMappedPointer_v2(a0: *mut CUdeviceptr, a1: *mut usize, a2: CUgraphicsResource);
    fn cuGraphicsResourceSetMapFlags_v2(a0: CUgraphicsResource, a1: c_uint);
    fn cuGraphicsMapResources(a0: c_uint, a1: *mut CUgraphicsResource, a2: CUstream);
    fn cuGraphicsUnmapResources(a0: c_uint, a1: *mut CUgraphicsResource, a2: CUstream);
    fn cuGetProcAddress(a0: *const c_char, a1: *mut *mut c_void, a2: c_int, a3: cuuint64_t);
    fn cuGetExportTable(a0: *mut *const c_void, a1: *const CUuuid);
    fn cuProfilerInitialize(a0: *const c_char, a1: *const c_char, a2: CUoutput_mode);
    fn cuProfilerStart();
    fn cuProfilerStop();
}

/// The codes that `cust_raw::CUresult` lists, in its order.
const LISTED_CODES: &[u32] = &[
    0, // CUDA_SUCCESS
    1, // CUDA_ERROR_INVALID_VALUE
    2, // CUDA_ERROR_OUT_OF_MEMORY
    3, // CUDA_ERROR_NOT_INITIALIZED
    4, // CUDA_ERROR_DEINITIALIZED
    5, // CUDA_ERROR_PROFILER_DISABLED
    6, // CUDA_ERROR_PROFILER_NOT_INITIALIZED
    7, // CUDA_ERROR_PROFILER_ALREADY_STARTED
    8, // CUDA_ERROR_PROFILER_ALREADY_STOPPED
    34, // CUDA_ERROR_STUB_LIBRARY
    100, // CUDA_ERROR_NO_DEVICE
    101, // CUDA_ERROR_INVALID_DEVICE
    102, // CUDA_ERROR_DEVICE_NOT_LICENSED
    200, // CUDA_ERROR_INVALID_IMAGE
    201, // CUDA_ERROR_INVALID_CONTEXT
    202, // CUDA_ERROR_CONTEXT_ALREADY_CURRENT
    205, // CUDA_ERROR_MAP_FAILED
    206, // CUDA_ERROR_UNMAP_FAILED
    207, // CUDA_ERROR_ARRAY_IS_MAPPED
    208, // CUDA_ERROR_ALREADY_MAPPED
    209, // CUDA_ERROR_NO_BINARY_FOR_GPU
    210, // CUDA_ERROR_ALREADY_ACQUIRED
    211, // CUDA_ERROR_NOT_MAPPED
    212, // CUDA_ERROR_NOT_MAPPED_AS_ARRAY
    213, // CUDA_ERROR_NOT_MAPPED_AS_POINTER
    214, // CUDA_ERROR_ECC_UNCORRECTABLE
    215, // CUDA_ERROR_UNSUPPORTED_LIMIT
    216, // CUDA_ERROR_CONTEXT_ALREADY_IN_USE
    217, // CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
    218, // CUDA_ERROR_INVALID_PTX
    219, // CUDA_ERROR_INVALID_GRAPHICS_CONTEXT
    220, // CUDA_ERROR_NVLINK_UNCORRECTABLE
    221, // CUDA_ERROR_JIT_COMPILER_NOT_FOUND
    222, // CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    223, // CUDA_ERROR_JIT_COMPILATION_DISABLED
    224, // CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
    300, // CUDA_ERROR_INVALID_SOURCE
    301, // CUDA_ERROR_FILE_NOT_FOUND
    302, // CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND
    303, // CUDA_ERROR_SHARED_OBJECT_INIT_FAILED
    304, // CUDA_ERROR_OPERATING_SYSTEM
    400, // CUDA_ERROR_INVALID_HANDLE
    401, // CUDA_ERROR_ILLEGAL_STATE
    500, // CUDA_ERROR_NOT_FOUND
    600, // CUDA_ERROR_NOT_READY
    700, // CUDA_ERROR_ILLEGAL_ADDRESS
    701, // CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    702, // CUDA_ERROR_LAUNCH_TIMEOUT
    703, // CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING
    704, // CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
    705, // CUDA_ERROR_PEER_ACCESS_NOT_ENABLED
    708, // CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE
    709, // CUDA_ERROR_CONTEXT_IS_DESTROYED
    710, // CUDA_ERROR_ASSERT
    711, // CUDA_ERROR_TOO_MANY_PEERS
    712, // CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
    713, // CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
    714, // CUDA_ERROR_HARDWARE_STACK_ERROR
    715, // CUDA_ERROR_ILLEGAL_INSTRUCTION
    716, // CUDA_ERROR_MISALIGNED_ADDRESS
    717, // CUDA_ERROR_INVALID_ADDRESS_SPACE
    718, // CUDA_ERROR_INVALID_PC
    719, // CUDA_ERROR_LAUNCH_FAILED
    720, // CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
    800, // CUDA_ERROR_NOT_PERMITTED
    801, // CUDA_ERROR_NOT_SUPPORTED
    802, // CUDA_ERROR_SYSTEM_NOT_READY
    803, // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
    804, // CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
    805, // CUDA_ERROR_MPS_CONNECTION_FAILED
    806, // CUDA_ERROR_MPS_RPC_FAILURE
    807, // CUDA_ERROR_MPS_SERVER_NOT_READY
    808, // CUDA_ERROR_MPS_MAX_CLIENTS_REACHED
    809, // CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED
    900, // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    901, // CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
    902, // CUDA_ERROR_STREAM_CAPTURE_MERGE
    903, // CUDA_ERROR_STREAM_CAPTURE_UNMATCHED
    904, // CUDA_ERROR_STREAM_CAPTURE_UNJOINED
    905, // CUDA_ERROR_STREAM_CAPTURE_ISOLATION
    906, // CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    907, // CUDA_ERROR_CAPTURED_EVENT
    908, // CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
    909, // CUDA_ERROR_TIMEOUT
    910, // CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
    911, // CUDA_ERROR_EXTERNAL_DEVICE
    999, // CUDA_ERROR_UNKNOWN
];
