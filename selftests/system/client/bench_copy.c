// SPDX-License-Identifier: GPL-2.0-only
/*
 * Benchmark: copies, one submission each, until the end is seen in memory. Pinned memory is a
 * buffer of the driver's in system memory; pageable memory goes through such a buffer in pieces.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ce.h"
#include "methods.h"

enum direction { H2D, D2H, D2D };

#define MIB	(1ull << 20)
#define STAGING (4 * MIB) /* piece of a pageable copy */

struct copies {
	struct gpu_chan c;
	struct nouveau_bo *host, *vram[2];
	uint8_t *pageable;
	uint64_t size;
	enum direction dir;
	unsigned int repeat;
};

static int copy_one(struct copies *x, struct nouveau_bo *src, uint64_t src_at,
		    struct nouveau_bo *dst, uint64_t dst_at, uint64_t len)
{
	int ret;

	job_begin(&x->c, CE_COPY_WORDS);
	job_use(&x->c, src, NOUVEAU_BO_RD);
	job_use(&x->c, dst, NOUVEAU_BO_WR);
	ce_emit_linear(&x->c, src->offset + src_at, dst->offset + dst_at, len);
	ret = job_kick(&x->c);
	return ret ? ret : bench_watch(&x->c);
}

static int pinned_once(void *ctx, double *value)
{
	struct copies *x = ctx;
	struct nouveau_bo *src = x->dir == H2D ? x->host : x->vram[0],
			  *dst = x->dir == D2H ? x->host : x->vram[x->dir == D2D];
	uint64_t start = now_us();
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < x->repeat; i++)
		ret = copy_one(x, src, 0, dst, 0, x->size);
	*value = (double)x->size * x->repeat / (now_us() - start + 1);
	return ret;
}

static int pageable_once(void *ctx, double *value)
{
	struct copies *x = ctx;
	uint64_t start = now_us(), at, len;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < x->repeat; i++)
		for (at = 0; !ret && at < x->size; at += len) {
			len = x->size - at < STAGING ? x->size - at : STAGING;
			if (x->dir == H2D)
				memcpy(x->host->map, x->pageable + at, len);
			ret = x->dir == H2D ? copy_one(x, x->host, 0, x->vram[0], at, len) :
					      copy_one(x, x->vram[0], at, x->host, 0, len);
			if (x->dir == D2H)
				memcpy(x->pageable + at, x->host->map, len);
		}
	*value = (double)x->size * x->repeat / (now_us() - start + 1);
	return ret;
}

static void sizes(struct bench *b, struct copies *x, uint64_t most, const char *name, bool pageable)
{
	static const uint64_t all[] = { 4 << 10, 64 << 10, MIB, 16 * MIB, 256 * MIB };
	struct bench_row row = { .unit = "MB/s", .higher = true };
	unsigned int i;

	for (i = 0; i < 5 && all[i] <= most; i++) {
		x->size = all[i];
		x->repeat = x->size <= 64 << 10 ? 50 : x->size <= MIB ? 10 : 1;
		row.samples = b->o->quick || x->size > 16 * MIB ? 3 : 7;
		row.ops = x->repeat;
		snprintf(row.name, sizeof(row.name), "copy-%s-%s%s", name, bench_size(x->size),
			 pageable ? "-pageable" : "");
		bench_row(b, &row, pageable ? pageable_once : pinned_once, x);
	}
}

void bench_copy(struct bench *b)
{
	static const char *const names[] = { "h2d", "d2h", "d2d" };
	uint64_t most = b->o->quick ? 16 * MIB : 256 * MIB;
	struct copies x = {};
	unsigned int i;

	chan_must_open(&b->g, ENGINE_CE, &x.c);
	x.host = bo_new(&b->g, NOUVEAU_BO_GART, most);
	for (i = 0; i < 2; i++)
		x.vram[i] = bo_new(&b->g, NOUVEAU_BO_VRAM, most);
	x.pageable = malloc(16 * MIB);
	if (!x.pageable)
		bail("no memory");
	memset(x.host->map, 0x5a, most);
	memset(x.pageable, 0xa5, 16 * MIB);
	for (x.dir = H2D; x.dir <= D2D; x.dir++)
		sizes(b, &x, most, names[x.dir], false);
	for (x.dir = H2D; x.dir <= D2H; x.dir++)
		sizes(b, &x, 16 * MIB, names[x.dir], true);
	free(x.pageable);
	bo_free(&x.host);
	for (i = 0; i < 2; i++)
		bo_free(&x.vram[i]);
	chan_close(&x.c);
}
