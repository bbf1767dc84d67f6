// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block-linear copies: rectangles to and from random places of random surfaces. Pages of kind 0
 * show the bytes in the order in which engines address them, so the whole surface is compared with
 * what the CPU computes; through a tiled kind the way there and back must give the same.
 */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ce.h"
#include "methods.h"
#include "pattern.h"
#include "tap.h"

enum { TILED_BYTES = 2 << 20, TILED_POISON = 0x3c, KIND_GENERIC_16BX2 = 0xfe };

struct tiled {
	struct gpu_chan *c;
	struct rng rng;
	struct nouveau_bo *src, *dst; /* GART */
	struct nouveau_bo *vram_src, *vram_dst;
	uint8_t *src_bytes, *dst_bytes;
};

static void random_surface(struct rng *r, struct ce_side *s)
{
	do {
		memset(s, 0, sizeof(*s));
		s->tiled = true;
		s->surf.width = rng_size(r, 3000);
		s->surf.height = rng_size(r, 400);
		s->surf.depth = rng_range(r, 1, 5);
		s->surf.block_height = rng_range(r, 0, 5);
		s->surf.block_depth = rng_range(r, 0, 2);
		/* a surface starts at a GOB */
		s->offset = 512 * rng_range(r, 0, 16);
		s->layer = rng_range(r, 0, s->surf.depth - 1);
		s->x = rng_range(r, 0, s->surf.width - 1);
		s->y = rng_range(r, 0, s->surf.height - 1);
	} while (s->offset + surface_size(&s->surf) > TILED_BYTES);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* 0: pitch to tiled, 1: tiled to pitch, 2: tiled to tiled */
static void random_rectangle(struct rng *r, int way, struct ce_copy *copy)
{
	uint32_t width = 3000, height = 400;

	memset(copy, 0, sizeof(*copy));
	if (way != 0) {
		random_surface(r, &copy->src);
		width = smaller(width, copy->src.surf.width - copy->src.x);
		height = smaller(height, copy->src.surf.height - copy->src.y);
	}
	if (way != 1) {
		random_surface(r, &copy->dst);
		width = smaller(width, copy->dst.surf.width - copy->dst.x);
		height = smaller(height, copy->dst.surf.height - copy->dst.y);
	}
	copy->length = rng_range(r, 1, width);
	copy->lines = rng_range(r, 1, height);
	copy->src.pitch = copy->length + rng_range(r, 0, 200);
	copy->dst.pitch = copy->length + rng_range(r, 0, 200);
	if (way == 0)
		copy->src.offset = rng_range(r, 0, 5000);
	if (way == 1)
		copy->dst.offset = rng_range(r, 0, 5000);
}

static void must_run(struct gpu_chan *c, const char *what)
{
	int ret = job_run(c);

	if (ret)
		bail("%s: %s", what, strerror(-ret));
}

static void copy_all(struct tiled *t, struct nouveau_bo *src, struct nouveau_bo *dst)
{
	job_begin(t->c, CE_COPY_WORDS);
	job_use(t->c, src, NOUVEAU_BO_RD);
	job_use(t->c, dst, NOUVEAU_BO_WR);
	ce_emit_linear(t->c, src->offset, dst->offset, TILED_BYTES);
	must_run(t->c, "copy of a whole buffer");
}

/* where the result differs, or -1 */
static int64_t one_rectangle(struct tiled *t, int way, bool in_vram, struct ce_copy *copy,
			     bool damage)
{
	struct nouveau_bo *src = in_vram ? t->vram_src : t->src,
			  *dst = in_vram ? t->vram_dst : t->dst;
	int64_t bad;

	random_rectangle(&t->rng, way, copy);
	memset(t->dst_bytes, TILED_POISON, TILED_BYTES);
	memset(t->dst->map, TILED_POISON, TILED_BYTES);
	if (in_vram)
		copy_all(t, t->dst, t->vram_dst);
	job_begin(t->c, CE_COPY_WORDS);
	job_use(t->c, src, NOUVEAU_BO_RD);
	job_use(t->c, dst, NOUVEAU_BO_WR);
	ce_emit(t->c, copy, src->offset, dst->offset);
	must_run(t->c, "block-linear copy");
	if (in_vram)
		copy_all(t, t->vram_dst, t->dst);
	ce_reference(copy, t->src_bytes, t->dst_bytes);
	if (damage)
		t->dst_bytes[copy->dst.offset] ^= 1;
	bad = first_difference(t->dst->map, t->dst_bytes, TILED_BYTES);
	if (damage)
		return bad == (int64_t)copy->dst.offset ? -1 : (int64_t)copy->dst.offset;
	return bad;
}

static void describe(const struct ce_copy *copy, const char *side_name, const struct ce_side *s)
{
	if (s->tiled)
		tap_diag("%s: %ux%ux%u at 0x%llx, block %u,%u, origin %u,%u,%u", side_name,
			 s->surf.width, s->surf.height, s->surf.depth,
			 (unsigned long long)s->offset, s->surf.block_height, s->surf.block_depth,
			 s->x, s->y, s->layer);
	else
		tap_diag("%s: pitch %u at 0x%llx; %u bytes by %u lines", side_name, s->pitch,
			 (unsigned long long)s->offset, copy->length, copy->lines);
}

static void test_way(struct tiled *t, int way, const char *engine, unsigned int count,
		     const struct client_options *o)
{
	static const char *const ways[] = { "pitch to block-linear", "block-linear to pitch",
					    "block-linear to block-linear" };
	struct ce_copy copy;
	char name[96];
	int64_t bad = -1;
	unsigned int i;

	for (i = 0; bad < 0 && i < count; i++)
		bad = one_rectangle(t, way, i & 1, &copy, o->self_test);
	snprintf(name, sizeof(name), "%s on a %s channel, the whole surface%s", ways[way], engine,
		 o->self_test ? ", damaged byte noticed" : "");
	tap_result(bad < 0, name, "%u rectangles, seed %llu, wrong byte %lld", i,
		   (unsigned long long)o->seed, (long long)bad);
	if (bad >= 0) {
		describe(&copy, "source", &copy.src);
		describe(&copy, "destination", &copy.dst);
	}
}

static void test_kind(struct gpu *g, struct tiled *t, const char *engine)
{
	struct ce_copy there = { .lines = 300, .length = 2000 }, back = there;
	struct nouveau_bo *tiled;
	char name[96];
	int64_t bad;

	there.dst =
		(struct ce_side){ .tiled = true, .x = 17, .y = 5, .surf = { 2048, 320, 1, 2, 0 } };
	there.src.pitch = back.dst.pitch = 2000;
	back.src = there.dst;
	tiled = bo_new_kind(g, TILED_BYTES, KIND_GENERIC_16BX2, there.dst.surf.block_height << 4);
	memset(t->dst->map, 0, TILED_BYTES);
	job_begin(t->c, 2 * CE_COPY_WORDS);
	job_use(t->c, t->src, NOUVEAU_BO_RD);
	job_use(t->c, tiled, NOUVEAU_BO_RDWR);
	job_use(t->c, t->dst, NOUVEAU_BO_WR);
	ce_emit(t->c, &there, t->src->offset, tiled->offset);
	ce_emit(t->c, &back, tiled->offset, t->dst->offset);
	must_run(t->c, "copies through a tiled kind");
	bad = first_difference(t->dst->map, t->src->map, 300 * 2000);
	snprintf(name, sizeof(name), "through pages of kind 0xfe and back on a %s channel", engine);
	tap_result(bad < 0, name, "wrong byte %lld", (long long)bad);
	bo_free(&tiled);
}

void test_tiled(const struct client_options *o)
{
	unsigned int count = o->quick ? 24 : 200;
	struct tiled t;
	struct gpu_chan c;
	struct gpu g;
	int e, way;

	gpu_open(&g, o->node);
	t.src = bo_new(&g, NOUVEAU_BO_GART, TILED_BYTES);
	t.dst = bo_new(&g, NOUVEAU_BO_GART, TILED_BYTES);
	t.vram_src = bo_new(&g, NOUVEAU_BO_VRAM, TILED_BYTES);
	t.vram_dst = bo_new(&g, NOUVEAU_BO_VRAM, TILED_BYTES);
	t.src_bytes = malloc(TILED_BYTES);
	t.dst_bytes = malloc(TILED_BYTES);
	if (!t.src_bytes || !t.dst_bytes)
		bail("no memory");
	rng_init(&t.rng, o->seed);
	pattern_fill(t.src_bytes, TILED_BYTES, o->seed);
	memcpy(t.src->map, t.src_bytes, TILED_BYTES);
	for (e = 0; e < 2; e++) {
		chan_must_open(&g, e ? ENGINE_GR : ENGINE_CE, &c);
		t.c = &c;
		copy_all(&t, t.src, t.vram_src);
		for (way = 0; way < 3; way++)
			test_way(&t, way, e ? "GR" : "CE", count, o);
		test_kind(&g, &t, e ? "GR" : "CE");
		chan_close(&c);
	}
	bo_free(&t.src);
	bo_free(&t.dst);
	bo_free(&t.vram_src);
	bo_free(&t.vram_dst);
	free(t.src_bytes);
	free(t.dst_bytes);
	gpu_close(&g);
}
