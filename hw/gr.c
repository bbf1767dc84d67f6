// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bring-up of the graphics engine, in nouveau's order (gf100_gr_init() with gk110's functions):
 * power, unit registers, exceptions, microcode, golden context (golden.c), with whose image each
 * new context starts. A reset of the engine repeats all steps except the golden context, whose
 * image is kept in memory.
 *
 * Bring-up, resets and take-down hold gr_lock. This file changes PMC_ENABLE under mask_lock.
 */
#include "gk110/ltc.h"
#include "gk110/pmu.h"
#include "gk110/privring.h"
#include "gk110/therm.h"
#include "hw/gr.h"

/* ------------------------------------------------------------------ power and reset of GR */

static void pmc_enable_set(struct kvgpu_hw *hw, u32 clear, u32 set)
{
	spin_lock(&hw->p->mask_lock);
	hw_mask(hw, PMC_ENABLE, clear, set);
	hw_rd(hw, PMC_ENABLE);
	spin_unlock(&hw->p->mask_lock);
}

static void pulse_power(struct kvgpu_hw *hw, u32 clear, u32 set)
{
	hw_mask(hw, PMU_BASE + PMU_PG_CTRL, clear, set);
	hw_mask(hw, PMU_BASE + PMU_PG_CTRL, 0, PMU_PG_CTRL_STEP);
	hw_mask(hw, PMU_BASE + PMU_PG_CTRL, PMU_PG_CTRL_STEP, 0);
}

/* us to wait for a power step after one that was not done in time */
#define STUCK_WAIT_US 20000

/*
 * Switches the power domains of the GPCs on, group by group, while the engine is in reset. In
 * steps[] a 0 bit switches a domain on (nouveau nvkm/subdev/pmu/gk110.c). A step that is not done
 * in time is told and passed over, as nouveau does: gr_answers() decides.
 */
static int gr_power_up(struct kvgpu_hw *hw)
{
	static const struct {
		u8 reg;
		u32 val;
	} steps[] = {
		{ 0, 0xfffffffc }, { 1, 0xfffffffe }, { 1, 0xfffffffc }, { 1, 0xfffffff8 },
		{ 1, 0xffffffe0 }, { 4, 0xfffffffe }, { 3, 0xfffffffa }, { 3, 0xfffffff0 },
		{ 3, 0xffffffc0 }, { 3, 0xffffff00 }, { 3, 0xfffffc00 }, { 3, 0xfffcfc00 },
		{ 3, 0xfff0fc00 }, { 3, 0xff80fc00 }, { 2, 0xfffffffe }, { 2, 0xfffffffc },
	};
	unsigned int i, stuck = 0, first = 0;
	int ret = 0;

	pmc_enable_set(hw, hw_gr_reset_bit(hw), 0);
	pmc_enable_set(hw, 0, PMC_ENABLE_BLG);
	msleep(50);
	pulse_power(hw, 0, PMU_PG_CTRL_CHANGE);
	hw_mask(hw, PTHERM_UNK6B4, 0, 0);
	for (i = 0; i < ARRAY_SIZE(steps) && ret != -EIO; i++) {
		hw_wr(hw, PTHERM_PGOB(steps[i].reg), steps[i].val);
		ret = hw_reg_wait(hw, PTHERM_PGOB(steps[i].reg), PTHERM_PGOB_BUSY, 0,
				  stuck ? STUCK_WAIT_US : GR_WAIT_US);
		first = ret && !stuck ? i : first;
		stuck += !!ret;
	}
	pulse_power(hw, PMU_PG_CTRL_CHANGE, 0);
	pmc_enable_set(hw, PMC_ENABLE_BLG, 0);
	pmc_enable_set(hw, 0, hw_gr_reset_bit(hw));
	if (ret == -EIO)
		dev_err(&hw->pdev->dev, "graphics engine: registers read all ones\n");
	else if (stuck)
		dev_warn(&hw->pdev->dev,
			 "graphics engine: %u power steps not done, first step %u\n", stuck, first);
	return ret == -EIO ? ret : 0;
}

/* Has the register ring look for its units again, as after the GPCs got power. */
static void ring_restart(struct kvgpu_hw *hw)
{
	static const u8 commands[] = { PRIVRING_COMMAND_ACK_INTR, PRIVRING_COMMAND_ENUMERATE };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		hw_wr(hw, PRIVRING_COMMAND, commands[i]);
		hw_reg_wait(hw, PRIVRING_COMMAND, PRIVRING_COMMAND_CODE, 0, GR_WAIT_US);
	}
}

/* Returns the first register of those that tell units which does not answer, or 0. */
static u32 gr_silent(struct kvgpu_hw *hw)
{
	static const u32 regs[] = { PRIVRING_GPC_COUNT, GR_FECS + FECS_UNITS,
				    GR_GPC(0, GPC_GPCCS + GPCCS_UNITS) };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(regs); i++)
		if (hw_no_answer(hw_rd(hw, regs[i])))
			return regs[i];
	return 0;
}

/*
 * Tells whether the engine's units answer. If a driver before this one has left them without power,
 * the register ring may have to look for them.
 */
static int gr_answers(struct kvgpu_hw *hw)
{
	u32 reg = gr_silent(hw);

	if (!reg)
		return 0;
	ring_restart(hw);
	reg = gr_silent(hw);
	if (!reg)
		return 0;
	dev_err(&hw->pdev->dev,
		"graphics engine: register 0x%06x does not answer (0x%08x): have the GPCs power?\n",
		reg, hw_rd(hw, reg));
	return -EIO;
}

/*
 * Sets up the MMUs of the GPCs. The pages DEBUG_WR and DEBUG_RD are for a debug mode (nvgpu
 * hw_fb_gk20a.h); nouveau sets them, too.
 */
static void init_mmu(struct kvgpu_hw *hw)
{
	struct hw_gr *gr = &hw->p->gr;
	unsigned int i;

	hw_wr(hw, GR_GPCS(GPC_MMU_CTRL), hw_rd(hw, FB_MMU_CTRL) & FB_MMU_CTRL_BIG_64K);
	hw_wr(hw, GR_GPCS(GPC_MMU_UNK24), GPC_MMU_UNK24_INIT);
	for (i = 0; i < GPC_MMU_UNK08_NR; i++)
		hw_wr(hw, GR_GPCS(GPC_MMU_UNK08(i)), 0);
	hw_wr(hw, GR_GPCS(GPC_MMU_DEBUG_WR), gr->mmu_wr.at.v >> 8);
	hw_wr(hw, GR_GPCS(GPC_MMU_DEBUG_RD), gr->mmu_rd.at.v >> 8);
}

/* -------------------------------------------------------------- tables of zero-bandwidth clears */

struct zbc_color {
	/* .value: value of each component; .l2: the same colour in L2's format */
	u32 format, value;
	u32 l2;
};

static void write_zbc_color(struct kvgpu_hw *hw, u32 index, const struct zbc_color *c)
{
	unsigned int i;

	if (c) {
		hw_mask(hw, LTC_BCAST_SLICE + LTC_ZBC_INDEX, LTC_ZBC_INDEX_ENTRY, index);
		for (i = 0; i < 4; i++)
			hw_wr(hw, LTC_BCAST_SLICE + LTC_ZBC_COLOR(i), c->l2);
		for (i = 0; i < 4; i++)
			hw_wr(hw, GR_DS_ZBC_COLOR(i), c->value);
	}
	hw_wr(hw, GR_DS_ZBC_COLOR_FORMAT, c ? c->format : 0);
	hw_wr(hw, GR_DS_ZBC_INDEX, index);
	hw_wr(hw, GR_DS_ZBC_LOAD, GR_DS_ZBC_LOAD_TRIGGER);
}

static void write_zbc_depth(struct kvgpu_hw *hw, u32 index, const u32 *depth)
{
	if (depth) {
		hw_mask(hw, LTC_BCAST_SLICE + LTC_ZBC_INDEX, LTC_ZBC_INDEX_ENTRY, index);
		hw_wr(hw, LTC_BCAST_SLICE + LTC_ZBC_DEPTH, *depth);
		hw_wr(hw, GR_DS_ZBC_DEPTH, *depth);
	}
	hw_wr(hw, GR_DS_ZBC_DEPTH_FORMAT, depth ? GR_ZBC_DEPTH_FP32 : 0);
	hw_wr(hw, GR_DS_ZBC_INDEX, index);
	hw_wr(hw, GR_DS_ZBC_LOAD, GR_DS_ZBC_LOAD_TRIGGER | GR_DS_ZBC_LOAD_DEPTH);
}

/*
 * Sets the tables of clear colours and depths. They must not keep values of a driver that used the
 * card before. Index 0 means "no entry". The first entries get nouveau's values, the others format
 * 0.
 */
static void init_zbc(struct kvgpu_hw *hw)
{
	static const u32 one = 0x3f800000; /* the float 1.0 */
	static const struct zbc_color colors[] = {
		{ GR_ZBC_COLOR_ZERO, 0, 0 },
		{ GR_ZBC_COLOR_UNORM_ONE, one, ~0u },
		{ GR_ZBC_COLOR_RGBA32F, 0, 0 },
		{ GR_ZBC_COLOR_RGBA32F, one, one },
	};
	static const u32 depths[] = { 0, one };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(colors); i++)
		write_zbc_color(hw, 1 + i, &colors[i]);
	for (i = 0; i < ARRAY_SIZE(depths); i++)
		write_zbc_depth(hw, 1 + i, &depths[i]);
	for (i = 1 + ARRAY_SIZE(colors); i < LTC_ZBC_NR; i++)
		write_zbc_color(hw, i, NULL);
	for (i = 1 + ARRAY_SIZE(depths); i < LTC_ZBC_NR; i++)
		write_zbc_depth(hw, i, NULL);
}

/* ------------------------------------------------------------------ bring-up of GR */

/* Brings up an engine that has power. *@ctx_size: bytes of a context. gr_lock is held. */
static int gr_bring_up(struct kvgpu_hw *hw, u32 *ctx_size)
{
	int ret;

	lockdep_assert_held(&hw->p->gr_lock);
	hw_mask(hw, GR_CTRL, GR_CTRL_RESTART | GR_CTRL_FIFO, 0);
	init_mmu(hw);
	hw_gr_write_list(hw, KVGPU_FW_GR_MMIO);
	ret = hw_gr_wait_idle(hw);
	if (ret)
		return ret;
	hw_wr(hw, GR_PPC(0, 0, PPC_PES_VSC), PPC_PES_VSC_MASTER);
	hw_gr_init_zcull(hw);
	hw_gr_init_counts(hw);
	hw_wr(hw, GR_CTRL, GR_CTRL_RESTART | GR_CTRL_FIFO);
	hw_gr_enable_traps(hw);
	hw_wr(hw, GR_UNK054, GR_UNK054_INIT);
	init_zbc(hw);
	return hw_fecs_start(hw, ctx_size);
}

/*
 * Powers the engine up and brings it up. The first call also reads which units the engine has: that
 * needs power.
 */
static int gr_restart(struct kvgpu_hw *hw, u32 *ctx_size)
{
	int ret = gr_power_up(hw) ?: gr_answers(hw);

	if (!ret && !hw->p->gr.nr_sm)
		ret = hw_gr_read_shape(hw);
	return ret ?: gr_bring_up(hw, ctx_size);
}

static int alloc_debug_pages(struct kvgpu_hw *hw)
{
	struct hw_gr *gr = &hw->p->gr;
	int ret = kvgpu_hw_vram_alloc(hw, GR_MMU_DEBUG_SIZE, PAGE_SIZE, &gr->mmu_wr);

	ret = ret ?: kvgpu_hw_vram_alloc(hw, GR_MMU_DEBUG_SIZE, PAGE_SIZE, &gr->mmu_rd);
	if (ret)
		return ret;
	memset_io(gr->mmu_wr.cpu, 0, gr->mmu_wr.size);
	memset_io(gr->mmu_rd.cpu, 0, gr->mmu_rd.size);
	return 0;
}

int hw_gr_init(struct kvgpu_hw *hw)
{
	struct kvgpu_topo *t = &hw->topo;
	int ret;

	rt_mutex_lock(&hw->p->gr_lock);
	ret = alloc_debug_pages(hw);
	ret = ret ?: gr_restart(hw, &hw->gr_ctx_size);
	ret = ret ?: hw_golden_make(hw);
	rt_mutex_unlock(&hw->p->gr_lock);
	if (!ret)
		dev_info(&hw->pdev->dev,
			 "graphics engine: %u GPCs, %u TPCs, %u ROPs, %u bytes a context\n",
			 t->gpcs, hw->p->gr.tpc_total, t->rops, hw->gr_ctx_size);
	return ret;
}

/*
 * Takes gr_lock. Returns -EIO if the microcode reports another context size than at bring-up: then
 * it would misread the context images that are in memory.
 */
int hw_gr_reinit(struct kvgpu_hw *hw)
{
	u32 size = 0;
	int ret;

	rt_mutex_lock(&hw->p->gr_lock);
	hw_mask(hw, GR_CTRL, GR_CTRL_FIFO, 0);
	pmc_enable_set(hw, hw_gr_reset_bit(hw), 0);
	pmc_enable_set(hw, 0, hw_gr_reset_bit(hw));
	ret = gr_restart(hw, &size);
	if (!ret && size != hw->gr_ctx_size) {
		dev_err(&hw->pdev->dev, "context size changed over a reset, from %u to %u bytes\n",
			hw->gr_ctx_size, size);
		ret = -EIO;
	}
	rt_mutex_unlock(&hw->p->gr_lock);
	if (ret)
		dev_err(&hw->pdev->dev, "graphics engine did not come back from its reset (%d)\n",
			ret);
	return ret;
}

/* Leaves the engine in reset, so that it does not access the memory that is freed here. */
void hw_gr_fini(struct kvgpu_hw *hw)
{
	struct hw_gr *gr = &hw->p->gr;

	rt_mutex_lock(&hw->p->gr_lock);
	hw_mask(hw, GR_CTRL, GR_CTRL_FIFO, 0);
	pmc_enable_set(hw, hw_gr_reset_bit(hw), 0);
	hw_golden_free(hw);
	kvgpu_hw_vram_free(hw, &gr->mmu_rd);
	kvgpu_hw_vram_free(hw, &gr->mmu_wr);
	gr->nr_sm = 0;
	rt_mutex_unlock(&hw->p->gr_lock);
}
