// SPDX-License-Identifier: GPL-2.0-only
/* As abi.c, for the runtime API. */
#include HEADER
#include <stddef.h>
#include <stdio.h>

#define SIZE(type) printf("sizeof " #type " %zu\n", sizeof(type))
#define FIELD(type, member)                                                      \
	printf(#type "." #member " at %zu, %zu bytes\n", offsetof(type, member), \
	       sizeof(((type *)0)->member))
#define VALUE(name) printf(#name " %lld\n", (long long)(name))

static void errors(void)
{
#define ERROR(name, number, text) VALUE(name);
#include "../../cuda/kepler/runtime/errors.inc"
}

static void numbers(void)
{
	VALUE(cudaDeviceScheduleMask);
	VALUE(cudaDeviceMapHost);
	VALUE(cudaDeviceMask);
	VALUE(cudaOccupancyDisableCachingOverride);
	VALUE(cudaDevAttrMaxThreadsPerBlock);
	VALUE(cudaDevAttrMaxBlockDimX);
	VALUE(cudaDevAttrMaxGridDimX);
	VALUE(cudaDevAttrMaxSharedMemoryPerBlock);
	VALUE(cudaDevAttrComputeCapabilityMajor);
	VALUE(cudaDevAttrComputeCapabilityMinor);
	VALUE(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
	VALUE(cudaDevAttrDeferredMappingCudaArraySupported);
	VALUE(cudaDevP2PAttrPerformanceRank);
	VALUE(cudaDevP2PAttrAccessSupported);
	VALUE(cudaDevP2PAttrNativeAtomicSupported);
	VALUE(cudaDevP2PAttrCudaArrayAccessSupported);
	VALUE(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice);
	VALUE(cudaFlushGPUDirectRDMAWritesToOwner);
	VALUE(cudaFlushGPUDirectRDMAWritesToAllDevices);
	VALUE(cudaLimitStackSize);
	VALUE(cudaLimitPrintfFifoSize);
	VALUE(cudaLimitMallocHeapSize);
	VALUE(cudaLimitDevRuntimeSyncDepth);
	VALUE(cudaLimitDevRuntimePendingLaunchCount);
	VALUE(cudaLimitMaxL2FetchGranularity);
	VALUE(cudaLimitPersistingL2CacheSize);
	VALUE(cudaFuncCachePreferNone);
	VALUE(cudaFuncCachePreferShared);
	VALUE(cudaFuncCachePreferL1);
	VALUE(cudaFuncCachePreferEqual);
	VALUE(cudaSharedMemBankSizeDefault);
	VALUE(cudaSharedMemBankSizeFourByte);
	VALUE(cudaSharedMemBankSizeEightByte);
	VALUE(cudaFuncAttributeMaxDynamicSharedMemorySize);
	VALUE(cudaFuncAttributePreferredSharedMemoryCarveout);
	VALUE(cudaLaunchAttributeIgnore);
	VALUE(cudaLaunchAttributeAccessPolicyWindow);
	VALUE(cudaLaunchAttributeCooperative);
	VALUE(cudaLaunchAttributeSynchronizationPolicy);
	VALUE(cudaLaunchAttributeClusterDimension);
	VALUE(cudaLaunchAttributeClusterSchedulingPolicyPreference);
	VALUE(cudaLaunchAttributeProgrammaticStreamSerialization);
	VALUE(cudaLaunchAttributeProgrammaticEvent);
	VALUE(cudaLaunchAttributePriority);
	VALUE(cudaSyncPolicyAuto);
	VALUE(cudaSyncPolicySpin);
	VALUE(cudaSyncPolicyYield);
	VALUE(cudaSyncPolicyBlockingSync);
	VALUE(cudaMemcpyHostToHost);
	VALUE(cudaMemcpyHostToDevice);
	VALUE(cudaMemcpyDeviceToHost);
	VALUE(cudaMemcpyDeviceToDevice);
	VALUE(cudaMemcpyDefault);
	VALUE(cudaMemoryTypeUnregistered);
	VALUE(cudaMemoryTypeHost);
	VALUE(cudaMemoryTypeDevice);
	VALUE(cudaMemoryTypeManaged);
	VALUE(cudaMemAdviseSetReadMostly);
	VALUE(cudaMemAdviseUnsetReadMostly);
	VALUE(cudaMemAdviseSetPreferredLocation);
	VALUE(cudaMemAdviseUnsetPreferredLocation);
	VALUE(cudaMemAdviseSetAccessedBy);
	VALUE(cudaMemAdviseUnsetAccessedBy);
	VALUE(cudaMemRangeAttributeReadMostly);
	VALUE(cudaMemRangeAttributePreferredLocation);
	VALUE(cudaMemRangeAttributeAccessedBy);
	VALUE(cudaMemRangeAttributeLastPrefetchLocation);
	VALUE(cudaChannelFormatKindSigned);
	VALUE(cudaChannelFormatKindUnsigned);
	VALUE(cudaChannelFormatKindFloat);
	VALUE(cudaChannelFormatKindNone);
	VALUE(cudaChannelFormatKindNV12);
	VALUE(cudaChannelFormatKindUnsignedNormalized8X1);
	VALUE(cudaChannelFormatKindUnsignedNormalized8X2);
	VALUE(cudaChannelFormatKindUnsignedNormalized8X4);
	VALUE(cudaChannelFormatKindUnsignedNormalized16X1);
	VALUE(cudaChannelFormatKindUnsignedNormalized16X2);
	VALUE(cudaChannelFormatKindUnsignedNormalized16X4);
	VALUE(cudaChannelFormatKindSignedNormalized8X1);
	VALUE(cudaChannelFormatKindSignedNormalized8X2);
	VALUE(cudaChannelFormatKindSignedNormalized8X4);
	VALUE(cudaChannelFormatKindSignedNormalized16X1);
	VALUE(cudaChannelFormatKindSignedNormalized16X2);
	VALUE(cudaChannelFormatKindSignedNormalized16X4);
	VALUE(cudaArrayLayered);
	VALUE(cudaArraySurfaceLoadStore);
	VALUE(cudaArrayCubemap);
	VALUE(cudaArrayTextureGather);
	VALUE(cudaTextureType1D);
	VALUE(cudaTextureType2D);
	VALUE(cudaTextureType3D);
	VALUE(cudaResourceTypeArray);
	VALUE(cudaResourceTypeMipmappedArray);
	VALUE(cudaResourceTypeLinear);
	VALUE(cudaResourceTypePitch2D);
	VALUE(cudaResViewFormatNone);
	VALUE(cudaResViewFormatUnsignedBlockCompressed7);
	VALUE(cudaAddressModeWrap);
	VALUE(cudaAddressModeClamp);
	VALUE(cudaAddressModeMirror);
	VALUE(cudaAddressModeBorder);
	VALUE(cudaFilterModePoint);
	VALUE(cudaFilterModeLinear);
	VALUE(cudaReadModeElementType);
	VALUE(cudaReadModeNormalizedFloat);
	VALUE(cudaStreamCaptureStatusNone);
	VALUE(cudaStreamCaptureStatusActive);
	VALUE(cudaStreamCaptureStatusInvalidated);
	VALUE(cudaStreamCaptureModeGlobal);
	VALUE(cudaStreamCaptureModeThreadLocal);
	VALUE(cudaStreamCaptureModeRelaxed);
	VALUE(cudaStreamLegacy);
	VALUE(cudaStreamPerThread);
}

static void cudadeviceprop(void)
{
	SIZE(struct cudaDeviceProp);
	FIELD(struct cudaDeviceProp, name);
	FIELD(struct cudaDeviceProp, uuid);
	FIELD(struct cudaDeviceProp, luid);
	FIELD(struct cudaDeviceProp, luidDeviceNodeMask);
	FIELD(struct cudaDeviceProp, totalGlobalMem);
	FIELD(struct cudaDeviceProp, sharedMemPerBlock);
	FIELD(struct cudaDeviceProp, regsPerBlock);
	FIELD(struct cudaDeviceProp, warpSize);
	FIELD(struct cudaDeviceProp, memPitch);
	FIELD(struct cudaDeviceProp, maxThreadsPerBlock);
	FIELD(struct cudaDeviceProp, maxThreadsDim);
	FIELD(struct cudaDeviceProp, maxGridSize);
	FIELD(struct cudaDeviceProp, clockRate);
	FIELD(struct cudaDeviceProp, totalConstMem);
	FIELD(struct cudaDeviceProp, major);
	FIELD(struct cudaDeviceProp, minor);
	FIELD(struct cudaDeviceProp, textureAlignment);
	FIELD(struct cudaDeviceProp, texturePitchAlignment);
	FIELD(struct cudaDeviceProp, deviceOverlap);
	FIELD(struct cudaDeviceProp, multiProcessorCount);
	FIELD(struct cudaDeviceProp, kernelExecTimeoutEnabled);
	FIELD(struct cudaDeviceProp, integrated);
	FIELD(struct cudaDeviceProp, canMapHostMemory);
	FIELD(struct cudaDeviceProp, computeMode);
	FIELD(struct cudaDeviceProp, maxTexture1D);
	FIELD(struct cudaDeviceProp, maxTexture1DMipmap);
	FIELD(struct cudaDeviceProp, maxTexture1DLinear);
	FIELD(struct cudaDeviceProp, maxTexture2D);
	FIELD(struct cudaDeviceProp, maxTexture2DMipmap);
	FIELD(struct cudaDeviceProp, maxTexture2DLinear);
	FIELD(struct cudaDeviceProp, maxTexture2DGather);
	FIELD(struct cudaDeviceProp, maxTexture3D);
	FIELD(struct cudaDeviceProp, maxTexture3DAlt);
	FIELD(struct cudaDeviceProp, maxTextureCubemap);
	FIELD(struct cudaDeviceProp, maxTexture1DLayered);
	FIELD(struct cudaDeviceProp, maxTexture2DLayered);
	FIELD(struct cudaDeviceProp, maxTextureCubemapLayered);
	FIELD(struct cudaDeviceProp, maxSurface1D);
	FIELD(struct cudaDeviceProp, maxSurface2D);
	FIELD(struct cudaDeviceProp, maxSurface3D);
	FIELD(struct cudaDeviceProp, maxSurface1DLayered);
	FIELD(struct cudaDeviceProp, maxSurface2DLayered);
	FIELD(struct cudaDeviceProp, maxSurfaceCubemap);
	FIELD(struct cudaDeviceProp, maxSurfaceCubemapLayered);
	FIELD(struct cudaDeviceProp, surfaceAlignment);
	FIELD(struct cudaDeviceProp, concurrentKernels);
	FIELD(struct cudaDeviceProp, ECCEnabled);
	FIELD(struct cudaDeviceProp, pciBusID);
	FIELD(struct cudaDeviceProp, pciDeviceID);
	FIELD(struct cudaDeviceProp, pciDomainID);
	FIELD(struct cudaDeviceProp, tccDriver);
	FIELD(struct cudaDeviceProp, asyncEngineCount);
	FIELD(struct cudaDeviceProp, unifiedAddressing);
	FIELD(struct cudaDeviceProp, memoryClockRate);
	FIELD(struct cudaDeviceProp, memoryBusWidth);
	FIELD(struct cudaDeviceProp, l2CacheSize);
	FIELD(struct cudaDeviceProp, persistingL2CacheMaxSize);
	FIELD(struct cudaDeviceProp, maxThreadsPerMultiProcessor);
	FIELD(struct cudaDeviceProp, streamPrioritiesSupported);
	FIELD(struct cudaDeviceProp, globalL1CacheSupported);
	FIELD(struct cudaDeviceProp, localL1CacheSupported);
	FIELD(struct cudaDeviceProp, sharedMemPerMultiprocessor);
	FIELD(struct cudaDeviceProp, regsPerMultiprocessor);
	FIELD(struct cudaDeviceProp, managedMemory);
	FIELD(struct cudaDeviceProp, isMultiGpuBoard);
	FIELD(struct cudaDeviceProp, multiGpuBoardGroupID);
	FIELD(struct cudaDeviceProp, hostNativeAtomicSupported);
	FIELD(struct cudaDeviceProp, singleToDoublePrecisionPerfRatio);
	FIELD(struct cudaDeviceProp, pageableMemoryAccess);
	FIELD(struct cudaDeviceProp, concurrentManagedAccess);
	FIELD(struct cudaDeviceProp, computePreemptionSupported);
	FIELD(struct cudaDeviceProp, canUseHostPointerForRegisteredMem);
	FIELD(struct cudaDeviceProp, cooperativeLaunch);
	FIELD(struct cudaDeviceProp, cooperativeMultiDeviceLaunch);
	FIELD(struct cudaDeviceProp, sharedMemPerBlockOptin);
	FIELD(struct cudaDeviceProp, pageableMemoryAccessUsesHostPageTables);
	FIELD(struct cudaDeviceProp, directManagedMemAccessFromHost);
	FIELD(struct cudaDeviceProp, maxBlocksPerMultiProcessor);
	FIELD(struct cudaDeviceProp, accessPolicyMaxWindowSize);
	FIELD(struct cudaDeviceProp, reservedSharedMemPerBlock);
}

static void cudafuncattributes(void)
{
	SIZE(struct cudaFuncAttributes);
	FIELD(struct cudaFuncAttributes, sharedSizeBytes);
	FIELD(struct cudaFuncAttributes, constSizeBytes);
	FIELD(struct cudaFuncAttributes, localSizeBytes);
	FIELD(struct cudaFuncAttributes, maxThreadsPerBlock);
	FIELD(struct cudaFuncAttributes, numRegs);
	FIELD(struct cudaFuncAttributes, ptxVersion);
	FIELD(struct cudaFuncAttributes, binaryVersion);
	FIELD(struct cudaFuncAttributes, cacheModeCA);
	FIELD(struct cudaFuncAttributes, maxDynamicSharedSizeBytes);
	FIELD(struct cudaFuncAttributes, preferredShmemCarveout);
}

static void cudalaunchparams(void)
{
	SIZE(struct cudaLaunchParams);
	FIELD(struct cudaLaunchParams, func);
	FIELD(struct cudaLaunchParams, gridDim);
	FIELD(struct cudaLaunchParams, blockDim);
	FIELD(struct cudaLaunchParams, args);
	FIELD(struct cudaLaunchParams, sharedMem);
	FIELD(struct cudaLaunchParams, stream);
}

static void cudalaunchattribute(void)
{
	SIZE(cudaLaunchAttribute);
	FIELD(cudaLaunchAttribute, id);
	FIELD(cudaLaunchAttribute, val);
	FIELD(cudaLaunchAttribute, val.cooperative);
	FIELD(cudaLaunchAttribute, val.priority);
	FIELD(cudaLaunchAttribute, val.clusterDim);
	FIELD(cudaLaunchAttribute, val.programmaticEvent.flags);
	FIELD(cudaLaunchAttribute, val.syncPolicy);
}

static void cudalaunchconfig_t(void)
{
	SIZE(cudaLaunchConfig_t);
	FIELD(cudaLaunchConfig_t, gridDim);
	FIELD(cudaLaunchConfig_t, blockDim);
	FIELD(cudaLaunchConfig_t, dynamicSmemBytes);
	FIELD(cudaLaunchConfig_t, stream);
	FIELD(cudaLaunchConfig_t, attrs);
	FIELD(cudaLaunchConfig_t, numAttrs);
}

static void cudapointerattributes(void)
{
	SIZE(struct cudaPointerAttributes);
	FIELD(struct cudaPointerAttributes, type);
	FIELD(struct cudaPointerAttributes, device);
	FIELD(struct cudaPointerAttributes, devicePointer);
	FIELD(struct cudaPointerAttributes, hostPointer);
}

static void cudapitchedptr(void)
{
	SIZE(struct cudaPitchedPtr);
	FIELD(struct cudaPitchedPtr, ptr);
	FIELD(struct cudaPitchedPtr, pitch);
	FIELD(struct cudaPitchedPtr, xsize);
	FIELD(struct cudaPitchedPtr, ysize);
}

static void cudaextent(void)
{
	SIZE(struct cudaExtent);
	FIELD(struct cudaExtent, width);
	FIELD(struct cudaExtent, height);
	FIELD(struct cudaExtent, depth);
}

static void cudapos(void)
{
	SIZE(struct cudaPos);
	FIELD(struct cudaPos, x);
	FIELD(struct cudaPos, y);
	FIELD(struct cudaPos, z);
}

static void cudamemcpy3dparms(void)
{
	SIZE(struct cudaMemcpy3DParms);
	FIELD(struct cudaMemcpy3DParms, srcArray);
	FIELD(struct cudaMemcpy3DParms, srcPos);
	FIELD(struct cudaMemcpy3DParms, srcPtr);
	FIELD(struct cudaMemcpy3DParms, dstArray);
	FIELD(struct cudaMemcpy3DParms, dstPos);
	FIELD(struct cudaMemcpy3DParms, dstPtr);
	FIELD(struct cudaMemcpy3DParms, extent);
	FIELD(struct cudaMemcpy3DParms, kind);
}

static void cudamemcpy3dpeerparms(void)
{
	SIZE(struct cudaMemcpy3DPeerParms);
	FIELD(struct cudaMemcpy3DPeerParms, srcArray);
	FIELD(struct cudaMemcpy3DPeerParms, srcPos);
	FIELD(struct cudaMemcpy3DPeerParms, srcPtr);
	FIELD(struct cudaMemcpy3DPeerParms, srcDevice);
	FIELD(struct cudaMemcpy3DPeerParms, dstArray);
	FIELD(struct cudaMemcpy3DPeerParms, dstPos);
	FIELD(struct cudaMemcpy3DPeerParms, dstPtr);
	FIELD(struct cudaMemcpy3DPeerParms, dstDevice);
	FIELD(struct cudaMemcpy3DPeerParms, extent);
}

static void cudachannelformatdesc(void)
{
	SIZE(struct cudaChannelFormatDesc);
	FIELD(struct cudaChannelFormatDesc, x);
	FIELD(struct cudaChannelFormatDesc, y);
	FIELD(struct cudaChannelFormatDesc, z);
	FIELD(struct cudaChannelFormatDesc, w);
	FIELD(struct cudaChannelFormatDesc, f);
}

static void cudaresourcedesc(void)
{
	SIZE(struct cudaResourceDesc);
	FIELD(struct cudaResourceDesc, resType);
	FIELD(struct cudaResourceDesc, res.array.array);
	FIELD(struct cudaResourceDesc, res.mipmap.mipmap);
	FIELD(struct cudaResourceDesc, res.linear.devPtr);
	FIELD(struct cudaResourceDesc, res.linear.desc);
	FIELD(struct cudaResourceDesc, res.linear.sizeInBytes);
	FIELD(struct cudaResourceDesc, res.pitch2D.devPtr);
	FIELD(struct cudaResourceDesc, res.pitch2D.desc);
	FIELD(struct cudaResourceDesc, res.pitch2D.width);
	FIELD(struct cudaResourceDesc, res.pitch2D.height);
	FIELD(struct cudaResourceDesc, res.pitch2D.pitchInBytes);
}

static void cudaresourceviewdesc(void)
{
	SIZE(struct cudaResourceViewDesc);
	FIELD(struct cudaResourceViewDesc, format);
	FIELD(struct cudaResourceViewDesc, width);
	FIELD(struct cudaResourceViewDesc, height);
	FIELD(struct cudaResourceViewDesc, depth);
	FIELD(struct cudaResourceViewDesc, firstMipmapLevel);
	FIELD(struct cudaResourceViewDesc, lastMipmapLevel);
	FIELD(struct cudaResourceViewDesc, firstLayer);
	FIELD(struct cudaResourceViewDesc, lastLayer);
}

static void cudatexturedesc(void)
{
	SIZE(struct cudaTextureDesc);
	FIELD(struct cudaTextureDesc, addressMode);
	FIELD(struct cudaTextureDesc, filterMode);
	FIELD(struct cudaTextureDesc, readMode);
	FIELD(struct cudaTextureDesc, sRGB);
	FIELD(struct cudaTextureDesc, borderColor);
	FIELD(struct cudaTextureDesc, normalizedCoords);
	FIELD(struct cudaTextureDesc, maxAnisotropy);
	FIELD(struct cudaTextureDesc, mipmapFilterMode);
	FIELD(struct cudaTextureDesc, mipmapLevelBias);
	FIELD(struct cudaTextureDesc, minMipmapLevelClamp);
	FIELD(struct cudaTextureDesc, maxMipmapLevelClamp);
	FIELD(struct cudaTextureDesc, disableTrilinearOptimization);
}

static void cudatexturedesc_v2(void)
{
	SIZE(struct cudaTextureDesc_v2);
	FIELD(struct cudaTextureDesc_v2, addressMode);
	FIELD(struct cudaTextureDesc_v2, borderColor);
	FIELD(struct cudaTextureDesc_v2, disableTrilinearOptimization);
	FIELD(struct cudaTextureDesc_v2, seamlessCubemap);
}

static void texturereference(void)
{
	SIZE(struct textureReference);
	FIELD(struct textureReference, normalized);
	FIELD(struct textureReference, filterMode);
	FIELD(struct textureReference, addressMode);
	FIELD(struct textureReference, channelDesc);
	FIELD(struct textureReference, sRGB);
	FIELD(struct textureReference, maxAnisotropy);
	FIELD(struct textureReference, mipmapFilterMode);
	FIELD(struct textureReference, mipmapLevelBias);
	FIELD(struct textureReference, minMipmapLevelClamp);
	FIELD(struct textureReference, maxMipmapLevelClamp);
	FIELD(struct textureReference, disableTrilinearOptimization);
}

static void surfacereference(void)
{
	SIZE(struct surfaceReference);
	FIELD(struct surfaceReference, channelDesc);
}

static void graphs(void)
{
	SIZE(struct cudaKernelNodeParams);
	FIELD(struct cudaKernelNodeParams, func);
	FIELD(struct cudaKernelNodeParams, gridDim);
	FIELD(struct cudaKernelNodeParams, blockDim);
	FIELD(struct cudaKernelNodeParams, sharedMemBytes);
	FIELD(struct cudaKernelNodeParams, kernelParams);
	FIELD(struct cudaKernelNodeParams, extra);
	SIZE(struct cudaMemsetParams);
	FIELD(struct cudaMemsetParams, dst);
	FIELD(struct cudaMemsetParams, pitch);
	FIELD(struct cudaMemsetParams, value);
	FIELD(struct cudaMemsetParams, elementSize);
	FIELD(struct cudaMemsetParams, width);
	FIELD(struct cudaMemsetParams, height);
	SIZE(struct cudaHostNodeParams);
	FIELD(struct cudaHostNodeParams, fn);
	FIELD(struct cudaHostNodeParams, userData);
	SIZE(struct cudaAccessPolicyWindow);
	FIELD(struct cudaAccessPolicyWindow, base_ptr);
	FIELD(struct cudaAccessPolicyWindow, num_bytes);
	FIELD(struct cudaAccessPolicyWindow, hitRatio);
	FIELD(struct cudaAccessPolicyWindow, hitProp);
	FIELD(struct cudaAccessPolicyWindow, missProp);
	FIELD(cudaLaunchAttribute, val.accessPolicyWindow);
	VALUE(cudaAccessPropertyPersisting);
	VALUE(cudaGraphNodeTypeKernel);
	VALUE(cudaGraphNodeTypeMemset);
	VALUE(cudaGraphNodeTypeHost);
	VALUE(cudaGraphNodeTypeGraph);
	VALUE(cudaGraphNodeTypeEventRecord);
	VALUE(cudaGraphExecUpdateErrorTopologyChanged);
	VALUE(cudaGraphExecUpdateErrorAttributesChanged);
}

int main(void)
{
	errors();
	numbers();
	SIZE(dim3);
	SIZE(cudaTextureObject_t);
	cudadeviceprop();
	cudafuncattributes();
	cudalaunchparams();
	cudalaunchattribute();
	cudalaunchconfig_t();
	cudapointerattributes();
	cudapitchedptr();
	cudaextent();
	cudapos();
	cudamemcpy3dparms();
	cudamemcpy3dpeerparms();
	cudachannelformatdesc();
	cudaresourcedesc();
	cudaresourceviewdesc();
	cudatexturedesc();
	cudatexturedesc_v2();
	texturereference();
	surfacereference();
	graphs();
	return 0;
}
