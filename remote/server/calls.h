/* SPDX-License-Identifier: MIT */
/* What cases.c, which is made by remote/api.py, has and calls */
#ifndef KVGPU_REMOTE_SERVER_CALLS_H
#define KVGPU_REMOTE_SERVER_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include <remote/wire/cursor.h>
#include <remote/wire/frame.h>

#include "ops.h"
#include "library.h"

struct server;

CUresult serve_op(struct server *s, uint16_t op, struct kvgpu_remote_cursor *in,
		  struct kvgpu_remote_reply *out);
/* whether the answer to @op reports errors of async calls */
bool op_reports(uint16_t op);
/* whether the answer to @op may have a new number */
bool op_gives(uint16_t op);
/* whether @op is work for the GPU; the offset of the stream in its frame, -1: the null stream */
bool op_works(uint16_t op);
int op_stream_at(uint16_t op);
/* whether @op gives or takes device memory, which the GPU clears */
bool op_moves(uint16_t op);
/* whether the answer to @op is the same before and after async work */
bool op_passes(uint16_t op);

/* Whether memory can be there; with other places than a device's it can't: no quota counts them. */
bool place_fine(const CUmemLocation *location);

/* own_NAME() is called in the place of the library's NAME() */

#define FRAME(name)                                                       \
	CUresult frame_##name(struct server *s, const struct q_##name *q, \
			      struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
#define EMPTY_FRAME(name)                                                       \
	CUresult frame_##name(struct server *s, struct kvgpu_remote_cursor *in, \
			      struct kvgpu_remote_reply *out)
FRAME(current);
FRAME(fence);
FRAME(barrier);
FRAME(event_anew);
FRAME(lend);
FRAME(lend_end);
EMPTY_FRAME(pin);
FRAME(ring);
FRAME(grow);
FRAME(facts);
FRAME(usage);
FRAME(primary);
FRAME(init);
FRAME(image);
FRAME(image_part);
FRAME(function);
FRAME(image_function);
FRAME(functions);
FRAME(global);
FRAME(launch);
FRAME(clusters);
FRAME(copy_in);
FRAME(copy_out);
FRAME(box);
FRAME(run);
FRAME(peer);
FRAME(host_call);
FRAME(pointer);
FRAME(pointer_set);
FRAME(capture_info);
FRAME(instantiate);
FRAME(update);
FRAME(kernel_node);
FRAME(kernel_node_get);
FRAME(child_node);
FRAME(condition_node);
FRAME(copy_node);
FRAME(copy_node_get);
FRAME(host_node);
FRAME(user_object);
FRAME(access);
FRAME(pool_get);
FRAME(pool_set);
FRAME(pool_access);
FRAME(graph_memory);
FRAME(graph_memory_set);
FRAME(share_open);
FRAME(managed);
FRAME(managed_in);
FRAME(managed_out);
FRAME(mapped_in);
FRAME(mapped_out);
FRAME(idle);
EMPTY_FRAME(map);
FRAME(range_attribute);
FRAME(link_create);
FRAME(link_add);
FRAME(link_complete);

CUresult own_cuCtxCreate_v2(struct server *s, CUcontext *ctx, unsigned int flags, CUdevice dev);
CUresult own_cuCtxDestroy_v2(struct server *s, CUcontext ctx);
CUresult own_cuCtxAttach(struct server *s, CUcontext *ctx, unsigned int flags);
CUresult own_cuCtxDetach(struct server *s, CUcontext ctx);
CUresult own_cuDevicePrimaryCtxRelease_v2(struct server *s, CUdevice dev);
CUresult own_cuDevicePrimaryCtxReset_v2(struct server *s, CUdevice dev);
CUresult own_cuCtxSetLimit(struct server *s, CUlimit limit, size_t value);
CUresult own_cuCtxSynchronize(struct server *s);
CUresult own_cuStreamSynchronize(struct server *s, CUstream stream);
CUresult own_cuStreamQuery(struct server *s, CUstream stream);
CUresult own_cuStreamDestroy_v2(struct server *s, CUstream stream);
CUresult own_cuStreamCreate(struct server *s, CUstream *stream, unsigned int flags);
CUresult own_cuStreamCreateWithPriority(struct server *s, CUstream *stream, unsigned int flags,
					int priority);
CUresult own_cuStreamBeginCapture(struct server *s, CUstream stream);
CUresult own_cuStreamBeginCapture_v2(struct server *s, CUstream stream, CUstreamCaptureMode mode);
CUresult own_cuStreamWaitEvent(struct server *s, CUstream stream, CUevent event,
			       unsigned int flags);
CUresult own_cuEventRecordWithFlags(struct server *s, CUevent event, CUstream stream,
				    unsigned int flags);
CUresult own_cuEventDestroy_v2(struct server *s, CUevent event);
CUresult own_cuLaunchGridAsync(struct server *s, CUfunction f, int width, int height,
			       CUstream stream);
CUresult own_cuGraphAddEventRecordNode(struct server *s, CUgraphNode *node, CUgraph graph,
				       const CUgraphNode *dependencies, size_t n, CUevent event);
CUresult own_cuGraphAddEventWaitNode(struct server *s, CUgraphNode *node, CUgraph graph,
				     const CUgraphNode *dependencies, size_t n, CUevent event);
CUresult own_cuGraphEventRecordNodeSetEvent(struct server *s, CUgraphNode node, CUevent event);
CUresult own_cuGraphEventWaitNodeSetEvent(struct server *s, CUgraphNode node, CUevent event);
CUresult own_cuGraphExecEventRecordNodeSetEvent(struct server *s, CUgraphExec exec,
						CUgraphNode node, CUevent event);
CUresult own_cuGraphExecEventWaitNodeSetEvent(struct server *s, CUgraphExec exec, CUgraphNode node,
					      CUevent event);
CUresult own_cuEventCreate(struct server *s, CUevent *event, unsigned int flags);
CUresult own_cuEventRecord(struct server *s, CUevent event, CUstream stream);
CUresult own_cuEventSynchronize(struct server *s, CUevent event);
CUresult own_cuEventQuery(struct server *s, CUevent event);
CUresult own_cuEventElapsedTime(struct server *s, float *ms, CUevent start, CUevent end);
CUresult own_cuStreamBeginCaptureToGraph(struct server *s, CUstream stream, CUgraph graph,
					 const CUgraphNode *dependencies,
					 const CUgraphEdgeData *edges, size_t n,
					 CUstreamCaptureMode mode);
CUresult own_cuStreamEndCapture(struct server *s, CUstream stream, CUgraph *graph);
CUresult own_cuGraphNodeGetType(struct server *s, CUgraphNode node, CUgraphNodeType *type);
CUresult own_cuGraphChildGraphNodeGetGraph(struct server *s, CUgraphNode node, CUgraph *graph);
CUresult own_cuGraphExecChildGraphNodeSetParams(struct server *s, CUgraphExec exec,
						CUgraphNode node, CUgraph child);
CUresult own_cuGraphNodeSetEnabled(struct server *s, CUgraphExec exec, CUgraphNode node,
				   unsigned int enabled);
CUresult own_cuGraphNodeGetEnabled(struct server *s, CUgraphExec exec, CUgraphNode node,
				   unsigned int *enabled);
CUresult own_cuGraphLaunch(struct server *s, CUgraphExec exec, CUstream stream);
CUresult own_cuGraphDestroy(struct server *s, CUgraph graph);
CUresult own_cuGraphConditionalHandleCreate(struct server *s, CUgraphConditionalHandle *handle,
					    CUgraph graph, CUcontext ctx, unsigned int value,
					    unsigned int flags);
CUresult own_cuGraphClone(struct server *s, CUgraph *clone, CUgraph graph);
CUresult own_cuGraphKernelNodeGetAttribute(struct server *s, CUgraphNode node,
					   CUkernelNodeAttrID attribute,
					   CUkernelNodeAttrValue *value);
CUresult own_cuGraphKernelNodeSetAttribute(struct server *s, CUgraphNode node,
					   CUkernelNodeAttrID attribute,
					   const CUkernelNodeAttrValue *value);
CUresult own_cuStreamGetAttribute(struct server *s, CUstream stream, CUstreamAttrID attribute,
				  CUstreamAttrValue *value);
CUresult own_cuStreamSetAttribute(struct server *s, CUstream stream, CUstreamAttrID attribute,
				  const CUstreamAttrValue *value);
CUresult own_cuGraphNodeFindInClone(struct server *s, CUgraphNode *node, CUgraphNode original,
				    CUgraph clone);
CUresult own_cuUserObjectRetain(struct server *s, CUuserObject object, unsigned int count);
CUresult own_cuUserObjectRelease(struct server *s, CUuserObject object, unsigned int count);
CUresult own_cuGraphRetainUserObject(struct server *s, CUgraph graph, CUuserObject object,
				     unsigned int count, unsigned int flags);
CUresult own_cuGraphReleaseUserObject(struct server *s, CUgraph graph, CUuserObject object,
				      unsigned int count);
CUresult own_cuModuleUnload(struct server *s, CUmodule module);
CUresult own_cuParamSetv(struct server *s, CUfunction f, int offset, void *bytes, unsigned int n);
CUresult own_cuFuncSetAttribute(struct server *s, CUfunction f, CUfunction_attribute attribute,
				int value);
CUresult own_cuLinkDestroy(struct server *s, CUlinkState state);
/* copy.c: between places of mapped memory behind work that the stream has yet to do */
CUresult own_cuMemcpyDtoD_v2(struct server *s, CUdeviceptr dst, CUdeviceptr src, size_t bytes);
CUresult own_cuMemcpyDtoDAsync_v2(struct server *s, CUdeviceptr dst, CUdeviceptr src, size_t bytes,
				  CUstream stream);
CUresult own_cuMemGetInfo_v2(struct server *s, size_t *free, size_t *total);
CUresult own_cuMemAlloc_v2(struct server *s, CUdeviceptr *ptr, size_t bytes);
CUresult own_cuMemAllocPitch_v2(struct server *s, CUdeviceptr *ptr, size_t *pitch, size_t width,
				size_t height, unsigned int element);
CUresult own_cuMemFree_v2(struct server *s, CUdeviceptr ptr);
CUresult own_cuMemAllocAsync(struct server *s, CUdeviceptr *ptr, size_t bytes, CUstream stream);
CUresult own_cuMemAllocFromPoolAsync(struct server *s, CUdeviceptr *ptr, size_t bytes,
				     CUmemoryPool pool, CUstream stream);
CUresult own_cuMemFreeAsync(struct server *s, CUdeviceptr ptr, CUstream stream);
CUresult own_cuMemPoolCreate(struct server *s, CUmemoryPool *pool, const CUmemPoolProps *props);
CUresult own_cuMemPoolDestroy(struct server *s, CUmemoryPool pool);
CUresult own_cuMemPoolTrimTo(struct server *s, CUmemoryPool pool, size_t keep);
CUresult own_cuMemCreate(struct server *s, CUmemGenericAllocationHandle *handle, size_t bytes,
			 const CUmemAllocationProp *prop, unsigned long long flags);
CUresult own_cuMemRelease(struct server *s, CUmemGenericAllocationHandle handle);
CUresult own_cuMemMap(struct server *s, CUdeviceptr ptr, size_t bytes, size_t offset,
		      CUmemGenericAllocationHandle handle, unsigned long long flags);
CUresult own_cuMemUnmap(struct server *s, CUdeviceptr ptr, size_t bytes);
CUresult own_cuMemRetainAllocationHandle(struct server *s, CUmemGenericAllocationHandle *handle,
					 void *addr);
CUresult own_cuIpcGetMemHandle(struct server *s, CUipcMemHandle *handle, CUdeviceptr ptr);
CUresult own_cuIpcCloseMemHandle(struct server *s, CUdeviceptr ptr);
CUresult own_cuIpcGetEventHandle(struct server *s, CUipcEventHandle *handle, CUevent event);
CUresult own_cuIpcOpenEventHandle(struct server *s, CUevent *event, CUipcEventHandle handle);
CUresult own_cuArrayCreate_v2(struct server *s, CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc);
CUresult own_cuArray3DCreate_v2(struct server *s, CUarray *array,
				const CUDA_ARRAY3D_DESCRIPTOR *desc);
CUresult own_cuMipmappedArrayCreate(struct server *s, CUmipmappedArray *array,
				    const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned int levels);

#endif
