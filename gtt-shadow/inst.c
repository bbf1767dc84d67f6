// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instance blocks. The chip reads a block that is made here, word by word: constants, values of the
 * host, and of the guest's only what is virtual or harmless. Above all PRIV_MODE of the copy
 * engines, which would let the guest copy between physical addresses, is never set. Values of the
 * constants: nvkm fifo/gk104.c gk104_chan_ramfc_write.
 */
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/string.h>

#include <gk110/gr.h>
#include <gk110/mmu.h>
#include <gk110/ram.h>

#include "internal.h"

#define RAMFC_PB_HEADER_INIT	(FIELD_PREP(RAMFC_HEADER_TYPE, 1) | RAMFC_HEADER_FIRST)
#define RAMFC_SUBDEVICE_INIT	(RAMFC_SUBDEVICE_ENABLE | RAMFC_SUBDEVICE_ACTIVE)
#define RAMFC_FORMATS_INIT	FIELD_PREP(RAMFC_FORMATS_PB, 1)
#define RAMFC_B8		0xb8
#define RAMFC_B8_INIT		0xf8000000u
#define PAGE_OFFSET_BITS	(PAGE_BYTES - 1)

static u32 word(const u32 *block, u32 off)
{
	return block[off / 4];
}

/* address of the two words at @off, whose low one keeps only @lo */
static u64 addr_at(const u32 *block, u32 off, u32 lo)
{
	return (word(block, off) & lo) | (u64)FIELD_GET(GMMU_INST_PDB_HI_ADDR, word(block, off + 4))
						 << 32;
}

static bool target_ok(u32 target)
{
	return target != KVGPU_PEER;
}

static const char *refuse(const u32 *block, const struct kvgpu_inst_guest *g)
{
	u64 ring = (u64)GP_ENTRY_SIZE << g->gp_log2;

	if (!target_ok(g->pd.target))
		return "page directory in no memory";
	if (!target_ok(g->userd.target))
		return "USERD in no memory";
	if (g->gp_base + ring > BIT_ULL(GMMU_VA_BITS))
		return "GPFIFO ring wraps";
	if (!target_ok(FIELD_GET(RAMIN_CTX_TARGET, word(block, RAMIN_GR_CTX))) &&
	    !g->gr_ctx_virtual)
		return "graphics context in no memory";
	return NULL;
}

int kvgpu_inst_decode(const u32 *block, struct kvgpu_inst_guest *out, const char **why)
{
	*out = (struct kvgpu_inst_guest){
		.pd = { FIELD_GET(GMMU_INST_PDB_LO_TARGET, word(block, GMMU_INST_PDB_LO)),
			addr_at(block, GMMU_INST_PDB_LO, GMMU_INST_PDB_LO_ADDR) },
		.limit = addr_at(block, GMMU_INST_LIMIT_LO,
			GMMU_INST_LIMIT_LO_ADDR) | PAGE_OFFSET_BITS,
		.gp_base = addr_at(block, RAMFC_GP_BASE, RAMFC_GP_BASE_LO),
		.gp_log2 = FIELD_GET(RAMFC_GP_BASE_LIMIT2, word(block, RAMFC_GP_BASE_HI)),
		.userd = { FIELD_GET(RAMFC_USERD_TARGET, word(block, RAMFC_USERD)),
			   addr_at(block, RAMFC_USERD, RAMFC_USERD_ADDR) },
		.gr_ctx = addr_at(block, RAMIN_GR_CTX, RAMIN_CTX_ADDR_LO),
		.gr_ctx_virtual = word(block, RAMIN_GR_CTX) & RAMIN_CTX_VIRTUAL,
		.priv = word(block, RAMFC_HCE_CTRL) & RAMFC_HCE_PRIV_MODE,
	};
	*why = refuse(block, out);
	return *why ? -EINVAL : 0;
}

/*
 * words that say where a channel stands in its ring and pushbuffer, and what of them may be taken
 * over
 */
static const struct {
	u16 off;
	u32 mask;
} progress[] = {
	{ RAMFC_GP_PUT, ~0u },
	{ RAMFC_GP_GET, ~0u },
	{ RAMFC_GP_FETCH, ~0u },
	{ RAMFC_PB_GET, GP_ENTRY0_GET },
	{ RAMFC_PB_GET_HI, GP_ENTRY1_GET_HI },
	{ RAMFC_TOP_LEVEL_GET, GP_ENTRY0_GET },
	{ RAMFC_TOP_LEVEL_GET_HI, GP_ENTRY1_GET_HI | RAMFC_TOP_LEVEL_GET_VALID },
	{ RAMFC_REF, ~0u },
	{ RAMFC_SEMAPHORE_A, GENMASK(7, 0) },
	{ RAMFC_SEMAPHORE_B, GENMASK(31, 2) },
	{ RAMFC_SEMAPHORE_C, ~0u },
	{ RAMFC_PB_FETCH, GP_ENTRY0_GET },
	{ RAMFC_PB_FETCH_HI, GP_ENTRY1_GET_HI },
	{ RAMFC_PB_PUT, GP_ENTRY0_GET },
	{ RAMFC_PB_PUT_HI, GP_ENTRY1_GET_HI },
	{ RAMFC_PB_HEADER,
		RAMFC_HEADER_METHOD | RAMFC_HEADER_SUBCH | RAMFC_HEADER_LEVEL | RAMFC_HEADER_FIRST |
			   RAMFC_HEADER_TYPE },
	{ RAMFC_PB_COUNT, RAMFC_PB_COUNT_VALUE },
};

/* a channel that has run before (restored, or bound again); a fresh one has zeroes there */
static bool has_run(const u32 *block, const struct kvgpu_inst_guest *g)
{
	u64 entries = BIT_ULL(g->gp_log2);
	u32 put = word(block, RAMFC_GP_PUT), get = word(block, RAMFC_GP_GET),
	    fetch = word(block, RAMFC_GP_FETCH);

	return (put || get) && put < entries && get < entries && fetch < entries;
}

static void put_addr(u32 *out, u32 off, u64 addr, u32 flags)
{
	out[off / 4] = (u32)addr | flags;
	out[off / 4 + 1] = (u32)(addr >> 32);
}

void kvgpu_inst_build(const u32 *guest_block, const struct kvgpu_inst_guest *g,
		      const struct kvgpu_inst_host *h, u32 *out)
{
	u32 i;

	memset(out, 0, RAMIN_SIZE);
	out[RAMFC_PB_HEADER / 4] = RAMFC_PB_HEADER_INIT;
	for (i = 0; has_run(guest_block, g) && i < sizeof(progress) / sizeof(progress[0]); i++)
		out[progress[i].off / 4] = word(guest_block, progress[i].off) & progress[i].mask;
	put_addr(out, RAMFC_USERD, h->userd, FIELD_PREP(RAMFC_USERD_TARGET, KVGPU_VRAM));
	out[RAMFC_SIGNATURE / 4] = RAMFC_SIGNATURE_FACE;
	out[RAMFC_ACQUIRE / 4] = h->acquire;
	put_addr(out, RAMFC_GP_BASE, g->gp_base, 0);
	out[RAMFC_GP_BASE_HI / 4] |= FIELD_PREP(RAMFC_GP_BASE_LIMIT2, g->gp_log2);
	out[RAMFC_SUBDEVICE / 4] = RAMFC_SUBDEVICE_INIT |
				   (word(guest_block, RAMFC_SUBDEVICE) & RAMFC_SUBDEVICE_ID);
	out[RAMFC_FORMATS / 4] = RAMFC_FORMATS_INIT;
	out[RAMFC_TARGET / 4] = RAMFC_TARGET_SW;
	out[RAMFC_B8 / 4] = RAMFC_B8_INIT;
	out[RAMFC_HCE_CTRL / 4] = 0;
	out[RAMFC_CHID / 4] = h->chid.v;
	out[RAMFC_TIMESLICE / 4] = h->runl_slice;
	out[RAMFC_PB_TIMESLICE / 4] = h->pb_slice;
	put_addr(out, GMMU_INST_PDB_LO, h->pd, FIELD_PREP(GMMU_INST_PDB_LO_TARGET, KVGPU_VRAM));
	put_addr(out, GMMU_INST_LIMIT_LO, g->limit, 0);
	/* FECS takes the pointer as virtual; the flag is for firmware that asks */
	if (g->gr_ctx)
		put_addr(out, RAMIN_GR_CTX, g->gr_ctx, RAMIN_CTX_VIRTUAL);
}
