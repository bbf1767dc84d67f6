// SPDX-License-Identifier: GPL-2.0-only
/*
 * Context images in GPU memory, in the layout of nouveau's microcode (fuc/hub.fuc, gpc.fuc): a
 * 256-byte header that the microcode uses, the values of the hub's register list, the hub's strands
 * at the next 256-byte boundary, then for each GPC the values of its GPC, TPC and PPC lists and its
 * strands. The hub's strands hold the model's class state (state.h). On the chip the GPCs' strands
 * hold the internal state of their units; here one unused block each.
 *
 * Open: in a list for several units, the order of units and registers; the model stores unit after
 * unit.
 *
 * Lists come from the data segments of FECS and GPCCS, where the host puts them. NVIDIA's firmware
 * has lists of its own; for it the model uses the registers of nouveau's lists for this chip
 * (ctxgk110.c gk110_grctx_pack_*; the hub's first entry: hub.fuc hub_mmio_list_base).
 *
 * A list may name any register, as FECS is a PRI master that is not restricted to PGRAPH.
 * gk110.lock is held, but not while ctx_patch_execute() fetches pairs, if it may unlock.
 */
#include "gr.h"

#include <errno.h>

#include <linux/bitfield.h>

#define BLOCK	    256u
#define CHUNK_WORDS 1024u
#define PATCH_BATCH 32u
/*
 * Open: how many entries a patch list may have. While the channel is to stop, a list is executed up
 * to PATCH_PATIENT entries, and then given up.
 */
#define PATCH_MAX     (1u << 20)
#define PATCH_PATIENT (1u << 14)

#define LIST(addr, count) ((uint32_t)(addr) | (uint32_t)((count)-1) << 26)

static const uint32_t ext_hub[] = {
	LIST(0x17e91c, 2),  LIST(0x400204, 2),	LIST(0x404004, 17), LIST(0x4040a8, 9),
	LIST(0x4040d0, 7),  LIST(0x4040f8, 1),	LIST(0x404100, 10), LIST(0x404130, 3),
	LIST(0x404150, 3),  LIST(0x404164, 1),	LIST(0x40417c, 2),  LIST(0x4041a0, 4),
	LIST(0x404200, 4),  LIST(0x404404, 12), LIST(0x404438, 1),  LIST(0x404460, 4),
	LIST(0x404480, 1),  LIST(0x404498, 1),	LIST(0x404604, 4),  LIST(0x404618, 4),
	LIST(0x40462c, 2),  LIST(0x404640, 1),	LIST(0x404654, 1),  LIST(0x404660, 1),
	LIST(0x404678, 19), LIST(0x4046c8, 3),	LIST(0x404700, 3),  LIST(0x404718, 10),
	LIST(0x404744, 2),  LIST(0x404754, 1),	LIST(0x405800, 1),  LIST(0x405830, 3),
	LIST(0x405854, 1),  LIST(0x405870, 4),	LIST(0x405a00, 2),  LIST(0x405a18, 1),
	LIST(0x405b00, 1),  LIST(0x405b10, 1),	LIST(0x405b20, 1),  LIST(0x406020, 1),
	LIST(0x406028, 4),  LIST(0x4064a8, 5),	LIST(0x4064c0, 12), LIST(0x4064fc, 1),
	LIST(0x407804, 1),  LIST(0x40780c, 6),	LIST(0x4078bc, 1),  LIST(0x408000, 7),
	LIST(0x408064, 1),  LIST(0x408800, 3),	LIST(0x408840, 1),  LIST(0x408900, 3),
	LIST(0x408980, 1),
};

static const uint32_t ext_gpc[] = {
	LIST(0x380, 1), LIST(0x400, 2),	 LIST(0x40c, 3),  LIST(0x450, 9), LIST(0x600, 1),
	LIST(0x684, 1), LIST(0x700, 5),	 LIST(0x800, 1),  LIST(0x808, 3), LIST(0x828, 1),
	LIST(0x830, 1), LIST(0x8d8, 1),	 LIST(0x8e0, 1),  LIST(0x8e8, 6), LIST(0x91c, 1),
	LIST(0x924, 3), LIST(0xb00, 1),	 LIST(0xb08, 6),  LIST(0xbb8, 1), LIST(0xc08, 1),
	LIST(0xc10, 8), LIST(0xc40, 1),	 LIST(0xc6c, 1),  LIST(0xc80, 1), LIST(0xc8c, 1),
	LIST(0xd24, 1), LIST(0x1000, 3), LIST(0x1014, 1),
};

static const uint32_t ext_tpc[] = {
	LIST(0x48, 1),	LIST(0x64, 1),	LIST(0x88, 1),	 LIST(0x200, 6), LIST(0x21c, 2),
	LIST(0x230, 1), LIST(0x2c4, 1), LIST(0x400, 3),	 LIST(0x420, 3), LIST(0x4e8, 1),
	LIST(0x4f4, 1), LIST(0x604, 4), LIST(0x644, 22), LIST(0x6ac, 2), LIST(0x6b8, 1),
	LIST(0x6c8, 1), LIST(0x730, 8), LIST(0x758, 1),	 LIST(0x770, 1), LIST(0x778, 2),
};

static const uint32_t ext_ppc[] = {
	LIST(0x24, 1), LIST(0xc0, 2), LIST(0xe4, 1), LIST(0x100, 6), LIST(0x1d0, 1), LIST(0x1e0, 2),
};

/* ---------------------------------------------------------------- memory */

int ctx_mem_read(struct gk110 *g, const struct ctx_mem *m, struct mmu_client *who, uint64_t off,
		 void *buf, size_t len)
{
	if (m->phys)
		return mem_read(g, m->target, m->addr + off, buf, len) ? 0 : -EIO;
	return mmu_read(g, who, &m->space, m->addr + off, buf, len, MMU_LOCKED | MMU_PRIV_ACCESS);
}

int ctx_mem_write(struct gk110 *g, const struct ctx_mem *m, struct mmu_client *who, uint64_t off,
		  const void *buf, size_t len)
{
	if (m->phys)
		return mem_write(g, m->target, m->addr + off, buf, len) ? 0 : -EIO;
	return mmu_write(g, who, &m->space, m->addr + off, buf, len, MMU_LOCKED | MMU_PRIV_ACCESS);
}

/* ---------------------------------------------------------------- register lists */

struct reg_list {
	const struct falcon *dmem;
	const uint32_t *fixed; /* a fixed list, or NULL */
	uint32_t head, nr; /* @head: byte offset in the data segment; @nr: words */
};

/* A list whose tail is no valid end has no words. */
static struct reg_list dmem_list(const struct falcon *f, uint32_t head_at, uint32_t tail_at)
{
	uint32_t head = falcon_dmem_get(f, head_at), tail = falcon_dmem_get(f, tail_at);
	struct reg_list l = { .dmem = f, .head = head };

	if (!(head & 3) && !(tail & 3) && head < tail && tail <= f->dmem_size)
		l.nr = (tail - head) / 4;
	return l;
}

#define FIXED(table) ((struct reg_list){ .fixed = table, .nr = sizeof(table) / sizeof((table)[0]) })

static uint32_t list_word(const struct reg_list *l, uint32_t i)
{
	return l->fixed ? l->fixed[i] : falcon_dmem_get(l->dmem, l->head + i * 4);
}

static uint32_t list_bytes(const struct reg_list *l)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < l->nr; i++)
		bytes += (FIELD_GET(CTX_LIST_COUNT, list_word(l, i)) + 1) * 4;
	return bytes;
}

static struct reg_list hub_list(struct gk110 *g)
{
	struct fecs *f = &g->gr->fecs;

	return f->program == FECS_EXTERNAL ?
		       FIXED(ext_hub) :
		       dmem_list(&f->falcon, FECS_OS_LIST_HEAD, FECS_OS_LIST_TAIL);
}

static void gpc_lists(struct gk110 *g, unsigned int gpc, struct reg_list l[3])
{
	const struct falcon *f = &g->gr->gpccs[gpc];

	if (g->gr->fecs.program == FECS_EXTERNAL) {
		l[0] = FIXED(ext_gpc);
		l[1] = FIXED(ext_tpc);
		l[2] = FIXED(ext_ppc);
		return;
	}
	l[0] = dmem_list(f, GPCCS_OS_LIST_GPC, GPCCS_OS_LIST_TPC);
	l[1] = dmem_list(f, GPCCS_OS_LIST_TPC, GPCCS_OS_LIST_PPC);
	l[2] = dmem_list(f, GPCCS_OS_LIST_PPC, GPCCS_OS_LIST_END);
}

/* ---------------------------------------------------------------- layout */

static uint32_t next_block(uint32_t off)
{
	return (off / BLOCK + 1) * BLOCK;
}

/* Whole blocks, one more than the words fill (com.fuc strand_ctx_init). */
static uint32_t strand_bytes(uint32_t words)
{
	return (words / 64 + 1) * BLOCK;
}

static uint32_t gpc_bytes(struct gk110 *g, unsigned int gpc)
{
	struct reg_list l[3];

	gpc_lists(g, gpc, l);
	if (!l[0].nr || !l[1].nr || !l[2].nr)
		return 0;
	return next_block(list_bytes(&l[0]) + list_bytes(&l[1]) * gpc_tpcs(g, gpc) +
			  list_bytes(&l[2]) * gpc_ppcs(g, gpc)) +
	       strand_bytes(0);
}

static uint32_t hub_bytes(struct gk110 *g, uint32_t *strands)
{
	struct reg_list l = hub_list(g);

	if (!l.nr)
		return 0;
	*strands = next_block(GR_CTX_HEADER + list_bytes(&l));
	return *strands + strand_bytes(STRAND_WORDS);
}

uint32_t ctx_image_size(struct gk110 *g)
{
	uint32_t strands, size = hub_bytes(g, &strands);

	for (unsigned int i = 0; size && i < GR_NR_GPC; i++) {
		uint32_t gpc = gpc_bytes(g, i);

		size = gpc ? size + gpc : 0;
	}
	return size && size < g->cfg.board.ctx_size ? g->cfg.board.ctx_size : size;
}

/* ---------------------------------------------------------------- transfer */

struct xfer {
	struct gk110 *g;
	const struct ctx_mem *m;
	struct mmu_client *who;
	bool load;
	uint64_t off; /* offset of buf[0] in the image */
	uint32_t left; /* words of the run behind those in buf[] */
	uint32_t n, at; /* words in buf[], and the next of them */
	uint32_t buf[CHUNK_WORDS];
};

static void run_begin(struct xfer *x, uint64_t off, uint32_t words)
{
	x->off = off;
	x->left = words;
	x->n = x->at = 0;
}

static int run_flush(struct xfer *x)
{
	int ret = 0;

	if (!x->load && x->at)
		ret = ctx_mem_write(x->g, x->m, x->who, x->off, x->buf, x->at * 4);
	x->off += x->at * 4;
	x->at = 0;
	return ret;
}

static int run_word(struct xfer *x, uint32_t **word)
{
	int ret = 0;

	if (x->at == x->n) {
		ret = run_flush(x);
		if (ret)
			return ret;
		x->n = x->left < CHUNK_WORDS ? x->left : CHUNK_WORDS;
		x->left -= x->n;
		if (x->load)
			ret = ctx_mem_read(x->g, x->m, x->who, x->off, x->buf, x->n * 4);
	}
	*word = &x->buf[x->at++];
	return ret;
}

static int move_list(struct xfer *x, const struct reg_list *l, uint32_t base)
{
	for (uint32_t i = 0; i < l->nr; i++) {
		uint32_t entry = list_word(l, i);
		uint32_t addr = base + (entry & (uint32_t)CTX_LIST_ADDR);

		for (uint32_t n = FIELD_GET(CTX_LIST_COUNT, entry) + 1; n; n--, addr += 4) {
			uint32_t *word;
			int ret = run_word(x, &word);

			if (ret)
				return ret;
			if (x->load)
				pri_write(x->g, addr, *word);
			else
				*word = pri_read(x->g, addr);
		}
	}
	return 0;
}

static int move_strands(struct xfer *x, uint64_t off)
{
	run_begin(x, off, STRAND_WORDS);
	for (unsigned int i = 0; i < STRAND_WORDS; i++) {
		uint32_t *word;
		int ret = run_word(x, &word);

		if (ret)
			return ret;
		if (x->load)
			strand_set(x->g->gr, i, *word);
		else
			*word = strand_get(x->g->gr, i);
	}
	return run_flush(x);
}

static int move_hub(struct xfer *x)
{
	struct reg_list l = hub_list(x->g);
	uint32_t strands;
	int ret;

	if (!hub_bytes(x->g, &strands))
		return -EIO;
	x->who = &x->g->gr->fecs_mem;
	run_begin(x, GR_CTX_HEADER, list_bytes(&l) / 4);
	ret = move_list(x, &l, 0);
	if (!ret)
		ret = run_flush(x);
	return ret ? ret : move_strands(x, strands);
}

static int move_gpc(struct xfer *x, unsigned int gpc, uint64_t off)
{
	struct reg_list l[3];
	int ret;

	gpc_lists(x->g, gpc, l);
	x->who = &x->g->gr->gpccs_mem[gpc];
	run_begin(x, off,
		  (list_bytes(&l[0]) + list_bytes(&l[1]) * gpc_tpcs(x->g, gpc) +
		   list_bytes(&l[2]) * gpc_ppcs(x->g, gpc)) /
			  4);
	ret = move_list(x, &l[0], GR_GPC(gpc, 0));
	for (unsigned int t = 0; !ret && t < gpc_tpcs(x->g, gpc); t++)
		ret = move_list(x, &l[1], GR_GPC(gpc, GPC_TPC + t * GPC_TPC_STRIDE));
	for (unsigned int p = 0; !ret && p < gpc_ppcs(x->g, gpc); p++)
		ret = move_list(x, &l[2], GR_GPC(gpc, GPC_PPC + p * GPC_PPC_STRIDE));
	return ret ? ret : run_flush(x);
}

static int move_image(struct gk110 *g, const struct ctx_mem *m, bool load)
{
	uint32_t resets = atomic_load(&g->gr->resets), strands;
	struct xfer x = { .g = g, .m = m, .load = load };
	uint64_t off = hub_bytes(g, &strands);
	int ret;

	if (!ctx_image_size(g))
		return -EIO;
	ret = move_hub(&x);
	for (unsigned int i = 0; !ret && i < GR_NR_GPC; i++) {
		/* a register in a list may reset GR */
		if (atomic_load(&g->gr->resets) != resets)
			return -EIO;
		ret = move_gpc(&x, i, off);
		off += gpc_bytes(g, i);
	}
	return ret;
}

int ctx_image_save(struct gk110 *g, const struct ctx_mem *m)
{
	return move_image(g, m, false);
}

int ctx_image_load(struct gk110 *g, const struct ctx_mem *m)
{
	return move_image(g, m, true);
}

/* ---------------------------------------------------------------- patch list */

struct patch {
	uint32_t addr, val;
};

static int patch_fetch(struct gk110 *g, const struct ctx_mem *m, uint64_t off, struct patch *p,
		       uint32_t n, bool may_unlock)
{
	unsigned int flags = MMU_PRIV_ACCESS;
	int ret;

	if (!may_unlock)
		return ctx_mem_read(g, m, &g->gr->fecs_mem, off, p, n * sizeof(*p));
	pthread_mutex_unlock(&g->lock);
	ret = mmu_read(g, &g->gr->fecs_mem, &m->space, m->addr + off, p, n * sizeof(*p), flags);
	pthread_mutex_lock(&g->lock);
	return ret;
}

int ctx_patch_execute(struct gk110 *g, const struct ctx_mem *m, uint32_t count,
		      const atomic_bool *stop, bool may_unlock)
{
	uint32_t resets = atomic_load(&g->gr->resets);
	struct patch p[PATCH_BATCH];
	int ret;

	for (uint32_t done = 0; done < count;) {
		uint32_t n = count - done < PATCH_BATCH ? count - done : PATCH_BATCH;

		if (done >= PATCH_MAX || (done >= PATCH_PATIENT && stop && atomic_load(stop)))
			return -EIO;
		ret = patch_fetch(g, m, (uint64_t)done * sizeof(*p), p, n, may_unlock);
		if (ret)
			return ret;
		for (uint32_t i = 0; i < n; i++) {
			if (atomic_load(&g->gr->resets) != resets)
				return -EIO;
			pri_write(g, p[i].addr & (uint32_t)FECS_MMIO_ADDR, p[i].val);
		}
		done += n;
	}
	return 0;
}
