// SPDX-License-Identifier: MIT
/*
 * The life of a node's work: a kernel's with its parameters, and a child graph, with whose nodes
 * this begins anew.
 */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

void work_free(struct graph_work *w)
{
	if (w->type == CU_GRAPH_NODE_TYPE_KERNEL) {
		free(w->kernel.bytes);
		free(w->kernel.pointers);
		function_drop(w->kernel.f);
	} else if (w->type == CU_GRAPH_NODE_TYPE_GRAPH && w->child) {
		graph_free(w->child);
	}
	*w = (struct graph_work){ .type = CU_GRAPH_NODE_TYPE_EMPTY };
}

static CUresult make_room(struct graph_kernel *k)
{
	const struct image_kernel *image = k->f->kernel;
	uint32_t i;

	/* image_load() refuses such a kernel: a program reads its node at these pointers */
	for (i = 0; i < image->nr_params; i++)
		if ((uint32_t)image->params[i].offset + image->params[i].size > image->param_size)
			return CUDA_ERROR_INVALID_IMAGE;
	k->bytes = calloc(1, image->param_size + 1);
	k->pointers = calloc(image->nr_params + 1, sizeof(*k->pointers));
	if (!k->bytes || !k->pointers) {
		free(k->bytes);
		free(k->pointers);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	for (i = 0; i < image->nr_params; i++)
		k->pointers[i] = k->bytes + image->params[i].offset;
	function_keep(k->f);
	return CUDA_SUCCESS;
}

CUresult work_request(struct graph_work *w, const struct kernel_request *q)
{
	CUresult r = is_function(q->f) ? kernel_check(q) : CUDA_ERROR_INVALID_HANDLE;

	if (r)
		return r;
	*w = (struct graph_work){ .type = CU_GRAPH_NODE_TYPE_KERNEL,
				  .kernel = { .f = q->f, .dynamic = q->dynamic } };
	memcpy(w->kernel.grid, q->grid, sizeof(q->grid));
	memcpy(w->kernel.block, q->block, sizeof(q->block));
	r = make_room(&w->kernel);
	if (r)
		return r;
	r = kernel_arguments(q, w->kernel.bytes);
	if (r)
		work_free(w);
	return r;
}

CUresult work_copy(struct graph_work *to, const struct graph_work *from)
{
	CUresult r = CUDA_SUCCESS;

	*to = *from;
	if (from->type == CU_GRAPH_NODE_TYPE_KERNEL) {
		r = make_room(&to->kernel);
		if (!r)
			memcpy(to->kernel.bytes, from->kernel.bytes,
			       from->kernel.f->kernel->param_size);
	} else if (from->type == CU_GRAPH_NODE_TYPE_GRAPH) {
		r = graph_copy(from->child, &to->child);
	}
	return r;
}
