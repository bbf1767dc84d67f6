// SPDX-License-Identifier: GPL-2.0-only
/* GR, as far as bring-up and resets wait for it: two falcons, FECS, a context that is saved. */
#include <assert.h>
#include <string.h>

#include "gk110/falcon.h"
#include "gk110/gr.h"
#include "gk110/ltc.h"
#include "gk110/pfb.h"
#include "gk110/pmc.h"
#include "gk110/privring.h"
#include "gk110/therm.h"
#include "gk110/mmu.h"
#include "selftests/module/harness/chip/state.h"

#include <linux/bitfield.h>

#define FALCON_BYTES 0x4000u
#define CTX_SIZE     0x2000u

static struct falcon {
	u32 dmem[FALCON_BYTES / 4], at;
} fecs, gpccs;

static struct falcon *falcon_of(u32 at)
{
	if ((at & ~0xfffu) == GR_FECS)
		return &fecs;
	return (at & ~0xfffu) == GR_GPCCS_BCAST ? &gpccs : NULL;
}

static u32 *word(struct falcon *f, u32 step)
{
	u32 off = f->at & FALCON_MEMC_OFFS;

	f->at += f->at & step ? 4 : 0;
	assert(off < FALCON_BYTES);
	return &f->dmem[off / 4];
}

static void save_context(const u32 *reg)
{
	u64 inst = (u64)(reg[(GR_FECS + FECS_CHAN_ADDR) / 4] & FECS_CHAN_INST) << 12, va, page, pte;
	const u32 *in = (const u32 *)chip_vram(inst);

	va = (in[GR_INST_CTX_LO / 4] & GR_INST_CTX_ADDR) | (u64)in[GR_INST_CTX_HI / 4] << 32;
	for (page = va; page < va + CTX_SIZE; page += 4096) {
		pte = mmu_translate(chip_pd(inst), page);
		assert(pte);
		memset(chip_vram((FIELD_GET(GMMU_PTE_ADDR, pte) << 12) + (page == va ? 256 : 0)),
		       0x5a, page == va ? 3840 : 4096);
		chip_wrote(FIELD_GET(GMMU_PTE_ADDR, pte) << 12, 4096);
	}
}

static void fecs_write(u32 *reg, u32 off, u32 val)
{
	u32 *status = &reg[(GR_FECS + FECS_SCRATCH(FECS_OS_STATUS)) / 4];

	if (off == FALCON_CPUCTL && val == FALCON_CPUCTL_START) {
		*status |= FECS_OS_READY;
		reg[(GR_FECS + FECS_SCRATCH(FECS_OS_SIZE)) / 4] = CTX_SIZE;
	} else if (off == FECS_SCRATCH_CLR(FECS_OS_STATUS)) {
		*status &= ~val;
	} else if (off == FECS_WRCMD_CMD && val == FECS_OS_CMD_SET_CHAN) {
		*status |= FECS_OS_READY;
		reg[(GR_FECS + FECS_CHAN_ADDR) / 4] = reg[(GR_FECS + FECS_WRCMD_DATA) / 4];
		reg[(GR_FECS + FECS_CHAN_NEXT) / 4] = reg[(GR_FECS + FECS_WRCMD_DATA) / 4];
	} else if (off == FALCON_INTR_TRIGGER && val == FECS_INTR_CHSW) {
		save_context(reg);
		reg[(GR_FECS + FECS_CHAN_ADDR) / 4] &= ~FECS_CHAN_VALID;
	}
}

bool fake_write(u32 *reg, u32 at, u32 val)
{
	struct falcon *f = falcon_of(at);

	if (at == PMC_ENABLE && !(val & PMC_ENABLE_GR) && reg[at / 4] & PMC_ENABLE_GR) {
		memset(&fecs, 0, sizeof(fecs));
		memset(&gpccs, 0, sizeof(gpccs));
		reg[(GR_FECS + FECS_SCRATCH(FECS_OS_STATUS)) / 4] = 0;
		reg[(GR_FECS + FECS_CHAN_ADDR) / 4] = 0;
	}
	if (!f)
		return false;
	reg[at / 4] = val;
	switch (at & 0xfff) {
	case FALCON_IMEMC(0):
	case FALCON_IMEMT(0):
	case FALCON_IMEMD(0):
		break;
	case FALCON_DMEMC(0):
		f->at = val;
		break;
	case FALCON_DMEMD(0):
		*word(f, FALCON_MEMC_AINCW) = val;
		break;
	default:
		if (f == &fecs)
			fecs_write(reg, at & 0xfff, val);
	}
	return true;
}

bool fake_read(u32 *reg, u32 at, u32 *val)
{
	struct falcon *f = falcon_of(at);

	*val = reg[at / 4];
	if (f && (at & 0xfff) == FALCON_DMEMD(0))
		*val = *word(f, FALCON_MEMC_AINCR);
	else if (at >= PTHERM_PGOB(0) && at < PTHERM_PGOB(PTHERM_PGOB_NR))
		*val &= ~PTHERM_PGOB_BUSY;
	else if (at == GR_FE_PWR)
		*val &= ~GR_FE_PWR_PENDING;
	else if (at == GR_IDLE || at == GR_STATUS)
		*val = 0;
	else
		return f;
	return true;
}

void fake_begin(u32 *reg)
{
	static const u8 tpcs[] = { 3, 3, 3, 2, 2 }; /* a K20m: two of fifteen are off */
	unsigned int g;

	memset(&fecs, 0, sizeof(fecs));
	memset(&gpccs, 0, sizeof(gpccs));
	reg[(GR_FECS + FECS_UNITS) / 4] = FIELD_PREP(FECS_UNITS_ROP, 5) |
					  FIELD_PREP(FECS_UNITS_GPC, 5);
	for (g = 0; g < 5; g++) {
		reg[GR_GPC(g, GPC_GPCCS + GPCCS_UNITS) / 4] = tpcs[g];
		reg[GR_GPC(g, GPC_PPC_TPC_MASK(0)) / 4] = tpcs[g] == 3 ? 3 : 1;
		reg[GR_GPC(g, GPC_PPC_TPC_MASK(1)) / 4] = tpcs[g] == 3 ? 4 : 2;
	}
	reg[PFFB_LTC_COUNT / 4] = 5;
	reg[PRIVRING_FBP_COUNT / 4] = 5;
	reg[(GR_FECS + FALCON_CAPS) / 4] = 0x8080;
	reg[(GR_GPCCS_BCAST + FALCON_CAPS) / 4] = 0x8080;
	reg[(LTC_BCAST_SLICE + LTC_GRCTX_0) / 4] = 0x03040082;
	reg[(LTC_BCAST_SLICE + LTC_GRCTX_1) / 4] = 0x000fffff;
	reg[(LTC_BCAST_SLICE + LTC_CONFIG) / 4] = FIELD_PREP(LTC_CONFIG_SLICES, 4);
}
