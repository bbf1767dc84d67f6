// SPDX-License-Identifier: GPL-2.0-only
/*
 * The statistics dump: one JSON object. "mmio" counts accesses by 64 KiB of BAR0, "units" by unit
 * and named range, "unanswered" by register: no unit claims it, or its unit was off.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core.h"

static const struct {
	const char *name;
	size_t off;
} counters[] = {
#define C(f)                                        \
	{                                           \
#f, offsetof(struct gk110_stats, f) \
	}
	C(dma_rd_bytes),     C(dma_wr_bytes), C(vram_rd_bytes),	  C(vram_wr_bytes),
	C(doorbells),	     C(gp_entries),   C(methods),	  C(semaphores),
	C(acquires_blocked), C(ce_launches),  C(gr_launches),	  C(chan_switches),
	C(gr_switches),	     C(preempts),     C(runlist_updates), C(tlb_flushes),
	C(tlb_hits),	     C(tlb_misses),   C(mmu_faults),	  C(intr_msgs),
	C(nonstall_intrs),   C(pri_errors),
#undef C
};

static const char *const windows[NR_WIN] = { "bar1", "bar3", "pramin" };

static uint64_t counter(const atomic_uint_least64_t *c)
{
	return atomic_load_explicit(c, memory_order_relaxed);
}

static void dump_mmio(struct gk110 *g, FILE *f)
{
	const char *sep = "";
	unsigned int i;

	fputs("  \"mmio\": [", f);
	for (i = 0; i < 256; i++) {
		uint64_t rd = counter(&g->stats.mmio_rd[i]), wr = counter(&g->stats.mmio_wr[i]);

		if (!rd && !wr)
			continue;
		fprintf(f,
			"%s\n    {\"base\": \"0x%06x\", \"reads\": %" PRIu64
			", \"writes\": %" PRIu64 "}",
			sep, i << 16, rd, wr);
		sep = ",";
	}
	fputs("\n  ],\n", f);
}

static void dump_units(struct gk110 *g, FILE *f)
{
	const char *sep = "";
	unsigned int i;

	fputs("  \"units\": [", f);
	for (i = 1; i < g->nr_ranges; i++) {
		if (!g->core->rd[i] && !g->core->wr[i])
			continue;
		fprintf(f,
			"%s\n    {\"unit\": \"%s\", \"range\": \"%s\", \"reads\": %" PRIu64
			", \"writes\": %" PRIu64 "}",
			sep, g->core->unit_of[i], g->ranges[i]->name, g->core->rd[i],
			g->core->wr[i]);
		sep = ",";
	}
	fputs("\n  ],\n", f);
}

static void dump_unanswered(struct gk110 *g, FILE *f)
{
	const char *sep = "";
	unsigned int blk, i;

	fputs("  \"unanswered\": [", f);
	for (blk = 0; blk < 256; blk++) {
		if (!counter(&g->stats.mmio_rd[blk]) && !counter(&g->stats.mmio_wr[blk]))
			continue;
		for (i = blk << 14; i < (blk + 1) << 14; i++) {
			if (!g->core->unanswered[i])
				continue;
			fprintf(f, "%s\n    {\"reg\": \"0x%06x\", \"accesses\": %u}", sep, i << 2,
				g->core->unanswered[i]);
			sep = ",";
		}
	}
	fputs("\n  ],\n", f);
}

static void dump_counters(struct gk110 *g, FILE *f)
{
	unsigned int i;

	for (i = 0; i < NR_WIN; i++)
		fprintf(f,
			"  \"%s\": {\"reads\": %" PRIu64 ", \"writes\": %" PRIu64
			", \"faults\": %" PRIu64 ", \"pages_mapped\": %" PRIu64 "},\n",
			windows[i], counter(&g->stats.bar_rd[i]), counter(&g->stats.bar_wr[i]),
			counter(&g->stats.bar_faults[i]), counter(&g->stats.bar_pages_mapped[i]));
	fputs("  \"engine_busy_ns\": [", f);
	for (i = 0; i < GK110_MAX_ENGINE; i++)
		fprintf(f, "%s%" PRIu64, i ? ", " : "", counter(&g->stats.engine_busy_ns[i]));
	fputs("]", f);
	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		fprintf(f, ",\n  \"%s\": %" PRIu64, counters[i].name,
			counter((const atomic_uint_least64_t *)((const char *)&g->stats +
								counters[i].off)));
	fputc('\n', f);
}

/* an error is ignored: the reader has gone */
static void write_all(int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(fd, buf, len);

		if (n <= 0)
			return;
		buf += n;
		len -= n;
	}
}

void gk110_stats_json(struct gk110 *g, int fd)
{
	char *buf = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&buf, &len);

	if (!f)
		return;
	pthread_mutex_lock(&g->lock);
	fputs("{\n", f);
	dump_mmio(g, f);
	dump_units(g, f);
	dump_unanswered(g, f);
	dump_counters(g, f);
	fputs("}\n", f);
	pthread_mutex_unlock(&g->lock);
	fclose(f);
	write_all(fd, buf, len);
	free(buf);
}
