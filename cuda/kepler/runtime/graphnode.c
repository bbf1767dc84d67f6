// SPDX-License-Identifier: MIT
/*
 * Nodes whose parameters differ from the driver's: kernels are named by their addresses on the
 * host.
 */
#include <string.h>

#include "runtime.h"

/* ------------------------------------------------------------------ kernels */

static cudaError_t kernel_of(const struct cudaKernelNodeParams *p, CUDA_KERNEL_NODE_PARAMS *out)
{
	CUfunction f;
	cudaError_t e = p ? find_function(p->func, &f) : cudaErrorInvalidValue;

	if (!e)
		*out = (CUDA_KERNEL_NODE_PARAMS){ f,
						  p->gridDim.x,
						  p->gridDim.y,
						  p->gridDim.z,
						  p->blockDim.x,
						  p->blockDim.y,
						  p->blockDim.z,
						  p->sharedMemBytes,
						  p->kernelParams,
						  p->extra };
	return e;
}

cudaError_t cudaGraphAddKernelNode(RT_ADD, const struct cudaKernelNodeParams *params)
{
	CUDA_KERNEL_NODE_PARAMS p;
	cudaError_t e = kernel_of(params, &p);

	return set_last_error(
		e ? e : from_driver(cuGraphAddKernelNode(node, graph, dependencies, n, &p)));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
					 const struct cudaKernelNodeParams *params)
{
	CUDA_KERNEL_NODE_PARAMS p;
	cudaError_t e = kernel_of(params, &p);

	return set_last_error(e ? e : from_driver(cuGraphKernelNodeSetParams(node, &p)));
}

cudaError_t cudaGraphExecKernelNodeSetParams(RT_EXEC, const struct cudaKernelNodeParams *params)
{
	CUDA_KERNEL_NODE_PARAMS p;
	cudaError_t e = kernel_of(params, &p);

	return set_last_error(e ? e : from_driver(cuGraphExecKernelNodeSetParams(exec, node, &p)));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params)
{
	CUDA_KERNEL_NODE_PARAMS p;
	const void *host;
	cudaError_t e = params ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = from_driver(cuGraphKernelNodeGetParams(node, &p));
	if (!e)
		e = find_host(p.func, &host);
	if (!e)
		*params = (struct cudaKernelNodeParams){ (void *)(uintptr_t)host,
							 { p.gridDimX, p.gridDimY, p.gridDimZ },
							 { p.blockDimX, p.blockDimY, p.blockDimZ },
							 p.sharedMemBytes,
							 p.kernelParams,
							 p.extra };
	return set_last_error(e);
}

/* attributes have the same values as in the driver API */
_Static_assert(sizeof(cudaKernelNodeAttrValue) == sizeof(CUkernelNodeAttrValue),
	       "size of an attribute");

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
					    cudaKernelNodeAttrValue *value)
{
	CUkernelNodeAttrValue v;
	cudaError_t e = value ? use_context() : cudaErrorInvalidValue;

	memset(&v, 0, sizeof(v));
	if (!e)
		e = from_driver(
			cuGraphKernelNodeGetAttribute(node, (CUkernelNodeAttrID)attribute, &v));
	if (!e)
		memcpy(value, &v, sizeof(v));
	return set_last_error(e);
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID attribute,
					    const cudaKernelNodeAttrValue *value)
{
	CUkernelNodeAttrValue v;
	cudaError_t e = value ? use_context() : cudaErrorInvalidValue;

	if (e)
		return set_last_error(e);
	memcpy(&v, value, sizeof(v));
	return set_last_error(from_driver(
		cuGraphKernelNodeSetAttribute(node, (CUkernelNodeAttrID)attribute, &v)));
}

/* ------------------------------------------------------------------ fills */

static cudaError_t fill_of(const struct cudaMemsetParams *p, CUDA_MEMSET_NODE_PARAMS *out,
			   CUcontext *ctx)
{
	cudaError_t e = p ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = from_driver(cuCtxGetCurrent(ctx));
	if (!e)
		*out = (CUDA_MEMSET_NODE_PARAMS){ device_address(p->dst), p->pitch, p->value,
						  p->elementSize,	  p->width, p->height };
	return e;
}

cudaError_t cudaGraphAddMemsetNode(RT_ADD, const struct cudaMemsetParams *params)
{
	CUDA_MEMSET_NODE_PARAMS p;
	CUcontext ctx;
	cudaError_t e = fill_of(params, &p, &ctx);

	return set_last_error(
		e ? e : from_driver(cuGraphAddMemsetNode(node, graph, dependencies, n, &p, ctx)));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
					 const struct cudaMemsetParams *params)
{
	CUDA_MEMSET_NODE_PARAMS p;
	CUcontext ctx;
	cudaError_t e = fill_of(params, &p, &ctx);

	return set_last_error(e ? e : from_driver(cuGraphMemsetNodeSetParams(node, &p)));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(RT_EXEC, const struct cudaMemsetParams *params)
{
	CUDA_MEMSET_NODE_PARAMS p;
	CUcontext ctx;
	cudaError_t e = fill_of(params, &p, &ctx);

	return set_last_error(e ? e :
				  from_driver(cuGraphExecMemsetNodeSetParams(exec, node, &p, ctx)));
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *params)
{
	CUDA_MEMSET_NODE_PARAMS p;
	cudaError_t e = params ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = from_driver(cuGraphMemsetNodeGetParams(node, &p));
	if (!e)
		*params = (struct cudaMemsetParams){
			(void *)(uintptr_t)p.dst, p.pitch, p.value, p.elementSize, p.width, p.height
		};
	return set_last_error(e);
}

/* ------------------------------------------------------------------ host functions */

static cudaError_t host_of(const struct cudaHostNodeParams *p, CUDA_HOST_NODE_PARAMS *out)
{
	cudaError_t e = p ? use_context() : cudaErrorInvalidValue;

	if (!e)
		*out = (CUDA_HOST_NODE_PARAMS){ p->fn, p->userData };
	return e;
}

cudaError_t cudaGraphAddHostNode(RT_ADD, const struct cudaHostNodeParams *params)
{
	CUDA_HOST_NODE_PARAMS p;
	cudaError_t e = host_of(params, &p);

	return set_last_error(
		e ? e : from_driver(cuGraphAddHostNode(node, graph, dependencies, n, &p)));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
				       const struct cudaHostNodeParams *params)
{
	CUDA_HOST_NODE_PARAMS p;
	cudaError_t e = host_of(params, &p);

	return set_last_error(e ? e : from_driver(cuGraphHostNodeSetParams(node, &p)));
}

cudaError_t cudaGraphExecHostNodeSetParams(RT_EXEC, const struct cudaHostNodeParams *params)
{
	CUDA_HOST_NODE_PARAMS p;
	cudaError_t e = host_of(params, &p);

	return set_last_error(e ? e : from_driver(cuGraphExecHostNodeSetParams(exec, node, &p)));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *params)
{
	CUDA_HOST_NODE_PARAMS p;
	cudaError_t e = params ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = from_driver(cuGraphHostNodeGetParams(node, &p));
	if (!e)
		*params = (struct cudaHostNodeParams){ p.fn, p.userData };
	return set_last_error(e);
}
