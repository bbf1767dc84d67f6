// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading a channel from its instance block into a PBDMA, and saving it there. ram.h has the places
 * of the words; the copy class's state is behind them.
 *
 * fifo.h has the contracts. Accesses of memory take dma_lock for reading.
 */
#include <errno.h>
#include <string.h>

#include "fifo.h"

struct image {
	uint32_t ramfc[RAMIN_RAMFC_SIZE / 4];
	uint32_t ce[RAMIN_CE_STATE_SIZE / 4];
};

void ramfc_sync(struct pbdma *p)
{
	struct gk110 *g = p->g;
	unsigned int i;

	for (i = 0; i < RAMIN_RAMFC_SIZE / 4; i++)
		reg_set(g, p->regs + 4 * i, p->w[i]);
	for (i = 0; i < RAMIN_CE_STATE_SIZE / 4; i++)
		reg_set(g, p->regs + PBDMA_CE_STATE + 4 * i, p->fc->c.ce_state[i]);
	reg_set(g, p->regs + PBDMA_CHANNEL,
		FIELD_PREP(PBDMA_CHANNEL_ID, p->fc->c.id) | PBDMA_CHANNEL_VALID);
}

static bool same_space(const struct mmu_space *a, const struct mmu_space *b)
{
	return a->pdb == b->pdb && a->pdb_target == b->pdb_target && a->limit == b->limit &&
	       a->inst == b->inst;
}

/*
 * Whether GR has an old context of this channel (another address or space, or a reload is forced):
 * it must be saved first.
 */
static bool stale_context(const struct feng *gr, const struct fchan *fc, const uint32_t *ctx,
			  const struct mmu_space *vm)
{
	return gr && gr->on == fc &&
	       (fc->force_reload || memcmp(ctx, fc->gr_ctx, sizeof(fc->gr_ctx)) ||
		!same_space(vm, &fc->c.vm));
}

static void fill(struct pbdma *p, struct fchan *fc, const struct image *img,
		 const struct mmu_space *vm)
{
	struct chan *c = &fc->c;

	memcpy(p->w, img->ramfc, sizeof(p->w));
	memcpy(c->ce_state, img->ce, sizeof(c->ce_state));
	c->vm = *vm;
	c->hce_priv = W(p, RAMFC_HCE_CTRL) & RAMFC_HCE_PRIV_MODE;
	c->pb_priv = W(p, RAMFC_GP_FLAGS) & RAMFC_GP_PRIV;
	c->fifo = fc;
	atomic_store(&c->stop, false);
	fc->force_reload = false;
}

int ramfc_load(struct pbdma *p, struct fchan *fc, const struct feng *gr)
{
	struct gk110 *g = p->g;
	struct mmu_space vm = { 0 };
	struct image img;
	uint32_t ctx[2];

	if (!mem_read(g, fc->c.inst_target, fc->c.inst, &img, sizeof(img)) ||
	    !mem_read(g, fc->c.inst_target, fc->c.inst + RAMIN_GR_CTX, ctx, sizeof(ctx)) ||
	    !mmu_space_load(g, fc->c.inst, fc->c.inst_target, &vm)) {
		gk110_note(g, "channel %u: instance block 0x%010llx is not memory", fc->c.id,
			   (unsigned long long)fc->c.inst);
		fc->pending = false;
		return -EFAULT;
	}
	if (stale_context(gr, fc, ctx, &vm))
		return -EBUSY;
	memcpy(fc->gr_ctx, ctx, sizeof(ctx));
	fill(p, fc, &img, &vm);
	return 0;
}

void ramfc_save(struct pbdma *p)
{
	struct fchan *fc = p->fc;
	struct image img;

	memcpy(img.ramfc, p->w, sizeof(img.ramfc));
	memcpy(img.ce, fc->c.ce_state, sizeof(img.ce));
	if (!mem_write(p->g, fc->c.inst_target, fc->c.inst, &img, sizeof(img)))
		gk110_note(p->g, "channel %u: instance block 0x%010llx is not memory any more",
			   fc->c.id, (unsigned long long)fc->c.inst);
}
