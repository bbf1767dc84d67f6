// SPDX-License-Identifier: GPL-2.0-only
/* PFIFO as a unit of the device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fifo.h"

#define FAULT_UNIT_HOST0 7 /* nouveau gk104_fifo_mmu_fault_engine */
#define HUB_CLIENT_HOST	 6 /* nouveau gk104_fifo_mmu_fault_hubclient */

static const struct mmio_range ranges[] = {
	{ PFIFO_BASE, PFIFO_MMU_FAULT_SOURCE - PFIFO_BASE, "PFIFO", fifo_read, fifo_write },
	{ PFIFO_PBDMA_INTR_SOURCE, PFIFO_MMU_FAULT_RECORDS - PFIFO_PBDMA_INTR_SOURCE, "PFIFO",
	  fifo_read, fifo_write },
	{ PFIFO_MMU_FAULT_RECORDS_END, PFIFO_BASE + PFIFO_SIZE - PFIFO_MMU_FAULT_RECORDS_END,
	  "PFIFO", fifo_read, fifo_write },
	{ PBDMA_BASE, PBDMA_END - PBDMA_BASE, "PBDMA", pbdma_read, pbdma_write },
	{ PCCSR_BASE, PCCSR_SIZE, "PFIFO_CHAN", chan_table_read, chan_table_write },
};

static void wakes_init(struct gk110 *g)
{
	unsigned int i;

	for (i = 0; i < GK110_MAX_PBDMA; i++)
		wake_init(&g->fifo->pbdma[i].wake);
	wake_init(&g->fifo->keeper_wake);
}

static int clients_init(struct gk110 *g)
{
	static const char *const names[GK110_MAX_PBDMA] = { "HOST0", "HOST1", "HOST2" };
	unsigned int i;
	int ret;

	for (i = 0; i < g->nr_pbdma; i++) {
		struct pbdma *p = &g->fifo->pbdma[i];

		p->g = g;
		p->idx = i;
		p->regs = PBDMA(i);
		p->runlists = g->pbdma_runlists[i] & ((1u << g->nr_runlists) - 1);
		ret = mmu_client_init(g, &p->mmu, names[i], FAULT_UNIT_HOST0 + i, HUB_CLIENT_HOST,
				      -1);
		if (ret)
			return ret;
	}
	return mmu_client_init(g, &g->fifo->inject, "injected", 0, 0, -1);
}

static void fifo_fini(struct gk110 *g)
{
	struct fifo *f = g->fifo;
	unsigned int i;

	if (!f)
		return;
	for (i = 0; i < GK110_MAX_PBDMA; i++) {
		mmu_client_fini(g, &f->pbdma[i].mmu);
		wake_fini(&f->pbdma[i].wake);
	}
	mmu_client_fini(g, &f->inject);
	wake_fini(&f->keeper_wake);
	for (i = 0; i < GK110_MAX_RUNLIST; i++)
		rl_free(&f->rl[i]);
	free(f->chan);
	free(f->tsg_pbdma);
	free(f);
	g->fifo = NULL;
}

static int fifo_init(struct gk110 *g)
{
	struct fifo *f = calloc(1, sizeof(*f));
	unsigned int i;
	int ret;

	if (!f)
		return -ENOMEM;
	g->fifo = f;
	wakes_init(g);
	f->chan = calloc(GK110_MAX_CHAN, sizeof(*f->chan));
	f->tsg_pbdma = calloc(GK110_MAX_TSG, sizeof(*f->tsg_pbdma));
	if (!f->chan || !f->tsg_pbdma) {
		fifo_fini(g);
		return -ENOMEM;
	}
	ret = clients_init(g);
	if (ret) {
		fifo_fini(g);
		return ret;
	}
	for (i = 0; i < g->nr_engines; i++) {
		f->eng[i].e = &g->engine[i];
		f->eng[i].idx = i;
		f->eng[i].owner = OWNER_NONE;
		g->engine[i].fifo = &f->eng[i];
	}
	route_init(g);
	return 0;
}

/* PBDMA threads that are executing notice p->drop when they come back. */
void fifo_reset_hw(struct gk110 *g)
{
	struct fifo *f = g->fifo;
	unsigned int i;

	for (i = 0; i < g->nr_pbdma; i++) {
		struct pbdma *p = &f->pbdma[i];

		if (!p->fc)
			continue;
		p->drop = true;
		atomic_store(&p->fc->c.stop, true);
	}
	for (i = 0; i < GK110_MAX_CHAN; i++) {
		struct fchan *fc = &f->chan[i];

		chan_acq_wait(f, fc, false);
		fc->bound = fc->enabled = fc->force_reload = fc->pending = false;
		fc->listed = 0;
		if (fc->pbdma < 0)
			fc->c.runlist = 0;
	}
	for (i = 0; i < GK110_MAX_RUNLIST; i++)
		rl_free(&f->rl[i]);
	for (i = 0; i < g->nr_engines; i++) {
		/* a switch in progress must not change PFIFO's state any more */
		f->eng[i].resets++;
		f->eng[i].on = NULL;
		f->eng[i].faulted = f->eng[i].injected = f->eng[i].stuck = f->eng[i].evict = false;
		f->eng[i].chsw_since = 0;
	}
	f->error = 0;
	f->preempt = 0;
	fifo_regs_reset(g);
	sched_wake_all(f);
	wake_post(&f->keeper_wake);
}

/* the threads are stopped */
static void fifo_reset(struct gk110 *g)
{
	struct fifo *f = g->fifo;
	unsigned int i;

	for (i = 0; i < GK110_MAX_CHAN; i++) {
		chan_acq_wait(f, &f->chan[i], false);
		memset(&f->chan[i], 0, sizeof(f->chan[i]));
		f->chan[i].c.id = i;
		f->chan[i].c.tsg = -1;
		f->chan[i].pbdma = -1;
	}
	memset(f->tsg_pbdma, -1, GK110_MAX_TSG * sizeof(*f->tsg_pbdma));
	fifo_reset_hw(g);
}

static void fifo_stop(struct gk110 *g)
{
	struct fifo *f = g->fifo;
	unsigned int i;

	pthread_mutex_lock(&g->lock);
	f->stopping = true;
	for (i = 0; i < g->nr_pbdma; i++)
		if (f->pbdma[i].fc)
			atomic_store(&f->pbdma[i].fc->c.stop, true);
	pthread_mutex_unlock(&g->lock);
	sched_wake_all(f);
	wake_post(&f->keeper_wake);
	for (i = 0; i < g->nr_pbdma; i++) {
		if (f->pbdma[i].running)
			pthread_join(f->pbdma[i].thread, NULL);
		f->pbdma[i].running = false;
	}
	if (f->keeper_running)
		pthread_join(f->keeper, NULL);
	f->keeper_running = false;
}

static int fifo_start(struct gk110 *g)
{
	struct fifo *f = g->fifo;
	unsigned int i;
	int ret = 0;

	f->stopping = false;
	for (i = 0; i < g->nr_pbdma && !ret; i++) {
		if (!f->pbdma[i].runlists)
			continue;
		ret = -pthread_create(&f->pbdma[i].thread, NULL, pbdma_main, &f->pbdma[i]);
		f->pbdma[i].running = !ret;
	}
	if (!ret) {
		ret = -pthread_create(&f->keeper, NULL, keeper_main, g);
		f->keeper_running = !ret;
	}
	if (ret)
		fifo_stop(g);
	return ret;
}

const struct unit_ops fifo_unit = {
	.name = "fifo",
	.ranges = ranges,
	.nr_ranges = sizeof(ranges) / sizeof(ranges[0]),
	.init = fifo_init,
	.reset = fifo_reset,
	.start = fifo_start,
	.stop = fifo_stop,
	.fini = fifo_fini,
};
