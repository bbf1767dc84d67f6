// SPDX-License-Identifier: GPL-2.0-only
/*
 * The units of this card, and the tables that tell units of the engine how work is spread over
 * them. A GPC (graphics processing cluster) has TPCs (texture processing clusters, each with a
 * shader processor) and PPCs, each of which serves some of the GPC's TPCs. The ROPs do raster
 * operations. Cards of one model may differ in their units. The engine must have power when its
 * units are read. Sources: nouveau gf100.c (oneinit, oneinit_tiles), gf117.c (init_zcull),
 * ctxgf117.c and ctxgk104.c (tile maps, ratios).
 *
 * Callers hold gr_lock: at bring-up, and at a reset of the engine.
 */
#include "gk110/gr_patch.h"
#include "gk110/pfb.h"
#include "gk110/privring.h"
#include "hw/gr.h"

/*
 * Largest number of TPCs that is accepted: the table in row_offset() ends here, and
 * write_tile_maps() works for numbers below 32.
 */
#define MAX_TPC_TOTAL 16

static int read_gpc(struct kvgpu_hw *hw, unsigned int g)
{
	struct kvgpu_topo *t = &hw->topo;
	u32 tpcs = hw_read(hw, GR_GPC(g, GPC_GPCCS + GPCCS_UNITS)) & GPCCS_UNITS_TPC;
	u32 seen = 0;
	unsigned int p;

	for (p = 0; p < GR_NR_PPC; p++) {
		t->ppc_mask[g][p] = hw_read(hw, GR_GPC(g, GPC_PPC_TPC_MASK(p)));
		seen |= t->ppc_mask[g][p];
	}
	t->tpcs[g] = tpcs;
	if (tpcs && hweight32(seen) == tpcs)
		return 0;
	dev_err(&hw->pdev->dev, "GPC %u claims %u TPCs, its PPCs serve the mask 0x%x\n", g, tpcs,
		seen);
	return -ENODEV;
}

/*
 * Numbers the shader processors (SMs), one in each TPC: first those in the first TPC of each GPC,
 * then those in the second, and so on.
 */
static void number_sms(struct kvgpu_hw *hw)
{
	struct hw_gr *gr = &hw->p->gr;
	unsigned int g, t;

	gr->nr_sm = 0;
	for (t = 0; t < gr->tpc_max; t++) {
		for (g = 0; g < hw->topo.gpcs; g++) {
			if (t >= hw->topo.tpcs[g])
				continue;
			gr->sm[gr->nr_sm].gpc = g;
			gr->sm[gr->nr_sm++].tpc = t;
		}
	}
}

/* Returns the field GR_TILE_CFG_ROW_OFFSET for @tpcs TPCs, as nouveau's oneinit_tiles does. */
static u8 row_offset(unsigned int tpcs)
{
	static const u8 known[MAX_TPC_TOTAL + 1] = {
		[1] = 1,  [2] = 1,  [3] = 2,  [5] = 1,	[7] = 1,
		[10] = 6, [11] = 7, [13] = 2, [14] = 5, [15] = 6,
	};
	static const u8 primes[] = { 3, 5, 7, 11, 13 };
	unsigned int i;

	if (known[tpcs])
		return known[tpcs];
	for (i = 0; i < ARRAY_SIZE(primes); i++)
		if (tpcs % primes[i])
			return primes[i];
	return 3;
}

/* GPCs with more TPCs come first in @order; the sort is stable. */
static void sort_gpcs(const struct kvgpu_topo *t, u8 *order)
{
	unsigned int i, j;

	for (i = 0; i < t->gpcs; i++) {
		for (j = i; j && t->tpcs[order[j - 1]] < t->tpcs[i]; j--)
			order[j] = order[j - 1];
		order[j] = i;
	}
}

/*
 * Spreads the screen's tiles over the GPCs in proportion to their numbers of TPCs, by error
 * diffusion.
 */
static void spread_tiles(struct kvgpu_hw *hw)
{
	const struct kvgpu_topo *t = &hw->topo;
	struct hw_gr *gr = &hw->p->gr;
	int slots = t->gpcs * gr->tpc_max, mul = slots & 1 ? 2 : 1, whole = slots * mul;
	int credit[KVGPU_MAX_GPC], share[KVGPU_MAX_GPC];
	u8 order[KVGPU_MAX_GPC];
	unsigned int i, n = 0, round;

	sort_gpcs(t, order);
	for (i = 0; i < t->gpcs; i++) {
		share[i] = t->tpcs[order[i]] * t->gpcs * mul;
		credit[i] = share[i] + (int)i * gr->tpc_max * mul - whole / 2;
	}
	memset(gr->tile, 0xff, sizeof(gr->tile));
	for (round = 0; n < gr->tpc_total && round < ARRAY_SIZE(gr->tile); round++) {
		for (i = 0; i < t->gpcs; i++) {
			bool take = credit[i] * 2 >= whole;

			credit[i] += share[i] - (take ? whole : 0);
			if (take && n < ARRAY_SIZE(gr->tile))
				gr->tile[n++] = order[i];
		}
	}
}

int hw_gr_read_shape(struct kvgpu_hw *hw)
{
	struct kvgpu_topo *t = &hw->topo;
	struct hw_gr *gr = &hw->p->gr;
	u32 units = hw_read(hw, GR_FECS + FECS_UNITS);
	unsigned int g;
	int ret = 0;

	t->gpcs = FIELD_GET(FECS_UNITS_GPC, units);
	t->rops = FIELD_GET(FECS_UNITS_ROP, units);
	t->fbps = hw_read(hw, PRIVRING_FBP_COUNT);
	if (!t->gpcs || t->gpcs > KVGPU_MAX_GPC || !t->rops) {
		dev_err(&hw->pdev->dev,
			"the graphics engine shows no sensible units (0x%08x): is it powered?\n",
			units);
		return -ENODEV;
	}
	gr->tpc_total = 0;
	gr->tpc_max = 0;
	for (g = 0; g < t->gpcs && !ret; g++) {
		ret = read_gpc(hw, g);
		gr->tpc_total += t->tpcs[g];
		gr->tpc_max = max(gr->tpc_max, t->tpcs[g]);
	}
	if (ret)
		return ret;
	if (gr->tpc_total > MAX_TPC_TOTAL) {
		dev_err(&hw->pdev->dev, "%u TPCs are more than a GK110 has\n", gr->tpc_total);
		return -ENODEV;
	}
	gr->row_offset = row_offset(gr->tpc_total);
	number_sms(hw);
	spread_tiles(hw);
	return 0;
}

u32 hw_gr_attrib_size(struct kvgpu_hw *hw)
{
	return GR_ATTRIB_UNIT * (GR_PATCH_GK110_BETA_MAX + GR_PATCH_GK110_ALPHA_MAX) *
	       hw->p->gr.tpc_total;
}

/* ------------------------------------------ zcull and counts of units, written at each bring-up */

void hw_gr_init_zcull(struct kvgpu_hw *hw)
{
	struct hw_gr *gr = &hw->p->gr;
	u32 rcp = DIV_ROUND_UP(GPC_RCP_ONE, gr->tpc_total), map[GPC_ZCULL_BANK_NR] = {};
	u8 bank[KVGPU_MAX_GPC] = {};
	unsigned int i, g;

	for (i = 0; i < gr->tpc_total; i++)
		map[i / 8] |= (u32)bank[gr->tile[i]]++ << (i % 8 * 4);
	for (i = 0; i < GPC_ZCULL_BANK_NR; i++)
		hw_wr(hw, GR_GPCS(GPC_ZCULL_BANK(i)), map[i]);
	for (g = 0; g < hw->topo.gpcs; g++) {
		hw_wr(hw, GR_GPC(g, GPC_ZCULL_RAM),
		      FIELD_PREP(GPC_ZCULL_RAM_ROW_OFFSET, gr->row_offset) |
			      FIELD_PREP(GPC_ZCULL_RAM_TPCS, hw->topo.tpcs[g]));
		hw_wr(hw, GR_GPC(g, GPC_ZCULL_FS),
		      FIELD_PREP(GPC_ZCULL_FS_BANKS, GPC_ZCULL_FS_BANKS_INIT) |
			      FIELD_PREP(GPC_ZCULL_FS_TPCS, gr->tpc_total));
		hw_wr(hw, GR_GPC(g, GPC_ZCULL_RCP), rcp);
	}
	hw_wr(hw, GR_PPCS(PPC_WWDX_RCP), rcp);
}

void hw_gr_init_counts(struct kvgpu_hw *hw)
{
	u32 fbps = hw_rd(hw, PRIVRING_FBP_COUNT);

	hw_wr(hw, GR_GPCS(GPC_ACTIVE_LTCS), hw_rd(hw, PFFB_LTC_COUNT));
	hw_mask(hw, GR_ROPS_ZROP_CFG, GR_ROPS_ACTIVE_FBPS, FIELD_PREP(GR_ROPS_ACTIVE_FBPS, fbps));
	hw_mask(hw, GR_ROPS_CROP_CFG, GR_ROPS_ACTIVE_FBPS, FIELD_PREP(GR_ROPS_ACTIVE_FBPS, fbps));
}

/* ------------------------------ unit numbers, tile maps, ratios, written for the golden context */

static void write_sm_ids(struct kvgpu_hw *hw)
{
	struct hw_gr *gr = &hw->p->gr;
	unsigned int sm;

	for (sm = 0; sm < gr->nr_sm; sm++) {
		u8 g = gr->sm[sm].gpc, t = gr->sm[sm].tpc;

		hw_wr(hw, GR_TPC(g, t, TPC_MP_SM_ID), sm);
		hw_wr(hw, GR_TPC(g, t, TPC_L1C_SM_ID), sm);
		hw_wr(hw, GR_GPC(g, GPC_TPCONF_SM_ID(t)), sm);
		hw_wr(hw, GR_TPC(g, t, TPC_POLY_SM_ID), sm);
		hw_wr(hw, GR_GPC(g, GPC_TPCONF_TPCS), hw->topo.tpcs[g]);
		hw_wr(hw, GR_GPC(g, GPC_UNKC80_TPCS), hw->topo.tpcs[g]);
	}
}

static void write_tpc_counts(struct kvgpu_hw *hw)
{
	u32 word[GR_TPC_PER_GPC_NR] = {};
	unsigned int i;

	for (i = 0; i < hw->topo.gpcs; i++)
		word[i / 8] |= (u32)hw->topo.tpcs[i] << (i % 8 * 4);
	for (i = 0; i < GR_TPC_PER_GPC_NR; i++)
		hw_wr(hw, GR_DS_TPC_PER_GPC(i), word[i]);
	for (i = 0; i < GR_TPC_PER_GPC_NR; i++)
		hw_wr(hw, GR_PD_TPC_PER_GPC(i), word[i]);
}

/*
 * Writes the same map of tiles to three kinds of units: CRSTR in each GPC, WWDX in each PPC, and
 * RSTR2D. WWDX divides by the map's number of entries. So WWDX also gets NORMALIZED, which is this
 * number shifted left until bit 4 is set, and the powers 2^5 to 2^11 modulo NORMALIZED.
 */
static void write_tile_maps(struct kvgpu_hw *hw)
{
	struct hw_gr *gr = &hw->p->gr;
	u32 map[GR_TILE_MAP_NR] = {}, norm = gr->tpc_total, shift = 0, powers = 0;
	u32 cfg = FIELD_PREP(GR_TILE_CFG_ENTRIES, gr->tpc_total) |
		  FIELD_PREP(GR_TILE_CFG_ROW_OFFSET, gr->row_offset);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gr->tile); i++)
		map[i / GR_TILE_MAP_PER_WORD] |= (gr->tile[i] & 7u)
						 << (i % GR_TILE_MAP_PER_WORD * GR_TILE_MAP_BITS);
	for (; !(norm & BIT(4)); shift++)
		norm <<= 1;
	for (i = 0; i < GR_TILE_MAP_PER_WORD; i++)
		powers |= (BIT(i + 6) % norm) << (i * GR_TILE_MAP_BITS);

	hw_wr(hw, GR_GPCS(GPC_CRSTR_TILE_CFG), cfg);
	for (i = 0; i < GR_TILE_MAP_NR; i++)
		hw_wr(hw, GR_GPCS(GPC_CRSTR_TILE_MAP(i)), map[i]);
	hw_wr(hw, GR_PPCS(PPC_WWDX_TILE_CFG),
	      cfg | FIELD_PREP(GR_TILE_CFG_NORMALIZED, norm) |
		      FIELD_PREP(GR_TILE_CFG_SHIFT, shift) |
		      FIELD_PREP(GR_TILE_CFG_MOD5, BIT(5) % norm));
	hw_wr(hw, GR_PPCS(PPC_WWDX_TILE_CFG2), powers);
	for (i = 0; i < GR_TILE_MAP_NR; i++)
		hw_wr(hw, GR_PPCS(PPC_WWDX_TILE_MAP(i)), map[i]);
	hw_wr(hw, GR_RSTR2D_TILE_CFG, cfg);
	for (i = 0; i < GR_TILE_MAP_NR; i++)
		hw_wr(hw, GR_RSTR2D_TILE_MAP(i), map[i]);
}

/* Returns @mask with only its @keep highest set bits left set. */
static u32 top_bits(u32 mask, unsigned int keep)
{
	unsigned int n = hweight32(mask);

	while (n-- > keep)
		mask &= mask - 1;
	return mask;
}

/*
 * Writes line @line of the two ratio tables: about @line/32 of the TPCs, but one at least, do alpha
 * work, the others beta work (two kinds of work of GR that are not documented). Each PPC is given
 * to one kind as a whole. The kinds take turns; when one has enough TPCs, the other gets the PPCs
 * that are left.
 */
static void write_ratio(struct kvgpu_hw *hw, unsigned int line)
{
	const struct kvgpu_topo *t = &hw->topo;
	u32 total = hw->p->gr.tpc_total, alpha = max(total * line / GR_PD_RATIO_NR, 1u),
	    beta = total - alpha;
	bool alpha_turn = alpha < beta;
	u64 amask = 0, bmask = 0;
	unsigned int g, p, w;

	for (g = 0; g < t->gpcs; g++) {
		for (p = 0; p < GR_NR_PPC; p++) {
			u32 mask = t->ppc_mask[g][p], n = hweight32(mask), a, top;

			if (alpha_turn)
				a = alpha ? n : 0;
			else
				a = beta ? 0 : n;
			top = top_bits(mask, a);
			amask |= (u64)top << (g * 8);
			bmask |= (u64)(mask ^ top) << (g * 8);
			alpha -= min(a, alpha);
			beta -= min(n - a, beta);
			if (n)
				alpha_turn = !alpha_turn;
		}
	}
	for (w = 0; w * 4 < t->gpcs; w++) {
		hw_wr(hw, GR_PD_ALPHA_RATIO(line, w), amask >> (32 * w));
		hw_wr(hw, GR_PD_BETA_RATIO(line, w), bmask >> (32 * w));
	}
}

void hw_gr_shape_write(struct kvgpu_hw *hw)
{
	unsigned int i;

	write_sm_ids(hw);
	write_tpc_counts(hw);
	write_tile_maps(hw);
	for (i = 0; i < GR_PD_RATIO_NR; i++)
		write_ratio(hw, i);
	for (i = 0; i < GR_PD_DIST_SKIP_NR; i++)
		hw_wr(hw, GR_PD_DIST_SKIP(i), 0);
	hw_wr(hw, GR_CWD_FS,
	      FIELD_PREP(GR_CWD_FS_TPCS, hw->p->gr.tpc_total) |
		      FIELD_PREP(GR_CWD_FS_GPCS, hw->topo.gpcs));
	hw_mask(hw, GR_TPCS(TPC_MP_UNK778), TPC_MP_NO_HELPER_LOADS, 0);
}
