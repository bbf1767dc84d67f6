// SPDX-License-Identifier: GPL-2.0-only
/* A guest's driver: the running thread calls the vGPU's VFIO operations, as world.h says. */
#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "gk110/ram.h"
#include "selftests/module/harness/inside.h"
#include "selftests/module/harness/oracle.h"
#include "selftests/module/harness/world.h"

#include <linux/bitfield.h>

u64 world_asked[NR_ASKED];

static void access(struct world_vgpu *g, unsigned int region, u64 off, void *buf, size_t n,
		   bool write)
{
	loff_t pos = ((loff_t)region << 40) + off;

	world_asked[region == VFIO_PCI_BAR0_REGION_INDEX ? ASKED_REGISTER :
		    off >= G_USERD(0) && off < G_INST(0) ? ASKED_DOORBELL :
							   ASKED_MEMORY]++;
	if (write)
		g->dev->ops->write(g->dev, buf, n, &pos);
	else
		g->dev->ops->read(g->dev, buf, n, &pos);
}

u32 g_read(struct world_vgpu *g, u32 reg)
{
	u32 val = 0;

	access(g, VFIO_PCI_BAR0_REGION_INDEX, reg, &val, 4, false);
	return val;
}

void g_write(struct world_vgpu *g, u32 reg, u32 val)
{
	access(g, VFIO_PCI_BAR0_REGION_INDEX, reg, &val, 4, true);
}

void g_store32(struct world_vgpu *g, u64 at, u32 val)
{
	access(g, VFIO_PCI_BAR1_REGION_INDEX, at, &val, 4, true);
}

void g_store64(struct world_vgpu *g, u64 at, u64 val)
{
	access(g, VFIO_PCI_BAR1_REGION_INDEX, at, &val, 8, true);
}

u32 g_load32(struct world_vgpu *g, u64 at)
{
	u32 val = 0;

	access(g, VFIO_PCI_BAR1_REGION_INDEX, at, &val, 4, false);
	return val;
}

/* ------------------------------------------------------------------ spaces */

void g_space(struct world_vgpu *g, u32 space)
{
	g_store64(g, G_PD(space),
		  FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_VRAM) |
			  FIELD_PREP(GMMU_PDE_SMALL_ADDR, G_TABLE(space) >> 12));
}

static void pte(struct world_vgpu *g, u32 space, u32 page, u64 val)
{
	g_store64(g, G_TABLE(space) + page * GMMU_ENTRY_SIZE, val);
}

void g_map_sys(struct world_vgpu *g, u32 space, u32 page, u64 iova)
{
	pte(g, space, page,
	    GMMU_PTE_VALID | GMMU_PTE_VOL |
		    FIELD_PREP(GMMU_PTE_APERTURE, GMMU_PTE_APERTURE_SYS_COH) |
		    FIELD_PREP(GMMU_PTE_ADDR, iova >> 12));
}

void g_map_vram(struct world_vgpu *g, u32 space, u32 page, u64 at)
{
	pte(g, space, page, GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR, at >> 12));
}

void g_unmap(struct world_vgpu *g, u32 space, u32 page)
{
	pte(g, space, page, 0);
}

unsigned long g_mmu;
struct mm_struct *g_mmu_mm;

void g_write_mmu(struct world_vgpu *g, u32 reg, u32 val)
{
	unsigned long frame;

	if (!g_mmu || g != world.vgpu) {
		g_write(g, reg, val);
		return;
	}
	frame = mm_touch(g_mmu_mm, g_mmu);
	if (frame)
		*(u32 *)((frame & ~OWN_PFN) + offset_in_page(reg)) = val;
}

void g_tlb(struct world_vgpu *g, u32 space)
{
	g_write_mmu(g, FB_MMU_INVALIDATE_PDB,
		    FIELD_PREP(FB_MMU_INVALIDATE_PDB_ADDR, G_PD(space) >> 12));
	g_write_mmu(g, FB_MMU_INVALIDATE, FB_MMU_INVALIDATE_TRIGGER | FB_MMU_INVALIDATE_ALL_VA);
}

/* ------------------------------------------------------------------ channels */

void g_inst_at(struct world_vgpu *g, u64 at, u64 userd, u32 space, u64 ctx)
{
	g_store32(g, at + RAMFC_USERD, userd);
	g_store32(g, at + RAMFC_SIGNATURE, RAMFC_SIGNATURE_FACE);
	g_store32(g, at + RAMFC_GP_BASE, 0x10000);
	g_store32(g, at + RAMFC_GP_BASE_HI, FIELD_PREP(RAMFC_GP_BASE_LIMIT2, 9));
	g_store32(g, at + GMMU_INST_PDB_LO, G_PD(space));
	g_store32(g, at + GMMU_INST_PDB_HI, 0);
	g_store32(g, at + GMMU_INST_LIMIT_LO, 0xfffff000);
	g_store32(g, at + GMMU_INST_LIMIT_HI, 0);
	g_store32(g, at + RAMIN_GR_CTX, ctx ? lower_32_bits(ctx) | RAMIN_CTX_VIRTUAL : 0);
	g_store32(g, at + RAMIN_GR_CTX + 4, upper_32_bits(ctx));
}

void g_inst(struct world_vgpu *g, u32 chan, u32 space, u64 ctx)
{
	g_inst_at(g, G_INST(chan), G_USERD(chan), space, ctx);
}

void g_bind_at(struct world_vgpu *g, u32 chan, u64 at)
{
	g_write(g, PCCSR_CHAN(chan), FIELD_PREP(PCCSR_CHAN_RUNLIST, 0));
	g_write(g, PCCSR_INST(chan), PCCSR_INST_BIND | FIELD_PREP(PCCSR_INST_PTR, at >> 12));
}

void g_bind(struct world_vgpu *g, u32 chan)
{
	g_bind_at(g, chan, G_INST(chan));
}

void g_unbind(struct world_vgpu *g, u32 chan)
{
	g_write(g, PCCSR_INST(chan), 0);
}

void g_enable(struct world_vgpu *g, u32 chan, bool on)
{
	g_write(g, PCCSR_CHAN(chan), on ? PCCSR_CHAN_ENABLE_SET : PCCSR_CHAN_ENABLE_CLR);
}

void g_run(struct world_vgpu *g, u32 chan)
{
	g_inst(g, chan, 0, 0);
	g_bind(g, chan);
	g_enable(g, chan, true);
}

void g_list(struct world_vgpu *g, const u64 *entry, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		g_store64(g, G_LIST + i * RUNLIST_ENTRY_SIZE, entry[i]);
	g_write(g, PFIFO_RUNLIST_BASE, G_LIST >> 12);
	g_write(g, PFIFO_RUNLIST_SUBMIT, nr);
}

void g_chan_anew(struct world_vgpu *g, u32 chan)
{
	g_enable(g, chan, false);
	g_unbind(g, chan);
	g_inst(g, chan, 0, 0);
	g_bind(g, chan);
	LIST(g, chan);
	g_enable(g, chan, true);
}

void g_ring(struct world_vgpu *g, u32 chan, u32 put)
{
	g_store32(g, G_USERD(chan) + USERD_GP_PUT, put);
}

u16 g_hchid(struct world_vgpu *g, u32 chan)
{
	return inside_chid(g->v, chan);
}

void g_preempt(struct world_vgpu *g, bool tsg, u32 id)
{
	g_write(g, PFIFO_PREEMPT, id | (tsg ? PFIFO_PREEMPT_TSG : 0));
}
