// SPDX-License-Identifier: GPL-2.0-only
/* Which engine a PBDMA sends a subchannel's methods to, and which engine has a number or is GR. */
#include "fifo.h"

/* -1: the runlist has no copy engine */
static int copy_engine_of(struct gk110 *g, unsigned int runlist, unsigned int place)
{
	int list[GK110_MAX_ENGINE];
	unsigned int e, n = 0;

	for (e = 0; e < g->nr_engines; e++)
		if (g->engine[e].type != ENGINE_GR && g->engine[e].runlist == runlist)
			list[n++] = (int)e;
	return n ? list[place % n] : -1;
}

static int graphics_engine_of(struct gk110 *g, unsigned int runlist)
{
	unsigned int e;

	for (e = 0; e < g->nr_engines; e++)
		if (g->engine[e].type == ENGINE_GR && g->engine[e].runlist == runlist)
			return (int)e;
	return -1;
}

void route_init(struct gk110 *g)
{
	unsigned int r, i, place;

	for (r = 0; r < GK110_MAX_RUNLIST; r++) {
		for (i = place = 0; i < g->nr_pbdma; i++) {
			struct pbdma *p = &g->fifo->pbdma[i];
			bool serves = r < g->nr_runlists && (g->pbdma_runlists[i] & 1u << r);

			p->ce[r] = serves ? (int8_t)copy_engine_of(g, r, place++) : -1;
			p->gr[r] = serves ? (int8_t)graphics_engine_of(g, r) : -1;
		}
	}
}

int route_subchannel(struct pbdma *p, unsigned int subc)
{
	if (subc <= SUBCH_2D)
		return p->gr[p->runlist];
	return subc == SUBCH_COPY ? p->ce[p->runlist] : -1;
}

struct feng *gr_engine_of(struct fifo *f)
{
	unsigned int i;

	for (i = 0; i < GK110_MAX_ENGINE; i++)
		if (f->eng[i].e && f->eng[i].e->ops && f->eng[i].e->ops->save)
			return &f->eng[i];
	return NULL;
}

struct feng *engine_by_id(struct gk110 *g, unsigned int id)
{
	unsigned int i;

	for (i = 0; i < g->nr_engines; i++)
		if (g->engine[i].id == id)
			return &g->fifo->eng[i];
	return NULL;
}
