// SPDX-License-Identifier: GPL-2.0-only
/*
 * Benchmark: the life of a buffer, beside others that are mapped already, and what the CPU sees of
 * video memory through BAR1.
 */
#include "bench.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <nouveau_drm.h>

#include "tap.h"

enum { FILLER_MIB = 128, MAX_FILLERS = 32, WINDOW_BYTES = 4 << 20, WORDS = 4096 };

static const char *memory_name(uint32_t domain)
{
	return domain == NOUVEAU_BO_VRAM ? "vram" : "gart";
}

/* ------------------------------------------------------------------ buffers */

struct buffer {
	struct bench *b;
	uint32_t domain;
	uint64_t size;
};

static sigjmp_buf no_window;

static void on_sigbus(int sig)
{
	siglongjmp(no_window, 1);
}

/* a word of each page; -ENOSPC: nouveau says with SIGBUS that BAR1 can't show the buffer */
static int touch(struct nouveau_bo *bo)
{
	struct sigaction old, now = { .sa_handler = on_sigbus };
	volatile uint64_t at;
	int ret = 0;

	sigaction(SIGBUS, &now, &old);
	if (sigsetjmp(no_window, 1))
		ret = -ENOSPC;
	else
		for (at = 0; at < bo->size; at += 4096)
			*(volatile uint32_t *)((uint8_t *)bo->map + at) = at;
	sigaction(SIGBUS, &old, NULL);
	return ret;
}

static int buffer_once(void *ctx, double *value)
{
	struct buffer *x = ctx;
	struct nouveau_bo *bo = NULL;
	uint64_t start = now_us();
	int ret;

	ret = nouveau_bo_new(x->b->g.dev, x->domain | NOUVEAU_BO_MAP, 4096, x->size, NULL, &bo);
	if (ret)
		return ret;
	ret = nouveau_bo_map(bo, 0, x->b->g.client);
	if (!ret)
		ret = touch(bo);
	bo_free(&bo);
	*value = now_us() - start;
	return ret;
}

static void buffers(struct bench *b, unsigned int beside_gib)
{
	static const uint32_t domains[] = { NOUVEAU_BO_VRAM, NOUVEAU_BO_GART };
	static const uint64_t sizes[] = { 4 << 10, 64 << 10, 1 << 20, 64 << 20 };
	struct bench_row row = { .unit = "us", .ops = 1, .may_lack = true };
	struct buffer x = { .b = b };
	unsigned int d, i;

	for (d = 0; d < 2; d++)
		for (i = 0; i < 4; i++) {
			x.domain = domains[d];
			x.size = sizes[i];
			row.samples = i < 3 ? b->o->quick ? 3 : 10 : b->o->quick ? 1 : 3;
			snprintf(row.name, sizeof(row.name), "buffer-%s-%s-beside-%ug",
				 memory_name(x.domain), bench_size(x.size), beside_gib);
			bench_row(b, &row, buffer_once, &x);
		}
}

/* video memory that is mapped and not used, until there is @gib of it; false: there is less */
static bool fill(struct bench *b, struct nouveau_bo **filler, unsigned int *nr, unsigned int gib)
{
	uint64_t most = gpu_param(&b->g, NOUVEAU_GETPARAM_FB_SIZE, 0);

	/* nouveau's own, and the buffers that are measured */
	if (((uint64_t)gib << 30) + (256ull << 20) > most)
		return false;
	for (; *nr < gib * 1024 / FILLER_MIB; ++*nr)
		if (nouveau_bo_new(b->g.dev, NOUVEAU_BO_VRAM, 4096, (uint64_t)FILLER_MIB << 20,
				   NULL, &filler[*nr]))
			return false;
	return true;
}

void bench_buffer(struct bench *b)
{
	static const unsigned int besides[] = { 0, 1, 4 };
	struct nouveau_bo *filler[MAX_FILLERS] = {};
	unsigned int i, nr = 0;

	for (i = 0; i < 3; i++)
		if (fill(b, filler, &nr, besides[i]))
			buffers(b, besides[i]);
		else
			tap_diag("no room for %u GiB of buffers beside", besides[i]);
	while (nr)
		bo_free(&filler[--nr]);
}

/* ------------------------------------------------------------------ BAR1 */

struct window {
	struct nouveau_bo *bo;
	uint8_t *memory;
	bool write;
};

static int window_once(void *ctx, double *value)
{
	struct window *w = ctx;
	uint64_t start = now_us();

	if (w->write)
		memcpy(w->bo->map, w->memory, WINDOW_BYTES);
	else
		memcpy(w->memory, w->bo->map, WINDOW_BYTES);
	*value = (double)WINDOW_BYTES / (now_us() - start + 1);
	return 0;
}

/* one word after the other, each on another page than the one before */
static int words_once(void *ctx, double *value)
{
	struct window *w = ctx;
	volatile uint32_t *map = w->bo->map;
	uint64_t start = now_us();
	uint32_t i, sum = 0;

	for (i = 0; i < WORDS; i++)
		if (w->write)
			map[i % (WINDOW_BYTES / 4096) * 1024] = i;
		else
			sum += map[i % (WINDOW_BYTES / 4096) * 1024];
	*value = (now_us() - start) * 1000.0 / WORDS;
	*(volatile uint32_t *)w->memory = sum;
	return 0;
}

void bench_bar1(struct bench *b)
{
	struct window w = { bo_new(&b->g, NOUVEAU_BO_VRAM, WINDOW_BYTES), malloc(WINDOW_BYTES),
			    true };
	struct bench_row row = { "", "MB/s", true, b->o->quick ? 3 : 10, 1, false };
	unsigned int i;

	if (!w.memory)
		bail("no memory");
	memset(w.memory, 0x5a, WINDOW_BYTES);
	for (i = 0; i < 2; i++) {
		w.write = !i;
		snprintf(row.name, sizeof(row.name), "bar1-%s", i ? "read" : "write");
		bench_row(b, &row, window_once, &w);
	}
	row.unit = "ns";
	row.higher = false;
	row.ops = WORDS;
	for (i = 0; i < 2; i++) {
		w.write = !i;
		snprintf(row.name, sizeof(row.name), "bar1-%s-word", i ? "read" : "write");
		bench_row(b, &row, words_once, &w);
	}
	free(w.memory);
	bo_free(&w.bo);
}
