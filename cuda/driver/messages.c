// SPDX-License-Identifier: MIT
/*
 * Makes the memory of what kernels print and assert, their heap, and what they may ask of devices;
 * tells kernels where it is.
 */
#include <stdlib.h>
#include <string.h>

#include "../syscalls/syscalls.h"
#include "messages.h"

enum { RING_MIN = 4096 };
#define RING_MAX (64u << 20)

static CUresult write_head(CUcontext ctx, struct messages *m)
{
	struct syscall_head h = { .reserved = m->taken };
	struct plane src = { .host = (uint8_t *)&h }, dst = { .va = m->head->va };
	struct moment end;
	CUresult r;

	if (m->heap) {
		h.top = m->heap->va;
		h.end = m->heap->va + m->heap->size;
	}
	r = transfer(ctx, &ctx->null, &dst, &src, sizeof(h), 1);
	end = stream_begin(&ctx->null);
	return r ? r : moment_wait(ctx, &end);
}

/* Attributes of all devices behind the ring, for kernels that ask. */
static CUresult tell_devices(CUcontext ctx, struct messages *m)
{
	struct syscall_block *b = block_of(m);
	int *value = (int *)((uint8_t *)m->block->map + RING_AT + m->ring_bytes);
	CUresult r = CUDA_SUCCESS;
	int device, i;

	b->attributes = m->block->va + RING_AT + m->ring_bytes;
	b->device = ctx->dev;
	b->nr_devices = driver_count();
	for (device = 0; device < b->nr_devices && !r; device++)
		for (i = 1; i <= SYSCALL_ATTRIBUTES && !r; i++)
			r = cuDeviceGetAttribute(value++, i, device);
	return r;
}

static CUresult open_messages(CUcontext ctx)
{
	struct messages *m = calloc(1, sizeof(*m));
	const struct device_ops *ops = ctx->device->ops;
	struct syscall_block *b;
	CUresult r;

	if (!m)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (m->ring_bytes = RING_MIN;
	     m->ring_bytes < RING_MAX && m->ring_bytes < ctx->limit[CU_LIMIT_PRINTF_FIFO_SIZE];)
		m->ring_bytes *= 2;
	r = error_of(ops->alloc(ctx->device, PLACE_HOST,
				RING_AT + m->ring_bytes +
					driver_count() * SYSCALL_ATTRIBUTES * sizeof(int),
				&m->block));
	if (!r)
		r = error_of(
			ops->alloc(ctx->device, PLACE_VRAM, sizeof(struct syscall_head), &m->head));
	if (r) {
		if (m->block)
			ops->release(ctx->device, m->block);
		free(m);
		return r;
	}
	pthread_mutex_init(&m->lock, NULL);
	memset(m->block->map, 0, RING_AT + m->ring_bytes);
	b = block_of(m);
	b->head = m->head->va;
	b->ring = m->block->va + RING_AT;
	b->ring_bytes = m->ring_bytes;
	r = tell_devices(ctx, m);
	__atomic_store_n(&ctx->messages, m, __ATOMIC_RELEASE);
	return r ? r : write_head(ctx, m);
}

static CUresult open_heap(CUcontext ctx, struct messages *m)
{
	CUresult r;

	if (m->heap)
		return CUDA_SUCCESS;
	r = moment_wait(ctx, &ctx->submitted); /* no kernel may run while the head is written */
	if (!r)
		r = error_of(ctx->device->ops->alloc(ctx->device, PLACE_VRAM,
						     ctx->limit[CU_LIMIT_MALLOC_HEAP_SIZE] | 1,
						     &m->heap));
	return r ? r : write_head(ctx, m);
}

/* Keep the first @n bytes of @in, which may have formats. */
static CUresult add_text(struct messages *m, CUmodule module, const struct device_memory *in,
			 const uint8_t *bytes, uint32_t n)
{
	struct text *t = n ? malloc(sizeof(*t) + n + 1) : NULL;

	if (!n)
		return CUDA_SUCCESS;
	if (!t)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*t = (struct text){ .module = module, .va = in->va, .size = n };
	memcpy(t->bytes, bytes, n);
	t->bytes[n] = 0;
	pthread_mutex_lock(&m->lock);
	t->next = m->texts;
	m->texts = t;
	pthread_mutex_unlock(&m->lock);
	return CUDA_SUCCESS;
}

CUresult messages_add(CUcontext ctx, CUmodule module)
{
	const uint32_t heap = 1u << SYSCALL_MALLOC | 1u << SYSCALL_FREE;
	const struct image *im = &module->image;
	CUresult r = CUDA_SUCCESS;

	if (!im->syscalls)
		return CUDA_SUCCESS;
	if (!ctx->messages)
		r = open_messages(ctx);
	if (!r && im->syscalls & heap)
		r = open_heap(ctx, ctx->messages);
	if (r || !(im->syscalls & 1u << SYSCALL_VPRINTF))
		return r;
	r = add_text(ctx->messages, module, module->data, im->data, im->data_init);
	return r ? r :
		   add_text(ctx->messages, module, module->constants, im->const3, im->const3_size);
}

void messages_remove(CUcontext ctx, CUmodule module)
{
	struct messages *m = ctx->messages;
	struct text **at;

	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	for (at = &m->texts; *at;) {
		struct text *t = *at;

		if (t->module != module) {
			at = &t->next;
			continue;
		}
		*at = t->next;
		free(t);
	}
	pthread_mutex_unlock(&m->lock);
}

void messages_launch(CUcontext ctx, uint8_t *const0, uint32_t size)
{
	if (ctx->messages && size >= SYSCALL_CONST0_AT + sizeof(uint64_t))
		memcpy(const0 + SYSCALL_CONST0_AT, &ctx->messages->block->va, sizeof(uint64_t));
}

void messages_free(CUcontext ctx)
{
	struct messages *m = ctx->messages;

	if (!m)
		return;
	while (m->texts) {
		struct text *t = m->texts;

		m->texts = t->next;
		free(t);
	}
	pthread_mutex_destroy(&m->lock);
	free(m);
	ctx->messages = NULL;
}
