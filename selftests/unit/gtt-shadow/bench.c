// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a sync costs, with a host whose memory and pins cost nothing: 2 GiB of guest address space in 16 full small tables,
 * half of it system memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kvgpu/shadow.h"

#define TABLES		16u
#define ENTRIES		32768u
#define VRAM		(1ull << 30)

struct bench {
	struct kvgpu_shadow s;
	struct kvgpu_shadow_cfg cfg;
	u64 *dir, *table;		/* at 0 and at 1 MiB of video memory */
	struct kvgpu_as *as;
	u64 next;
	u32 dirty;			/* pages of small tables, from the first */
};

static u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static int b_read(void *ctx, struct kvgpu_gaddr a, void *buf, u32 len)
{
	struct bench *b = ctx;

	memcpy(buf, a.addr < 1 << 20 ? (u8 *)b->dir + a.addr : (u8 *)b->table + (a.addr - (1 << 20)), len);
	return 0;
}

static int b_pin(void *ctx, const iova_t *iova, u32 nr, u64 *dma)
{
	u32 i;

	for (i = 0; i < nr; i++)
		dma[i] = iova[i].v;
	return 0;
}

static void b_unpin(void *ctx, iova_t iova)
{
}

static int b_new(void *ctx, u32 nr, struct kvgpu_table *t)
{
	struct bench *b = ctx;

	t->addr = b->next += nr * 8;
	t->mirror = calloc(nr, 8);
	t->aux = calloc(1, kvgpu_table_aux(&b->cfg, nr) + 1);
	return 0;
}

static void b_free(void *ctx, struct kvgpu_table *t)
{
	free(t->mirror);
	free(t->aux);
}

static void b_write(void *ctx, struct kvgpu_table *t, u32 first, u32 nr)
{
}

static bool b_dirty(void *ctx, struct kvgpu_gaddr a, u64 len)
{
	struct bench *b = ctx;

	return a.addr >= 1 << 20 && (a.addr - (1 << 20)) / 4096 < b->dirty;
}

static const struct kvgpu_shadow_ops ops = {
	.read = b_read, .pin = b_pin, .unpin = b_unpin, .table_new = b_new, .table_free = b_free, .table_write = b_write,
};

static void fill(struct bench *b, u64 shift)
{
	u32 i;

	for (i = 0; i < TABLES * ENTRIES; i++)
		if (i / ENTRIES & 1)
			b->table[i] = 1 | 2ull << 33 | (i + shift) << 4;
		else
			b->table[i] = 1 | ((i + shift) % (VRAM / 4096)) << 4;
}

static u64 timed_sync(struct bench *b, u32 dirty)
{
	bool changed;
	u64 t = now();

	b->dirty = dirty;
	kvgpu_as_sync(b->as, b_dirty, &changed);
	kvgpu_shadow_reap(&b->s);
	return now() - t;
}

static void show(const char *what, u64 ns, double n, const char *unit)
{
	printf("%-46s %10.1f %s\n", what, ns / n, unit);
}

int shadow_bench(void)
{
	struct bench b = {
		.cfg = { .part_size = VRAM, .max_tables = 64, .max_pinned = TABLES * ENTRIES * 2, .seed = 12345 },
		.next = 1ull << 33,
	};
	u32 all = TABLES * ENTRIES, pages = all / 512, i;
	bool changed;
	u64 t;

	b.dir = calloc(1, 65536);
	b.table = calloc(all, 8);
	for (i = 0; i < TABLES; i++)
		b.dir[i] = 1ull << 32 | ((1ull << 20) + i * ENTRIES * 8) >> 12 << 36;
	kvgpu_shadow_init(&b.s, &b.cfg, &ops, &b, calloc(1, kvgpu_shadow_size(&b.cfg)));
	if (kvgpu_as_create(&b.s, (struct kvgpu_gaddr){ KVGPU_VRAM, 0 }, calloc(1, kvgpu_as_size(&b.s)), &b.as))
		return 1;
	timed_sync(&b, 0);
	fill(&b, 0);
	show("map, half of it system memory: per GiB", timed_sync(&b, pages), all / 262144.0 * 1e6, "ms");
	show("nothing dirty: per sync", timed_sync(&b, 0), 1, "ns");
	show("nothing dirty: per table", timed_sync(&b, 0), TABLES, "ns");
	t = timed_sync(&b, pages);
	show("dirty but the same: per page of a table", t, pages, "ns");
	show("dirty but the same: per entry", t, all, "ns");
	fill(&b, 1);
	show("all changed: per entry", timed_sync(&b, pages), all, "ns");
	for (i = 0; i < 1000; i++)
		b.table[i * 512 + 7] ^= 4;
	show("one entry in each of 1000 pages: per entry", timed_sync(&b, 1000), 1000, "ns");
	t = now();
	kvgpu_shadow_unmap(&b.s, (iova_t){ 3ull << 27 }, 1 << 21, &changed);
	show("unmap 2 MiB: per page", now() - t, 512, "ns");
	kvgpu_shadow_reap(&b.s);
	t = now();
	kvgpu_shadow_unmap(&b.s, (iova_t){ 0 }, ~0ull, &changed);
	kvgpu_shadow_reap(&b.s);
	show("unmap everything: per page", now() - t, all / 2, "ns");
	return 0;
}
