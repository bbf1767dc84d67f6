// SPDX-License-Identifier: MIT
/* Launches, and nodes of graphs that launch. Parameters come packed. */
#include "server.h"

/* the library reads as many bytes as the kernel's parameters have: @bytes must be that many */
static CUresult take_parameters(struct server *s, struct kvgpu_remote_cursor *in, uint64_t function,
				uint32_t bytes, const void **packed)
{
	struct entry *e = NULL;

	if (KVGPU_REMOTE_CLASS(function) == CLASS_FUNCTION)
		e = handle_entry(s, function);
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	*packed = kvgpu_remote_take_bytes(in, bytes);
	if (*packed && (e->bytes == UINT32_MAX || e->bytes == bytes))
		return CUDA_SUCCESS;
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult frame_launch(struct server *s, const struct q_launch *q, struct kvgpu_remote_cursor *in,
		      struct kvgpu_remote_reply *out)
{
	const void *packed;
	size_t bytes = q->bytes;
	CUstream stream;
	void *f;
	CUresult r = take_parameters(s, in, q->function, q->bytes, &packed);
	void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)packed,
			  CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END };

	if (r)
		return r;
	if (!handle_find(s, CLASS_FUNCTION, q->function, &f) || !stream_find(s, q->stream, &stream))
		return CUDA_ERROR_INVALID_HANDLE;
	r = capture_ref_add(s, q->stream, stream, q->function);
	if (r)
		return r;
	return CALL(s, cuLaunchKernel, f, q->grid[0], q->grid[1], q->grid[2], q->block[0],
		    q->block[1], q->block[2], q->shared, stream, NULL, extra);
}

CUresult frame_kernel_node(struct server *s, const struct q_kernel_node *q,
			   struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	CUgraphNode *dependencies = list_open(s, in, CLASS_NODE, q->dependencies), made = NULL;
	struct a_kernel_node *a = kvgpu_remote_put(out, sizeof(*a));
	void *graph = NULL, *node = NULL, *exec = NULL, *f = NULL;
	const void *packed = NULL;
	size_t bytes = q->bytes;
	CUresult r = take_parameters(s, in, q->function, q->bytes, &packed);
	void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)packed,
			  CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END };
	CUDA_KERNEL_NODE_PARAMS p = { .gridDimX = q->grid[0],
				      .gridDimY = q->grid[1],
				      .gridDimZ = q->grid[2],
				      .blockDimX = q->block[0],
				      .blockDimY = q->block[1],
				      .blockDimZ = q->block[2],
				      .sharedMemBytes = q->shared,
				      .extra = extra };

	if (r)
		return r;
	if (!a || !dependencies || (q->graph && !handle_find(s, CLASS_GRAPH, q->graph, &graph)) ||
	    (q->node && !handle_find(s, CLASS_NODE, q->node, &node)) ||
	    (q->exec && !handle_find(s, CLASS_EXEC, q->exec, &exec)) ||
	    !handle_find(s, CLASS_FUNCTION, q->function, &f))
		return CUDA_ERROR_INVALID_HANDLE;
	p.func = f;
	r = graph_ref_add(s, exec ? q->exec : node ? parent_of(s, q->node) : q->graph, q->function);
	if (r)
		return r;
	if (exec)
		return CALL(s, cuGraphExecKernelNodeSetParams, exec, node, &p);
	if (node)
		return CALL(s, cuGraphKernelNodeSetParams, node, &p);
	r = CALL(s, cuGraphAddKernelNode, &made, graph, dependencies, q->dependencies, &p);
	if (!r)
		a->node = handle_give(s, CLASS_NODE, made, q->graph);
	return r || a->node ? r : CUDA_ERROR_OUT_OF_MEMORY;
}

/*
 * A library may return a node's parameters as it got them: packed (NVIDIA's does). NULL: they are
 * not packed, or fewer than @bytes.
 */
static const void *packed_parameters(const CUDA_KERNEL_NODE_PARAMS *p, size_t bytes)
{
	void **word = p->extra;
	const void *from = NULL;
	size_t have = 0;

	for (; word && word[0] != CU_LAUNCH_PARAM_END; word += 2) {
		if (word[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			from = word[1];
		else if (word[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
			have = *(const size_t *)word[1];
		else
			return NULL;
	}
	return have >= bytes ? from : NULL;
}

/*
 * Put the parameters into the answer, each at its offset, if they can be told. False: no room, or
 * the library names a parameter outside of e->bytes.
 */
static bool put_parameters(struct server *s, const CUDA_KERNEL_NODE_PARAMS *p,
			   struct a_kernel_node_get *a, struct kvgpu_remote_reply *out)
{
	struct entry *e = handle_entry(s, a->function);
	const void *packed = e && e->bytes != UINT32_MAX ? packed_parameters(p, e->bytes) : NULL;
	size_t offset, size, i;
	uint8_t *to;

	if (!e || e->bytes == UINT32_MAX || (!p->kernelParams && !packed))
		return true;
	to = kvgpu_remote_put(out, e->bytes);
	if (!to)
		return false;
	if (packed)
		memcpy(to, packed, e->bytes);
	for (i = 0; !packed && !s->library.cuFuncGetParamInfo(p->func, i, &offset, &size); i++) {
		if (offset + size > e->bytes)
			return false;
		memcpy(to + offset, p->kernelParams[i], size);
	}
	a->bytes = e->bytes;
	return true;
}

CUresult frame_kernel_node_get(struct server *s, const struct q_kernel_node_get *q,
			       struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct a_kernel_node_get *a = kvgpu_remote_put(out, sizeof(*a));
	CUDA_KERNEL_NODE_PARAMS p = { 0 };
	void *node;
	CUresult r;

	if (!a || !handle_find(s, CLASS_NODE, q->node, &node))
		return CUDA_ERROR_INVALID_HANDLE;
	r = CALL(s, cuGraphKernelNodeGetParams, node, &p);
	if (r)
		return r;
	a->function = handle_known(s, CLASS_FUNCTION, p.func);
	if (!a->function) /* the function's module may be gone */
		return CUDA_ERROR_INVALID_HANDLE;
	memcpy(a->grid, (uint32_t[]){ p.gridDimX, p.gridDimY, p.gridDimZ }, sizeof(a->grid));
	memcpy(a->block, (uint32_t[]){ p.blockDimX, p.blockDimY, p.blockDimZ }, sizeof(a->block));
	a->shared = p.sharedMemBytes;
	return put_parameters(s, &p, a, out) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
