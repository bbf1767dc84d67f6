// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads from the card: its identity, the VBIOS, the device table (PTOP), the size of its memory,
 * and values with which registers of a vGPU start (seeds). POSTs the card if nobody has. PBDMAs are
 * counted by a write of all ones to PMC_ENABLE_PBDMA, in which the bits of existing PBDMAs stay
 * set. Also turns the engines that the device table names off and on.
 *
 * Takes no lock. Runs at bring-up; any thread may call kvgpu_hw_peek() and hw_reg_wait().
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
#include "hw/post.h"

#define ROM_SHADOW (PPCI_BASE + GK110_PCI_ROM_SHADOW)
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

u32 hw_read(struct kvgpu_hw *hw, u32 reg)
{
	u32 val = hw_rd(hw, reg);

	if (!hw_no_answer(val))
		return val;
	if (!hw->p->unanswered)
		dev_err(&hw->pdev->dev,
			"register 0x%06x does not answer (0x%08x); bus: access 0x%08x, ring: interrupts 0x%08x 0x%08x\n",
			reg, val, hw_rd(hw, PTIMER_MMIO_FAULT_ADDR), hw_rd(hw, PRIVRING_INTR0),
			hw_rd(hw, PRIVRING_INTR1));
	hw->p->unanswered = true;
	return 0;
}

u32 kvgpu_hw_peek(struct kvgpu_hw *hw, u32 reg)
{
	return hw_rd(hw, reg & (GK110_BAR0_SIZE - 4));
}

int hw_chip_identify(struct kvgpu_hw *hw)
{
	u32 boot0 = hw_rd(hw, PMC_BOOT_0);

	if (boot0 == ~0u) {
		dev_err(&hw->pdev->dev,
			"registers read all ones: is the card powered and its memory space enabled?\n");
		return -EIO;
	}
	if (FIELD_GET(PMC_BOOT_0_CHIPSET, boot0) != GK110_CHIPSET &&
	    FIELD_GET(PMC_BOOT_0_CHIPSET, boot0) != GK110B_CHIPSET) {
		dev_err(&hw->pdev->dev,
			"chipset 0x%03lx is not a GK110 (0x0f0) or GK110B (0x0f1)\n",
			FIELD_GET(PMC_BOOT_0_CHIPSET, boot0));
		return -ENODEV;
	}
	hw->topo.boot0 = boot0;
	hw->topo.strap = hw_rd(hw, PSTRAPS_BOOT0);
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

/* The table's order is the board's; that of topo.engine is by type, so that GR is the first. */
static void engine_add(struct kvgpu_topo *t, const struct kvgpu_engine *e)
{
	unsigned int i = t->nr_engines++;

	for (; i && t->engine[i - 1].type > e->type; i--)
		t->engine[i] = t->engine[i - 1];
	t->engine[i] = *e;
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
		u32 word = hw_read(hw, PTOP_DEVICE(i));

		parse_device(&e, word, &has_runl, &hw->p->engine_bits);
		if (word & PTOP_DEVICE_CHAIN)
			continue;
		if (has_runl && e.type <= 3 && e.runl < KVGPU_MAX_RUNL && e.id < KVGPU_MAX_ENGINE &&
		    t->nr_engines < KVGPU_MAX_ENGINE) {
			if (e.type)
				e.inst = e.type - 1;
			engine_add(t, &e);
			t->nr_runl = max_t(u8, t->nr_runl, e.runl + 1);
		}
		memset(&e, 0, sizeof(e));
		has_runl = false;
	}
}

/*
 * Controllers with more memory than others have the rest of it at other addresses (nouveau
 * fb/ramgf100.c). It stays unused.
 */
static int read_memory(struct kvgpu_hw *hw)
{
	u32 fbps = hw_read(hw, PTOP_FBP_COUNT), fbpas = hw_read(hw, PTOP_FBPA_COUNT),
	    off = hw_read(hw, PTOP_DISABLE_FBPA), nr = 0, least = ~0u, most = 0, i;
	u64 mib;

	if (!fbps || fbps > PBFB_NR || fbpas < fbps || fbpas > PBFB_NR) {
		dev_err(&hw->pdev->dev, "%u parts of memory with %u controllers found\n", fbps,
			fbpas);
		return -EINVAL;
	}
	for (i = 0; i < fbpas / fbps * fbps; i++) {
		u32 amount = off & BIT(i) ? 0 : hw_read(hw, PBFB_BASE(i) + PBFB_AMOUNT);

		if (off & BIT(i))
			continue;
		if (!amount || amount > PBFB_AMOUNT_MAX) {
			dev_err(&hw->pdev->dev, "memory controller %u says that it has %u MiB\n", i,
				amount);
			return -EINVAL;
		}
		nr++;
		least = min(least, amount);
		most = max(most, amount);
	}
	mib = nr ? (u64)least * nr : 0;
	if (nr && least != most)
		dev_warn(&hw->pdev->dev,
			 "memory controllers have %u to %u MiB: %llu MiB in all are used\n", least,
			 most, mib);
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

	read_device_table(hw);
	if (!t->nr_engines || t->engine[0].type) {
		dev_err(&hw->pdev->dev, "the device table names no graphics engine\n");
		return -ENODEV;
	}
	ret = read_memory(hw);
	if (ret)
		return ret;
	read_seeds(hw);
	hw->p->calibrated = hw_sensor_calibrated(hw);
	hw_wr(hw, PMC_ENABLE_PBDMA, ~0u);
	t->nr_pbdma = min_t(u32, hweight32(hw_read(hw, PMC_ENABLE_PBDMA)), KVGPU_MAX_PBDMA);
	for (p = 0; p < t->nr_pbdma; p++)
		t->pbdma_runl[p] = hw_read(hw, PFIFO_PBDMA_RUNLISTS(p));
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

/* ------------------------------------------------------------------ POST */

static u32 post_read(void *ctx, u32 reg)
{
	return hw_rd(ctx, reg);
}

static void post_write(void *ctx, u32 reg, u32 val)
{
	hw_wr(ctx, reg, val);
}

static u8 post_read8(void *ctx, u32 reg)
{
	return ioread8(((struct kvgpu_hw *)ctx)->bar0 + reg);
}

static void post_write8(void *ctx, u32 reg, u8 val)
{
	iowrite8(val, ((struct kvgpu_hw *)ctx)->bar0 + reg);
}

static void post_delay(void *ctx, unsigned int us)
{
	if (us < 10 * USEC_PER_MSEC)
		usleep_range(us, us + us / 8 + 1);
	else
		msleep(us / USEC_PER_MSEC);
}

static int run_scripts(struct kvgpu_hw *hw)
{
	struct hw_post_io io = { post_read, post_write, post_read8, post_write8, post_delay, hw };
	struct hw_post *p = kzalloc(sizeof(*p), GFP_KERNEL);
	int ret;

	if (!p)
		return -ENOMEM;
	ret = hw_post_run(p, hw->vbios, hw->vbios_size, &io);
	if (ret)
		dev_err(&hw->pdev->dev,
			"boot script of the VBIOS: opcode 0x%02x at 0x%04x: %s; let nouveau drive the card once before kvgpu (docs/supported.md)\n",
			p->at < hw->vbios_size ? hw->vbios[p->at] : 0, p->at, p->why);
	kfree(p);
	return ret;
}

/*
 * Runs the VBIOS's boot scripts, unless that was done since the card's last reset: system firmware
 * does it for few of these boards, and each reset of the card undoes it.
 */
int hw_chip_post(struct kvgpu_hw *hw)
{
	int ret;

	if (hw_read(hw, PTOP_DEVINIT) & PTOP_DEVINIT_DONE)
		return 0;
	dev_info(&hw->pdev->dev, "the card is not initialised: running its VBIOS's boot scripts\n");
	ret = run_scripts(hw);
	if (ret || hw_read(hw, PTOP_DEVINIT) & PTOP_DEVINIT_DONE)
		return ret;
	dev_err(&hw->pdev->dev, "the boot scripts ended, but the card is not initialised\n");
	return -EIO;
}
