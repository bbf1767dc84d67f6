// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of random sizes, alignments and shapes between VRAM and system memory. A batch fills a
 * destination buffer with copies and gaps; the CPU does the same to an array, and then the whole
 * buffer must equal the array.
 */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ce.h"
#include "methods.h"
#include "pattern.h"
#include "tap.h"

enum { BATCH_COPIES = 48, POISON = 0xa5, DIRECTIONS = 2 * 2 * 2 };

struct arena {
	struct gpu *g;
	struct gpu_chan *c;
	struct rng rng;
	uint64_t size;
	struct nouveau_bo *src[2], *dst[2]; /* by memory: 0 VRAM, 1 GART */
	struct nouveau_bo *poison, *readback;
	uint8_t *src_bytes, *dst_bytes; /* what they hold */
	uint64_t copies, bytes;
};

static const uint32_t domain_of[2] = { NOUVEAU_BO_VRAM, NOUVEAU_BO_GART };
static const char *const domain_name[2] = { "VRAM", "GART" };

static void run_linear(struct arena *a, struct nouveau_bo *src, struct nouveau_bo *dst)
{
	int ret;

	job_begin(a->c, CE_COPY_WORDS);
	job_use(a->c, src, NOUVEAU_BO_RD);
	job_use(a->c, dst, NOUVEAU_BO_WR);
	ce_emit_linear(a->c, src->offset, dst->offset, a->size);
	ret = job_run(a->c);
	if (ret)
		bail("copy of a whole buffer: %s", strerror(-ret));
}

static void arena_open(struct arena *a, struct gpu *g, struct gpu_chan *c, uint64_t size,
		       uint64_t seed)
{
	int i;

	memset(a, 0, sizeof(*a));
	a->g = g;
	a->c = c;
	a->size = size;
	rng_init(&a->rng, seed);
	a->src_bytes = malloc(size);
	a->dst_bytes = malloc(size);
	if (!a->src_bytes || !a->dst_bytes)
		bail("no memory");
	for (i = 0; i < 2; i++) {
		a->src[i] = bo_new(g, domain_of[i], size);
		a->dst[i] = bo_new(g, domain_of[i], size);
	}
	a->poison = bo_new(g, NOUVEAU_BO_GART, size);
	a->readback = bo_new(g, NOUVEAU_BO_GART, size);
	memset(a->poison->map, POISON, size);
	pattern_fill(a->src_bytes, size, seed);
	memcpy(a->src[1]->map, a->src_bytes, size);
	run_linear(a, a->src[1], a->src[0]);
}

static void arena_close(struct arena *a)
{
	int i;

	for (i = 0; i < 2; i++) {
		bo_free(&a->src[i]);
		bo_free(&a->dst[i]);
	}
	bo_free(&a->poison);
	bo_free(&a->readback);
	free(a->src_bytes);
	free(a->dst_bytes);
}

static void reset_destination(struct arena *a, int to)
{
	memset(a->dst_bytes, POISON, a->size);
	if (domain_of[to] == NOUVEAU_BO_GART)
		memset(a->dst[to]->map, POISON, a->size);
	else
		run_linear(a, a->poison, a->dst[to]);
}

static const uint8_t *destination_bytes(struct arena *a, int to)
{
	if (domain_of[to] == NOUVEAU_BO_GART)
		return a->dst[to]->map;
	memset(a->readback->map, (uint8_t)~POISON, a->size);
	run_linear(a, a->dst[to], a->readback);
	return a->readback->map;
}

static void random_lines(struct rng *r, struct ce_copy *copy)
{
	copy->lines = rng_range(r, 2, 64);
	copy->length = rng_size(r, 8192);
	copy->src.pitch = copy->length + rng_range(r, 0, 300);
	copy->dst.pitch = copy->length + rng_range(r, 0, 300);
}

static void random_remap(struct rng *r, struct ce_copy *copy)
{
	static const uint8_t sizes[] = { 1, 2, 4 };
	bool fill = rng_range(r, 0, 1);
	unsigned int i, element;

	copy->remap = true;
	copy->comp_size = sizes[rng_range(r, 0, 2)];
	copy->src_comps = rng_range(r, 1, 4);
	copy->dst_comps = rng_range(r, 1, 4);
	copy->consts[0] = rng_next(r);
	copy->consts[1] = rng_next(r);
	for (i = 0; i < 4; i++)
		copy->select[i] = fill ? rng_range(r, CE_REMAP_CONST_A_SEL, CE_REMAP_NO_WRITE) :
					 rng_range(r, 0, copy->src_comps - 1);
	copy->length = rng_size(r, 2048);
	copy->lines = rng_range(r, 1, 8);
	element = copy->comp_size *
		  (copy->src_comps > copy->dst_comps ? copy->src_comps : copy->dst_comps);
	copy->src.pitch = copy->dst.pitch =
		copy->length * element + copy->comp_size * rng_range(r, 0, 40);
}

static uint64_t footprint(const struct ce_copy *copy, const struct ce_side *side,
			  unsigned int comps)
{
	uint64_t line = (uint64_t)copy->length * (copy->remap ? copy->comp_size * comps : 1);

	return (uint64_t)(copy->lines - 1) * side->pitch + line;
}

/* @at: first free byte of the destination; advanced. false when the copy doesn't fit any more. */
static bool random_copy(struct arena *a, struct ce_copy *copy, uint64_t *at)
{
	struct rng *r = &a->rng;
	uint64_t in, out, align;

	memset(copy, 0, sizeof(*copy));
	copy->lines = 1;
	switch (rng_range(r, 0, 7)) {
	case 0:
		random_remap(r, copy);
		break;
	case 1:
	case 2:
		random_lines(r, copy);
		break;
	default:
		copy->length = rng_size(r, a->size / 2);
		break;
	}
	/* remapped components are naturally aligned: the class says nothing about others */
	align = copy->remap ? copy->comp_size : 1;
	in = footprint(copy, &copy->src, copy->src_comps);
	out = footprint(copy, &copy->dst, copy->dst_comps);
	copy->dst.offset = (*at + rng_range(r, 0, 200) + align - 1) / align * align;
	if (copy->dst.offset + out > a->size || in > a->size)
		return false;
	copy->src.offset = rng_range(r, 0, a->size - in) / align * align;
	*at = copy->dst.offset + out;
	a->bytes += out;
	a->copies++;
	return true;
}

static void run_batch(struct arena *a, int from, int to)
{
	struct ce_copy copy;
	uint64_t at = 0;
	bool more = true;
	int ret;

	while (more) {
		int n;

		job_begin(a->c, BATCH_COPIES * CE_COPY_WORDS);
		job_use(a->c, a->src[from], NOUVEAU_BO_RD);
		job_use(a->c, a->dst[to], NOUVEAU_BO_WR);
		for (n = 0; n < BATCH_COPIES && (more = random_copy(a, &copy, &at)); n++) {
			ce_emit(a->c, &copy, a->src[from]->offset, a->dst[to]->offset);
			ce_reference(&copy, a->src_bytes, a->dst_bytes);
		}
		ret = job_run(a->c);
		if (ret)
			bail("batch of copies: %s", strerror(-ret));
	}
}

/* -1 when all is as it must be, else where it isn't */
static int64_t check_batch(struct arena *a, int to, bool damage)
{
	uint64_t where = rng_range(&a->rng, 0, a->size - 1);
	int64_t bad;

	if (damage)
		a->dst_bytes[where] ^= 0x40;
	bad = first_difference(destination_bytes(a, to), a->dst_bytes, a->size);
	if (damage)
		return bad == (int64_t)where ? -1 : (int64_t)where;
	return bad;
}

static void copy_direction(struct arena *a, const char *engine, int from, int to, uint64_t bytes,
			   const struct client_options *o)
{
	uint64_t start = now_us();
	char name[96];
	int64_t bad = -1;

	a->bytes = a->copies = 0;
	while (bad < 0 && (o->seconds ? now_us() - start < o->seconds * 1000000ull / DIRECTIONS :
					a->bytes < bytes)) {
		reset_destination(a, to);
		run_batch(a, from, to);
		bad = check_batch(a, to, o->self_test);
	}
	snprintf(name, sizeof(name), "copy on a %s channel, %s to %s%s", engine, domain_name[from],
		 domain_name[to],
		 o->self_test ? ", damaged byte noticed" : ", every byte and every gap");
	if (bad < 0)
		tap_result(true, name, "%llu copies, %.1f MiB, %.1f s",
			   (unsigned long long)a->copies, a->bytes / 1048576.0,
			   (now_us() - start) / 1e6);
	else
		tap_result(false, name, "seed %llu: byte 0x%llx is wrong after %llu copies",
			   (unsigned long long)o->seed, (unsigned long long)bad,
			   (unsigned long long)a->copies);
}

void test_copy(const struct client_options *o)
{
	static const struct {
		enum gpu_engine engine;
		const char *name;
	} engines[] = {
		{ ENGINE_CE, "CE" },
		{ ENGINE_GR, "GR" },
	};
	uint64_t size = o->quick ? 8 << 20 : 16 << 20;
	struct gpu g;
	unsigned int e;
	int from, to;

	gpu_open(&g, o->node);
	for (e = 0; e < 2; e++) {
		struct gpu_chan c;
		struct arena a;

		chan_must_open(&g, engines[e].engine, &c);
		tap_diag("copy: %s channel %d, runlist %d", engines[e].name, c.chid,
			 chan_runlist(&c));
		arena_open(&a, &g, &c, size, o->seed + e);
		for (from = 0; from < 2; from++)
			for (to = 0; to < 2; to++)
				copy_direction(&a, engines[e].name, from, to, o->bytes / DIRECTIONS,
					       o);
		arena_close(&a);
		chan_close(&c);
	}
	gpu_close(&g);
}
