// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine as PFIFO sees it: residency of channels, methods in, reset. On this chip subchannels 0
 * to 3 are wired to the four classes; SET_OBJECT only checks that the class fits.
 */
#include "gr.h"
#include "sm.h"

#include <errno.h>
#include <stdlib.h>

#include <linux/bitfield.h>

/* ---------------------------------------------------------------- residency */

static uint32_t chan_word(const struct chan *c)
{
	return FECS_CHAN_VALID | FIELD_PREP(FECS_CHAN_TARGET, c->inst_target) |
	       FIELD_PREP(FECS_CHAN_INST, c->inst >> 12);
}

/* lock held */
static int load_context(struct gk110 *g, struct chan *c)
{
	struct fecs *f = &g->gr->fecs;
	int ret;

	if (f->program == FECS_NONE)
		return -EIO;
	f->busy = true;
	ret = fecs_load(g, chan_word(c), &c->stop, true);
	f->busy = false;
	fecs_run_queue(g);
	return ret;
}

static int gr_load(struct gk110 *g, unsigned int inst, struct chan *c)
{
	int ret;

	g->gr->upload.used = 0;
	pthread_mutex_lock(&g->lock);
	ret = load_context(g, c);
	pthread_mutex_unlock(&g->lock);
	return ret;
}

static int gr_save(struct gk110 *g, unsigned int inst, struct chan *c)
{
	struct gr *gr = g->gr;
	int ret;

	ret = upload_flush_for_save(g, c);
	pthread_mutex_lock(&g->lock);
	if (!ret && (reg_get(g, GR_FECS + FECS_CHAN_ADDR) & FECS_CHAN_VALID)) {
		gr->fecs.busy = true;
		ret = fecs_save(g);
		gr->fecs.busy = false;
		fecs_run_queue(g);
	}
	if (!ret) {
		reg_set(g, GR_FECS + FECS_CHAN_ADDR,
			reg_get(g, GR_FECS + FECS_CHAN_ADDR) & ~(uint32_t)FECS_CHAN_VALID);
		reg_set(g, GR_FECS + FECS_CHAN_NEXT, 0);
	}
	pthread_mutex_unlock(&g->lock);
	return ret;
}

/* ---------------------------------------------------------------- methods, reset */

static enum eng_ret set_object(struct gr_exec *x)
{
	enum gr_class cls;

	if (!class_of_id(FIELD_GET(M_SET_OBJECT_CLASS, x->data), &cls))
		return trap_illegal_class(x);
	return cls == x->cls ? ENG_DONE : trap_class_subch(x);
}

static enum eng_ret gr_method(struct gk110 *g, unsigned int inst, struct chan *c, unsigned int subc,
			      uint32_t mthd, uint32_t data, bool last)
{
	struct gr_exec x = {
		.g = g,
		.gr = g->gr,
		.c = c,
		.subc = subc,
		.mthd = mthd,
		.data = data,
		.last = last,
	};

	if (subc >= GR_NR_CLASS)
		return trap_illegal_class(&x);
	x.cls = subc;
	if (mthd == M_SET_OBJECT)
		return set_object(&x);
	return gr_class_method(&x);
}

static void gr_engine_reset(struct gk110 *g, unsigned int inst)
{
	struct gr *gr = g->gr;

	for (uint32_t reg = GR_BASE; reg < GR_BASE + GR_SIZE; reg += 4)
		reg_set(g, reg, 0);
	atomic_fetch_add(&gr->resets, 1);
	fecs_reset(g);
	state_reset(gr);
	topology_reset(g);
	trap_reset(g);
}

static bool gr_stalled(struct gk110 *g, unsigned int inst)
{
	return gr_halted(g);
}

static bool gr_has_class(uint32_t id)
{
	enum gr_class cls;

	return class_of_id(id, &cls);
}

const struct engine_ops gr_engine = {
	.name = "GR",
	.method = gr_method,
	.load = gr_load,
	.save = gr_save,
	.reset = gr_engine_reset,
	.stalled = gr_stalled,
	.has_class = gr_has_class,
};

/* ---------------------------------------------------------------- unit */

static int clients_init(struct gk110 *g)
{
	struct gr *gr = g->gr;
	int ret = mmu_client_init(g, &gr->fe, "FE", GR_FAULT_UNIT, GR_HUB_FE, -1);

	if (!ret)
		ret = mmu_client_init(g, &gr->fecs_mem, "FECS", GR_FAULT_UNIT, GR_HUB_FECS, -1);
	if (!ret)
		ret = mmu_client_init(g, &gr->sked, "SKED", GR_FAULT_UNIT, GR_HUB_SKED, -1);
	for (int i = 0; !ret && i < GR_NR_GPC; i++) {
		ret = mmu_client_init(g, &gr->gpccs_mem[i], "GPCCS", GR_FAULT_UNIT, GR_GPC_GPCCS,
				      i);
		if (!ret)
			ret = mmu_client_init(g, &gr->gcc[i], "GCC", GR_FAULT_UNIT, GR_GPC_GCC, i);
	}
	return ret;
}

static void gr_fini(struct gk110 *g)
{
	struct gr *gr = g->gr;

	if (!gr)
		return;
	fecs_fini(g);
	sm_fini(g);
	mmu_client_fini(g, &gr->fe);
	mmu_client_fini(g, &gr->fecs_mem);
	mmu_client_fini(g, &gr->sked);
	for (unsigned int i = 0; i < GR_NR_GPC; i++) {
		mmu_client_fini(g, &gr->gpccs_mem[i]);
		mmu_client_fini(g, &gr->gcc[i]);
	}
	free(gr);
	g->gr = NULL;
}

static int gr_init(struct gk110 *g)
{
	int ret;

	g->gr = calloc(1, sizeof(*g->gr));
	if (!g->gr)
		return -ENOMEM;
	g->gr->pacer.per_s = g->cfg.gr_warps_per_s;
	ret = fecs_init(g);
	if (!ret)
		ret = clients_init(g);
	if (!ret)
		ret = sm_init(g);
	if (ret) {
		gk110_err("GR: no memory");
		gr_fini(g);
	}
	return ret;
}

static void gr_reset(struct gk110 *g)
{
	gr_engine_reset(g, 0);
	g->gr->fecs.busy = false;
	g->gr->upload.used = 0;
	atomic_store(&g->gr->busy, false);
}

static int gr_start(struct gk110 *g)
{
	sm_abandon(g, false);
	return 0;
}

/*
 * Called before PFIFO's threads are joined (core/device.c), as a thread may be in a kernel that
 * never ends.
 */
static void gr_stop(struct gk110 *g)
{
	sm_abandon(g, true);
}

static const struct mmio_range gr_ranges[] = {
	{ GR_BASE, GR_SIZE, "PGRAPH", gr_port_read, gr_port_write },
};

const struct unit_ops gr_unit = {
	.name = "PGRAPH",
	.ranges = gr_ranges,
	.nr_ranges = sizeof(gr_ranges) / sizeof(gr_ranges[0]),
	.init = gr_init,
	.reset = gr_reset,
	.start = gr_start,
	.stop = gr_stop,
	.fini = gr_fini,
};
