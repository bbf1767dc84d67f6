// SPDX-License-Identifier: MIT
/*
 * Makes the memory of what kernels print and assert, their heap, and what they may ask of devices;
 * tells kernels where it is.
 */
#include <stdlib.h>
#include <string.h>

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
	r = plane_copy(ctx, &ctx->null, &dst, &src, sizeof(h), 1);
	end = stream_begin(&ctx->null);
	return r ? r : moment_wait(ctx, &end);
}

/* Attributes of all devices behind the ring, for kernels that ask. */
static CUresult tell_devices(CUcontext ctx, struct device_memory *block)
{
	struct syscall_block *b = block->map;
	int *value = (int *)((uint8_t *)block->map + RING_AT + b->ring_bytes);
	CUresult r = CUDA_SUCCESS;
	int device, i;

	b->attributes = block->va + RING_AT + b->ring_bytes;
	b->device = ctx->dev;
	b->nr_devices = driver_count();
	for (device = 0; device < b->nr_devices && !r; device++)
		for (i = 1; i <= SYSCALL_ATTRIBUTES && !r; i++)
			r = cuDeviceGetAttribute(value++, i, device);
	return r;
}

/* A block with an empty ring of *ring_bytes, as the limit has it. */
static CUresult make_block(CUcontext ctx, const struct messages *m, struct device_memory **out,
			   uint32_t *ring_bytes)
{
	const struct device_ops *ops = ctx->device->ops;
	struct syscall_block *b;
	uint32_t n = RING_MIN;
	CUresult r;

	while (n < RING_MAX && n < ctx->limit[CU_LIMIT_PRINTF_FIFO_SIZE])
		n *= 2;
	r = error_of(ops->alloc(ctx->device, PLACE_HOST,
				RING_AT + n + driver_count() * SYSCALL_ATTRIBUTES * sizeof(int),
				out));
	if (r)
		return r;
	b = (*out)->map;
	memset(b, 0, RING_AT + n);
	b->head = m->head->va;
	b->ring = (*out)->va + RING_AT;
	b->ring_bytes = *ring_bytes = n;
	b->taken = m->taken;
	r = tell_devices(ctx, *out);
	if (r)
		ops->release(ctx->device, *out);
	return r;
}

static CUresult open_messages(CUcontext ctx)
{
	struct messages *m = calloc(1, sizeof(*m));
	const struct device_ops *ops = ctx->device->ops;
	CUresult r;

	if (!m)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = error_of(ops->alloc(ctx->device, PLACE_VRAM, sizeof(struct syscall_head), &m->head));
	if (!r)
		r = make_block(ctx, m, &m->block, &m->ring_bytes);
	if (r) {
		if (m->head)
			ops->release(ctx->device, m->head);
		free(m);
		return r;
	}
	pthread_mutex_init(&m->lock, NULL);
	__atomic_store_n(&ctx->messages, m, __ATOMIC_RELEASE);
	return write_head(ctx, m);
}

/* Call while no kernel may run, as long as none has used a heap. */
static CUresult make_heap(CUcontext ctx, struct messages *m)
{
	const struct device_ops *ops = ctx->device->ops;
	struct device_memory *heap;
	CUresult r = error_of(ops->alloc(ctx->device, PLACE_VRAM,
					 ctx->limit[CU_LIMIT_MALLOC_HEAP_SIZE] | 1, &heap));

	if (r)
		return r;
	if (m->heap)
		ops->release(ctx->device, m->heap);
	m->heap = heap;
	return write_head(ctx, m);
}

static CUresult open_heap(CUcontext ctx, struct messages *m)
{
	CUresult r;

	if (m->heap)
		return CUDA_SUCCESS;
	r = moment_wait(ctx, &ctx->submitted);
	return r ? r : make_heap(ctx, m);
}

/* The same, of the ring. What is in the old one was printed. */
static CUresult replace_ring(CUcontext ctx, struct messages *m)
{
	struct device_memory *block, *old = m->block;
	uint32_t ring_bytes;
	CUresult r = make_block(ctx, m, &block, &ring_bytes);

	if (r)
		return r;
	pthread_mutex_lock(&m->lock);
	m->block = block;
	m->ring_bytes = ring_bytes;
	pthread_mutex_unlock(&m->lock);
	ctx->device->ops->release(ctx->device, old);
	return CUDA_SUCCESS;
}

CUresult messages_limit(CUcontext ctx, CUlimit limit, size_t value)
{
	bool ring = limit == CU_LIMIT_PRINTF_FIFO_SIZE;
	uint32_t users = ring ? 1u << SYSCALL_VPRINTF : HEAP_SYSCALLS;
	struct messages *m = ctx->messages;
	size_t before = ctx->limit[limit];
	CUresult r;

	if (m && m->launched & users)
		return CUDA_ERROR_INVALID_VALUE;
	r = m ? moment_wait(ctx, &ctx->submitted) : CUDA_SUCCESS;
	if (r)
		return r;
	ctx->limit[limit] = value;
	if (m && ring)
		r = replace_ring(ctx, m);
	else if (m && m->heap)
		r = make_heap(ctx, m);
	if (r)
		ctx->limit[limit] = before;
	return r;
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
	const struct image *im = &module->image;
	CUresult r = CUDA_SUCCESS;

	if (!im->syscalls)
		return CUDA_SUCCESS;
	if (!ctx->messages)
		r = open_messages(ctx);
	if (!r && im->syscalls & HEAP_SYSCALLS)
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

void messages_launch(CUcontext ctx, const struct image_kernel *k, uint8_t *const0)
{
	struct messages *m = ctx->messages;

	if (!m)
		return;
	if (k->const0_size >= SYSCALL_CONST0_AT + sizeof(uint64_t))
		memcpy(const0 + SYSCALL_CONST0_AT, &m->block->va, sizeof(uint64_t));
	m->launched |= k->syscalls;
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
