/* SPDX-License-Identifier: MIT */
/*
 * What libcudart.so.11.0 implements. With nvcc's --default-stream per-thread calls become those
 * with _ptds and _ptsz, whose stream 0 is the thread's own.
 */
#ifndef KVGPU_CUDART_API_H
#define KVGPU_CUDART_API_H

#include "types.h"

#define RT API cudaError_t
#define RT_SYNC(name, ...)    \
	RT name(__VA_ARGS__); \
	RT name##_ptds(__VA_ARGS__);
#define RT_ASYNC(name, ...)                        \
	RT name(__VA_ARGS__, cudaStream_t stream); \
	RT name##_ptsz(__VA_ARGS__, cudaStream_t stream);
#define RT_STREAM(name, ...)                         \
	RT name(cudaStream_t stream, ##__VA_ARGS__); \
	RT name##_ptsz(cudaStream_t stream, ##__VA_ARGS__);

#ifdef __cplusplus
extern "C" {
#endif

/* errors.c */
RT cudaGetLastError(void);
RT cudaPeekAtLastError(void);
API const char *cudaGetErrorName(cudaError_t error);
API const char *cudaGetErrorString(cudaError_t error);

/* context.c, settings.c */
RT cudaSetDevice(int device);
RT cudaGetDevice(int *device);
RT cudaSetValidDevices(int *devices, int n);
RT cudaDeviceReset(void);
RT cudaDeviceSynchronize(void);
RT cudaSetDeviceFlags(unsigned int flags);
RT cudaGetDeviceFlags(unsigned int *flags);
RT cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
RT cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
RT cudaDeviceSetCacheConfig(enum cudaFuncCache config);
RT cudaDeviceGetCacheConfig(enum cudaFuncCache *config);
RT cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
RT cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config);
RT cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
RT cudaThreadExit(void);
RT cudaThreadSynchronize(void);
RT cudaThreadSetLimit(enum cudaLimit limit, size_t value);
RT cudaThreadGetLimit(size_t *value, enum cudaLimit limit);
RT cudaThreadSetCacheConfig(enum cudaFuncCache config);
RT cudaThreadGetCacheConfig(enum cudaFuncCache *config);
RT cudaCtxResetPersistingL2Cache(void);

/* device.c */
RT cudaGetDeviceCount(int *count);
RT cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);
RT cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
RT cudaChooseDevice(int *device, const struct cudaDeviceProp *prop);
RT cudaDeviceGetByPCIBusId(int *device, const char *id);
RT cudaDeviceGetPCIBusId(char *id, int len, int device);
RT cudaDeviceCanAccessPeer(int *can, int device, int peer);
RT cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
RT cudaDeviceDisablePeerAccess(int peer);
RT cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int src, int dst);
RT cudaDriverGetVersion(int *version);
RT cudaRuntimeGetVersion(int *version);
RT cudaGetExportTable(const void **table, const CUuuid *id);
RT cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags);
RT cudaGetDriverEntryPoint_ptsz(const char *symbol, void **function, unsigned long long flags);
RT cudaProfilerStart(void);
RT cudaProfilerStop(void);

/* registry.c: called by code that nvcc makes, mostly before main() */
API void **__cudaRegisterFatBinary(void *image);
API void __cudaRegisterFatBinaryEnd(void **handle);
API void __cudaUnregisterFatBinary(void **handle);
API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
				int threads, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
				int *warp);
API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
			   size_t size, int constant, int global);
API void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size);
API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
				  int ext, size_t size, int constant, int global);
API void __cudaRegisterTexture(void **handle, const struct textureReference *host,
			       const void **device, const char *name, int dimensions,
			       int normalized, int ext);
API void __cudaRegisterSurface(void **handle, const struct surfaceReference *host,
			       const void **device, const char *name, int dimensions, int ext);
API char __cudaInitModule(void **handle);

/* launch.c, function.c */
API unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
					     struct CUstream_st *stream);
RT __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
RT_ASYNC(cudaLaunchKernel, const void *func, dim3 grid, dim3 block, void **args, size_t shared)
RT_ASYNC(cudaLaunchCooperativeKernel, const void *func, dim3 grid, dim3 block, void **args,
	 size_t shared)
RT cudaLaunchCooperativeKernelMultiDevice(struct cudaLaunchParams *list, unsigned int n,
					  unsigned int flags);
RT cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args);
RT cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func, void **args);
RT cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *func);
RT cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attribute, int value);
RT cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache config);
RT cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config);
RT cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol);
RT cudaSetDoubleForDevice(double *d);
RT cudaSetDoubleForHost(double *d);
RT cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *func, int threads,
						 size_t dynamic);
RT cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *func,
							  int threads, size_t dynamic,
							  unsigned int flags);
RT cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic, const void *func, int blocks,
					     int threads);

/* stream.c, event.c, capture.c */
RT cudaStreamCreate(cudaStream_t *stream);
RT cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
RT cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority);
RT cudaStreamDestroy(cudaStream_t stream);
RT_STREAM(cudaStreamGetPriority, int *priority)
RT_STREAM(cudaStreamGetFlags, unsigned int *flags)
RT_STREAM(cudaStreamWaitEvent, cudaEvent_t event, unsigned int flags)
RT_STREAM(cudaStreamAddCallback, cudaStreamCallback_t callback, void *data, unsigned int flags)
RT_STREAM(cudaStreamSynchronize)
RT_STREAM(cudaStreamQuery)
RT_STREAM(cudaLaunchHostFunc, cudaHostFn_t fn, void *data)
RT_STREAM(cudaStreamIsCapturing, enum cudaStreamCaptureStatus *status)
RT_STREAM(cudaStreamGetCaptureInfo, enum cudaStreamCaptureStatus *status, unsigned long long *id)
RT_STREAM(cudaStreamBeginCapture, enum cudaStreamCaptureMode mode)
RT_STREAM(cudaStreamEndCapture, cudaGraph_t *graph)
RT_STREAM(cudaStreamUpdateCaptureDependencies, cudaGraphNode_t *nodes, size_t n, unsigned int flags)
RT_STREAM(cudaStreamGetCaptureInfo_v2, enum cudaStreamCaptureStatus *status, unsigned long long *id,
	  cudaGraph_t *graph, const cudaGraphNode_t **dependencies, size_t *n)
RT cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode);
RT cudaEventCreate(cudaEvent_t *event);
RT cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
RT cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
RT cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream);
RT cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags);
RT cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned int flags);
RT cudaEventQuery(cudaEvent_t event);
RT cudaEventSynchronize(cudaEvent_t event);
RT cudaEventDestroy(cudaEvent_t event);
RT cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);

/* memory.c, pointer.c */
RT cudaMalloc(void **ptr, size_t size);
RT cudaMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height);
RT cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent);
RT cudaFree(void *ptr);
RT cudaMallocHost(void **ptr, size_t size);
RT cudaHostAlloc(void **ptr, size_t size, unsigned int flags);
RT cudaFreeHost(void *ptr);
RT cudaHostRegister(void *ptr, size_t size, unsigned int flags);
RT cudaHostUnregister(void *ptr);
RT cudaHostGetDevicePointer(void **device, void *host, unsigned int flags);
RT cudaHostGetFlags(unsigned int *flags, void *host);
RT cudaMemGetInfo(size_t *free, size_t *total);
RT cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr);

/* managed.c */
RT cudaMallocManaged(void **ptr, size_t size, unsigned int flags);
RT cudaMemAdvise(const void *ptr, size_t size, enum cudaMemoryAdvise advice, int device);
RT cudaMemRangeGetAttribute(void *data, size_t data_size, enum cudaMemRangeAttribute attribute,
			    const void *ptr, size_t size);
RT cudaMemRangeGetAttributes(void **data, size_t *data_sizes,
			     enum cudaMemRangeAttribute *attributes, size_t n, const void *ptr,
			     size_t size);
RT_ASYNC(cudaMemPrefetchAsync, const void *ptr, size_t size, int device)
RT_STREAM(cudaStreamAttachMemAsync, void *ptr, size_t size, unsigned int flags)

/* copy.c, symbol.c */
RT_SYNC(cudaMemcpy, void *dst, const void *src, size_t n, enum cudaMemcpyKind kind)
RT_ASYNC(cudaMemcpyAsync, void *dst, const void *src, size_t n, enum cudaMemcpyKind kind)
RT cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t n);
RT cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device, size_t n,
		       cudaStream_t stream);
RT_SYNC(cudaMemcpy2D, void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
	size_t height, enum cudaMemcpyKind kind)
RT_ASYNC(cudaMemcpy2DAsync, void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
	 size_t height, enum cudaMemcpyKind kind)
RT_SYNC(cudaMemcpyToSymbol, const void *symbol, const void *src, size_t n, size_t offset,
	enum cudaMemcpyKind kind)
RT_SYNC(cudaMemcpyFromSymbol, void *dst, const void *symbol, size_t n, size_t offset,
	enum cudaMemcpyKind kind)
RT_ASYNC(cudaMemcpyToSymbolAsync, const void *symbol, const void *src, size_t n, size_t offset,
	 enum cudaMemcpyKind kind)
RT_ASYNC(cudaMemcpyFromSymbolAsync, void *dst, const void *symbol, size_t n, size_t offset,
	 enum cudaMemcpyKind kind)
RT cudaGetSymbolAddress(void **ptr, const void *symbol);
RT cudaGetSymbolSize(size_t *size, const void *symbol);

/* copy3d.c */
RT_SYNC(cudaMemcpy3D, const struct cudaMemcpy3DParms *p)
RT_ASYNC(cudaMemcpy3DAsync, const struct cudaMemcpy3DParms *p)
RT_SYNC(cudaMemcpy3DPeer, const struct cudaMemcpy3DPeerParms *p)
RT_ASYNC(cudaMemcpy3DPeerAsync, const struct cudaMemcpy3DPeerParms *p)

/* arraycopy.c */
RT_SYNC(cudaMemcpy2DToArray, cudaArray_t dst, size_t x, size_t y, const void *src, size_t spitch,
	size_t width, size_t height, enum cudaMemcpyKind kind)
RT_ASYNC(cudaMemcpy2DToArrayAsync, cudaArray_t dst, size_t x, size_t y, const void *src,
	 size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind)
RT_SYNC(cudaMemcpy2DFromArray, void *dst, size_t dpitch, cudaArray_const_t src, size_t x, size_t y,
	size_t width, size_t height, enum cudaMemcpyKind kind)
RT_ASYNC(cudaMemcpy2DFromArrayAsync, void *dst, size_t dpitch, cudaArray_const_t src, size_t x,
	 size_t y, size_t width, size_t height, enum cudaMemcpyKind kind)
RT_SYNC(cudaMemcpy2DArrayToArray, cudaArray_t dst, size_t dx, size_t dy, cudaArray_const_t src,
	size_t sx, size_t sy, size_t width, size_t height, enum cudaMemcpyKind kind)
RT_SYNC(cudaMemcpyToArray, cudaArray_t dst, size_t x, size_t y, const void *src, size_t n,
	enum cudaMemcpyKind kind)
RT_ASYNC(cudaMemcpyToArrayAsync, cudaArray_t dst, size_t x, size_t y, const void *src, size_t n,
	 enum cudaMemcpyKind kind)
RT_SYNC(cudaMemcpyFromArray, void *dst, cudaArray_const_t src, size_t x, size_t y, size_t n,
	enum cudaMemcpyKind kind)
RT_ASYNC(cudaMemcpyFromArrayAsync, void *dst, cudaArray_const_t src, size_t x, size_t y, size_t n,
	 enum cudaMemcpyKind kind)
RT_SYNC(cudaMemcpyArrayToArray, cudaArray_t dst, size_t dx, size_t dy, cudaArray_const_t src,
	size_t sx, size_t sy, size_t n, enum cudaMemcpyKind kind)

/* memset.c */
RT_SYNC(cudaMemset, void *ptr, int value, size_t n)
RT_ASYNC(cudaMemsetAsync, void *ptr, int value, size_t n)
RT_SYNC(cudaMemset2D, void *ptr, size_t pitch, int value, size_t width, size_t height)
RT_ASYNC(cudaMemset2DAsync, void *ptr, size_t pitch, int value, size_t width, size_t height)
RT_SYNC(cudaMemset3D, struct cudaPitchedPtr ptr, int value, struct cudaExtent extent)
RT_ASYNC(cudaMemset3DAsync, struct cudaPitchedPtr ptr, int value, struct cudaExtent extent)

/* array.c */
RT cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width,
		   size_t height, unsigned int flags);
RT cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
		     struct cudaExtent extent, unsigned int flags);
RT cudaMallocMipmappedArray(cudaMipmappedArray_t *array, const struct cudaChannelFormatDesc *desc,
			    struct cudaExtent extent, unsigned int levels, unsigned int flags);
RT cudaGetMipmappedArrayLevel(cudaArray_t *level, cudaMipmappedArray_const_t array,
			      unsigned int index);
RT cudaFreeArray(cudaArray_t array);
RT cudaFreeMipmappedArray(cudaMipmappedArray_t array);
RT cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
		    unsigned int *flags, cudaArray_t array);
RT cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array);
API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
						       enum cudaChannelFormatKind f);

/* texture.c, texref.c */
RT cudaCreateTextureObject(cudaTextureObject_t *object, const struct cudaResourceDesc *resource,
			   const struct cudaTextureDesc *texture,
			   const struct cudaResourceViewDesc *view);
RT cudaCreateTextureObject_v2(cudaTextureObject_t *object, const struct cudaResourceDesc *resource,
			      const struct cudaTextureDesc_v2 *texture,
			      const struct cudaResourceViewDesc *view);
RT cudaDestroyTextureObject(cudaTextureObject_t object);
RT cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource, cudaTextureObject_t object);
RT cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *texture, cudaTextureObject_t object);
RT cudaGetTextureObjectTextureDesc_v2(struct cudaTextureDesc_v2 *texture,
				      cudaTextureObject_t object);
RT cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *view,
					cudaTextureObject_t object);
RT cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const struct cudaResourceDesc *resource);
RT cudaDestroySurfaceObject(cudaSurfaceObject_t object);
RT cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource, cudaSurfaceObject_t object);
RT cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const struct cudaChannelFormatDesc *desc,
					int device);
RT cudaBindTexture(size_t *offset, const struct textureReference *ref, const void *ptr,
		   const struct cudaChannelFormatDesc *desc, size_t size);
RT cudaBindTexture2D(size_t *offset, const struct textureReference *ref, const void *ptr,
		     const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
		     size_t pitch);
RT cudaBindTextureToArray(const struct textureReference *ref, cudaArray_const_t array,
			  const struct cudaChannelFormatDesc *desc);
RT cudaBindTextureToMipmappedArray(const struct textureReference *ref,
				   cudaMipmappedArray_const_t array,
				   const struct cudaChannelFormatDesc *desc);
RT cudaUnbindTexture(const struct textureReference *ref);
RT cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *ref);
RT cudaGetTextureReference(const struct textureReference **ref, const void *symbol);
RT cudaBindSurfaceToArray(const struct surfaceReference *ref, cudaArray_const_t array,
			  const struct cudaChannelFormatDesc *desc);
RT cudaGetSurfaceReference(const struct surfaceReference **ref, const void *symbol);

/* graph.c */
RT cudaGraphCreate(cudaGraph_t *graph, unsigned int flags);
RT cudaGraphDestroy(cudaGraph_t graph);
RT cudaGraphDestroyNode(cudaGraphNode_t node);
RT cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph);
RT cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original, cudaGraph_t clone);
RT cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type);
RT cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n);
RT cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n);
RT cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *n);
RT cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *n);
RT cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *n);
RT cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
			    const cudaGraphNode_t *to, size_t n);
RT cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
			       const cudaGraphNode_t *to, size_t n);
RT cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags);
RT cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *bad, char *log,
			size_t size);
RT cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
				 unsigned long long flags);
RT cudaGraphExecDestroy(cudaGraphExec_t exec);
RT cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *bad,
		       enum cudaGraphExecUpdateResult *result);
RT cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
RT cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream);
RT cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
RT cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream);
RT cudaUserObjectCreate(cudaUserObject_t *object, void *ptr, cudaHostFn_t destroy,
			unsigned int count, unsigned int flags);
RT cudaUserObjectRetain(cudaUserObject_t object, unsigned int count);
RT cudaUserObjectRelease(cudaUserObject_t object, unsigned int count);
RT cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count,
			     unsigned int flags);
RT cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count);

/* graphnode.c, graphcopy.c; what has the driver's parameters is in graph.c */
#define RT_ADD \
	cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t n
#define RT_EXEC cudaGraphExec_t exec, cudaGraphNode_t node
RT cudaGraphAddKernelNode(RT_ADD, const struct cudaKernelNodeParams *params);
RT cudaGraphAddMemsetNode(RT_ADD, const struct cudaMemsetParams *params);
RT cudaGraphAddHostNode(RT_ADD, const struct cudaHostNodeParams *params);
RT cudaGraphAddChildGraphNode(RT_ADD, cudaGraph_t child);
RT cudaGraphAddEmptyNode(RT_ADD);
RT cudaGraphAddEventRecordNode(RT_ADD, cudaEvent_t event);
RT cudaGraphAddEventWaitNode(RT_ADD, cudaEvent_t event);
RT cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params);
RT cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *params);
RT cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t src, cudaGraphNode_t dst);
RT cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
				   cudaKernelNodeAttrValue *value);
RT cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
				   const cudaKernelNodeAttrValue *value);
RT cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *params);
RT cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *params);
RT cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *params);
RT cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *params);
RT cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph);
RT cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event);
RT cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);
RT cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event);
RT cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);
RT cudaGraphExecKernelNodeSetParams(RT_EXEC, const struct cudaKernelNodeParams *params);
RT cudaGraphExecMemsetNodeSetParams(RT_EXEC, const struct cudaMemsetParams *params);
RT cudaGraphExecHostNodeSetParams(RT_EXEC, const struct cudaHostNodeParams *params);
RT cudaGraphExecChildGraphNodeSetParams(RT_EXEC, cudaGraph_t child);
RT cudaGraphExecEventRecordNodeSetEvent(RT_EXEC, cudaEvent_t event);
RT cudaGraphExecEventWaitNodeSetEvent(RT_EXEC, cudaEvent_t event);
RT cudaGraphNodeSetEnabled(RT_EXEC, unsigned int enabled);
RT cudaGraphNodeGetEnabled(RT_EXEC, unsigned int *enabled);
#define RT_LINE void *dst, const void *src, size_t count, enum cudaMemcpyKind kind
#define RT_TO_SYMBOL \
	const void *symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind
#define RT_FROM_SYMBOL \
	void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind
RT cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *params);
RT cudaGraphAddMemcpyNode(RT_ADD, const struct cudaMemcpy3DParms *params);
RT cudaGraphAddMemcpyNode1D(RT_ADD, RT_LINE);
RT cudaGraphAddMemcpyNodeToSymbol(RT_ADD, RT_TO_SYMBOL);
RT cudaGraphAddMemcpyNodeFromSymbol(RT_ADD, RT_FROM_SYMBOL);
RT cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *params);
RT cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, RT_LINE);
RT cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, RT_TO_SYMBOL);
RT cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, RT_FROM_SYMBOL);
RT cudaGraphExecMemcpyNodeSetParams(RT_EXEC, const struct cudaMemcpy3DParms *params);
RT cudaGraphExecMemcpyNodeSetParams1D(RT_EXEC, RT_LINE);
RT cudaGraphExecMemcpyNodeSetParamsToSymbol(RT_EXEC, RT_TO_SYMBOL);
RT cudaGraphExecMemcpyNodeSetParamsFromSymbol(RT_EXEC, RT_FROM_SYMBOL);

#ifdef __cplusplus
}
#endif

#endif
