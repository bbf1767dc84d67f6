// SPDX-License-Identifier: GPL-2.0-only
/*
 * What costs a guest next to nothing, in numbers: instance blocks, table entries with their invalidates, ring entries. Memory is written
 * without an exit, so that only what has to leave the guest does.
 */
#include "hostile.h"

#include <linux/bitfield.h>

#include <gk110/bar.h>
#include <gk110/fifo.h>
#include <gk110/mmu.h>
#include <gk110/push.h>
#include <gk110/ram.h>

enum {
	PERIOD = 32,			/* blocks or invalidates between two restarts */
	ROUNDS = 16, RING = 512,	/* the same of rings; entries of one */
	SLOTS = 8, BLOCK_WORDS = 0x220 / 4, PUSH_WORDS = BARE_PUSH_BYTES / 4, SPINS = 4000,
	AIM_PAGES = 64, DIRECTORY = 16,
};

/* the channel is told to bring something from a page of which nobody knows where it leads */
static void fetch_loot(struct hostile *h)
{
	bare_copy(&h->chan, AIM_VA + rng_range(&h->rng, 0, AIM_PAGES - 1) * PAGE, LOOT_VA, PAGE, 0);
	bare_ring(&h->chan);
}

/* ------------------------------------------------------------------ instance blocks */

static const uint16_t telling[] = {
	RAMFC_USERD, RAMFC_USERD_HI, RAMFC_SIGNATURE, RAMFC_GP_BASE, RAMFC_GP_BASE_HI, RAMFC_GP_GET, RAMFC_GP_PUT, RAMFC_PB_GET, RAMFC_PB_PUT,
	RAMFC_HCE_CTRL, RAMFC_CHID, RAMFC_TARGET, RAMFC_TIMESLICE, RAMIN_GR_CTX, RAMIN_GR_CTX + 4, GMMU_INST_PDB_LO, GMMU_INST_PDB_HI,
	GMMU_INST_LIMIT_LO, GMMU_INST_LIMIT_HI,
};

enum { NR_TELLING = sizeof(telling) / sizeof(telling[0]) };

/* a live channel's block with one to all of its words changed */
static uint64_t some_block(struct hostile *h, const uint32_t *live, uint64_t slots)
{
	uint64_t at = slots + rng_range(&h->rng, 0, SLOTS - 1) * RAMIN_SIZE, r;
	unsigned int n = rng_size(&h->rng, BLOCK_WORDS), i;
	uint32_t block[BLOCK_WORDS];

	for (i = 0; i < BLOCK_WORDS; i++)
		block[i] = live[i];
	while (n--) {
		r = rng_next(&h->rng);
		i = r & 3 ? telling[(r >> 8) % NR_TELLING] / 4 : (r >> 8) % BLOCK_WORDS;
		block[i] = r & 4 ? block[i] ^ 1u << (r >> 3 & 31) : rng_next(&h->rng);
	}
	for (i = 0; i < BLOCK_WORDS; i++)
		hostile_vram(h, at)[i] = block[i];
	return at;
}

static unsigned int some_channel(struct hostile *h)
{
	uint64_t r = rng_next(&h->rng);

	return r & 3 ? r & 4 ? h->chan.id : r >> 8 & 0x7f : r >> 8 & 0xfff;
}

/* alone, in a group, before a group's header: the channel is listed while its block changes */
static void list_some(struct hostile *h, uint64_t list, unsigned int id)
{
	const uint32_t entry[] = { h->chan.id, bare_tsg_entry(id & 0xff, 1 + id % 3), id, id ^ 1 };
	unsigned int n = rng_range(&h->rng, 1, 4), i;

	for (i = 0; i < n; i++) {
		hostile_vram(h, list)[2 * i] = entry[i];
		hostile_vram(h, list)[2 * i + 1] = 0;
	}
	bare_write(&h->gpu, PFIFO_RUNLIST_BASE, FIELD_PREP(PFIFO_RUNLIST_ADDR, list >> 12));
	bare_write(&h->gpu, PFIFO_RUNLIST_SUBMIT, FIELD_PREP(PFIFO_RUNLIST_ID, h->chan.runlist) | n);
}

/* bound, bound again while it is enabled and listed, enabled, disabled, by any pointer to it */
static void use_block(struct hostile *h, uint64_t block, uint64_t list)
{
	struct bare_gpu *g = &h->gpu;
	unsigned int id = some_channel(h);
	uint64_t r = rng_next(&h->rng), to = r & 15 ? block : rng_range(&h->rng, 0, (8ull << 30) - 1);

	if (r >> 4 & 1)
		bare_write(g, PCCSR_CHAN(id), FIELD_PREP(PCCSR_CHAN_RUNLIST, r >> 5 & 7 ? h->chan.runlist : r >> 8 & 15));
	bare_write(g, PCCSR_INST(id), FIELD_PREP(PCCSR_INST_PTR, to >> 12) | (r >> 12 & 7 ? PCCSR_INST_BIND : 0) |
		   FIELD_PREP(PCCSR_INST_TARGET, r >> 15 & 15 ? 0 : r >> 19 & 3));
	bare_write(g, PCCSR_CHAN(id), FIELD_PREP(PCCSR_CHAN_RUNLIST, h->chan.runlist) |
		   (r >> 21 & 3 ? PCCSR_CHAN_ENABLE_SET : PCCSR_CHAN_ENABLE_CLR));
	if (!(r >> 23 & 3))
		list_some(h, list, id);
	if (!(r >> 25 & 7))
		bare_write(g, PFIFO_PREEMPT, FIELD_PREP(PFIFO_PREEMPT_ID, id) | (r >> 28 & 1 ? PFIFO_PREEMPT_TSG : 0));
	if (!(r >> 29 & 7))
		fetch_loot(h);
}

void hostile_blocks(struct hostile *h)
{
	unsigned long i, n = h->ops / 20 ? : 1, seen = 0;
	uint32_t live[BLOCK_WORDS] = { 0 };
	uint64_t slots = 0, list = 0;
	unsigned int w;

	for (i = 0; i < n; i++) {
		if (i % PERIOD == 0) {
			seen += i && holds_mark(h->loot, PAGE);
			hostile_restart(h);
			hostile_show(h);
			slots = bare_vram(&h->gpu, SLOTS * RAMIN_SIZE, RAMIN_SIZE);
			list = bare_vram(&h->gpu, PAGE, PAGE);
			for (w = 0; w < BLOCK_WORDS; w++)
				live[w] = hostile_vram(h, h->chan.inst)[w];
		}
		use_block(h, some_block(h, live, slots), list);
	}
	printf("COUNT: blocks %lu\n", i);
	report(!seen && !holds_mark(h->loot, PAGE), "random instance blocks lead to nothing of others");
	report(hostile_alive(h), "own work runs after %lu random instance blocks", i);
}

/* ------------------------------------------------------------------ tables */

/* random bits, a page of any kind anywhere, or one that is ours */
static uint64_t some_page(struct hostile *h)
{
	uint64_t r = rng_next(&h->rng);

	switch (r & 3) {
	case 0:
		return rng_next(&h->rng);
	case 1:
		return GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR, h->loot_bus >> GMMU_ADDR_SHIFT) |
		       FIELD_PREP(GMMU_PTE_APERTURE, GMMU_PTE_APERTURE_SYS_COH);
	default:
		return GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR, r >> 8) | FIELD_PREP(GMMU_PTE_APERTURE, r >> 4);
	}
}

static void change_tables(struct hostile *h)
{
	unsigned int n = rng_size(&h->rng, 32), i;
	uint64_t at, v;

	for (i = 0; i < n; i++) {
		v = some_page(h);
		at = h->space.table + ((AIM_VA >> GMMU_SMALL_SHIFT) + rng_range(&h->rng, 0, AIM_PAGES - 1)) * GMMU_ENTRY_SIZE;
		/* tables anywhere: each costs the host a look at what lies there */
		if (v >> 60 == 1 && i == 0) {
			v = rng_next(&h->rng);
			at = h->space.pdb + rng_range(&h->rng, 0, DIRECTORY) * GMMU_ENTRY_SIZE;
		}
		hostile_vram(h, at)[0] = v;
		hostile_vram(h, at)[1] = v >> 32;
	}
}

void hostile_invalidates(struct hostile *h)
{
	struct bare_gpu *g = &h->gpu;
	unsigned long i, n = h->ops / 20 ? : 1, seen = 0;

	for (i = 0; i < n; i++) {
		uint64_t r = rng_next(&h->rng);

		if (i % PERIOD == 0) {
			seen += i && holds_mark(h->loot, PAGE);
			hostile_restart(h);
			hostile_show(h);
		}
		change_tables(h);
		bare_write(g, FB_MMU_INVALIDATE_PDB, FIELD_PREP(FB_MMU_INVALIDATE_PDB_ADDR, (r & 15 ? h->space.pdb : r & 0xfffffff000) >>
								GMMU_ADDR_SHIFT) |
			   FIELD_PREP(FB_MMU_INVALIDATE_PDB_TARGET, r >> 40 & 15 ? 0 : r >> 44 & 3));
		bare_write(g, FB_MMU_INVALIDATE, FB_MMU_INVALIDATE_TRIGGER | (r >> 46 & 3 ? FB_MMU_INVALIDATE_ALL_VA : r >> 48 & 0xff));
		if (i % 4 == 3)
			fetch_loot(h);
	}
	printf("COUNT: invalidates %lu\n", i);
	report(!seen && !holds_mark(h->loot, PAGE), "random table entries lead to nothing of others");
	report(hostile_alive(h), "own work runs after %lu random invalidates", i);
}

/* ------------------------------------------------------------------ rings */

/* a header that means something, more often than not; an address of ours; anything */
static uint32_t some_word(struct hostile *h)
{
	static const uint8_t ops[] = { PB_SEC_INC, PB_SEC_NON_INC, PB_SEC_IMMD, PB_SEC_ONE_INC };
	uint64_t r = rng_next(&h->rng);

	switch (r & 7) {
	case 0 ... 3:
		return FIELD_PREP(PB_SEC_OP, ops[r >> 3 & 3]) | FIELD_PREP(PB_COUNT, r >> 5 & 7) |
		       FIELD_PREP(PB_SUBCH, r >> 8 & 7 ? SUBCH_COPY : r >> 11 & 7) | FIELD_PREP(PB_METHOD, r >> 14 & 3 ? r >> 16 & 0xff : r >> 16);
	case 4:
		return LOOT_VA + (r >> 8 & 0xfffc);
	case 5:
		return r >> 8 & 0xff;
	default:
		return r >> 8;
	}
}

/* words of our pushbuffer, most of the time */
static uint64_t some_ring_entry(struct hostile *h)
{
	uint64_t r = rng_next(&h->rng), va = h->chan.push_va + (r >> 8) % PUSH_WORDS * 4;

	switch (r & 15) {
	case 0:
		return rng_next(&h->rng);
	case 1:
		return (r >> 8 & 0xffffff000) | (uint64_t)FIELD_PREP(GP_ENTRY1_LENGTH, 4) << 32;
	default:
		return va | (uint64_t)(FIELD_PREP(GP_ENTRY1_LENGTH, r >> 24 & 31) | (r >> 29 & 15 ? 0 : r >> 33 & (GP_ENTRY1_PRIV | GP_ENTRY1_SUBROUTINE))) << 32;
	}
}

static volatile uint32_t *doorbell(struct hostile *h, unsigned int word)
{
	return (volatile uint32_t *)(h->gpu.bars.bar1 + h->chan.userd_bar1 + word);
}

static void acknowledge(struct hostile *h)
{
	bare_write(&h->gpu, PBDMA(0) + PBDMA_INTR0, ~0u);
	bare_write(&h->gpu, PFIFO_INTR, ~0u);
}

/* the ring from where it stood, the doorbell rung with wrong numbers and the right one; the doorbells rung */
static unsigned int fill_ring(struct hostile *h, unsigned int n)
{
	volatile uint32_t *put = doorbell(h, USERD_GP_PUT);
	unsigned int wrong = rng_range(&h->rng, 0, 3), i;

	for (i = 0; i < 32; i++)
		h->chan.push[rng_range(&h->rng, 0, PUSH_WORDS - 1)] = some_word(h);
	for (i = 0; i < n; i++, h->chan.put++) {
		uint64_t e = some_ring_entry(h);

		h->chan.ring[2 * (h->chan.put % RING)] = e;
		h->chan.ring[2 * (h->chan.put % RING) + 1] = e >> 32;
	}
	__sync_synchronize();
	for (i = 0; i < wrong; i++)
		*put = rng_next(&h->rng) & (i ? RING - 1 : ~0u);
	*put = h->chan.put % RING;
	return wrong + 1;
}

/* how many of the ring the chip has taken since; not for long, as it may stand for ever */
static unsigned int taken(struct hostile *h, uint32_t *last)
{
	volatile uint32_t *get = doorbell(h, USERD_GP_GET);
	uint32_t want = h->chan.put % RING, was = *last;
	unsigned int i;

	for (i = 0; i < SPINS && *get % RING != want; i++)
		;
	*last = *get % RING;
	if (*last != want)
		acknowledge(h);
	return (*last - was) % RING;
}

void hostile_rings(struct hostile *h)
{
	unsigned long entries = 0, bells = 0, fetched = 0, rounds = 0, want = h->ops * 20, seen = 0;
	uint32_t last = 0;
	unsigned int n, i;

	while (entries < want) {
		if (rounds++ % ROUNDS == 0) {
			seen += rounds > 1 && holds_mark(h->loot, 0x10000);
			hostile_restart(h);
			last = 0;
			for (i = 0; i < PUSH_WORDS; i++)
				h->chan.push[i] = some_word(h);
		}
		n = rng_range(&h->rng, 1, RING - 1);
		bells += fill_ring(h, n);
		entries += n;
		fetched += taken(h, &last);
	}
	printf("COUNT: ring-entries %lu\nCOUNT: doorbells %lu\nCOUNT: ring-entries-fetched %lu\n", entries, bells, fetched);
	report(!seen && !holds_mark(h->loot, 0x10000), "random rings bring nothing of others");
	report(hostile_alive(h), "own work runs after %lu random ring entries", entries);
}
