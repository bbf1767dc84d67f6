// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measured, not judged: what a buffer costs to map into the GPU's address space, use once and unmap
 * again ("mapcost"), and how fast copies are ("bandwidth").
 */
#include "client.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ce.h"
#include "mark.h"
#include "methods.h"
#include "tap.h"

static const char *memory_name(uint32_t domain)
{
	return domain == NOUVEAU_BO_VRAM ? "VRAM" : "system";
}

/* ------------------------------------------------------------------ mapping */

enum { MAP_ROUNDS = 5 };

struct map_time {
	uint64_t map[MAP_ROUNDS], use[MAP_ROUNDS], unmap[MAP_ROUNDS];
};

/* the kernel maps a buffer when it makes it, and unmaps an idle one when its handle goes */
static int map_once(struct gpu *g, struct gpu_chan *c, struct nouveau_bo *to, uint32_t domain,
		    uint64_t size, struct map_time *t, unsigned int round)
{
	struct nouveau_bo *bo = NULL;
	uint64_t start = now_us();
	int ret;

	if (nouveau_bo_new(g->dev, domain, 4096, size, NULL, &bo))
		bail("buffer of %llu MiB", (unsigned long long)size >> 20);
	t->map[round] = now_us() - start;

	start = now_us();
	job_begin(c, 2 * CE_COPY_WORDS);
	job_use(c, bo, NOUVEAU_BO_RD);
	job_use(c, to, NOUVEAU_BO_WR);
	ce_emit_linear(c, bo->offset, to->offset, 4096);
	ce_emit_linear(c, bo->offset + size - 4096, to->offset, 4096);
	ret = job_run(c);
	t->use[round] = now_us() - start;

	while (bo_idle(bo))
		usleep(100);
	start = now_us();
	bo_free(&bo);
	t->unmap[round] = now_us() - start;
	return ret;
}

static void map_cost(struct gpu *g, struct gpu_chan *c, struct nouveau_bo *to, uint32_t domain,
		     unsigned int mib, const struct client_options *o)
{
	struct map_time t;
	unsigned int i;
	char line[96];
	int ret;

	/* a warm-up: memory of the machine is taken from its free lists and cleared */
	ret = map_once(g, c, to, domain, (uint64_t)mib << 20, &t, 0);
	mark(o, "map-%s-%u begin", memory_name(domain), mib);
	for (i = 0; !ret && i < MAP_ROUNDS; i++)
		ret = map_once(g, c, to, domain, (uint64_t)mib << 20, &t, i);
	mark(o, "map-%s-%u end", memory_name(domain), mib);
	if (!ret)
		measured("map", "memory=%s mib=%u rounds=%d map_us=%llu use_us=%llu unmap_us=%llu",
			 memory_name(domain), mib, MAP_ROUNDS,
			 (unsigned long long)median(t.map, MAP_ROUNDS),
			 (unsigned long long)median(t.use, MAP_ROUNDS),
			 (unsigned long long)median(t.unmap, MAP_ROUNDS));
	snprintf(line, sizeof(line), "%u MiB of %s memory mapped, used, unmapped", mib,
		 memory_name(domain));
	tap_result(!ret, line, "result %d", ret);
}

void test_mapcost(const struct client_options *o)
{
	static const uint32_t domains[] = { NOUVEAU_BO_VRAM, NOUVEAU_BO_GART };
	static const unsigned int sizes[] = { 1, 4, 16, 64 };
	struct nouveau_bo *to;
	struct gpu_chan c;
	unsigned int d, i;
	struct gpu g;

	gpu_open(&g, o->node);
	chan_must_open(&g, ENGINE_CE, &c);
	to = bo_new(&g, NOUVEAU_BO_GART, 4096);
	for (d = 0; d < 2; d++)
		for (i = 0; i < 4; i++)
			map_cost(&g, &c, to, domains[d], sizes[i], o);
	bo_free(&to);
	chan_close(&c);
	gpu_close(&g);
}

/* ------------------------------------------------------------------ bandwidth */

enum { MAX_ROUNDS = 15, BATCH_MIB = 256, BUFFER_MIB = 64, LINEAR_WORDS = 16 };

static int copy_batch(struct gpu_chan *c, struct nouveau_bo *src, struct nouveau_bo *dst,
		      unsigned int mib, uint64_t *us)
{
	const volatile uint32_t *done = c->done->map;
	unsigned int i, nr = BATCH_MIB / mib;
	uint64_t start, at;
	int ret;

	job_begin(c, nr * LINEAR_WORDS);
	job_use(c, src, NOUVEAU_BO_RD);
	job_use(c, dst, NOUVEAU_BO_WR);
	for (i = 0; i < nr; i++) {
		at = (uint64_t)i * mib % BUFFER_MIB << 20;
		ce_emit_linear(c, src->offset + at, dst->offset + at, mib << 20);
	}
	start = now_us();
	ret = job_kick(c);
	while (!ret && (int32_t)(*done - c->seq) < 0 && now_us() - start < JOB_TIMEOUT_MS * 1000ull)
		sched_yield();
	*us = now_us() - start;
	return ret ? ret : job_wait(c, JOB_TIMEOUT_MS);
}

static void bandwidth(struct gpu_chan *c, struct nouveau_bo *src, struct nouveau_bo *dst,
		      const char *from, const char *to, unsigned int mib,
		      const struct client_options *o)
{
	unsigned int rounds = o->quick ? 5 : MAX_ROUNDS, i;
	uint64_t us[MAX_ROUNDS], mid;
	char line[96];
	int ret;

	ret = copy_batch(c, src, dst, mib, &us[0]);
	for (i = 0; !ret && i < rounds; i++)
		ret = copy_batch(c, src, dst, mib, &us[i]);
	snprintf(line, sizeof(line), "copies of %u MiB, %s to %s", mib, from, to);
	if (ret) {
		tap_result(false, line, "result %d", ret);
		return;
	}
	mid = median(us, rounds);
	measured("bandwidth", "from=%s to=%s mib=%u rounds=%u batch_mib=%d us=%llu", from, to, mib,
		 rounds, BATCH_MIB, (unsigned long long)mid);
	tap_result(true, line, "median %.2f GB/s", (double)BATCH_MIB * 1048576 / 1e3 / mid);
}

void test_bandwidth(const struct client_options *o)
{
	static const unsigned int sizes[] = { 1, 16, 64 };
	struct nouveau_bo *vram[2], *host;
	struct gpu_chan c;
	unsigned int i;
	struct gpu g;

	gpu_open(&g, o->node);
	chan_must_open(&g, ENGINE_CE, &c);
	for (i = 0; i < 2; i++)
		vram[i] = bo_new(&g, NOUVEAU_BO_VRAM, BUFFER_MIB << 20);
	host = bo_new(&g, NOUVEAU_BO_GART, BUFFER_MIB << 20);
	memset(host->map, 0x5a, BUFFER_MIB << 20);
	for (i = 0; i < 3; i++) {
		bandwidth(&c, vram[0], vram[1], "VRAM", "VRAM", sizes[i], o);
		bandwidth(&c, host, vram[0], "host", "VRAM", sizes[i], o);
		bandwidth(&c, vram[0], host, "VRAM", "host", sizes[i], o);
	}
	bo_free(&host);
	for (i = 0; i < 2; i++)
		bo_free(&vram[i]);
	chan_close(&c);
	gpu_close(&g);
}
