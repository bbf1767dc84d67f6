// SPDX-License-Identifier: MIT
/* Launches, and nodes of graphs that launch. Parameters come packed. */
#include "server.h"

/* of a function that a list has told; UINT32_MAX: the library does not say */
static uint32_t parameter_bytes(struct server *s, CUfunction f)
{
	size_t offset, size, i;
	uint32_t end = 0;

	if (!s->library.cuFuncGetParamInfo)
		return UINT32_MAX;
	for (i = 0; !s->library.cuFuncGetParamInfo(f, i, &offset, &size); i++)
		if (offset + size > end)
			end = offset + size;
	return end;
}

/*
 * The library reads as many bytes as the kernel's parameters have: @bytes must be that many.
 * *first: the function was not launched yet.
 */
static CUresult take_parameters(struct server *s, struct kvgpu_remote_cursor *in, uint64_t function,
				uint32_t bytes, const void **packed, bool *first)
{
	struct entry *e = NULL;

	if (KVGPU_REMOTE_CLASS(function) == CLASS_FUNCTION)
		e = handle_entry(s, function);
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	if (e->bytes == UINT32_MAX)
		e->bytes = parameter_bytes(s, e->what);
	*first = !e->launched;
	*packed = kvgpu_remote_take_bytes(in, bytes);
	if (*packed && (e->bytes == UINT32_MAX || e->bytes == bytes))
		return CUDA_SUCCESS;
	return CUDA_ERROR_INVALID_VALUE;
}

/* whether its value has neither a handle nor a pointer of the library's */
static bool attribute_is_plain(CUlaunchAttributeID id)
{
	switch (id) {
	case CU_LAUNCH_ATTRIBUTE_IGNORE:
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
	case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
	case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
	case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
	case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
		return true;
	}
	return false;
}

static CUresult refuse_attribute(void)
{
	return REFUSE("an attribute of a launch, node or stream that has a pointer or a handle",
		      "it would be one of another process");
}

/*
 * The frame's next @n attributes, in frame_scratch(): events are the library's. @stream: number of
 * the launch's stream, whose capture may keep an event.
 */
static CUresult take_attributes(struct server *s, struct kvgpu_remote_cursor *in, uint32_t n,
				uint64_t stream_id, CUstream stream, CUlaunchAttribute **out)
{
	const CUlaunchAttribute *from = NULL;
	CUlaunchAttribute *to;
	CUresult r = CUDA_SUCCESS;
	void *event;
	uint64_t id;
	uint32_t i;

	if (n <= KVGPU_REMOTE_ATTRIBUTES_MAX)
		from = kvgpu_remote_take_bytes(in, n * sizeof(*from));
	to = from ? frame_scratch(s, n, sizeof(*to)) : NULL;
	if (!to)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < n && !r; i++) {
		to[i] = from[i];
		if (attribute_is_plain(to[i].id))
			continue;
		if (to[i].id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT &&
		    to[i].id != CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
			return refuse_attribute();
		memcpy(&id, &to[i].value, sizeof(id));
		if (!handle_find(s, CLASS_EVENT, id, &event))
			return CUDA_ERROR_INVALID_HANDLE;
		to[i].value.event = event;
		r = capture_ref_add(s, stream_id, stream, id);
	}
	*out = to;
	return r;
}

static CUlaunchConfig config_of(const uint32_t *grid, const uint32_t *block, uint32_t shared,
				CUstream stream, CUlaunchAttribute *attributes, uint32_t n)
{
	return (CUlaunchConfig){ .gridDimX = grid[0],
				 .gridDimY = grid[1],
				 .gridDimZ = grid[2],
				 .blockDimX = block[0],
				 .blockDimY = block[1],
				 .blockDimZ = block[2],
				 .sharedMemBytes = shared,
				 .hStream = stream,
				 .attrs = attributes,
				 .numAttrs = n };
}

CUresult frame_launch(struct server *s, const struct q_launch *q, struct kvgpu_remote_cursor *in,
		      struct kvgpu_remote_reply *out)
{
	CUlaunchAttribute *attributes = NULL;
	const void *packed;
	size_t bytes = q->bytes;
	CUlaunchConfig config;
	CUstream stream;
	bool first = false;
	void *f;
	CUresult r = take_parameters(s, in, q->function, q->bytes, &packed, &first);
	void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)packed,
			  CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END };

	if (r)
		return r;
	if (!handle_find(s, CLASS_FUNCTION, q->function, &f) || !stream_find(s, q->stream, &stream))
		return CUDA_ERROR_INVALID_HANDLE;
	if (q->attributes)
		r = take_attributes(s, in, q->attributes, q->stream, stream, &attributes);
	if (!r)
		r = capture_ref_add(s, q->stream, stream, q->function);
	if (r)
		return r;
	if (first)
		take_begin(s);
	if (!q->attributes) {
		r = CALL(s, cuLaunchKernel, f, q->grid[0], q->grid[1], q->grid[2], q->block[0],
			 q->block[1], q->block[2], q->shared, stream, NULL, extra);
	} else {
		config = config_of(q->grid, q->block, q->shared, stream, attributes, q->attributes);
		r = CALL(s, cuLaunchKernelEx, &config, f, NULL, extra);
	}
	if (first)
		take_ends_launch(s, handle_entry(s, q->function), r);
	return r;
}

CUresult frame_clusters(struct server *s, const struct q_clusters *q,
			struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct a_clusters *a = kvgpu_remote_put(out, sizeof(*a));
	CUlaunchAttribute *attributes = NULL;
	CUlaunchConfig config;
	int clusters = 0;
	void *f;
	CUresult r;

	if (!a || !handle_find(s, CLASS_FUNCTION, q->function, &f))
		return CUDA_ERROR_INVALID_HANDLE;
	r = take_attributes(s, in, q->attributes, 0, NULL, &attributes);
	if (r)
		return r;
	config = config_of(q->grid, q->block, q->shared, NULL, attributes, q->attributes);
	r = q->potential ? CALL(s, cuOccupancyMaxPotentialClusterSize, &clusters, f, &config) :
			   CALL(s, cuOccupancyMaxActiveClusters, &clusters, f, &config);
	a->clusters = clusters;
	return r;
}

/* ------------------------------------------------------- attributes of nodes and of streams */

CUresult own_cuGraphKernelNodeGetAttribute(struct server *s, CUgraphNode node,
					   CUkernelNodeAttrID attribute,
					   CUkernelNodeAttrValue *value)
{
	return attribute_is_plain(attribute) ?
		       CALL(s, cuGraphKernelNodeGetAttribute, node, attribute, value) :
		       refuse_attribute();
}

CUresult own_cuGraphKernelNodeSetAttribute(struct server *s, CUgraphNode node,
					   CUkernelNodeAttrID attribute,
					   const CUkernelNodeAttrValue *value)
{
	return attribute_is_plain(attribute) ?
		       CALL(s, cuGraphKernelNodeSetAttribute, node, attribute, value) :
		       refuse_attribute();
}

CUresult own_cuStreamGetAttribute(struct server *s, CUstream stream, CUstreamAttrID attribute,
				  CUstreamAttrValue *value)
{
	return attribute_is_plain(attribute) ?
		       CALL(s, cuStreamGetAttribute, stream, attribute, value) :
		       refuse_attribute();
}

CUresult own_cuStreamSetAttribute(struct server *s, CUstream stream, CUstreamAttrID attribute,
				  const CUstreamAttrValue *value)
{
	return attribute_is_plain(attribute) ?
		       CALL(s, cuStreamSetAttribute, stream, attribute, value) :
		       refuse_attribute();
}

/* ------------------------------------------------------------------ nodes that launch */

CUresult frame_kernel_node(struct server *s, const struct q_kernel_node *q,
			   struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	CUgraphNode *dependencies = list_open(s, in, CLASS_NODE, q->dependencies), made = NULL;
	struct a_kernel_node *a = kvgpu_remote_put(out, sizeof(*a));
	void *graph = NULL, *node = NULL, *exec = NULL, *f = NULL;
	const void *packed = NULL;
	size_t bytes = q->bytes;
	bool first = false;
	CUresult r = take_parameters(s, in, q->function, q->bytes, &packed, &first);
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
	if (exec) {
		handle_entry(s, q->exec)->launched = false;
		return CALL(s, cuGraphExecKernelNodeSetParams, exec, node, &p);
	}
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
