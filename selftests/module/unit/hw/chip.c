// SPDX-License-Identifier: GPL-2.0-only
/*
 * chip.h has the contracts. This file also stands for the rest of hw/, and for what the kernel of
 * selftests/module/harness leaves to a card.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "gk110/ltc.h"
#include "gk110/pfb.h"
#include "gk110/privring.h"
#include "gk110/therm.h"
#include "chip.h"
#include "selftests/module/harness/task.h"

struct chip chip;
static bool log_on;

static const u8 tpcs[] = { 3, 3, 3, 2, 2 }; /* a K20m: 13 of 15 TPCs are on */

/* ------------------------------------------------------------------ what answers */

static struct falcon *falcon_of(u32 reg)
{
	if ((reg & ~0xfffu) == GR_FECS)
		return &chip.fecs;
	return (reg & ~0xfffu) == GR_GPCCS_BCAST ? &chip.gpccs : NULL;
}

static u32 *word(struct falcon *f, u32 *mem, u32 *at, u32 step)
{
	u32 off = *at & FALCON_MEMC_OFFS;

	*at += *at & step ? 4 : 0;
	if (off < CHIP_FALCON)
		return &mem[off / 4];
	f->outside = true;
	return &mem[0];
}

static bool falcon_write(struct falcon *f, u32 off, u32 val)
{
	switch (off) {
	case FALCON_IMEMC(0):
		f->imem_at = val;
		return true;
	case FALCON_IMEMT(0):
		assert(val == (f->imem_at & 0xffff) / 256);
		f->tags++;
		return true;
	case FALCON_IMEMD(0):
		*word(f, f->imem, &f->imem_at, FALCON_MEMC_AINCW) = val;
		return true;
	case FALCON_DMEMC(0):
		f->dmem_at = val;
		return true;
	case FALCON_DMEMD(0):
		*word(f, f->dmem, &f->dmem_at, FALCON_MEMC_AINCW) = val;
		return true;
	}
	return false;
}

/*
 * FECS's save of a context: fills the image with bytes that are not all zero, and writes the count
 * and address of chip.patches.
 */
static void save_context(void)
{
	u64 inst = (u64)(chip.reg[(GR_FECS + FECS_CHAN_ADDR) / 4] & FECS_CHAN_INST) << 12;
	const u32 *in = (u32 *)(chip.vram + (inst - CHIP_VRAM_AT));
	u64 pd, va, pde, pte, table, page;

	if (chip.stuck & STUCK_SAVE)
		return;
	pd = in[GMMU_INST_PDB_LO / 4] & ~0xfffu;
	pd |= (u64)in[GMMU_INST_PDB_HI / 4] << 32;
	assert(in[GR_INST_CTX_LO / 4] & GR_INST_CTX_VIRTUAL);
	va = (in[GR_INST_CTX_LO / 4] & GR_INST_CTX_ADDR) | (u64)in[GR_INST_CTX_HI / 4] << 32;
	for (page = va; page < va + chip.ctx_size; page += 4096) {
		pde = *(u64 *)(chip.vram + (pd - CHIP_VRAM_AT) + (page >> 27) * 8);
		assert(FIELD_GET(GMMU_PDE_SMALL_APERTURE, pde) == GMMU_PDE_APERTURE_VRAM);
		table = FIELD_GET(GMMU_PDE_SMALL_ADDR, pde) << 12;
		pte = *(u64 *)(chip.vram + (table - CHIP_VRAM_AT) + (page >> 12 & 0x7fff) * 8);
		/* FECS's microcode alone may reach the image */
		assert(pte & GMMU_PTE_VALID && pte & GMMU_PTE_PRIV);
		memset(chip.vram + ((FIELD_GET(GMMU_PTE_ADDR, pte) << 12) - CHIP_VRAM_AT) +
			       (page == va ? 256 : 0),
		       0x5a, page == va ? 3840 : 4096);
		if (page == va && chip.patches[0])
			memcpy(chip.vram + ((FIELD_GET(GMMU_PTE_ADDR, pte) << 12) - CHIP_VRAM_AT) +
				       GR_CTX_OS_PATCH_COUNT,
			       &chip.patches[0], 4);
		if (page == va && chip.patches[1])
			memcpy(chip.vram + ((FIELD_GET(GMMU_PTE_ADDR, pte) << 12) - CHIP_VRAM_AT) +
				       GR_CTX_OS_PATCH_ADDR,
			       &chip.patches[1], 4);
	}
}

static void fecs_write(u32 off, u32 val)
{
	u32 *status = &chip.reg[(GR_FECS + FECS_SCRATCH(FECS_OS_STATUS)) / 4];

	if (off == FALCON_CPUCTL && val == FALCON_CPUCTL_START && !(chip.stuck & STUCK_START)) {
		*status |= FECS_OS_READY;
		chip.reg[(GR_FECS + FECS_SCRATCH(FECS_OS_SIZE)) / 4] = chip.ctx_size;
	} else if (off == FECS_SCRATCH_CLR(FECS_OS_STATUS)) {
		*status &= ~val;
	} else if (off == FECS_WRCMD_CMD && val == FECS_OS_CMD_SET_CHAN &&
		   !(chip.stuck & STUCK_SET_CHAN)) {
		*status |= FECS_OS_READY;
		chip.reg[(GR_FECS + FECS_CHAN_ADDR) / 4] =
			chip.reg[(GR_FECS + FECS_WRCMD_DATA) / 4];
		chip.reg[(GR_FECS + FECS_CHAN_NEXT) / 4] =
			chip.reg[(GR_FECS + FECS_WRCMD_DATA) / 4];
	} else if (off == FALCON_INTR_TRIGGER && val == FECS_INTR_CHSW &&
		   !(chip.stuck & STUCK_UNLOAD)) {
		save_context();
		chip.reg[(GR_FECS + FECS_CHAN_ADDR) / 4] &= ~FECS_CHAN_VALID;
	}
}

/* A reset of the engine: clears the falcons, FECS's status and its channel. */
static void reset_engine(void)
{
	u32 units = chip.reg[(GR_FECS + FECS_UNITS) / 4];

	chip.resets++;
	memset(&chip.fecs, 0, sizeof(chip.fecs));
	memset(&chip.gpccs, 0, sizeof(chip.gpccs));
	chip.reg[(GR_FECS + FECS_SCRATCH(FECS_OS_STATUS)) / 4] = 0;
	chip.reg[(GR_FECS + FECS_CHAN_ADDR) / 4] = 0;
	chip.reg[(GR_FECS + FECS_UNITS) / 4] = units;
}

static void note_port(u32 reg, u32 val)
{
	u32 i = chip.nr_port++;

	assert(i < ARRAY_SIZE(chip.port));
	chip.port[i].reg = reg;
	chip.port[i].val = val;
	chip.port[i].data = chip.reg[(reg == GR_ICMD ? GR_ICMD_DATA : GR_MTHD_DATA) / 4];
}

void iowrite32(u32 val, void *at)
{
	u32 reg = (u8 *)at - chip.bar0;
	struct falcon *f;

	if (reg >= CHIP_BAR0) {
		memcpy(at, &val, 4);
		return;
	}
	assert(reg % 4 == 0);
	chip.writes[reg / 4]++;
	if (reg == PMC_ENABLE && !(val & PMC_ENABLE_GR) && chip.reg[reg / 4] & PMC_ENABLE_GR)
		reset_engine();
	chip.reg[reg / 4] = val;
	if (reg == GR_ICMD || reg == GR_MTHD)
		note_port(reg, val);
	/* the commands come in this order: acknowledge, then look for units */
	if (reg == PRIVRING_COMMAND && val == PRIVRING_COMMAND_ENUMERATE && chip.ring_acked &&
	    !(chip.stuck & STUCK_RING))
		chip.ring_lost = false;
	chip.ring_acked = reg == PRIVRING_COMMAND ? val == PRIVRING_COMMAND_ACK_INTR :
						    chip.ring_acked;
	f = falcon_of(reg);
	if (f && !falcon_write(f, reg & 0xfff, val) && f == &chip.fecs)
		fecs_write(reg & 0xfff, val);
}

void writeq(u64 val, void *at)
{
	iowrite32(val, at);
	iowrite32(val >> 32, (u8 *)at + 4);
}

u32 ioread32(const void *at)
{
	u32 reg = (const u8 *)at - chip.bar0, v;
	struct falcon *f;

	harness_now += 100;
	if (reg >= CHIP_BAR0) {
		memcpy(&v, at, 4);
		return v;
	}
	if (chip.stuck & STUCK_BUS)
		return ~0u;
	if (chip.ring_lost && reg >= GR_GPC(0, 0) && reg < GR_GPC(8, 0))
		return PRIVRING_ERROR | 0xf1100;
	if (reg == PRIVRING_COMMAND)
		return 0;
	f = falcon_of(reg);
	v = chip.reg[reg / 4];
	if (f && (reg & 0xfff) == FALCON_DMEMD(0))
		return *word(f, f->dmem, &f->dmem_at, FALCON_MEMC_AINCR);
	if (reg >= PTHERM_PGOB(0) && reg < PTHERM_PGOB(PTHERM_PGOB_NR))
		return chip.stuck & STUCK_POWER ? v | PTHERM_PGOB_BUSY : v & ~PTHERM_PGOB_BUSY;
	switch (reg) {
	case GR_FE_PWR:
		return chip.stuck & STUCK_FE_PWR ? v : v & ~GR_FE_PWR_PENDING;
	case GR_IDLE:
		return chip.stuck & STUCK_IDLE ? GR_IDLE_BUSY : 0;
	case GR_STATUS:
		return chip.stuck & STUCK_ICMD ? GR_STATUS_ICMD : 0;
	case PFIFO_ENGINE_STATUS(0):
		return chip.stuck & STUCK_CHSW ? PFIFO_STATUS_BUSY | PFIFO_STATUS_CHSW : 0;
	}
	return v;
}

/* -------------------------------------------------------------- the rest of hw/, and the kernel */

int hw_reg_wait(struct kvgpu_hw *hw, u32 reg, u32 mask, u32 want, unsigned int us)
{
	ktime_t end = ktime_add_us(ktime_get(), us);

	while ((hw_rd(hw, reg) & mask) != want) {
		if (ktime_after(ktime_get(), end))
			return hw_rd(hw, reg) == ~0u ? -EIO : -ETIMEDOUT;
		usleep_range(1, 5);
	}
	return 0;
}

u32 hw_read(struct kvgpu_hw *hw, u32 reg)
{
	u32 v = hw_rd(hw, reg);

	hw->p->unanswered |= hw_no_answer(v);
	return hw_no_answer(v) ? 0 : v;
}

int kvgpu_hw_vram_alloc(struct kvgpu_hw *hw, u64 size, u64 align, struct kvgpu_vram *out)
{
	size = ALIGN(size, PAGE_SIZE);
	if (!chip.allocs_left || chip.vram_used + size > CHIP_VRAM)
		return -ENOMEM;
	chip.allocs_left -= chip.allocs_left > 0;
	*out = (struct kvgpu_vram){ .at = { CHIP_VRAM_AT + chip.vram_used },
				    .size = size,
				    .cpu = chip.vram + chip.vram_used };
	chip.vram_used += size;
	return 0;
}

void kvgpu_hw_vram_free(struct kvgpu_hw *hw, struct kvgpu_vram *v)
{
	/* right only where all or nothing is freed */
	chip.vram_used -= v->size;
	memset(v, 0, sizeof(*v));
}

void hw_inst_space_write(const struct kvgpu_vram *inst, u64 pd, u64 limit)
{
	hw_vram_wr64(inst, GMMU_INST_PDB_LO, pd);
	hw_vram_wr64(inst, GMMU_INST_LIMIT_LO, limit);
}

int kvgpu_hw_flush_writes(struct kvgpu_hw *hw)
{
	return 0;
}

int kvgpu_hw_tlb_flush(struct kvgpu_hw *hw, u64 pd, bool hub_only)
{
	assert(pd == hw->p->gr.pd.at.v && !hub_only);
	chip.tlb_flushes++;
	return 0;
}

int kvgpu_hw_copy_vram(struct kvgpu_hw *hw, hvram_t dst, hvram_t src, u64 size)
{
	memcpy(chip.vram + (dst.v - CHIP_VRAM_AT), chip.vram + (src.v - CHIP_VRAM_AT), size);
	return 0;
}

void harness_log(const struct device *dev, const char *level, const char *fmt, ...)
{
	va_list ap;

	chip.errors += *level == 'e';
	if (!log_on)
		return;
	va_start(ap, fmt);
	fprintf(stderr, "# %s: ", level);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}

void memset_io(void *at, int c, size_t n)
{
	memset(at, c, n);
}
void memcpy_fromio(void *to, const void *from, size_t n)
{
	memcpy(to, from, n);
}
/* ------------------------------------------------------------------ the card */

bool chip_log(bool on)
{
	bool was = log_on;

	log_on = on;
	return was;
}

u64 chip_ns(void)
{
	return harness_now - chip.began;
}

u32 chip_reg(u32 reg)
{
	return chip.reg[reg / 4];
}

void chip_set(u32 reg, u32 val)
{
	chip.reg[reg / 4] = val;
}

static void set_shape(void)
{
	unsigned int g;

	chip_set(GR_FECS + FECS_UNITS,
		 FIELD_PREP(FECS_UNITS_ROP, 5) | FIELD_PREP(FECS_UNITS_GPC, 5));
	for (g = 0; g < 5; g++) {
		chip_set(GR_GPC(g, GPC_GPCCS + GPCCS_UNITS), tpcs[g]);
		chip_set(GR_GPC(g, GPC_PPC_TPC_MASK(0)), tpcs[g] == 3 ? 3 : 1);
		chip_set(GR_GPC(g, GPC_PPC_TPC_MASK(1)), tpcs[g] == 3 ? 4 : 2);
	}
	chip_set(PFFB_LTC_COUNT, 5);
	chip_set(PRIVRING_FBP_COUNT, 5);
	chip_set(GR_FECS + FALCON_CAPS, 0x8080); /* 32 KiB of code, 16 KiB of data */
	chip_set(GR_GPCCS_BCAST + FALCON_CAPS, 0x8080);
	chip_set(PMC_ENABLE, ~0u);
	chip_set(LTC_BCAST_SLICE + LTC_GRCTX_0, 0x03040082);
	chip_set(LTC_BCAST_SLICE + LTC_GRCTX_1, 0x000fffff);
}

void chip_make(const void *fw, size_t size)
{
	const struct policy calm = { .seed = 1 };
	const char *why;

	memset(&chip, 0, sizeof(chip));
	harness_begin(&calm);
	chip.began = harness_now;
	chip.bar0 = mmap(NULL, CHIP_BAR0, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			 -1, 0);
	assert(chip.bar0 != MAP_FAILED);
	chip.reg = calloc(CHIP_BAR0 / 4, sizeof(u32));
	chip.writes = calloc(CHIP_BAR0 / 4, sizeof(u32));
	chip.vram = calloc(1, CHIP_VRAM);
	assert(chip.reg && chip.writes && chip.vram);
	chip.ctx_size = 0x2000;
	chip.allocs_left = -1;
	chip.hw.bar0 = chip.bar0;
	chip.hw.pdev = &chip.pdev;
	chip.hw.p = &chip.priv;
	chip.hw.topo.nr_engines = 1;
	chip.hw.topo.engine[0].reset = GR_RESET;
	chip.priv.fw = &chip.fw;
	if (hw_fwfile_parse(&chip.fw.file, fw, size, &why)) {
		fprintf(stderr, "firmware: %s\n", why);
		abort();
	}
	set_shape();
}

void chip_free(void)
{
	munmap(chip.bar0, CHIP_BAR0);
	free(chip.reg);
	free(chip.writes);
	free(chip.vram);
	harness_end();
}
