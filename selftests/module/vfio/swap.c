// SPDX-License-Identifier: GPL-2.0-only
/*
 * A channel never stops, and its instance block comes to name another page directory. Then
 * something makes the host look at the block again, while the chip has the channel and would load
 * it again at once. When the old directory, and the pages that only it named, are given up, the
 * chip must not be able to reach them any more (S1, S2).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include <linux/bitfield.h>

#include <gk110/ce.h>
#include <gk110/fifo.h>
#include <gk110/mmu.h>
#include <gk110/push.h>
#include <gk110/ram.h>

#include "bare/chan.h"
#include "check.h"
#include "tap.h"
#include "tests.h"

enum {
	PAGE = 4096,
	SRC_VA = BARE_VA_FREE,
	DST_VA = BARE_VA_FREE + 0x200000,
	LENT_IOVA = 0x60000000,
	LENT_LEN = 1 << 20
};
enum { MANY = 400, RING_ENTRIES = 400, TSG = 77, ROUNDS = 3 };
enum { START_MS = 60000, WATCHED_US = 500000 };

/* What makes the host look at the block again. */
enum again { BY_ENABLE, BY_SUBMIT, BY_SUBMIT_IN_GROUP, BY_ALLOW };

struct swap {
	struct bare_gpu g;
	struct bare_space s1, s2;
	struct bare_chan c;
	unsigned int runlist;
	uint32_t entries[2];
	unsigned int nr;
	uint8_t *memory;
};

/* Put the pushbuffer into RING_ENTRIES entries of the ring, and set GP_PUT behind them. */
static void fill_ring(struct bare_chan *c)
{
	unsigned int i;

	for (i = 0; i < RING_ENTRIES; i++) {
		c->ring[2 * i] = c->push_va;
		c->ring[2 * i + 1] = c->push_va >> 32 | FIELD_PREP(GP_ENTRY1_LENGTH, c->words);
	}
	c->put = RING_ENTRIES;
	__sync_synchronize();
	*(volatile uint32_t *)(c->g->bars.bar1 + c->userd_bar1 + USERD_GP_PUT) = c->put;
	c->words = 0;
}

static void open_channel(struct swap *w, unsigned int id, enum again how)
{
	struct bare_chan_config cfg = { .id = id, .runlist = w->runlist };

	w->nr = 0;
	if (how == BY_SUBMIT_IN_GROUP)
		w->entries[w->nr++] = bare_tsg_entry(TSG, 1);
	w->entries[w->nr++] = id;
	if (how != BY_ENABLE)
		bare_runlist(&w->g, w->runlist, w->entries, w->nr);
	bare_chan_create(&w->g, &w->s1, &cfg, &w->c);
	if (how == BY_ENABLE)
		bare_runlist(&w->g, w->runlist, w->entries, w->nr);
}

/*
 * Both spaces map the channel's own ring and pushbuffer. Only the first one maps the lent memory.
 */
static void map_lent(struct swap *w)
{
	static uint8_t own[(BARE_VA_FREE >> GMMU_SMALL_SHIFT) * GMMU_ENTRY_SIZE];
	uint64_t vram = bare_vram(&w->g, LENT_LEN, PAGE), off;

	for (off = 0; off < LENT_LEN; off += PAGE) {
		bare_space_map(&w->g, &w->s1, SRC_VA + off, BARE_VRAM, vram + off);
		bare_space_map(&w->g, &w->s1, DST_VA + off, BARE_HOST, LENT_IOVA + off);
	}
	bare_mem_read(&w->g, BARE_VRAM, w->s1.table, own, sizeof(own));
	bare_mem_write(&w->g, BARE_VRAM, w->s2.table, own, sizeof(own));
	bare_tlb_invalidate(&w->g, BARE_VRAM, w->s1.pdb);
}

static void look_again(struct swap *w, enum again how)
{
	bare_mem_write32(&w->g, BARE_VRAM, w->c.inst + GMMU_INST_PDB_LO, w->s2.pdb);
	bare_flush(&w->g);
	switch (how) {
	case BY_ENABLE:
		bare_write(&w->g, PCCSR_CHAN(w->c.id),
			   FIELD_PREP(PCCSR_CHAN_RUNLIST, w->runlist) | PCCSR_CHAN_ENABLE_SET);
		break;
	case BY_ALLOW:
		bare_write(&w->g, PFIFO_RUNLIST_BLOCK, 1u << w->runlist);
		bare_write(&w->g, PFIFO_RUNLIST_BLOCK, 0);
		break;
	default:
		bare_runlist(&w->g, w->runlist, w->entries, w->nr);
	}
}

/*
 * Copies into lent memory go on. The memory is unmapped right after the host has looked at the
 * block.
 */
static void once(struct device *d, struct swap *w, unsigned int id, enum again how)
{
	unsigned int i;
	bool intact;

	w->memory = mmap(NULL, LENT_LEN, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	CHECK(w->memory != MAP_FAILED && !dma_map(d, w->memory, LENT_IOVA, LENT_LEN));
	bare_space_create(&w->g, &w->s1);
	bare_space_create(&w->g, &w->s2);
	open_channel(w, id, how);
	map_lent(w);
	memset(w->memory, 0x55, LENT_LEN);
	for (i = 0; i < MANY; i++)
		bare_copy(&w->c, SRC_VA, DST_VA, LENT_LEN, 0);
	fill_ring(&w->c);
	for (i = 0; i < START_MS && w->memory[0] == 0x55; i++)
		usleep(1000);
	CHECK(w->memory[0] != 0x55);

	look_again(w, how);
	CHECK(!dma_unmap(d, LENT_IOVA, LENT_LEN));
	memset(w->memory, 0x77, LENT_LEN);
	usleep(WATCHED_US);
	intact = all_bytes(w->memory, LENT_LEN, 0x77);
	if (!intact)
		tap_diag("channel %u: the GPU wrote to memory after it was unpinned (%02x)", id,
			 w->memory[0]);
	CHECK(intact);
	CHECK(counter(d, "spaces_kept") == 0);
	bare_runlist(&w->g, w->runlist, NULL, 0);
	bare_chan_destroy(&w->c);
	munmap(w->memory, LENT_LEN);
}

static void rounds(struct device *d, enum again how)
{
	struct swap w = {};
	unsigned int i;

	gpu_attach(d, &w.g);
	w.runlist = w.g.engine[BARE_CE0].runlist;
	for (i = 0; i < ROUNDS; i++)
		once(d, &w, 1 + i, how);
	gpu_detach(d, &w.g);
	CHECK(counter(d, "pinned_pages") == 0);
}

void test_reenable(struct device *d, const struct options *o)
{
	checks_begin();
	rounds(d, BY_ENABLE);
	checks_end(
		"a running channel is enabled again, with another directory in its block: the one of before is not used");
}

void test_relist(struct device *d, const struct options *o)
{
	checks_begin();
	rounds(d, BY_SUBMIT);
	rounds(d, BY_SUBMIT_IN_GROUP);
	rounds(d, BY_ALLOW);
	checks_end(
		"the same for one that was listed before it was bound, and is listed again, in a group, or unblocked");
}
