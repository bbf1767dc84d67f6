// SPDX-License-Identifier: GPL-2.0-only
/*
 * The context switch processor with NVIDIA's firmware, as far as nouveau's external-firmware mode
 * (NvGrUseFW) uses it: method port with results in scratch 0 or 1 (nouveau gf100.c gf100_gr_fecs_*,
 * gf100_gr_init_ctxctl_ext). The model saves the registers of fixed lists (context.c) and its class
 * state.
 *
 * Open, the model chooses: sizes of the zcull, performance monitor and power gating images (the
 * model writes none of them). Methods 0x38/0x39 are acknowledged and do not hold back switches.
 */
#include "gr.h"

#include <linux/bitfield.h>

#define ZCULL_IMAGE_SIZE   0x2000
#define PM_IMAGE_SIZE	   0x2000
#define REGLIST_IMAGE_SIZE 0x1000

void fecs_ext_start(struct gk110 *g)
{
	if (!g->gr->fecs.falcon.running)
		return;
	for (unsigned int i = 0; i < GR_NR_GPC; i++) {
		if (!g->gr->gpccs[i].running)
			return;
	}
	fecs_scratch_or(g, FECS_EXT_STATUS, FECS_EXT_OK);
}

static void golden_save(struct gk110 *g, uint32_t chan)
{
	uint32_t magic = GR_CTX_EXT_MAGIC_VALUE;
	struct gr *gr = g->gr;
	int ret = fecs_select(g, chan);

	if (!ret)
		ret = fecs_save(g);
	if (!ret)
		ret = ctx_mem_write(g, &gr->fecs.ctx, &gr->fecs_mem, GR_CTX_EXT_MAGIC, &magic,
				    sizeof(magic));
	fecs_scratch_or(g, FECS_EXT_STATUS, ret ? FECS_EXT_GOLDEN_ERROR : FECS_EXT_GOLDEN_DONE);
}

void fecs_ext_command(struct gk110 *g, const struct fecs_cmd *c)
{
	switch (c->cmd) {
	case FECS_EXT_CMD_BIND:
		fecs_scratch_or(g, FECS_EXT_STATUS,
				fecs_select(g, c->data) ? FECS_EXT_BIND_ERROR : FECS_EXT_BIND_DONE);
		break;
	case FECS_EXT_CMD_GOLDEN_SAVE:
		golden_save(g, c->data);
		break;
	case FECS_EXT_CMD_IMAGE_SIZE:
		fecs_scratch_set(g, FECS_EXT_STATUS, ctx_image_size(g));
		break;
	case FECS_EXT_CMD_ZCULL_SIZE:
		fecs_scratch_set(g, FECS_EXT_STATUS, ZCULL_IMAGE_SIZE);
		break;
	case FECS_EXT_CMD_PM_SIZE:
		fecs_scratch_set(g, FECS_EXT_STATUS, PM_IMAGE_SIZE);
		break;
	case FECS_EXT_CMD_REGLIST_SIZE:
		fecs_scratch_set(g, FECS_EXT_STATUS, REGLIST_IMAGE_SIZE);
		break;
	case FECS_EXT_CMD_WATCHDOG:
	case FECS_EXT_CMD_REGLIST_INST:
	case FECS_EXT_CMD_REGLIST_ADDR:
		fecs_scratch_set(g, FECS_EXT_STATUS, FECS_EXT_OK);
		break;
	case FECS_EXT_CMD_HALT:
	case FECS_EXT_CMD_STOP_CTXSW:
	case FECS_EXT_CMD_START_CTXSW:
		fecs_scratch_set(g, FECS_EXT_STATUS2, FECS_EXT_OK);
		break;
	default:
		gk110_note(g, "FECS command 0x%x is not known", c->cmd);
		break;
	}
}
