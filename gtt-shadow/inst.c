// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instance blocks. The chip never reads a guest's instance block, only a shadow block that is built
 * here. RAMFC_HCE_PRIV_MODE, which would let the guest copy between physical addresses, is not set.
 * Pure: the caller serialises calls for one vGPU.
 */
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include <gk110/gr.h>
#include <gk110/mmu.h>
#include <gk110/ram.h>

#include "internal.h"
#include "kvgpu/ramfc.h"

#define PAGE_OFFSET_BITS (PAGE_BYTES - 1)

static u32 inst_word(const u32 *block, u32 off)
{
	return block[off / 4];
}

/* @lo: bits of the low word that belong to the address */
static u64 addr_at(const u32 *block, u32 off, u32 lo)
{
	return (inst_word(block, off) & lo) |
	       (u64)FIELD_GET(GMMU_INST_PDB_HI_ADDR, inst_word(block, off + 4)) << 32;
}

static const char *inst_refuse(const u32 *block, const struct kvgpu_inst_guest *g)
{
	u64 ring = (u64)GP_ENTRY_SIZE << g->gp_log2;

	if (!kvgpu_target_ok(g->pd.target))
		return "page directory in no memory";
	if (!kvgpu_target_ok(g->userd.target))
		return "USERD in no memory";
	if (g->gp_base + ring > BIT_ULL(GMMU_VA_BITS))
		return "GPFIFO ring wraps";
	if (!kvgpu_target_ok(FIELD_GET(RAMIN_CTX_TARGET, inst_word(block, RAMIN_GR_CTX))) &&
	    !g->gr_ctx_virtual)
		return "graphics context in no memory";
	return NULL;
}

int kvgpu_shadow_inst_decode(const u32 *block, struct kvgpu_inst_guest *out, const char **why)
{
	*out = (struct kvgpu_inst_guest){
		.pd = { FIELD_GET(GMMU_INST_PDB_LO_TARGET, inst_word(block, GMMU_INST_PDB_LO)),
			addr_at(block, GMMU_INST_PDB_LO, GMMU_INST_PDB_LO_ADDR) },
		.limit = addr_at(block, GMMU_INST_LIMIT_LO, GMMU_INST_LIMIT_LO_ADDR) |
			 PAGE_OFFSET_BITS,
		.gp_base = addr_at(block, RAMFC_GP_BASE, RAMFC_GP_BASE_LO),
		.gp_log2 = FIELD_GET(RAMFC_GP_BASE_LIMIT2, inst_word(block, RAMFC_GP_BASE_HI)),
		.userd = { FIELD_GET(RAMFC_USERD_TARGET, inst_word(block, RAMFC_USERD)),
			   addr_at(block, RAMFC_USERD, RAMFC_USERD_ADDR) },
		.gr_ctx = addr_at(block, RAMIN_GR_CTX, RAMIN_CTX_ADDR_LO),
		.gr_ctx_virtual = inst_word(block, RAMIN_GR_CTX) & RAMIN_CTX_VIRTUAL,
		.priv = inst_word(block, RAMFC_HCE_CTRL) & RAMFC_HCE_PRIV_MODE,
	};
	*why = inst_refuse(block, out);
	return *why ? -EINVAL : 0;
}

/*
 * Words of the guest's block with the channel's progress: its places in its ring and pushbuffer,
 * its reference counter, and the data of its semaphore methods A to C. The data of method D is not
 * copied, because this method begins an operation. .mask: bits that are copied.
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
	{ RAMFC_PB_HEADER, RAMFC_HEADER_METHOD | RAMFC_HEADER_SUBCH | RAMFC_HEADER_LEVEL |
				   RAMFC_HEADER_FIRST | RAMFC_HEADER_TYPE },
	{ RAMFC_PB_COUNT, RAMFC_PB_COUNT_VALUE },
};

/*
 * Tells by the guest's block whether the channel has run before, for example before a suspend from
 * which the guest has resumed. If so, the words of progress[] are copied. Pointers beyond the ring
 * are not valid: then the channel counts as new.
 */
static bool chan_has_run(const u32 *block, const struct kvgpu_inst_guest *g)
{
	u64 entries = BIT_ULL(g->gp_log2);
	u32 put = inst_word(block, RAMFC_GP_PUT), get = inst_word(block, RAMFC_GP_GET),
	    fetch = inst_word(block, RAMFC_GP_FETCH);

	return (put || get) && put < entries && get < entries && fetch < entries;
}

static void put_addr(u32 *out, u32 off, u64 addr, u32 flags)
{
	out[off / 4] = (u32)addr | flags;
	out[off / 4 + 1] = (u32)(addr >> 32);
}

void kvgpu_shadow_inst_build(const u32 *guest_block, const struct kvgpu_inst_guest *g,
			     const struct kvgpu_inst_host *h, u32 *out)
{
	const struct kvgpu_ramfc ramfc = {
		.chid = h->chid,
		.userd = h->userd,
		.gp_base = g->gp_base,
		.gp_log2 = g->gp_log2,
		.subdevice = FIELD_GET(RAMFC_SUBDEVICE_ID, inst_word(guest_block, RAMFC_SUBDEVICE)),
		.priv_mode = false,
	};
	u32 i;

	memset(out, 0, RAMIN_SIZE);
	kvgpu_ramfc_write(out, &ramfc);
	for (i = 0; chan_has_run(guest_block, g) && i < ARRAY_SIZE(progress); i++)
		out[progress[i].off / 4] = inst_word(guest_block, progress[i].off) &
					   progress[i].mask;
	put_addr(out, GMMU_INST_PDB_LO, h->pd, FIELD_PREP(GMMU_INST_PDB_LO_TARGET, KVGPU_VRAM));
	put_addr(out, GMMU_INST_LIMIT_LO, g->limit, 0);
	/*
	 * The address goes to FECS, the microcontroller that switches graphics contexts. nouveau's
	 * firmware takes it as virtual anyway, other firmware if RAMIN_CTX_VIRTUAL is set.
	 */
	if (g->gr_ctx)
		put_addr(out, RAMIN_GR_CTX, g->gr_ctx, RAMIN_CTX_VIRTUAL);
}
