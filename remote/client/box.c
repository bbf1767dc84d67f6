// SPDX-License-Identifier: MIT
/*
 * Boxes: rows and slices of 2-D and 3-D copies, as the program describes them and as frames name
 * them. The program's memory is packed into a piece of the arena, or unpacked from there.
 */
#include "box.h"

#define PITCH_MAX 2147483647u

static bool fits(const uint64_t *w, const uint64_t *size)
{
	if ((size[1] > 1 || size[2] > 1) && (w[END_PITCH] < size[0] || w[END_PITCH] > PITCH_MAX))
		return false;
	return (size[2] <= 1 || w[END_HEIGHT] >= size[1]) && size[1] <= PITCH_MAX;
}

static bool multiply_add(uint64_t *sum, uint64_t a, uint64_t b)
{
	uint64_t product;

	return !__builtin_mul_overflow(a, b, &product) &&
	       !__builtin_add_overflow(*sum, product, sum);
}

/* *first: the box's first byte, from @base on */
static bool first_byte(const uint64_t *w, const uint64_t *size, uint64_t base, uint64_t *first)
{
	uint64_t slice, at = w[END_X];

	return fits(w, size) && !__builtin_mul_overflow(w[END_PITCH], w[END_HEIGHT], &slice) &&
	       multiply_add(&at, w[END_PITCH], w[END_Y]) && multiply_add(&at, slice, w[END_Z]) &&
	       !__builtin_add_overflow(base, at, first);
}

static CUresult open_host(struct end *e, const void *host, const uint64_t *size)
{
	uint64_t first;

	if (!host || !first_byte(e->word, size, (uintptr_t)host, &first))
		return CUDA_ERROR_INVALID_VALUE;
	e->host = (uint8_t *)first;
	return CUDA_SUCCESS;
}

static CUresult open_address(struct end *e, CUdeviceptr at, bool host, const uint64_t *size)
{
	switch (memory_kind_of(at, host)) {
	case MEMORY_HOST:
		e->type = CU_MEMORYTYPE_HOST;
		return open_host(e, (void *)(uintptr_t)at, size);
	case MEMORY_DEVICE:
		e->type = CU_MEMORYTYPE_DEVICE;
		e->word[END_WHERE] = at;
		route_address(&e->at, at);
		return CUDA_SUCCESS;
	case MEMORY_UNKNOWN:
		break;
	}
	return CUDA_ERROR_INVALID_VALUE;
}

/* a pitch or height of 0 means the least possible */
static CUresult open_end(struct route *to, struct end *e, const void *host, CUdeviceptr device,
			 CUarray array, const uint64_t *size)
{
	uint64_t *w = e->word;
	CUresult r = CUDA_SUCCESS;

	if (e->type != CU_MEMORYTYPE_ARRAY && !w[END_PITCH])
		w[END_PITCH] = w[END_X] + size[0];
	if (e->type != CU_MEMORYTYPE_ARRAY && !w[END_HEIGHT])
		w[END_HEIGHT] = w[END_Y] + size[1];
	switch (e->type) {
	case CU_MEMORYTYPE_HOST:
		r = host ? open_address(e, (uintptr_t)host, true, size) : CUDA_ERROR_INVALID_VALUE;
		break;
	case CU_MEMORYTYPE_UNIFIED:
		r = open_address(e, device, false, size);
		break;
	case CU_MEMORYTYPE_DEVICE:
		w[END_WHERE] = device;
		gpu_uses(device);
		route_address(&e->at, device);
		break;
	case CU_MEMORYTYPE_ARRAY:
		if (!route_handle(&e->at, CLASS_ARRAY, array, &w[END_WHERE]))
			return CUDA_ERROR_INVALID_HANDLE;
		e->array = array;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	w[END_TYPE] = e->type;
	route_merge(to, &e->at);
	return r;
}

static bool open_context(struct end *e, CUcontext ctx)
{
	if (!route_handle(&e->at, CLASS_CONTEXT, ctx, &e->word[END_CONTEXT]))
		return false;
	if (several)
		e->at.ctx = (const struct object *)ctx;
	return true;
}

CUresult box_open(struct route *to, struct box *b, const CUDA_MEMCPY3D_PEER *c, bool contexts)
{
	CUresult r;

	b->src = (struct end){ .type = c->srcMemoryType,
			       .word = { [END_PITCH] = c->srcPitch,
					 [END_HEIGHT] = c->srcHeight,
					 [END_X] = c->srcXInBytes,
					 [END_Y] = c->srcY,
					 [END_Z] = c->srcZ,
					 [END_LOD] = c->srcLOD } };
	b->dst = (struct end){ .type = c->dstMemoryType,
			       .word = { [END_PITCH] = c->dstPitch,
					 [END_HEIGHT] = c->dstHeight,
					 [END_X] = c->dstXInBytes,
					 [END_Y] = c->dstY,
					 [END_Z] = c->dstZ,
					 [END_LOD] = c->dstLOD } };
	b->size[0] = c->WidthInBytes;
	b->size[1] = c->Height;
	b->size[2] = c->Depth;
	if (contexts &&
	    (!open_context(&b->src, c->srcContext) || !open_context(&b->dst, c->dstContext)))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (c->srcLOD || c->dstLOD)
		return CUDA_ERROR_INVALID_VALUE;
	if (!b->size[0] || !b->size[1] || !b->size[2])
		return CUDA_SUCCESS;
	r = open_end(to, &b->src, c->srcHost, c->srcDevice, c->srcArray, b->size);
	return r ? r : open_end(to, &b->dst, c->dstHost, c->dstDevice, c->dstArray, b->size);
}

static CUresult check_end(const struct route *to, const struct end *e, const uint64_t *size)
{
	const struct route *at = e->at.peer ? &e->at : to;
	const uint64_t *w = e->word;
	uint64_t first, bytes = size[0];

	switch (e->type) {
	case CU_MEMORYTYPE_HOST: /* open_host() has looked */
		return CUDA_SUCCESS;
	case CU_MEMORYTYPE_ARRAY:
		return array_holds(at, e->array, &w[END_X], size);
	case CU_MEMORYTYPE_DEVICE:
	case CU_MEMORYTYPE_UNIFIED:
	default:
		if (!first_byte(w, size, w[END_WHERE], &first) ||
		    !multiply_add(&bytes, size[1] - 1, w[END_PITCH]) ||
		    !multiply_add(&bytes, size[2] - 1, w[END_PITCH] * w[END_HEIGHT]))
			return CUDA_ERROR_INVALID_VALUE;
		return device_holds(at, first, bytes);
	}
}

CUresult box_check(const struct route *to, const struct box *b)
{
	CUresult r = check_end(to, &b->src, b->size);

	return r ? r : check_end(to, &b->dst, b->size);
}

/* ---------------------------------------------------------------- a part of a box, in one piece */

uint8_t *box_row(const struct end *e, uint64_t x, uint64_t y, uint64_t z)
{
	return e->host + (z * e->word[END_HEIGHT] + y) * e->word[END_PITCH] + x;
}

/* The program's memory may be pinned: a server that lies may name a place in the arena over it. */
void box_pack(const struct end *e, const struct part *p, uint8_t *to)
{
	uint64_t y, z;

	for (z = 0; z < p->size[2]; z++)
		for (y = 0; y < p->size[1]; y++, to += p->size[0])
			memmove(to, box_row(e, p->at[0], p->at[1] + y, p->at[2] + z), p->size[0]);
}

void box_unpack(const struct end *e, const struct part *p, const uint8_t *from)
{
	uint64_t y, z;

	for (z = 0; z < p->size[2]; z++)
		for (y = 0; y < p->size[1]; y++, from += p->size[0])
			memmove(box_row(e, p->at[0], p->at[1] + y, p->at[2] + z), from, p->size[0]);
}

void box_words(const struct end *e, const struct part *p, uint64_t arena, uint64_t *w)
{
	memcpy(w, e->word, sizeof(e->word));
	w[END_TYPE] = e->type;
	if (e->type == CU_MEMORYTYPE_HOST) {
		w[END_WHERE] = arena;
		w[END_PITCH] = p->size[0];
		w[END_HEIGHT] = p->size[1];
		w[END_X] = w[END_Y] = w[END_Z] = w[END_LOD] = 0;
		return;
	}
	w[END_X] += p->at[0];
	w[END_Y] += p->at[1];
	w[END_Z] += p->at[2];
}
