// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the state that a new graphics context starts with into the engine, while the golden
 * context's channel (golden.c) is the engine's current channel. First come registers, then bundles
 * (pieces of the engine's state, written through GR_ICMD) and class methods. Order and values:
 * nouveau ctxgf100.c gf100_grctx_generate_main() with the functions of gk110_grctx.
 *
 * Runs at bring-up. The caller holds gr_lock.
 */
#include "gk110/gr_patch.h"
#include "hw/gr.h"

static int wait_icmd(struct kvgpu_hw *hw, u32 bundle)
{
	int ret = 0;

	if ((bundle & GR_ICMD_ADDR) == GR_ICMD_GO_IDLE)
		ret = hw_gr_wait_idle(hw);
	if (ret)
		return ret;
	ret = hw_reg_wait(hw, GR_STATUS, GR_STATUS_ICMD, 0, GR_WAIT_US);
	if (ret)
		dev_err(&hw->pdev->dev, "graphics engine: bundle 0x%x never finished (%d)\n",
			bundle, ret);
	return ret;
}

static int write_bundles(struct kvgpu_hw *hw)
{
	const struct fwfile *f = &hw->p->fw->file;
	u32 data = 0, i, k;
	int ret = 0;

	hw_wr(hw, GR_ICMD_CTRL, GR_ICMD_CTRL_ON);
	for (i = 0; i < hw_fwfile_entries(f, KVGPU_FW_CTX_ICMD) && !ret; i++) {
		struct fwfile_entry e = hw_fwfile_entry(f, KVGPU_FW_CTX_ICMD, i);

		if (!i || e.data != data)
			hw_wr(hw, GR_ICMD_DATA, e.data);
		data = e.data;
		for (k = 0; k < e.count && !ret; k++) {
			hw_wr(hw, GR_ICMD, e.addr + k * e.pitch);
			ret = wait_icmd(hw, e.addr + k * e.pitch);
		}
	}
	hw_wr(hw, GR_ICMD_CTRL, 0);
	return ret;
}

static void write_methods(struct kvgpu_hw *hw)
{
	const struct fwfile *f = &hw->p->fw->file;
	u32 data = 0, i, k;

	for (i = 0; i < hw_fwfile_entries(f, KVGPU_FW_CTX_MTHD); i++) {
		struct fwfile_entry e = hw_fwfile_entry(f, KVGPU_FW_CTX_MTHD, i);

		if (!i || e.data != data)
			hw_wr(hw, GR_MTHD_DATA, e.data);
		data = e.data;
		for (k = 0; k < e.count; k++)
			hw_wr(hw, GR_MTHD,
			      GR_MTHD_TRIGGER | FIELD_PREP(GR_MTHD_CLASS, e.type) |
				      FIELD_PREP(GR_MTHD_ADDR, (e.addr + k * e.pitch) / 4));
	}
}

static void write_buffers(struct kvgpu_hw *hw, const struct hw_gr_buffers *b)
{
	u32 bundle_size = GR_PATCH_BUNDLE_SIZE_VALID |
			  FIELD_PREP(GR_PATCH_BUNDLE_SIZE, GR_BUNDLE_SIZE >> 8);

	hw_wr(hw, GR_PATCH_SCC_PAGEPOOL_BASE, b->pagepool >> 8);
	hw_wr(hw, GR_PATCH_SCC_PAGEPOOL, GR_PATCH_PAGEPOOL_VALID);
	hw_wr(hw, GR_PATCH_TPC_PAGEPOOL_BASE, b->pagepool >> 8);
	hw_wr(hw, GR_PATCH_TPC_PAGEPOOL, 0);
	hw_wr(hw, GR_PATCH_PD_PAGEPOOL, GR_PATCH_PAGEPOOL_VALID);

	hw_wr(hw, GR_PATCH_SCC_BUNDLE_BASE, b->bundle >> 8);
	hw_wr(hw, GR_PATCH_SCC_BUNDLE_SIZE, bundle_size);
	hw_wr(hw, GR_PATCH_GPC_BUNDLE_BASE, b->bundle >> 8);
	hw_wr(hw, GR_PATCH_GPC_BUNDLE_SIZE, bundle_size);
	hw_wr(hw, GR_PATCH_PD_BUNDLE,
	      GR_PATCH_PD_BUNDLE_OF(FIELD_GET(PMC_BOOT_0_CHIPSET, hw->topo.boot0)));

	hw_wr(hw, GR_PATCH_GPC_ATTRIB_BASE,
	      GR_PATCH_GPC_ATTRIB_VALID | FIELD_PREP(GR_PATCH_VA_SHIFT_12, b->attrib >> 12));
	hw_wr(hw, GR_PATCH_TPC_ATTRIB_BASE,
	      GR_PATCH_TPC_ATTRIB_VALID | FIELD_PREP(GR_PATCH_VA_SHIFT_12, b->attrib >> 12));
}

/*
 * Gives each PPC, a unit that serves TPCs (grshape.c), a beta part and an alpha part of the
 * attribute buffer, in proportion to its number of TPCs. The beta parts come first. The use of the
 * parts is not documented.
 */
static void write_attrib_shares(struct kvgpu_hw *hw)
{
	const struct kvgpu_topo *t = &hw->topo;
	u32 beta = 0, alpha = GR_PATCH_GK110_BETA_MAX * hw->p->gr.tpc_total, n;
	unsigned int g, p;

	hw_wr(hw, GR_PATCH_DS_ATTRIB, GR_PATCH_DS_ATTRIB_GK110);
	hw_wr(hw, GR_PATCH_PD_ATTRIB, GR_PATCH_PD_ATTRIB_GK110);
	for (g = 0; g < t->gpcs; g++) {
		for (p = 0; p < GR_NR_PPC; p++) {
			n = hweight8(t->ppc_mask[g][p]);
			if (!n)
				continue;
			hw_wr(hw, GR_PATCH_PPC_BETA(g, p),
			      FIELD_PREP(GR_PATCH_PPC_BETA_TIMESLICE, 1) |
				      FIELD_PREP(GR_PATCH_PPC_BETA_NR, GR_PATCH_GK110_BETA * n) |
				      FIELD_PREP(GR_PATCH_PPC_OFFSET, beta));
			hw_wr(hw, GR_PATCH_PPC_ALPHA(g, p),
			      FIELD_PREP(GR_PATCH_PPC_ALPHA_NR, GR_PATCH_GK110_ALPHA * n) |
				      FIELD_PREP(GR_PATCH_PPC_OFFSET, alpha));
			beta += GR_PATCH_GK110_BETA_MAX * n;
			alpha += GR_PATCH_GK110_ALPHA_MAX * n;
		}
	}
}

/*
 * Writes two registers of L2's set-up with their own values, so that FECS, the microcontroller that
 * switches contexts, saves them with the context. Stores the values for the patch lists of guests'
 * contexts, too. (A patch list has the register writes that FECS does when it loads a context.)
 */
static void write_ltc(struct kvgpu_hw *hw)
{
	struct kvgpu_topo *t = &hw->topo;

	t->r17e91c = hw_rd(hw, GR_PATCH_LTC_0);
	t->r17e920 = hw_rd(hw, GR_PATCH_LTC_1);
	hw_wr(hw, GR_PATCH_LTC_0, t->r17e91c);
	hw_wr(hw, GR_PATCH_LTC_1, t->r17e920);
}

static void write_timeslice_mode(struct kvgpu_hw *hw)
{
	hw_mask(hw, GR_GPCS(GPC_TPCONF_UNK6C), 0, GPC_TPCONF_UNK6C_ON);
	hw_mask(hw, GR_TPCS(TPC_PE_UNK0C), 0, TPC_PE_UNK0C_TIMESLICE);
	hw_mask(hw, GR_PPCS(PPC_PES_UNK08), 0, PPC_PES_UNK08_TIMESLICE);
	hw_mask(hw, GR_PD_AB_DIST_CFG0, 0, GR_PD_AB_DIST_TIMESLICE);
	hw_mask(hw, GR_DS_DEBUG, 0, GR_DS_DEBUG_TIMESLICE);
	hw_mask(hw, GR_TPCS(TPC_MPC_UNK00), 0, TPC_MPC_UNK00_TIMESLICE);
}

static int write_registers(struct kvgpu_hw *hw, const struct hw_gr_buffers *b)
{
	static const enum kvgpu_fw_section_id lists[] = {
		KVGPU_FW_CTX_HUB,   KVGPU_FW_CTX_GPC_0, KVGPU_FW_CTX_ZCULL,
		KVGPU_FW_CTX_GPC_1, KVGPU_FW_CTX_TPC,	KVGPU_FW_CTX_PPC,
	};
	u32 idle_timeout;
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		hw_gr_write_list(hw, lists[i]);
	ret = hw_gr_wait_idle(hw);
	if (ret)
		return ret;
	idle_timeout = hw_rd(hw, GR_FE_IDLE_TIMEOUT);
	hw_wr(hw, GR_FE_IDLE_TIMEOUT, 0);
	write_buffers(hw, b);
	write_attrib_shares(hw);
	write_ltc(hw);
	write_timeslice_mode(hw);
	hw_gr_shape_write(hw);
	ret = hw_gr_wait_idle(hw);
	ret = ret ?: write_bundles(hw);
	hw_wr(hw, GR_FE_IDLE_TIMEOUT, idle_timeout);
	return ret;
}

int hw_gr_write_context(struct kvgpu_hw *hw, const struct hw_gr_buffers *b)
{
	int ret;

	hw_wr(hw, PMC_UNK260(0), 0);
	ret = write_registers(hw, b);
	if (!ret)
		write_methods(hw);
	hw_wr(hw, PMC_UNK260(0), 1);
	if (ret)
		return ret;
	hw_mask(hw, GR_TPCS(TPC_MP_UNKB0), 0, TPC_MP_UNKB0_INIT);
	return hw_gr_wait_idle(hw);
}
