// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device: video memory, register file, the table of units, the units' life cycle, and the reset
 * of the whole card.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core.h"

const struct unit_ops *const gk110_units[] = {
	&ptop_unit, /* first: fills the engine table that other units read at init */
	&pmc_unit,
	&ptimer_unit,
	&pbus_unit,
	&ppci_unit,
	&prom_unit,
	&privring_unit,
	&pfuse_unit,
	&therm_unit,
	&pclock_unit,
	&gpio_unit,
	&pfb_unit,
	&ltc_unit,
	&pmu_unit,
	&mmu_unit,
	&bar_unit,
	&ce_unit,
	/* gr_unit stops before fifo_unit: it ends grids that fifo_unit's stop would wait for */
	&fifo_unit,
	&gr_unit,
};
const unsigned int gk110_nr_units = sizeof(gk110_units) / sizeof(gk110_units[0]);

static void *sparse_alloc(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int vram_alloc(struct gk110 *g)
{
	size_t size = g->cfg.vram_size;

	g->vram_fd = memfd_create("gk110-vram", MFD_CLOEXEC);
	if (g->vram_fd < 0 || ftruncate(g->vram_fd, size)) {
		gk110_err("no memory file of %zu bytes for video memory: %s", size,
			  strerror(errno));
		return -ENOMEM;
	}
	g->vram =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, g->vram_fd, 0);
	if (g->vram == MAP_FAILED) {
		g->vram = NULL;
		gk110_err("can't map %zu bytes of video memory: %s", size, strerror(errno));
		return -ENOMEM;
	}
	/* a hint: the first touch is faster where shmem allows it */
	madvise(g->vram, size, MADV_HUGEPAGE);
	return 0;
}

static int core_alloc(struct gk110 *g)
{
	g->core = calloc(1, sizeof(*g->core));
	g->ranges = calloc(256, sizeof(*g->ranges));
	g->range_of = sparse_alloc(GK110_BAR0_SIZE / 4);
	g->regs = sparse_alloc(GK110_BAR0_SIZE);
	if (!g->core || !g->ranges || !g->range_of || !g->regs)
		return -ENOMEM;
	pthread_mutex_init(&g->core->note_lock, NULL);
	g->core->unanswered = sparse_alloc(GK110_BAR0_SIZE);
	return g->core->unanswered ? vram_alloc(g) : -ENOMEM;
}

static void units_reset(struct gk110 *g)
{
	unsigned int u;

	/* registers read as zero after this */
	madvise(g->regs, GK110_BAR0_SIZE, MADV_DONTNEED);
	pthread_mutex_lock(&g->lock);
	for (u = 0; u < gk110_nr_units; u++)
		if (gk110_units[u]->reset)
			gk110_units[u]->reset(g);
	pthread_mutex_unlock(&g->lock);
}

static int units_init(struct gk110 *g)
{
	unsigned int u;
	int ret;

	for (u = 0; u < gk110_nr_units; u++) {
		ret = gk110_units[u]->init ? gk110_units[u]->init(g) : 0;
		if (ret) {
			gk110_err("unit %s failed to initialise: %s", gk110_units[u]->name,
				  strerror(-ret));
			while (u--)
				if (gk110_units[u]->fini)
					gk110_units[u]->fini(g);
			return ret;
		}
	}
	return 0;
}

static void core_free(struct gk110 *g)
{
	if (g->vram)
		munmap(g->vram, g->cfg.vram_size);
	if (g->vram_fd >= 0)
		close(g->vram_fd);
	if (g->regs)
		munmap(g->regs, GK110_BAR0_SIZE);
	if (g->range_of)
		munmap(g->range_of, GK110_BAR0_SIZE / 4);
	if (g->core && g->core->unanswered)
		munmap(g->core->unanswered, GK110_BAR0_SIZE);
	free(g->ranges);
	free(g->core);
	free(g);
}

struct gk110 *gk110_create(const struct gk110_config *cfg, const struct bus_ops *bus,
			   void *bus_priv)
{
	struct gk110 *g;

	if (config_check(cfg))
		return NULL;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->cfg = *cfg;
	g->bus = bus;
	g->bus_priv = bus_priv;
	g->vram_fd = -1;
	pthread_mutex_init(&g->lock, NULL);
	pthread_rwlock_init(&g->dma_lock, NULL);
	if (core_alloc(g) || mmio_init(g) || units_init(g)) {
		core_free(g);
		return NULL;
	}
	units_reset(g);
	return g;
}

int gk110_start(struct gk110 *g)
{
	unsigned int u;
	int ret;

	for (u = 0; u < gk110_nr_units; u++) {
		ret = gk110_units[u]->start ? gk110_units[u]->start(g) : 0;
		if (ret) {
			gk110_err("unit %s failed to start: %s", gk110_units[u]->name,
				  strerror(-ret));
			while (u--)
				if (gk110_units[u]->stop)
					gk110_units[u]->stop(g);
			return ret;
		}
	}
	g->core->running = true;
	return 0;
}

void gk110_stop(struct gk110 *g)
{
	unsigned int u = gk110_nr_units;

	if (!g->core->running)
		return;
	g->core->running = false;
	while (u--)
		if (gk110_units[u]->stop)
			gk110_units[u]->stop(g);
}

void gk110_reset(struct gk110 *g)
{
	bool running = g->core->running;

	gk110_stop(g);
	units_reset(g);
	if (running && gk110_start(g))
		gk110_err("the device did not start again after its reset");
}

void gk110_destroy(struct gk110 *g)
{
	unsigned int u = gk110_nr_units;

	if (!g)
		return;
	gk110_stop(g);
	while (u--)
		if (gk110_units[u]->fini)
			gk110_units[u]->fini(g);
	core_free(g);
}
