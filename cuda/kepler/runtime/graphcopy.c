// SPDX-License-Identifier: MIT
/* Nodes of graphs that copy: boxes, lines, parts of variables. */
#include "runtime.h"

/*
 * Which node gets the parameters. .out is set: a new node of .graph. Else .exec is set: that of
 * .node in the executable graph. Else .node itself.
 */
struct target {
	cudaGraphNode_t *out;
	cudaGraph_t graph;
	const cudaGraphNode_t *dependencies;
	size_t n;
	cudaGraphExec_t exec;
	cudaGraphNode_t node;
};

static cudaError_t apply(const struct target *t, const CUDA_MEMCPY3D *c)
{
	CUcontext ctx;
	cudaError_t e = from_driver(cuCtxGetCurrent(&ctx));

	if (e)
		return e;
	if (t->out)
		return from_driver(
			cuGraphAddMemcpyNode(t->out, t->graph, t->dependencies, t->n, c, ctx));
	if (t->exec)
		return from_driver(cuGraphExecMemcpyNodeSetParams(t->exec, t->node, c, ctx));
	return from_driver(cuGraphMemcpyNodeSetParams(t->node, c));
}

static cudaError_t box(struct target t, const struct cudaMemcpy3DParms *p)
{
	CUDA_MEMCPY3D c;
	cudaError_t e = p ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = box_of(p, &c);
	return e ? e : apply(&t, &c);
}

static cudaError_t line(struct target t, void *dst, const void *src, size_t count,
			enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY3D c = { .WidthInBytes = count,
			    .Height = 1,
			    .Depth = 1,
			    .srcHost = src,
			    .dstHost = dst,
			    .srcPitch = count,
			    .dstPitch = count };
	enum side to, from;
	cudaError_t e = dst && src && count ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = memcpy_sides(kind, dst, src, &to, &from);
	if (e)
		return e;
	c.srcMemoryType = from == HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
	c.dstMemoryType = to == HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
	c.srcDevice = device_address(src);
	c.dstDevice = device_address(dst);
	return apply(&t, &c);
}

static cudaError_t to_symbol(struct target t, const void *symbol, const void *src, size_t count,
			     size_t offset, enum cudaMemcpyKind kind)
{
	void *at;
	cudaError_t e = part_of_symbol(symbol, count, offset, kind, cudaMemcpyHostToDevice, &at);

	return e ? e : line(t, at, src, count, kind);
}

static cudaError_t from_symbol(struct target t, void *dst, const void *symbol, size_t count,
			       size_t offset, enum cudaMemcpyKind kind)
{
	void *at;
	cudaError_t e = part_of_symbol(symbol, count, offset, kind, cudaMemcpyDeviceToHost, &at);

	return e ? e : line(t, dst, at, count, kind);
}

#define ADDED ((struct target){ .out = node, .graph = graph, .dependencies = dependencies, .n = n })
#define COPY_NODE(suffix, body, params, ...)                                                      \
	cudaError_t cudaGraphAddMemcpyNode##suffix(RT_ADD, params)                                \
	{                                                                                         \
		return set_last_error(node ? body(ADDED, __VA_ARGS__) : cudaErrorInvalidValue);   \
	}                                                                                         \
	cudaError_t cudaGraphMemcpyNodeSetParams##suffix(cudaGraphNode_t node, params)            \
	{                                                                                         \
		return set_last_error(body((struct target){ .node = node }, __VA_ARGS__));        \
	}                                                                                         \
	cudaError_t cudaGraphExecMemcpyNodeSetParams##suffix(RT_EXEC, params)                     \
	{                                                                                         \
		return set_last_error(                                                            \
			exec ? body((struct target){ .exec = exec, .node = node }, __VA_ARGS__) : \
			       cudaErrorInvalidValue);                                            \
	}

#define BOX const struct cudaMemcpy3DParms *params
COPY_NODE(, box, BOX, params)
COPY_NODE(1D, line, RT_LINE, dst, src, count, kind)
COPY_NODE(ToSymbol, to_symbol, RT_TO_SYMBOL, symbol, src, count, offset, kind)
COPY_NODE(FromSymbol, from_symbol, RT_FROM_SYMBOL, dst, symbol, count, offset, kind)

/* ------------------------------------------------------------------ questions */

static cudaError_t element_of(CUarray array, size_t *bytes)
{
	CUDA_ARRAY3D_DESCRIPTOR shape;
	cudaError_t e = array ? array_shape(array, &shape) : cudaSuccess;

	*bytes = array && !e ? bytes_of(shape.Format, shape.NumChannels) : 1;
	return e;
}

static void *pointer(CUmemorytype type, const void *host, CUdeviceptr device)
{
	return type == CU_MEMORYTYPE_HOST  ? (void *)(uintptr_t)host :
	       type == CU_MEMORYTYPE_ARRAY ? NULL :
					     (void *)(uintptr_t)device;
}

static enum cudaMemcpyKind kind_of(const CUDA_MEMCPY3D *c)
{
	bool from = c->srcMemoryType == CU_MEMORYTYPE_HOST,
	     to = c->dstMemoryType == CU_MEMORYTYPE_HOST;

	if (c->srcMemoryType == CU_MEMORYTYPE_UNIFIED || c->dstMemoryType == CU_MEMORYTYPE_UNIFIED)
		return cudaMemcpyDefault;
	return from ? to ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice :
	       to   ? cudaMemcpyDeviceToHost :
		      cudaMemcpyDeviceToDevice;
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *params)
{
	size_t from, to, element;
	CUDA_MEMCPY3D c;
	cudaError_t e = params ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = from_driver(cuGraphMemcpyNodeGetParams(node, &c));
	if (!e)
		e = element_of(c.srcMemoryType == CU_MEMORYTYPE_ARRAY ? c.srcArray : NULL, &from);
	if (!e)
		e = element_of(c.dstMemoryType == CU_MEMORYTYPE_ARRAY ? c.dstArray : NULL, &to);
	if (e)
		return set_last_error(e);
	element = from > to ? from : to;
	*params = (struct cudaMemcpy3DParms){
		.srcPos = { c.srcXInBytes / from, c.srcY, c.srcZ },
		.dstPos = { c.dstXInBytes / to, c.dstY, c.dstZ },
		.srcPtr = { pointer(c.srcMemoryType, c.srcHost, c.srcDevice), c.srcPitch,
			    c.WidthInBytes, c.srcHeight },
		.dstPtr = { pointer(c.dstMemoryType, c.dstHost, c.dstDevice), c.dstPitch,
			    c.WidthInBytes, c.dstHeight },
		.extent = { c.WidthInBytes / element, c.Height, c.Depth },
		.kind = kind_of(&c),
	};
	if (c.srcMemoryType == CU_MEMORYTYPE_ARRAY)
		params->srcArray = (cudaArray_t)c.srcArray;
	if (c.dstMemoryType == CU_MEMORYTYPE_ARRAY)
		params->dstArray = (cudaArray_t)c.dstArray;
	return set_last_error(cudaSuccess);
}
