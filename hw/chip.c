// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads from the card: its identity, whether its firmware has initialised it, the device table
 * (PTOP), the size of its memory, values with which registers of a vGPU start (seeds), and the
 * VBIOS. PBDMAs are counted by a write of all ones to PMC_ENABLE_PBDMA, in which the bits of
 * existing PBDMAs stay set. Also turns the engines that the device table names off and on.
 *
 * Takes no lock. Runs at bring-up; any thread may call kvgpu_hw_time(), kvgpu_hw_peek() and
 * hw_reg_wait().
 */
#include <linux/firmware.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "gk110/gr.h"
#include "gk110/map.h"
#include "gk110/pfb.h"
#include "gk110/pfuse.h"
#include "gk110/ppci.h"
#include "gk110/ptimer.h"
#include "gk110/therm.h"
#include "gk110/vbios.h"
#include "hw/internal.h"

#define ROM_SHADOW (PPCI_BASE + GK110_PCI_ROM_SHADOW)
/*
 * most tries to read PTIMER: its high word changes every 4.3 s, so that the second try succeeds on
 * a card that works
 */
#define TIME_TRIES 3
/* us for which engines stay off, and before they are used again (nvgpu gk20a_mc_reset()) */
#define OFF_US 500
#define ON_US  20

int hw_reg_wait(struct kvgpu_hw *hw, u32 reg, u32 mask, u32 want, unsigned int us)
{
	ktime_t end = ktime_add_us(ktime_get(), us);
	u32 v;

	for (;;) {
		bool late = ktime_after(ktime_get(), end);

		v = hw_rd(hw, reg);
		if ((v & mask) == want && !hw_no_answer(v) && v != ~0u)
			return 0;
		if (late)
			break;
		usleep_range(1, 5);
	}
	if (v == ~0u && hw_rd(hw, PMC_BOOT_0) == ~0u)
		return -EIO;
	return -ETIMEDOUT;
}

/*
 * Reads PTIMER's low word to *@lo. False: that was no time. A time may look like an error code of
 * the register ring for a millisecond in 4.3 s; but it differs at the next read, as a read takes
 * longer than the low word's unit of 32 ns.
 */
static bool low_word_read(struct kvgpu_hw *hw, u32 *lo)
{
	u32 was = hw_rd(hw, PTIMER_TIME_LOW);

	*lo = hw_no_answer(was) ? hw_rd(hw, PTIMER_TIME_LOW) : was;
	return !(*lo & ~PTIMER_TIME_LOW_BITS) && (*lo != was || !hw_no_answer(was));
}

u64 kvgpu_hw_time(struct kvgpu_hw *hw, u64 guess)
{
	u32 hi, lo, again, i;

	if (guess)
		return low_word_read(hw, &lo) ? guess + (s32)(lo - (u32)guess) : 0;
	again = hw_rd(hw, PTIMER_TIME_HIGH);
	for (i = 0; i < TIME_TRIES; i++) {
		hi = again;
		if (!low_word_read(hw, &lo))
			return 0;
		again = hw_rd(hw, PTIMER_TIME_HIGH);
		if (again == ~0u || hw_no_answer(again))
			return 0;
		if (hi == again)
			return (u64)hi << 32 | lo;
	}
	return 0;
}

u32 kvgpu_hw_peek(struct kvgpu_hw *hw, u32 reg)
{
	return hw_rd(hw, reg & (GK110_BAR0_SIZE - 4));
}

static int check_identity(struct kvgpu_hw *hw)
{
	u32 boot0 = hw_rd(hw, PMC_BOOT_0);

	if (boot0 == ~0u) {
		dev_err(&hw->pdev->dev,
			"registers read all ones: is the card powered and its memory space enabled?\n");
		return -EIO;
	}
	if (FIELD_GET(PMC_BOOT_0_CHIPSET, boot0) != GK110_CHIPSET &&
	    FIELD_GET(PMC_BOOT_0_CHIPSET, boot0) != GK110_CHIPSET + 1) {
		dev_err(&hw->pdev->dev,
			"chipset 0x%03lx is not a GK110 (0x0f0) or GK110B (0x0f1)\n",
			FIELD_GET(PMC_BOOT_0_CHIPSET, boot0));
		return -ENODEV;
	}
	if (!(hw_rd(hw, PTOP_DEVINIT) & PTOP_DEVINIT_DONE)) {
		dev_err(&hw->pdev->dev,
			"the card is not initialised (POSTed): let system firmware or nouveau do that first\n");
		return -ENODEV;
	}
	hw->topo.boot0 = boot0;
	return 0;
}

/*
 * Adds word @word of the device table to @e, the engine that is being read. Sets *@has_runl to true
 * if the word names the engine's runlist. Adds the engine's bit of PMC_ENABLE, if the word names
 * it, to *@bits.
 */
static void parse_device(struct kvgpu_engine *e, u32 word, bool *has_runl, u32 *bits)
{
	switch (FIELD_GET(PTOP_DEVICE_KIND, word)) {
	case PTOP_KIND_DATA:
		e->base = word & PTOP_DATA_ADDR;
		e->inst = FIELD_GET(PTOP_DATA_INST, word);
		if (word & PTOP_DATA_FAULT_VALID)
			e->fault = FIELD_GET(PTOP_DATA_FAULT, word);
		break;
	case PTOP_KIND_ENUM:
		if (word & PTOP_ENUM_RESET_VALID) {
			e->reset = FIELD_GET(PTOP_ENUM_RESET, word);
			*bits |= BIT(e->reset);
		}
		if (word & PTOP_ENUM_INTR_VALID)
			e->intr = FIELD_GET(PTOP_ENUM_INTR, word);
		if (word & PTOP_ENUM_ENGINE_VALID)
			e->id = FIELD_GET(PTOP_ENUM_ENGINE, word);
		if (word & PTOP_ENUM_RUNLIST_VALID) {
			e->runl = FIELD_GET(PTOP_ENUM_RUNLIST, word);
			*has_runl = true;
		}
		break;
	case PTOP_KIND_TYPE:
		e->type = FIELD_GET(PTOP_TYPE, word);
		break;
	}
}

/*
 * Writes GR (type 0) and the copy engines (types 1 to 3) to topo.engine. Video engines are left
 * out there, but not in .engine_bits: an earlier driver may have used them.
 */
static void read_device_table(struct kvgpu_hw *hw)
{
	struct kvgpu_topo *t = &hw->topo;
	struct kvgpu_engine e = {};
	bool has_runl = false;
	unsigned int i;

	hw->p->engine_bits = PMC_ENABLE_FIFO;
	for (i = 0; i < PTOP_DEVICE_NR; i++) {
		u32 word = hw_rd(hw, PTOP_DEVICE(i));

		parse_device(&e, word, &has_runl, &hw->p->engine_bits);
		if (word & PTOP_DEVICE_CHAIN)
			continue;
		if (has_runl && e.type <= 3 && e.runl < KVGPU_MAX_RUNL && e.id < KVGPU_MAX_ENGINE &&
		    t->nr_engines < KVGPU_MAX_ENGINE) {
			if (e.type)
				e.inst = e.type - 1;
			t->engine[t->nr_engines++] = e;
			t->nr_runl = max_t(u8, t->nr_runl, e.runl + 1);
		}
		memset(&e, 0, sizeof(e));
		has_runl = false;
	}
}

static int read_memory(struct kvgpu_hw *hw)
{
	u32 fbps = hw_rd(hw, PTOP_FBP_COUNT), fbpas = hw_rd(hw, PTOP_FBPA_COUNT),
	    off = hw_rd(hw, PTOP_DISABLE_FBPA);
	u32 per_fbp = fbps ? fbpas / fbps : 0, i, j;
	u64 mib = 0;

	if (!fbps || fbps > 16 || !per_fbp)
		return -EINVAL;
	for (i = 0; i < fbps; i++)
		for (j = 0; j < per_fbp; j++)
			if (!(off & BIT(i * per_fbp + j)))
				mib += hw_rd(hw, PBFB_BASE(i * per_fbp + j) + PBFB_AMOUNT);
	hw->vram_size = mib << 20;
	if (hw->vram_size < (512ull << 20)) {
		dev_err(&hw->pdev->dev, "only %llu MiB of video memory found\n", mib);
		return -EINVAL;
	}
	return 0;
}

static void seed_add(struct kvgpu_topo *t, struct kvgpu_hw *hw, u32 reg)
{
	if (t->nr_seed == KVGPU_MAX_SEED)
		return;
	t->seed[t->nr_seed].reg = reg;
	t->seed[t->nr_seed++].val = hw_rd(hw, reg);
}

/*
 * Stores registers of the voltage's PWM and of the clock generators in topo.seed. A vGPU's
 * registers start with these values, because a guest's nouveau divides by them (volt/gk104.c,
 * clk/gk104.c).
 */
static void read_seeds(struct kvgpu_hw *hw)
{
	static const u32 plls[] = {
		PCLOCK_VCO(0), PCLOCK_VCO(1), PCLOCK_MEM_PLL, PCLOCK_MEM_REFPLL,
		PCLOCK_PLL(0), PCLOCK_PLL(1), PCLOCK_PLL(2),  PCLOCK_PLL(3),
		PCLOCK_PLL(4), PCLOCK_PLL(5), PCLOCK_PLL(6),  PCLOCK_PLL(7),
	};
	struct kvgpu_topo *t = &hw->topo;
	unsigned int i;

	seed_add(t, hw, PTHERM_VID_DIV);
	seed_add(t, hw, PTHERM_VID_DUTY);
	for (i = 0; i < ARRAY_SIZE(plls); i++) {
		seed_add(t, hw, plls[i] + PLL_CTRL);
		seed_add(t, hw, plls[i] + PLL_COEF);
		seed_add(t, hw, plls[i] + PLL_FRAC);
	}
	for (i = 0; i < PCLOCK_NR_DOMAIN; i++) {
		seed_add(t, hw, PCLOCK_PLL_SRC(i));
		seed_add(t, hw, PCLOCK_DIV_SRC(i));
		seed_add(t, hw, PCLOCK_DIV(i));
		seed_add(t, hw, PCLOCK_POST_DIV(i));
	}
	seed_add(t, hw, PCLOCK_SRC_SEL);
	seed_add(t, hw, PCLOCK_MEM_DIV_SRC);
	seed_add(t, hw, PCLOCK_MEM_DIV);
	seed_add(t, hw, PCLOCK_MEM_SRC);
}

int hw_chip_probe(struct kvgpu_hw *hw)
{
	struct kvgpu_topo *t = &hw->topo;
	unsigned int p;
	int ret;

	ret = check_identity(hw);
	if (ret)
		return ret;
	read_device_table(hw);
	if (!t->nr_engines || t->engine[0].type) {
		dev_err(&hw->pdev->dev, "the device table names no graphics engine first\n");
		return -ENODEV;
	}
	ret = read_memory(hw);
	if (ret)
		return ret;
	read_seeds(hw);
	t->strap = hw_rd(hw, PSTRAPS_BOOT0);
	hw->p->calibrated = hw_sensor_calibrated(hw);
	hw_wr(hw, PMC_ENABLE_PBDMA, ~0u);
	t->nr_pbdma = min_t(u32, hweight32(hw_rd(hw, PMC_ENABLE_PBDMA)), KVGPU_MAX_PBDMA);
	for (p = 0; p < t->nr_pbdma; p++)
		t->pbdma_runl[p] = hw_rd(hw, PFIFO_PBDMA_RUNLISTS(p));
	return 0;
}

int hw_engines_off(struct kvgpu_hw *hw)
{
	u32 left;

	hw_mask(hw, PMC_ENABLE, hw->p->engine_bits, 0);
	left = hw_rd(hw, PMC_ENABLE) & hw->p->engine_bits;
	if (!left)
		return 0;
	dev_err(&hw->pdev->dev, "engines can't be turned off (0x%08x)\n", left);
	return -EIO;
}

int hw_engines_reset(struct kvgpu_hw *hw)
{
	int ret = hw_engines_off(hw);

	if (ret)
		return ret;
	usleep_range(OFF_US, 2 * OFF_US);
	hw_mask(hw, PMC_ENABLE, 0, hw->p->engine_bits);
	hw_rd(hw, PMC_ENABLE);
	usleep_range(ON_US, 2 * ON_US);
	return 0;
}

/*
 * Reads the VBIOS from the ROM window, which shows the ROM while the bit in ROM_SHADOW is 0. Byte 2
 * of the VBIOS is its length in units of ROM_BLOCK.
 */
int hw_vbios_read(struct kvgpu_hw *hw)
{
	u32 shadow = hw_rd(hw, ROM_SHADOW), first, size, i;
	int ret = -EINVAL;

	hw_wr(hw, ROM_SHADOW, shadow & ~(u32)PPCI_CFG_ROM_SHADOW_EN);
	first = hw_rd(hw, PROM_BASE);
	size = ((first >> 16) & 0xff) * ROM_BLOCK;
	if ((first & 0xffff) != ROM_SIGNATURE || !size || size > PROM_SIZE) {
		dev_err(&hw->pdev->dev, "no VBIOS in the card's ROM (first word 0x%08x)\n", first);
		goto out;
	}
	hw->vbios = vmalloc(size);
	ret = -ENOMEM;
	if (!hw->vbios)
		goto out;
	for (i = 0; i < size; i += 4)
		*(u32 *)(hw->vbios + i) = hw_rd(hw, PROM_BASE + i);
	hw->vbios_size = size;
	ret = 0;
out:
	hw_wr(hw, ROM_SHADOW, shadow);
	return ret;
}
