// SPDX-License-Identifier: MIT
/*
 * One block of memory: slots (headers and surface descriptors), then samplers. A texture handle is
 * the index of a slot and that of a sampler; a surface object is its slot's address. A kernel may
 * still use what was given back: it is reused after all submitted work is done.
 */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { NR_SLOTS = 32768, NR_SAMPLERS = 4096, SLOT_BYTES = 32 };
enum slot_state {
	SLOT_FREE,
	SLOT_TEXTURE,
	SLOT_SURFACE,
	SLOT_LEFT /* given back; a kernel may still use it */
};

struct texture_pools {
	struct device_memory *memory;
	uint8_t state[NR_SLOTS];
	uint32_t next;
	union {
		struct texture_object *texture;
		CUDA_RESOURCE_DESC *surface;
	} of[NR_SLOTS];
	struct {
		uint32_t words[SAMPLER_WORDS], refs;
		bool left;
	} sampler[NR_SAMPLERS];
	uint32_t nr_samplers;
};

static uint32_t *slot_words(struct texture_pools *p, uint32_t slot)
{
	return (uint32_t *)((uint8_t *)p->memory->map + slot * SLOT_BYTES);
}

/* Slot 0 stays the header of nothing: one texel that is 0, in slot 1. */
static CUresult pools(CUcontext ctx)
{
	struct texture_header none = { .shape = SHAPE_BUFFER,
				       .texel = { TEXEL_UINT, 32, 1 },
				       .width = 1 };
	struct texture_pools *p = ctx->pools ? NULL : calloc(1, sizeof(*p));
	CUresult r;

	if (ctx->pools)
		return CUDA_SUCCESS;
	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = error_of(ctx->device->ops->alloc(ctx->device, PLACE_HOST,
					     (NR_SLOTS + NR_SAMPLERS) * SLOT_BYTES, &p->memory));
	if (r) {
		free(p);
		return r;
	}
	memset(p->memory->map, 0, (NR_SLOTS + NR_SAMPLERS) * SLOT_BYTES);
	none.va = p->memory->va + SLOT_BYTES;
	header_encode(slot_words(p, 0), &none);
	p->state[0] = p->state[1] = SLOT_TEXTURE;
	p->next = 2;
	ctx->pools = p;
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ slots */

static uint32_t free_slot(struct texture_pools *p)
{
	uint32_t i;

	for (i = p->next; i < NR_SLOTS && p->state[i] != SLOT_FREE; i++)
		;
	p->next = i;
	return i < NR_SLOTS ? i : 0;
}

static CUresult take_slot(CUcontext ctx, enum slot_state as, uint32_t *slot)
{
	struct texture_pools *p;
	CUresult r = pools(ctx);
	uint32_t i;

	if (r)
		return r;
	p = ctx->pools;
	*slot = free_slot(p);
	if (!*slot) {
		r = moment_wait(ctx, &ctx->submitted);
		if (r)
			return r;
		for (i = 0; i < NR_SLOTS; i++)
			if (p->state[i] == SLOT_LEFT)
				p->state[i] = SLOT_FREE;
		p->next = 0;
		*slot = free_slot(p);
	}
	if (!*slot)
		return CUDA_ERROR_OUT_OF_MEMORY;
	p->state[*slot] = as;
	return CUDA_SUCCESS;
}

static uint32_t unused_sampler(const struct texture_pools *p)
{
	uint32_t i;

	for (i = 0; i < p->nr_samplers && (p->sampler[i].refs || p->sampler[i].left); i++)
		;
	return i;
}

/* A sampler that no texture has and no kernel can use. NR_SAMPLERS: none. */
static CUresult free_sampler(CUcontext ctx, uint32_t *index)
{
	struct texture_pools *p = ctx->pools;
	CUresult r;
	uint32_t i;

	*index = p->nr_samplers < NR_SAMPLERS ? p->nr_samplers++ : unused_sampler(p);
	if (*index < NR_SAMPLERS)
		return CUDA_SUCCESS;
	r = moment_wait(ctx, &ctx->submitted);
	if (r)
		return r;
	for (i = 0; i < NR_SAMPLERS; i++)
		p->sampler[i].left = false;
	*index = unused_sampler(p);
	return CUDA_SUCCESS;
}

/* Equal samplers are shared. */
static CUresult take_sampler(CUcontext ctx, const uint32_t words[SAMPLER_WORDS], uint32_t *index)
{
	struct texture_pools *p = ctx->pools;
	CUresult r = CUDA_SUCCESS;
	uint32_t i;

	for (i = 0; i < p->nr_samplers; i++)
		if (!memcmp(p->sampler[i].words, words, sizeof(p->sampler[i].words)))
			break;
	if (i == p->nr_samplers)
		r = free_sampler(ctx, &i);
	if (r)
		return r;
	if (i == NR_SAMPLERS)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(p->sampler[i].words, words, sizeof(p->sampler[i].words));
	memcpy(slot_words(p, NR_SLOTS + i), words, SLOT_BYTES);
	p->sampler[i].refs++;
	*index = i;
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ textures */

CUresult texture_make(CUcontext ctx, const struct texture_source *source,
		      struct texture_object **out)
{
	uint32_t words[SAMPLER_WORDS];
	struct texture_header h;
	struct texture_object *t;
	struct sampler s;
	CUresult r = texture_describe(ctx, source, &h, &s);

	if (r)
		return r;
	t = calloc(1, sizeof(*t));
	if (!t)
		return CUDA_ERROR_OUT_OF_MEMORY;
	t->source = *source;
	r = take_slot(ctx, SLOT_TEXTURE, &t->header);
	if (!r) {
		sampler_encode(words, &s);
		r = take_sampler(ctx, words, &t->sampler);
		if (r)
			ctx->pools->state[t->header] = SLOT_LEFT;
	}
	if (r) {
		free(t);
		return r;
	}
	header_encode(slot_words(ctx->pools, t->header), &h);
	ctx->pools->of[t->header].texture = t;
	*out = t;
	return CUDA_SUCCESS;
}

void texture_release(CUcontext ctx, struct texture_object *t)
{
	ctx->pools->state[t->header] = SLOT_LEFT;
	ctx->pools->of[t->header].texture = NULL;
	ctx->pools->sampler[t->sampler].refs--;
	ctx->pools->sampler[t->sampler].left = true;
	free(t);
}

CUtexObject texture_handle(const struct texture_object *t)
{
	return t->header | t->sampler << HANDLE_SAMPLER_SHIFT;
}

struct texture_object *texture_find(CUcontext ctx, CUtexObject handle)
{
	uint32_t slot = handle & ((1u << HANDLE_SAMPLER_SHIFT) - 1);
	struct texture_object *t;

	if (!ctx->pools || handle >> 32 || slot >= NR_SLOTS ||
	    ctx->pools->state[slot] != SLOT_TEXTURE)
		return NULL;
	t = ctx->pools->of[slot].texture;
	return t && texture_handle(t) == handle ? t : NULL;
}

/* ------------------------------------------------------------------ surfaces */

CUresult descriptor_make(CUcontext ctx, const uint32_t words[SURFACE_WORDS],
			 const CUDA_RESOURCE_DESC *resource, CUsurfObject *out)
{
	CUDA_RESOURCE_DESC *copy = malloc(sizeof(*copy));
	uint32_t slot;
	CUresult r;

	if (!copy)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = take_slot(ctx, SLOT_SURFACE, &slot);
	if (r) {
		free(copy);
		return r;
	}
	*copy = *resource;
	ctx->pools->of[slot].surface = copy;
	memcpy(slot_words(ctx->pools, slot), words, SLOT_BYTES);
	*out = ctx->pools->memory->va + slot * SLOT_BYTES;
	return CUDA_SUCCESS;
}

/* 0: there is no such object */
static uint32_t slot_of(CUcontext ctx, CUsurfObject object)
{
	uint64_t at = ctx->pools ? object - ctx->pools->memory->va : 0;

	if (at / SLOT_BYTES >= NR_SLOTS || at % SLOT_BYTES ||
	    ctx->pools->state[at / SLOT_BYTES] != SLOT_SURFACE)
		return 0;
	return at / SLOT_BYTES;
}

const CUDA_RESOURCE_DESC *descriptor_find(CUcontext ctx, CUsurfObject object)
{
	uint32_t slot = ctx->pools ? slot_of(ctx, object) : 0;

	return slot ? ctx->pools->of[slot].surface : NULL;
}

void descriptor_release(CUcontext ctx, CUsurfObject object)
{
	uint32_t slot = slot_of(ctx, object);

	free(ctx->pools->of[slot].surface);
	ctx->pools->of[slot].surface = NULL;
	ctx->pools->state[slot] = SLOT_LEFT;
}

/* ------------------------------------------------------------------ */

void textures_launch(CUcontext ctx, struct device_launch *l)
{
	if (!ctx->pools)
		return;
	l->headers = ctx->pools->memory->va;
	l->nr_headers = NR_SLOTS;
	l->samplers = ctx->pools->memory->va + NR_SLOTS * SLOT_BYTES;
	l->nr_samplers = NR_SAMPLERS;
}

void textures_free(CUcontext ctx)
{
	uint32_t i;

	for (i = 0; ctx->pools && i < NR_SLOTS; i++) {
		if (ctx->pools->state[i] == SLOT_TEXTURE)
			free(ctx->pools->of[i].texture);
		else if (ctx->pools->state[i] == SLOT_SURFACE)
			free(ctx->pools->of[i].surface);
	}
	free(ctx->pools);
	ctx->pools = NULL;
}
