// SPDX-License-Identifier: GPL-2.0-only
/*
 * The three copy engines towards the rest of the chip: registers, interrupts, reset, methods.
 *
 * Open, the model chooses: the interrupt mask is all ones after reset; a blocking interrupt and a
 * launch error halt the engine until they are acknowledged; a non-blocking interrupt is PFIFO's
 * non-stall interrupt and does not raise the engine's own line to PMC.
 */
#include <errno.h>
#include <linux/bitfield.h>
#include <stdlib.h>
#include <string.h>

#include "ce.h"

#define INTR_HALTS    (GK110_CE_INTR_BLOCKPIPE | GK110_CE_INTR_LAUNCHERR)
#define NONSTALL_INTR (UINT32_C(1) << 31) /* bit of PFIFO_INTR */

/* ---------------------------------------------------------- registers and interrupts, lock held */

static unsigned int inst_of(uint32_t reg)
{
	return (reg - GK110_CE_BASE) / GK110_CE_STRIDE;
}

static void intr_update(struct gk110 *g, unsigned int inst)
{
	uint32_t pending = reg_get(g, GK110_CE(inst) + GK110_CE_INTR) &
			   reg_get(g, GK110_CE(inst) + GK110_CE_INTR_EN);

	pmc_intr_set(g, g->engine[g->ce->engine[inst].index].intr_bit, pending & INTR_HALTS);
}

static bool ce_stalled(struct gk110 *g, unsigned int inst)
{
	return reg_get(g, GK110_CE(inst) + GK110_CE_INTR) & INTR_HALTS;
}

static void intr_ack(struct gk110 *g, unsigned int inst, uint32_t bits)
{
	uint32_t reg = GK110_CE(inst) + GK110_CE_INTR;
	bool stalled = ce_stalled(g, inst);

	reg_set(g, reg, reg_get(g, reg) & ~bits);
	intr_update(g, inst);
	if (stalled && !ce_stalled(g, inst))
		fifo_engine_resume(g, g->ce->engine[inst].index);
}

static uint32_t ce_read(struct gk110 *g, uint32_t reg)
{
	return reg_get(g, reg);
}

static void ce_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	unsigned int inst = inst_of(reg);

	switch (reg - GK110_CE(inst)) {
	case GK110_CE_INTR_EN:
		reg_merge(g, reg, val & GK110_CE_INTR_MASK, be);
		intr_update(g, inst);
		break;
	case GK110_CE_INTR:
		intr_ack(g, inst, val & be);
		break;
	case GK110_CE_LAUNCHERR:
		reg_merge(g, reg, val & GK110_CE_LAUNCHERR_CODE, be);
		break;
	default:
		reg_merge(g, reg, val, be);
		break;
	}
}

void ce_raise(struct gk110 *g, struct ce_engine *ce, uint32_t bits, enum gk110_ce_launcherr code)
{
	unsigned int inst = g->engine[ce->index].inst;

	pthread_mutex_lock(&g->lock);
	if (code)
		reg_set(g, GK110_CE(inst) + GK110_CE_LAUNCHERR, code);
	reg_set(g, GK110_CE(inst) + GK110_CE_INTR,
		reg_get(g, GK110_CE(inst) + GK110_CE_INTR) | bits);
	intr_update(g, inst);
	if (bits & GK110_CE_INTR_NONBLOCKPIPE)
		fifo_intr_raise(g, NONSTALL_INTR);
	pthread_mutex_unlock(&g->lock);
}

/* ------------------------------------------------------------------ methods */

/* the word of the state that a method writes, plus one, and the bits that exist */
struct stored_method {
	uint8_t word_plus_1;
	uint32_t mask;
};

#define STORED(mthd, word, bits) [(mthd) / 4] = { (word) + 1, (uint32_t)(bits) }
#define ALL_BITS		 GENMASK(31, 0)
#define BLOCK_BITS		 GENMASK(15, 0)
#define COMPONENT_BITS                                                             \
	(GENMASK(2, 0) * 0x1111 | A0B5_REMAP_COMPONENT_SIZE | A0B5_REMAP_NUM_SRC | \
	 A0B5_REMAP_NUM_DST)

static const struct stored_method stored_methods[A0B5_MTHD_END / 4] = {
	STORED(A0B5_SET_SEMAPHORE_A, CE_SEMAPHORE_A, A0B5_ADDRESS_UPPER),
	STORED(A0B5_SET_SEMAPHORE_B, CE_SEMAPHORE_B, ALL_BITS),
	STORED(A0B5_SET_SEMAPHORE_PAYLOAD, CE_SEMAPHORE_PAYLOAD, ALL_BITS),
	STORED(A0B5_SET_RENDER_ENABLE_A, CE_RENDER_A, A0B5_ADDRESS_UPPER),
	STORED(A0B5_SET_RENDER_ENABLE_B, CE_RENDER_B, ALL_BITS),
	STORED(A0B5_SET_RENDER_ENABLE_C, CE_RENDER_C, A0B5_RENDER_MODE),
	STORED(A0B5_SET_SRC_PHYS_MODE, CE_SRC_PHYS, A0B5_PHYS_TARGET),
	STORED(A0B5_SET_DST_PHYS_MODE, CE_DST_PHYS, A0B5_PHYS_TARGET),
	STORED(A0B5_OFFSET_IN_UPPER, CE_IN_UPPER, A0B5_ADDRESS_UPPER),
	STORED(A0B5_OFFSET_IN_LOWER, CE_IN_LOWER, ALL_BITS),
	STORED(A0B5_OFFSET_OUT_UPPER, CE_OUT_UPPER, A0B5_ADDRESS_UPPER),
	STORED(A0B5_OFFSET_OUT_LOWER, CE_OUT_LOWER, ALL_BITS),
	STORED(A0B5_PITCH_IN, CE_PITCH_IN, ALL_BITS),
	STORED(A0B5_PITCH_OUT, CE_PITCH_OUT, ALL_BITS),
	STORED(A0B5_LINE_LENGTH_IN, CE_LINE_LENGTH, ALL_BITS),
	STORED(A0B5_LINE_COUNT, CE_LINE_COUNT, ALL_BITS),
	STORED(A0B5_SET_SRC_BLOCK_SIZE, CE_SRC_SURFACE + CE_SURF_BLOCK, BLOCK_BITS),
	STORED(A0B5_SET_SRC_WIDTH, CE_SRC_SURFACE + CE_SURF_WIDTH, ALL_BITS),
	STORED(A0B5_SET_SRC_HEIGHT, CE_SRC_SURFACE + CE_SURF_HEIGHT, ALL_BITS),
	STORED(A0B5_SET_SRC_DEPTH, CE_SRC_SURFACE + CE_SURF_DEPTH, ALL_BITS),
	STORED(A0B5_SET_SRC_LAYER, CE_SRC_SURFACE + CE_SURF_LAYER, ALL_BITS),
	STORED(A0B5_SET_SRC_ORIGIN, CE_SRC_SURFACE + CE_SURF_ORIGIN, ALL_BITS),
	STORED(A0B5_SET_DST_BLOCK_SIZE, CE_DST_SURFACE + CE_SURF_BLOCK, BLOCK_BITS),
	STORED(A0B5_SET_DST_WIDTH, CE_DST_SURFACE + CE_SURF_WIDTH, ALL_BITS),
	STORED(A0B5_SET_DST_HEIGHT, CE_DST_SURFACE + CE_SURF_HEIGHT, ALL_BITS),
	STORED(A0B5_SET_DST_DEPTH, CE_DST_SURFACE + CE_SURF_DEPTH, ALL_BITS),
	STORED(A0B5_SET_DST_LAYER, CE_DST_SURFACE + CE_SURF_LAYER, ALL_BITS),
	STORED(A0B5_SET_DST_ORIGIN, CE_DST_SURFACE + CE_SURF_ORIGIN, ALL_BITS),
	STORED(A0B5_SET_REMAP_CONST_A, CE_CONST_A, ALL_BITS),
	STORED(A0B5_SET_REMAP_CONST_B, CE_CONST_B, ALL_BITS),
	STORED(A0B5_SET_REMAP_COMPONENTS, CE_COMPONENTS, COMPONENT_BITS),
};

_Static_assert(CE_STATE_WORDS == 32, "the method state fills RAMFC 0x100-0x17f");
_Static_assert(sizeof(((struct chan *)0)->ce_state) == CE_STATE_WORDS * 4, "struct chan holds it");

static enum eng_ret store(struct chan *c, const struct stored_method *m, uint32_t data)
{
	unsigned int word = m->word_plus_1 - 1;

	/* a stopped launch will not be issued again after this method: forget its place */
	c->ce_state[CE_RENDER_C] &= (uint32_t)(A0B5_RENDER_MODE | CE_RENDER_C_SET);
	c->ce_state[word] = data & m->mask;
	if (word != CE_RENDER_C)
		return ENG_DONE;
	c->ce_state[word] |= CE_RENDER_C_SET;
	return ce_render_check(c->ce_state);
}

static enum eng_ret ce_method(struct gk110 *g, unsigned int inst, struct chan *c, unsigned int subc,
			      uint32_t mthd, uint32_t data, bool last_of_group)
{
	if (mthd == A0B5_LAUNCH_DMA)
		return ce_launch(g, &g->ce->engine[inst], c, data);
	if (mthd < A0B5_MTHD_END && mthd % 4 == 0 && stored_methods[mthd / 4].word_plus_1)
		return store(c, &stored_methods[mthd / 4], data);
	switch (mthd) {
	case A0B5_NOP:
	case A0B5_PM_TRIGGER:
	case A0B5_PM_TRIGGER_END:
		return ENG_DONE;
	default:
		return ENG_ILLEGAL_MTHD;
	}
}

static bool ce_has_class(uint32_t cls)
{
	return cls == A0B5_CLASS;
}

/* ------------------------------------------------------------------ life cycle */

static void regs_reset(struct gk110 *g, unsigned int inst)
{
	reg_set(g, GK110_CE(inst) + GK110_CE_INTR, 0);
	reg_set(g, GK110_CE(inst) + GK110_CE_INTR_EN, (uint32_t)GK110_CE_INTR_MASK);
	reg_set(g, GK110_CE(inst) + GK110_CE_LAUNCHERR, 0);
}

/* Reset by PMC_ENABLE. Lock held. */
static void ce_engine_reset(struct gk110 *g, unsigned int inst)
{
	bool stalled = ce_stalled(g, inst);

	regs_reset(g, inst);
	intr_update(g, inst);
	if (stalled)
		fifo_engine_resume(g, g->ce->engine[inst].index);
}

static int find_engine(struct gk110 *g, unsigned int inst)
{
	unsigned int i;

	for (i = 0; i < g->nr_engines; i++)
		if (g->engine[i].ops == &ce_engine && g->engine[i].inst == inst)
			return (int)i;
	return -ENODEV;
}

static void ce_fini(struct gk110 *g)
{
	unsigned int i;

	if (!g->ce)
		return;
	for (i = 0; i < GK110_CE_NR; i++)
		if (g->ce->engine[i].client.name)
			mmu_client_fini(g, &g->ce->engine[i].client);
	free(g->ce);
	g->ce = NULL;
}

static int ce_init(struct gk110 *g)
{
	static const char *const names[GK110_CE_NR] = { "CE0", "CE1", "CE2" };
	unsigned int i;
	int index, ret;

	g->ce = calloc(1, sizeof(*g->ce));
	if (!g->ce)
		return -ENOMEM;
	for (i = 0; i < GK110_CE_NR; i++) {
		struct ce_engine *ce = &g->ce->engine[i];

		index = find_engine(g, i);
		if (index < 0) {
			gk110_err("%s is not in the engine table", names[i]);
			ce_fini(g);
			return index;
		}
		ce->index = (unsigned int)index;
		ce->pacer.per_s = g->cfg.ce_bytes_per_s;
		ret = mmu_client_init(g, &ce->client, names[i], g->engine[index].fault_unit,
				      g->engine[index].hub_client, -1);
		if (ret) {
			ce->client.name = NULL;
			gk110_err("%s: no memory for its TLB", names[i]);
			ce_fini(g);
			return ret;
		}
	}
	return 0;
}

static void ce_reset(struct gk110 *g)
{
	unsigned int i;

	for (i = 0; i < GK110_CE_NR; i++)
		regs_reset(g, i);
}

static const struct mmio_range ce_ranges[] = {
	{ GK110_CE(0), GK110_CE_STRIDE, "CE0", ce_read, ce_write },
	{ GK110_CE(1), GK110_CE_STRIDE, "CE1", ce_read, ce_write },
	{ GK110_CE(2), GK110_CE_STRIDE, "CE2", ce_read, ce_write },
};

const struct unit_ops ce_unit = {
	.name = "ce",
	.ranges = ce_ranges,
	.nr_ranges = sizeof(ce_ranges) / sizeof(ce_ranges[0]),
	.init = ce_init,
	.reset = ce_reset,
	.fini = ce_fini,
};

const struct engine_ops ce_engine = {
	.name = "CE",
	.method = ce_method,
	.reset = ce_engine_reset,
	.stalled = ce_stalled,
	.has_class = ce_has_class,
};
