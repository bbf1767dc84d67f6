/* SPDX-License-Identifier: MIT */
/*
 * The CUDA driver API as far as it is implemented: the binary interface of CUDA 11.8, our own
 * declarations. selftests/cuda/abi.sh compares them with the toolkit's cuda.h: it includes that
 * first, and takes only the prototypes from here.
 */
#ifndef KVGPU_CUDA_API_H
#define KVGPU_CUDA_API_H

#ifndef __cuda_cuda_h__
#include "types.h"
#endif

#define API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* errors.c */
API CUresult cuGetErrorName(CUresult error, const char **name);
API CUresult cuGetErrorString(CUresult error, const char **text);

/* init.c */
API CUresult cuInit(unsigned int flags);
API CUresult cuDriverGetVersion(int *version);
API CUresult cuGetExportTable(const void **table, const CUuuid *id);
API CUresult cuProfilerStart(void);
API CUresult cuProfilerStop(void);

/* procaddress.c */
API CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags);

/* device.c, attributes.c */
API CUresult cuDeviceGet(CUdevice *device, int ordinal);
API CUresult cuDeviceGetCount(int *count);
API CUresult cuDeviceGetName(char *name, int len, CUdevice dev);
API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev);
API CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev);
API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev);
API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice dev);
API CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice dev);
API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev);
API CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *id);
API CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice dev);
API CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice from,
				     CUdevice to);
API CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *texels, CUarray_format format,
						unsigned int channels, CUdevice dev);
API CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer);

/* context.c, ctxinfo.c, primary.c */
API CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice dev);
API CUresult cuCtxDestroy_v2(CUcontext ctx);
API CUresult cuCtxAttach(CUcontext *ctx, unsigned int flags);
API CUresult cuCtxDetach(CUcontext ctx);
API CUresult cuCtxPushCurrent_v2(CUcontext ctx);
API CUresult cuCtxPopCurrent_v2(CUcontext *ctx);
API CUresult cuCtxSetCurrent(CUcontext ctx);
API CUresult cuCtxGetCurrent(CUcontext *ctx);
API CUresult cuCtxGetDevice(CUdevice *dev);
API CUresult cuCtxGetFlags(unsigned int *flags);
API CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version);
API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest);
API CUresult cuCtxSynchronize(void);
API CUresult cuCtxSetLimit(CUlimit limit, size_t value);
API CUresult cuCtxGetLimit(size_t *value, CUlimit limit);
API CUresult cuCtxGetCacheConfig(CUfunc_cache *config);
API CUresult cuCtxSetCacheConfig(CUfunc_cache config);
API CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config);
API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config);
API CUresult cuCtxResetPersistingL2Cache(void);
API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags);
API CUresult cuCtxDisablePeerAccess(CUcontext peer);
API CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev);
API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev);
API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags);
API CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active);
API CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev);

/* module.c, function.c, occupancy.c */
API CUresult cuModuleLoad(CUmodule *module, const char *file);
API CUresult cuModuleLoadData(CUmodule *module, const void *image);
API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n,
				CUjit_option *options, void **values);
API CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image);
API CUresult cuModuleUnload(CUmodule module);
API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
API CUresult cuModuleGetTexRef(CUtexref *ref, CUmodule module, const char *name);
API CUresult cuModuleGetSurfRef(CUsurfref *ref, CUmodule module, const char *name);
API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode);
API CUresult cuModuleGetGlobal_v2(CUdeviceptr *ptr, size_t *bytes, CUmodule module,
				  const char *name);
API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function);
API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value);
API CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config);
API CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config);
API CUresult cuFuncGetModule(CUmodule *module, CUfunction function);
/* from CUDA 12.4 */
API CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size);
API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
							 int threads, size_t dynamic);
API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
								  int threads, size_t dynamic,
								  unsigned int flags);
API CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic, CUfunction function,
						     int blocks, int threads);
API CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
					      CUoccupancyB2DSize dynamic_of, size_t dynamic,
					      int limit);
API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
						       CUoccupancyB2DSize dynamic_of,
						       size_t dynamic, int limit,
						       unsigned int flags);

/* link.c */
API CUresult cuLinkCreate_v2(unsigned int n, CUjit_option *options, void **values,
			     CUlinkState *state);
API CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
			      const char *name, unsigned int n, CUjit_option *options,
			      void **values);
API CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path,
			      unsigned int n, CUjit_option *options, void **values);
API CUresult cuLinkComplete(CUlinkState state, void **cubin, size_t *size);
API CUresult cuLinkDestroy(CUlinkState state);

/* launch.c */
API CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			    unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			    CUstream stream, void **params, void **extra);
API CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
				 unsigned int bx, unsigned int by, unsigned int bz,
				 unsigned int shared, CUstream stream, void **params, void **extra);
API CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy,
				       unsigned int gz, unsigned int bx, unsigned int by,
				       unsigned int bz, unsigned int shared, CUstream stream,
				       void **params);
API CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned int gx, unsigned int gy,
					    unsigned int gz, unsigned int bx, unsigned int by,
					    unsigned int bz, unsigned int shared, CUstream stream,
					    void **params);
API CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params,
			      void **extra);
API CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **params,
				   void **extra);

/* oldlaunch.c: launches as they were before cuLaunchKernel() */
API CUresult cuFuncSetBlockShape(CUfunction f, int x, int y, int z);
API CUresult cuFuncSetSharedSize(CUfunction f, unsigned int bytes);
API CUresult cuParamSetSize(CUfunction f, unsigned int bytes);
API CUresult cuParamSeti(CUfunction f, int offset, unsigned int value);
API CUresult cuParamSetf(CUfunction f, int offset, float value);
API CUresult cuParamSetv(CUfunction f, int offset, void *bytes, unsigned int n);
API CUresult cuParamSetTexRef(CUfunction f, int unit, CUtexref ref);
API CUresult cuLaunch(CUfunction f);
API CUresult cuLaunchGrid(CUfunction f, int width, int height);
API CUresult cuLaunchGridAsync(CUfunction f, int width, int height, CUstream stream);

/* hostfunc.c */
API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data);
API CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn fn, void *data);
API CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback fn, void *data,
				 unsigned int flags);
API CUresult cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback fn, void *data,
				      unsigned int flags);

/* array.c */
API CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc);
API CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc);
API CUresult cuArrayDestroy(CUarray array);
API CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *desc, CUarray array);
API CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray array);
API CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc,
				    unsigned int levels);
API CUresult cuMipmappedArrayDestroy(CUmipmappedArray array);
API CUresult cuMipmappedArrayGetLevel(CUarray *level_array, CUmipmappedArray array,
				      unsigned int level);

/* texobject.c, surface.c */
API CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *resource,
			       const CUDA_TEXTURE_DESC *texture,
			       const CUDA_RESOURCE_VIEW_DESC *view);
API CUresult cuTexObjectDestroy(CUtexObject object);
API CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject object);
API CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *texture, CUtexObject object);
API CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *view, CUtexObject object);
API CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *resource);
API CUresult cuSurfObjectDestroy(CUsurfObject object);
API CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject object);
API CUresult cuSurfRefSetArray(CUsurfref ref, CUarray array, unsigned int flags);
API CUresult cuSurfRefGetArray(CUarray *array, CUsurfref ref);

/* texref.c */
API CUresult cuTexRefCreate(CUtexref *ref);
API CUresult cuTexRefDestroy(CUtexref ref);
API CUresult cuTexRefSetArray(CUtexref ref, CUarray array, unsigned int flags);
API CUresult cuTexRefSetMipmappedArray(CUtexref ref, CUmipmappedArray array, unsigned int flags);
API CUresult cuTexRefSetAddress_v2(size_t *offset, CUtexref ref, CUdeviceptr ptr, size_t bytes);
API CUresult cuTexRefSetAddress2D_v3(CUtexref ref, const CUDA_ARRAY_DESCRIPTOR *desc,
				     CUdeviceptr ptr, size_t pitch);
API CUresult cuTexRefSetFormat(CUtexref ref, CUarray_format format, int channels);
API CUresult cuTexRefSetAddressMode(CUtexref ref, int dim, CUaddress_mode mode);
API CUresult cuTexRefSetFilterMode(CUtexref ref, CUfilter_mode mode);
API CUresult cuTexRefSetMipmapFilterMode(CUtexref ref, CUfilter_mode mode);
API CUresult cuTexRefSetMipmapLevelBias(CUtexref ref, float bias);
API CUresult cuTexRefSetMipmapLevelClamp(CUtexref ref, float min, float max);
API CUresult cuTexRefSetMaxAnisotropy(CUtexref ref, unsigned int max);
API CUresult cuTexRefSetBorderColor(CUtexref ref, float *color);
API CUresult cuTexRefSetFlags(CUtexref ref, unsigned int flags);
API CUresult cuTexRefGetAddress_v2(CUdeviceptr *ptr, CUtexref ref);
API CUresult cuTexRefGetArray(CUarray *array, CUtexref ref);
API CUresult cuTexRefGetMipmappedArray(CUmipmappedArray *array, CUtexref ref);
API CUresult cuTexRefGetAddressMode(CUaddress_mode *mode, CUtexref ref, int dim);
API CUresult cuTexRefGetFilterMode(CUfilter_mode *mode, CUtexref ref);
API CUresult cuTexRefGetFormat(CUarray_format *format, int *channels, CUtexref ref);
API CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode *mode, CUtexref ref);
API CUresult cuTexRefGetMipmapLevelBias(float *bias, CUtexref ref);
API CUresult cuTexRefGetMipmapLevelClamp(float *min, float *max, CUtexref ref);
API CUresult cuTexRefGetMaxAnisotropy(int *max, CUtexref ref);
API CUresult cuTexRefGetBorderColor(float *color, CUtexref ref);
API CUresult cuTexRefGetFlags(unsigned int *flags, CUtexref ref);

/* pointer.c */
API CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr ptr);
API CUresult cuPointerGetAttributes(unsigned int n, CUpointer_attribute *attributes, void **values,
				    CUdeviceptr ptr);
API CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
				   CUdeviceptr ptr);

/* memory.c, host.c */
API CUresult cuMemGetInfo_v2(size_t *free, size_t *total);
API CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes);
API CUresult cuMemAllocPitch_v2(CUdeviceptr *ptr, size_t *pitch, size_t width, size_t height,
				unsigned int element);
API CUresult cuMemFree_v2(CUdeviceptr ptr);
API CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr ptr);
API CUresult cuMemAllocHost_v2(void **ptr, size_t bytes);
API CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned int flags);
API CUresult cuMemFreeHost(void *ptr);
API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *ptr, void *host, unsigned int flags);
API CUresult cuMemHostGetFlags(unsigned int *flags, void *host);

/* register.c */
API CUresult cuMemHostRegister_v2(void *ptr, size_t bytes, unsigned int flags);
API CUresult cuMemHostUnregister(void *ptr);

/* advice.c */
API CUresult cuMemAdvise(CUdeviceptr ptr, size_t bytes, CUmem_advise advice, CUdevice dev);
API CUresult cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute attribute,
				    CUdeviceptr ptr, size_t bytes);
API CUresult cuMemRangeGetAttributes(void **data, size_t *sizes, CUmem_range_attribute *attributes,
				     size_t n, CUdeviceptr ptr, size_t bytes);

/* managed.c */
API CUresult cuMemAllocManaged(CUdeviceptr *ptr, size_t bytes, unsigned int flags);
API CUresult cuMemPrefetchAsync(CUdeviceptr ptr, size_t bytes, CUdevice dev, CUstream stream);
API CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr ptr, size_t bytes, CUdevice dev, CUstream stream);
API CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr ptr, size_t bytes,
				    unsigned int flags);
API CUresult cuStreamAttachMemAsync_ptsz(CUstream stream, CUdeviceptr ptr, size_t bytes,
					 unsigned int flags);

/* copy.c: forms without a stream; in _ptds and _ptsz stream 0 is the thread's own */
#define BOTH_SYNC(name, ...)            \
	API CUresult name(__VA_ARGS__); \
	API CUresult name##_ptds(__VA_ARGS__);
#define BOTH_ASYNC(name, ...)                            \
	API CUresult name(__VA_ARGS__, CUstream stream); \
	API CUresult name##_ptsz(__VA_ARGS__, CUstream stream);
BOTH_SYNC(cuMemcpy, CUdeviceptr dst, CUdeviceptr src, size_t bytes)
BOTH_SYNC(cuMemcpyHtoD_v2, CUdeviceptr dst, const void *src, size_t bytes)
BOTH_SYNC(cuMemcpyDtoH_v2, void *dst, CUdeviceptr src, size_t bytes)
BOTH_SYNC(cuMemcpyDtoD_v2, CUdeviceptr dst, CUdeviceptr src, size_t bytes)
/* box.c, and copy.c's forms with a stream */
BOTH_SYNC(cuMemcpy3D_v2, const CUDA_MEMCPY3D *copy)
BOTH_ASYNC(cuMemcpy3DAsync_v2, const CUDA_MEMCPY3D *copy)
BOTH_SYNC(cuMemcpy3DPeer, const CUDA_MEMCPY3D_PEER *copy)
BOTH_ASYNC(cuMemcpy3DPeerAsync, const CUDA_MEMCPY3D_PEER *copy)
BOTH_SYNC(cuMemcpyPeer, CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx,
	  size_t bytes)
BOTH_ASYNC(cuMemcpyPeerAsync, CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src,
	   CUcontext src_ctx, size_t bytes)
BOTH_SYNC(cuMemcpyDtoA_v2, CUarray dst, size_t dst_offset, CUdeviceptr src, size_t bytes)
BOTH_SYNC(cuMemcpyAtoD_v2, CUdeviceptr dst, CUarray src, size_t src_offset, size_t bytes)
BOTH_SYNC(cuMemcpyHtoA_v2, CUarray dst, size_t dst_offset, const void *src, size_t bytes)
BOTH_SYNC(cuMemcpyAtoH_v2, void *dst, CUarray src, size_t src_offset, size_t bytes)
BOTH_SYNC(cuMemcpyAtoA_v2, CUarray dst, size_t dst_offset, CUarray src, size_t src_offset,
	  size_t bytes)
BOTH_ASYNC(cuMemcpyHtoAAsync_v2, CUarray dst, size_t dst_offset, const void *src, size_t bytes)
BOTH_ASYNC(cuMemcpyAtoHAsync_v2, void *dst, CUarray src, size_t src_offset, size_t bytes)
BOTH_SYNC(cuMemcpy2D_v2, const CUDA_MEMCPY2D *copy)
BOTH_SYNC(cuMemcpy2DUnaligned_v2, const CUDA_MEMCPY2D *copy)
BOTH_ASYNC(cuMemcpyAsync, CUdeviceptr dst, CUdeviceptr src, size_t bytes)
BOTH_ASYNC(cuMemcpyHtoDAsync_v2, CUdeviceptr dst, const void *src, size_t bytes)
BOTH_ASYNC(cuMemcpyDtoHAsync_v2, void *dst, CUdeviceptr src, size_t bytes)
BOTH_ASYNC(cuMemcpyDtoDAsync_v2, CUdeviceptr dst, CUdeviceptr src, size_t bytes)
BOTH_ASYNC(cuMemcpy2DAsync_v2, const CUDA_MEMCPY2D *copy)

/* memset.c */
BOTH_SYNC(cuMemsetD8_v2, CUdeviceptr dst, unsigned char value, size_t n)
BOTH_SYNC(cuMemsetD16_v2, CUdeviceptr dst, unsigned short value, size_t n)
BOTH_SYNC(cuMemsetD32_v2, CUdeviceptr dst, unsigned int value, size_t n)
BOTH_SYNC(cuMemsetD2D8_v2, CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
	  size_t height)
BOTH_SYNC(cuMemsetD2D16_v2, CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
	  size_t height)
BOTH_SYNC(cuMemsetD2D32_v2, CUdeviceptr dst, size_t pitch, unsigned int value, size_t width,
	  size_t height)
BOTH_ASYNC(cuMemsetD8Async, CUdeviceptr dst, unsigned char value, size_t n)
BOTH_ASYNC(cuMemsetD16Async, CUdeviceptr dst, unsigned short value, size_t n)
BOTH_ASYNC(cuMemsetD32Async, CUdeviceptr dst, unsigned int value, size_t n)
BOTH_ASYNC(cuMemsetD2D8Async, CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
	   size_t height)
BOTH_ASYNC(cuMemsetD2D16Async, CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,
	   size_t height)
BOTH_ASYNC(cuMemsetD2D32Async, CUdeviceptr dst, size_t pitch, unsigned int value, size_t width,
	   size_t height)

/* stream.c */
API CUresult cuStreamCreate(CUstream *stream, unsigned int flags);
API CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority);
API CUresult cuStreamDestroy_v2(CUstream stream);
API CUresult cuStreamSynchronize(CUstream stream);
API CUresult cuStreamSynchronize_ptsz(CUstream stream);
API CUresult cuStreamQuery(CUstream stream);
API CUresult cuStreamQuery_ptsz(CUstream stream);
API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);
API CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned int flags);
API CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags);
API CUresult cuStreamGetFlags_ptsz(CUstream stream, unsigned int *flags);
API CUresult cuStreamGetPriority(CUstream stream, int *priority);
API CUresult cuStreamGetPriority_ptsz(CUstream stream, int *priority);
API CUresult cuStreamGetCtx(CUstream stream, CUcontext *ctx);
API CUresult cuStreamGetCtx_ptsz(CUstream stream, CUcontext *ctx);

/* memop.c: words in memory that streams write and wait for */
#define MEM_OP(name, type)                                                                  \
	API CUresult name(CUstream stream, CUdeviceptr at, type value, unsigned int flags); \
	API CUresult name##_ptsz(CUstream stream, CUdeviceptr at, type value, unsigned int flags);
MEM_OP(cuStreamWaitValue32, cuuint32_t)
MEM_OP(cuStreamWaitValue64, cuuint64_t)
MEM_OP(cuStreamWriteValue32, cuuint32_t)
MEM_OP(cuStreamWriteValue64, cuuint64_t)
MEM_OP(cuStreamWaitValue32_v2, cuuint32_t)
MEM_OP(cuStreamWaitValue64_v2, cuuint64_t)
MEM_OP(cuStreamWriteValue32_v2, cuuint32_t)
MEM_OP(cuStreamWriteValue64_v2, cuuint64_t)
#define MEM_OPS(name)                                                                     \
	API CUresult name(CUstream stream, unsigned int n, CUstreamBatchMemOpParams *ops, \
			  unsigned int flags);
MEM_OPS(cuStreamBatchMemOp)
MEM_OPS(cuStreamBatchMemOp_ptsz)
MEM_OPS(cuStreamBatchMemOp_v2)
MEM_OPS(cuStreamBatchMemOp_v2_ptsz)

/* event.c */
API CUresult cuEventCreate(CUevent *event, unsigned int flags);
API CUresult cuEventRecord(CUevent event, CUstream stream);
API CUresult cuEventRecord_ptsz(CUevent event, CUstream stream);
API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags);
API CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned int flags);
API CUresult cuEventQuery(CUevent event);
API CUresult cuEventSynchronize(CUevent event);
API CUresult cuEventDestroy_v2(CUevent event);
API CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end);

/* capture.c, captureinfo.c */
#define BOTH_STREAM(name, ...)                             \
	API CUresult name(CUstream stream, ##__VA_ARGS__); \
	API CUresult name##_ptsz(CUstream stream, ##__VA_ARGS__);
API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode);
BOTH_STREAM(cuStreamBeginCapture)
BOTH_STREAM(cuStreamBeginCapture_v2, CUstreamCaptureMode mode)
BOTH_STREAM(cuStreamEndCapture, CUgraph *graph)
BOTH_STREAM(cuStreamIsCapturing, CUstreamCaptureStatus *status)
BOTH_STREAM(cuStreamGetCaptureInfo, CUstreamCaptureStatus *status, cuuint64_t *id)
BOTH_STREAM(cuStreamGetCaptureInfo_v2, CUstreamCaptureStatus *status, cuuint64_t *id,
	    CUgraph *graph, const CUgraphNode **nodes, size_t *n)
BOTH_STREAM(cuStreamUpdateCaptureDependencies, CUgraphNode *nodes, size_t n, unsigned int flags)

/* graph.c */
API CUresult cuGraphCreate(CUgraph *graph, unsigned int flags);
API CUresult cuGraphDestroy(CUgraph graph);
API CUresult cuGraphDestroyNode(CUgraphNode node);
API CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
				    size_t n);
API CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
				       const CUgraphNode *to, size_t n);
API CUresult cuGraphClone(CUgraph *clone, CUgraph graph);

/* graphinfo.c */
API CUresult cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph clone);
API CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type);
API CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *n);
API CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *n);
API CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n);
API CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *n);
API CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *n);
API CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned int flags);

/* graphnode.c: what nodes do */
#define ADD_NODE CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t n
API CUresult cuGraphAddKernelNode(ADD_NODE, const CUDA_KERNEL_NODE_PARAMS *params);
API CUresult cuGraphAddMemcpyNode(ADD_NODE, const CUDA_MEMCPY3D *params, CUcontext ctx);
API CUresult cuGraphAddMemsetNode(ADD_NODE, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx);
API CUresult cuGraphAddHostNode(ADD_NODE, const CUDA_HOST_NODE_PARAMS *params);
API CUresult cuGraphAddChildGraphNode(ADD_NODE, CUgraph child);
API CUresult cuGraphAddEmptyNode(ADD_NODE);
API CUresult cuGraphAddEventRecordNode(ADD_NODE, CUevent event);
API CUresult cuGraphAddEventWaitNode(ADD_NODE, CUevent event);
API CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params);
API CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params);
API CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *params);
API CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *params);
API CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params);
API CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params);
API CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params);
API CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params);
API CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph);
API CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event);
API CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event);
API CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event);
API CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event);
API CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src);
API CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
					   CUkernelNodeAttrValue *value);
API CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
					   const CUkernelNodeAttrValue *value);

/* graphexec.c, graphupdate.c */
API CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *bad, char *log,
				size_t size);
API CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *bad, char *log,
				   size_t size);
API CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
					 unsigned long long flags);
API CUresult cuGraphExecDestroy(CUgraphExec exec);
API CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
API CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream);
API CUresult cuGraphUpload(CUgraphExec exec, CUstream stream);
API CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream);
API CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *bad,
			       CUgraphExecUpdateResult *result);
API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
					    const CUDA_KERNEL_NODE_PARAMS *params);
API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
					    const CUDA_MEMCPY3D *params, CUcontext ctx);
API CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
					    const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx);
API CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
					  const CUDA_HOST_NODE_PARAMS *params);
API CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child);
API CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event);
API CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event);
API CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int enabled);
API CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int *enabled);

/* userobject.c */
API CUresult cuUserObjectCreate(CUuserObject *object, void *ptr, CUhostFn destroy,
				unsigned int count, unsigned int flags);
API CUresult cuUserObjectRetain(CUuserObject object, unsigned int count);
API CUresult cuUserObjectRelease(CUuserObject object, unsigned int count);
API CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
				     unsigned int flags);
API CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count);

#ifdef __cplusplus
}
#endif

#endif
