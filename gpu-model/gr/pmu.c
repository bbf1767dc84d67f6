// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMU: a falcon with nouveau's PMU program, which is not executed but modelled (nouveau
 * subdev/pmu/fuc: kernel, host, memx, i2c_, perf, test): two rings of messages in its data memory,
 * replies, one interrupt. Any other image is started and then does nothing, as its protocol is not
 * known.
 *
 * gk110.lock is held here, but for pmu_init() and pmu_fini(). A MEMX script runs inside the
 * register access that sent it, and its accesses run handlers of other units (pri_write()).
 *
 * Open, the model chooses: MEMX delays take no time, and a wait reads its register once, because
 * the registers of the memory controller settle at once here.
 */
#include "gr.h"

#include <errno.h>
#include <stdlib.h>

#include <linux/bitfield.h>
#include <gk110/pmu.h>

/* open: sizes of the PMU's memories, in bytes */
#define PMU_IMEM 0x6000
#define PMU_DMEM 0x3000

/* data1 of a reply from I2C_ (fuc/i2c_.fuc) */
#define I2C_FAILED 1

struct pmu {
	struct falcon falcon;
	bool known; /* nouveau's program runs */
};

/* ---------------------------------------------------------------- rings */

static void intr_update(struct gk110 *g)
{
	pmc_intr_set(g, PMU_INTR_BIT, falcon_host_intr(&g->pmu->falcon));
}

/* A reply is lost when the ring is full; the chip's program would wait. */
static void reply(struct gk110 *g, uint32_t process, uint32_t message, uint32_t data0,
		  uint32_t data1)
{
	struct falcon *f = &g->pmu->falcon;
	uint32_t put = reg_get(g, PMU_BASE + PMU_RFIFO_PUT) & PMU_RING_COUNTER;
	uint32_t get = reg_get(g, PMU_BASE + PMU_RFIFO_GET) & PMU_RING_COUNTER;
	uint32_t at = PMU_IMAGE_RFIFO + put % PMU_RING_SLOTS * PMU_RING_SLOT;

	if ((get ^ PMU_RING_SLOTS) == put) {
		gk110_note(g, "PMU: ring to the host is full");
		return;
	}
	falcon_dmem_set(f, at + PMU_MSG_PROCESS * 4, process);
	falcon_dmem_set(f, at + PMU_MSG_MESSAGE * 4, message);
	falcon_dmem_set(f, at + PMU_MSG_DATA0 * 4, data0);
	falcon_dmem_set(f, at + PMU_MSG_DATA1 * 4, data1);
	reg_set(g, PMU_BASE + PMU_RFIFO_PUT, (put + 1) & PMU_RING_COUNTER);
	f->intr |= PMU_INTR_USER0;
	intr_update(g);
}

/*
 * The PMU's own registers are left out: the script would call itself. A script can still reset the
 * PMU by writing PMC_ENABLE (root/pmc.c).
 */
static void memx_write(struct gk110 *g, uint32_t addr, uint32_t val)
{
	if ((addr & ~(PMU_SIZE - 1)) != PMU_BASE)
		pri_write(g, addr, val);
}

static void memx_exec(struct gk110 *g, uint32_t at, uint32_t end)
{
	struct falcon *f = &g->pmu->falcon;
	uint64_t start = ptimer_now(g);

	if (end > f->dmem_size)
		end = f->dmem_size;
	while (at < end) {
		uint32_t head = falcon_dmem_get(f, at), len = FIELD_GET(PMU_MEMX_LEN, head),
			 op = FIELD_GET(PMU_MEMX_OP, head);

		at += 4;
		for (uint32_t i = 0; op == PMU_MEMX_OP_WR32 && i + 1 < len && at + i * 4 + 4 < end;
		     i += 2)
			memx_write(g, falcon_dmem_get(f, at + i * 4),
				   falcon_dmem_get(f, at + i * 4 + 4));
		if (op == PMU_MEMX_OP_WAIT && len >= 3 &&
		    (pri_read(g, falcon_dmem_get(f, at)) & falcon_dmem_get(f, at + 4)) !=
			    falcon_dmem_get(f, at + 8))
			gk110_note(g, "PMU: a MEMX wait on 0x%06x is not met",
				   falcon_dmem_get(f, at));
		at += len * 4;
	}
	reply(g, PMU_PROC_MEMX, PMU_MEMX_EXEC, ptimer_now(g) - start, 0);
}

static void memx_message(struct gk110 *g, uint32_t message, uint32_t data0, uint32_t data1)
{
	if (message == PMU_MEMX_EXEC)
		memx_exec(g, data0, data1);
	else if (message == PMU_MEMX_INFO && data0 == PMU_MEMX_INFO_DATA)
		reply(g, PMU_PROC_MEMX, message, PMU_IMAGE_MEMX_DATA, PMU_IMAGE_MEMX_DATA_SIZE);
	else if (message == PMU_MEMX_INFO && data0 == PMU_MEMX_INFO_TRAIN)
		reply(g, PMU_PROC_MEMX, message, PMU_IMAGE_MEMX_TRAIN, PMU_IMAGE_MEMX_TRAIN_SIZE);
}

static void deliver(struct gk110 *g, uint32_t process, uint32_t message, uint32_t data0,
		    uint32_t data1)
{
	switch (process) {
	case PMU_PROC_MEMX:
		memx_message(g, message, data0, data1);
		break;
	case PMU_PROC_I2C:
		reply(g, process, message, data0, I2C_FAILED);
		break;
	case PMU_PROC_TEST:
		reg_set(g, PMU_BASE + PMU_DSCRATCH(2), reg_get(g, PMU_BASE + PMU_DSCRATCH(2)) + 1);
		break;
	case PMU_PROC_PERF:
	case PMU_PROC_IDLE:
	case PMU_PROC_HOST:
		break;
	default:
		gk110_note(g, "PMU: message for unknown process 0x%08x", process);
		break;
	}
}

static void run_fifo(struct gk110 *g)
{
	struct falcon *f = &g->pmu->falcon;
	uint32_t put = reg_get(g, PMU_BASE + PMU_FIFO_PUT(0)) & PMU_RING_COUNTER;
	uint32_t get = reg_get(g, PMU_BASE + PMU_FIFO_GET(0)) & PMU_RING_COUNTER;

	while (get != put) {
		uint32_t at = PMU_IMAGE_FIFO + get % PMU_RING_SLOTS * PMU_RING_SLOT;

		deliver(g, falcon_dmem_get(f, at + PMU_MSG_PROCESS * 4),
			falcon_dmem_get(f, at + PMU_MSG_MESSAGE * 4),
			falcon_dmem_get(f, at + PMU_MSG_DATA0 * 4),
			falcon_dmem_get(f, at + PMU_MSG_DATA1 * 4));
		get = (get + 1) & PMU_RING_COUNTER;
		reg_set(g, PMU_BASE + PMU_FIFO_GET(0), get);
	}
}

/* ---------------------------------------------------------------- start */

static void start(struct gk110 *g)
{
	struct pmu *p = g->pmu;

	p->known = falcon_dmem_get(&p->falcon, PMU_IMAGE_PROC_KERN) == PMU_PROC_KERN &&
		   falcon_dmem_get(&p->falcon, PMU_IMAGE_PROC_LIST) == PMU_PROC_HOST;
	if (!p->known) {
		gk110_note(
			g,
			"PMU: the uploaded program is not nouveau's; it is started and stays silent");
		return;
	}
	reg_set(g, PMU_BASE + PMU_FIFO_PUT(0), 0);
	reg_set(g, PMU_BASE + PMU_FIFO_GET(0), 0);
	reg_set(g, PMU_BASE + PMU_RFIFO_PUT, 0);
	reg_set(g, PMU_BASE + PMU_RFIFO_GET, 0);
	reg_set(g, PMU_BASE + PMU_H2D,
		FIELD_PREP(PMU_RING_SIZE, PMU_RING_SLOTS * PMU_RING_SLOT) | PMU_IMAGE_FIFO);
	reg_set(g, PMU_BASE + PMU_D2H,
		FIELD_PREP(PMU_RING_SIZE, PMU_RING_SLOTS * PMU_RING_SLOT) | PMU_IMAGE_RFIFO);
	/* interrupts to the host: the two user bits and pause (kernel.fuc init) */
	p->falcon.intr_route = PMU_ROUTE_HOST;
	intr_update(g);
}

/* ---------------------------------------------------------------- registers */

static bool mutex_write(struct gk110 *g, uint32_t off, uint32_t val)
{
	for (unsigned int i = 0; i < PMU_MUTEX_COUNT; i++) {
		if (off != (uint32_t)PMU_MUTEX(i))
			continue;
		/* a mutex is taken only when it is free; 0 releases it */
		if (!val || !reg_get(g, PMU_BASE + off))
			reg_set(g, PMU_BASE + off, val);
		return true;
	}
	return false;
}

static uint32_t pmu_read(struct gk110 *g, uint32_t reg)
{
	uint32_t val;

	return falcon_read(&g->pmu->falcon, reg - PMU_BASE, &val) ? val : reg_get(g, reg);
}

static void pmu_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	uint32_t off = reg - PMU_BASE;

	switch (falcon_write(&g->pmu->falcon, off, val)) {
	case FALCON_STARTED:
		start(g);
		return;
	case FALCON_TRIGGERED:
	case FALCON_INTR_CHANGED:
		intr_update(g);
		return;
	case FALCON_OTHER:
		break;
	case FALCON_NONE:
		return;
	}
	if (mutex_write(g, off, val))
		return;
	if (off == PMU_FIFO_GET(0) || off == PMU_RFIFO_PUT || off == PMU_H2D || off == PMU_D2H)
		return;
	reg_merge(g, reg, val, be);
	if (off == PMU_FIFO_PUT(0) && g->pmu->known)
		run_fifo(g);
}

static int pmu_init(struct gk110 *g)
{
	g->pmu = calloc(1, sizeof(*g->pmu));
	if (!g->pmu || falcon_init(&g->pmu->falcon, "PMU", PMU_IMEM, PMU_DMEM)) {
		gk110_err("PMU: no memory");
		free(g->pmu);
		g->pmu = NULL;
		return -ENOMEM;
	}
	return 0;
}

static void pmu_reset(struct gk110 *g)
{
	for (uint32_t reg = PMU_BASE; reg < PMU_BASE + PMU_SIZE; reg += 4)
		reg_set(g, reg, 0);
	falcon_reset(&g->pmu->falcon);
	g->pmu->known = false;
	intr_update(g);
}

static void pmu_fini(struct gk110 *g)
{
	if (!g->pmu)
		return;
	falcon_fini(&g->pmu->falcon);
	free(g->pmu);
	g->pmu = NULL;
}

static const struct mmio_range pmu_ranges[] = {
	{ PMU_BASE, PMU_SIZE, "PMU", pmu_read, pmu_write },
};

const struct unit_ops pmu_unit = {
	.name = "PMU",
	.ranges = pmu_ranges,
	.nr_ranges = sizeof(pmu_ranges) / sizeof(pmu_ranges[0]),
	.init = pmu_init,
	.reset = pmu_reset,
	.fini = pmu_fini,
};
