// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cheap attacks in large numbers: instance blocks, table entries with their invalidates, ring
 * entries.
 */
#include "hostile.h"

#include <linux/bitfield.h>

#include <gk110/bar.h>
#include <gk110/ce.h>
#include <gk110/fifo.h>
#include <gk110/mmu.h>
#include <gk110/push.h>
#include <gk110/ram.h>

enum {
	PERIOD = 64, /* blocks or invalidates between two restarts */
	ROUNDS = 16,
	RING = 512, /* ring fillings between two restarts; a ring's entries */
	SLOTS = 8,
	BLOCK_WORDS = 0x220 / 4,
	PUSH_WORDS = BARE_PUSH_BYTES / 4,
	SEGMENT = 8,
	PBDMAS = 3,
	SPINS = 100,
	TRIES = 3,
	BEGIN_MS = 4000, /* for a first job, which decides nothing */
	AIM_PAGES = 64,
	DIRECTORY = 16,
};

/* Have the channel copy from a page that random entries or blocks may lead anywhere. */
static void fetch_loot(struct hostile *h)
{
	bare_copy(&h->chan, AIM_VA + rng_range(&h->rng, 0, AIM_PAGES - 1) * PAGE, LOOT_VA, PAGE, 0);
	bare_ring(&h->chan);
}

/* ------------------------------------------------------------------ instance blocks */

static const uint16_t telling[] = {
	RAMFC_USERD,	  RAMFC_USERD_HI,     RAMFC_SIGNATURE,	  RAMFC_GP_BASE,
	RAMFC_GP_BASE_HI, RAMFC_GP_GET,	      RAMFC_GP_PUT,	  RAMFC_PB_GET,
	RAMFC_PB_PUT,	  RAMFC_HCE_CTRL,     RAMFC_CHID,	  RAMFC_TARGET,
	RAMFC_TIMESLICE,  RAMIN_GR_CTX,	      RAMIN_GR_CTX + 4,	  GMMU_INST_PDB_LO,
	GMMU_INST_PDB_HI, GMMU_INST_LIMIT_LO, GMMU_INST_LIMIT_HI,
};

enum { NR_TELLING = sizeof(telling) / sizeof(telling[0]) };

/* Write a live channel's block, with words changed, to one of the slots. Return its address. */
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

/* List the live channel, at times with a group's header and members after it. */
static void list_some(struct hostile *h, uint64_t list, unsigned int id)
{
	const uint32_t entry[] = { h->chan.id, bare_tsg_entry(id & 0xff, 1 + id % 3), id, id ^ 1 };
	unsigned int n = rng_range(&h->rng, 1, 4), i;

	for (i = 0; i < n; i++) {
		hostile_vram(h, list)[2 * i] = entry[i];
		hostile_vram(h, list)[2 * i + 1] = 0;
	}
	bare_write(&h->gpu, PFIFO_RUNLIST_BASE, FIELD_PREP(PFIFO_RUNLIST_ADDR, list >> 12));
	bare_write(&h->gpu, PFIFO_RUNLIST_SUBMIT,
		   FIELD_PREP(PFIFO_RUNLIST_ID, h->chan.runlist) | n);
}

/*
 * Bind a block or any address to a channel, or unbind the channel. Then enable or disable it, and
 * at times list and preempt it.
 */
static void use_block(struct hostile *h, uint64_t block, uint64_t list)
{
	struct bare_gpu *g = &h->gpu;
	unsigned int id = some_channel(h);
	uint64_t r = rng_next(&h->rng),
		 to = r & 15 ? block : rng_range(&h->rng, 0, (8ull << 30) - 1);

	if (r >> 4 & 1)
		bare_write(g, PCCSR_CHAN(id),
			   FIELD_PREP(PCCSR_CHAN_RUNLIST,
				      r >> 5 & 7 ? h->chan.runlist : r >> 8 & 15));
	bare_write(g, PCCSR_INST(id),
		   FIELD_PREP(PCCSR_INST_PTR, to >> 12) | (r >> 12 & 7 ? PCCSR_INST_BIND : 0) |
			   FIELD_PREP(PCCSR_INST_TARGET, r >> 15 & 15 ? 0 : r >> 19 & 3));
	bare_write(g, PCCSR_CHAN(id),
		   FIELD_PREP(PCCSR_CHAN_RUNLIST, h->chan.runlist) |
			   (r >> 21 & 3 ? PCCSR_CHAN_ENABLE_SET : PCCSR_CHAN_ENABLE_CLR));
	if (!(r >> 23 & 3))
		list_some(h, list, id);
	if (!(r >> 25 & 7))
		bare_write(g, PFIFO_PREEMPT,
			   FIELD_PREP(PFIFO_PREEMPT_ID, id) |
				   (r >> 28 & 1 ? PFIFO_PREEMPT_TSG : 0));
	if (!(r >> 29 & 7))
		fetch_loot(h);
}

void hostile_blocks(struct hostile *h)
{
	unsigned long i, n = h->ops / 20 ?: 1, seen = 0;
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
	report(!seen && !holds_mark(h->loot, PAGE),
	       "random instance blocks lead to nothing of others");
	report(hostile_alive(h), "own work runs after %lu random instance blocks", i);
}

/* ------------------------------------------------------------------ tables */

/*
 * Return a page table entry: random bits, a valid entry for any address and aperture, or an entry
 * for our own page.
 */
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
		return GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR, r >> 8) |
		       FIELD_PREP(GMMU_PTE_APERTURE, r >> 4);
	}
}

static void change_tables(struct hostile *h)
{
	unsigned int n = rng_size(&h->rng, 32), i;
	uint64_t at, v;

	for (i = 0; i < n; i++) {
		v = some_page(h);
		at = h->space.table +
		     ((AIM_VA >> GMMU_SMALL_SHIFT) + rng_range(&h->rng, 0, AIM_PAGES - 1)) *
			     GMMU_ENTRY_SIZE;
		/* at times a directory entry */
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
	unsigned long i, n = h->ops / 20 ?: 1, seen = 0;

	for (i = 0; i < n; i++) {
		uint64_t r = rng_next(&h->rng);

		if (i % PERIOD == 0) {
			seen += i && holds_mark(h->loot, PAGE);
			hostile_restart(h);
			hostile_show(h);
		}
		change_tables(h);
		bare_write(g, FB_MMU_INVALIDATE_PDB,
			   FIELD_PREP(FB_MMU_INVALIDATE_PDB_ADDR,
				      (r & 15 ? h->space.pdb : r & 0xfffffff000) >>
					      GMMU_ADDR_SHIFT) |
				   FIELD_PREP(FB_MMU_INVALIDATE_PDB_TARGET,
					      r >> 40 & 15 ? 0 : r >> 44 & 3));
		bare_write(g, FB_MMU_INVALIDATE,
			   FB_MMU_INVALIDATE_TRIGGER |
				   (r >> 46 & 3 ? FB_MMU_INVALIDATE_ALL_VA : r >> 48 & 0xff));
		if (i % 4 == 3)
			fetch_loot(h);
	}
	printf("COUNT: invalidates %lu\n", i);
	report(!seen && !holds_mark(h->loot, PAGE),
	       "random table entries lead to nothing of others");
	report(hostile_alive(h), "own work runs after %lu random invalidates", i);
}

/* ------------------------------------------------------------------ rings */

/* Return a word of a pushbuffer: a header, an address of ours, a small number or anything. */
static uint32_t some_word(struct hostile *h)
{
	static const uint8_t ops[] = { PB_SEC_INC, PB_SEC_NON_INC, PB_SEC_IMMD, PB_SEC_ONE_INC };
	uint64_t r = rng_next(&h->rng);

	switch (r & 7) {
	case 0 ... 3:
		return FIELD_PREP(PB_SEC_OP, ops[r >> 3 & 3]) | FIELD_PREP(PB_COUNT, r >> 5 & 7) |
		       FIELD_PREP(PB_SUBCH, r >> 8 & 7) |
		       FIELD_PREP(PB_METHOD, r >> 14 & 3 ? r >> 16 & 0xff : r >> 16);
	case 4:
		return LOOT_VA + (r >> 8 & 0xfffc);
	case 5:
		return r >> 8 & 0xff;
	default:
		return r >> 8;
	}
}

static uint32_t header(uint32_t op, uint32_t mthd, uint32_t count)
{
	return FIELD_PREP(PB_SEC_OP, op) | FIELD_PREP(PB_COUNT, count) |
	       FIELD_PREP(PB_SUBCH, SUBCH_COPY) | FIELD_PREP(PB_METHOD, mthd >> 2);
}

/*
 * Write a segment of the pushbuffer. Most segments keep the channel alive: a channel that faults at
 * once takes no more entries.
 */
static void some_segment(struct hostile *h, uint32_t *to)
{
	uint64_t r = rng_next(&h->rng);
	unsigned int i;

	for (i = 0; i < SEGMENT; i++)
		to[i] = header(PB_SEC_IMMD, HOST_NOP, 0);
	switch (r & 15) {
	case 0 ... 3: /* source, destination, pitches and length of a copy */
		to[0] = header(PB_SEC_INC, A0B5_OFFSET_IN_UPPER, SEGMENT - 1);
		for (i = 1; i < SEGMENT; i++)
			to[i] = rng_next(&h->rng);
		break;
	case 4 ... 7:
		to[0] = header(PB_SEC_INC, HOST_SET_OBJECT, 1);
		to[1] = A0B5_CLASS;
		break;
	case 8 ... 11:
		to[0] = header(PB_SEC_INC, HOST_SEMAPHORE_A, 4);
		to[1] = 0;
		to[2] = LOOT_VA + (r >> 8 & 0xfff0);
		to[3] = r >> 32;
		to[4] = HOST_SEMAPHORE_RELEASE | (r >> 4 & 1 ? HOST_SEMAPHORE_4BYTE : 0);
		break;
	case 12:
		if (r >> 8 & 63)
			break;
		to[0] = header(PB_SEC_INC, A0B5_LAUNCH_DMA, 1);
		to[1] = rng_next(&h->rng);
		break;
	case 13:
		for (i = 0; !(r >> 8 & 63) && i < SEGMENT; i++)
			to[i] = some_word(h);
		break;
	default:
		break;
	}
}

/* Return a ring entry: a segment of ours, a NOP, or anything. */
static uint64_t some_ring_entry(struct hostile *h)
{
	uint64_t r = rng_next(&h->rng),
		 va = h->chan.push_va + (r >> 16) % (PUSH_WORDS / SEGMENT) * SEGMENT * 4;

	if (!(r & 0x3ff))
		return rng_next(&h->rng);
	if (!(r & 0x1ff))
		return va | (uint64_t)(FIELD_PREP(GP_ENTRY1_LENGTH, r >> 40 & 63) |
				       (r >> 48 & (GP_ENTRY1_PRIV | GP_ENTRY1_SUBROUTINE)))
				    << 32;
	return r >> 15 & 1 ? va | (uint64_t)FIELD_PREP(GP_ENTRY1_LENGTH, SEGMENT) << 32 :
			     GP_OPCODE_NOP;
}

static volatile uint32_t *doorbell(struct hostile *h, unsigned int word)
{
	return (volatile uint32_t *)(h->gpu.bars.bar1 + h->chan.userd_bar1 + word);
}

/*
 * Write @n entries from where the ring stands, and ring the doorbell, also with random numbers.
 * Return how often it was rung.
 */
static unsigned int fill_ring(struct hostile *h, unsigned int n)
{
	volatile uint32_t *put = doorbell(h, USERD_GP_PUT);
	unsigned int wrong = rng_range(&h->rng, 0, 3), i;

	some_segment(h, h->chan.push + rng_range(&h->rng, 0, PUSH_WORDS / SEGMENT - 1) * SEGMENT);
	for (i = 0; i < n; i++, h->chan.put++) {
		uint64_t e = some_ring_entry(h);

		h->chan.ring[2 * (h->chan.put % RING)] = e;
		h->chan.ring[2 * (h->chan.put % RING) + 1] = e >> 32;
	}
	__sync_synchronize();
	for (i = 0; i < wrong; i++)
		*put = rng_next(&h->rng) & (rng_next(&h->rng) & 63 ? RING - 1 : ~0u);
	*put = h->chan.put % RING;
	return wrong + 1;
}

static void acknowledge(struct hostile *h)
{
	unsigned int p;

	for (p = 0; p < PBDMAS; p++)
		bare_write(&h->gpu, PBDMA(p) + PBDMA_INTR0, ~0u);
	bare_write(&h->gpu, PFIFO_INTR, ~0u);
	*doorbell(h, USERD_GP_PUT) = h->chan.put % RING;
}

/*
 * Return how many entries the chip has taken since *@last. Wait as long as the chip goes on taking
 * entries. It may have stopped for ever: then give up, and set *@stands.
 */
static unsigned int taken(struct hostile *h, uint32_t *last, bool *stands)
{
	volatile uint32_t *get = doorbell(h, USERD_GP_GET);
	uint32_t want = h->chan.put % RING, was = *last, sum = 0, now = was;
	unsigned int spins = 0, tries = 0;

	while (now != want && tries < TRIES) {
		now = *get % RING;
		sum += (now - was) % RING;
		spins = now == was ? spins + 1 : 0;
		was = now;
		if (spins == SPINS) {
			acknowledge(h);
			spins = 0;
			tries++;
		}
	}
	*last = now;
	*stands = now != want;
	return sum;
}

void hostile_rings(struct hostile *h)
{
	unsigned long entries = 0, bells = 0, fetched = 0, rounds = 0, restarts = 0,
		      want = h->ops ?: 1, seen = 0;
	bool stands = true;
	uint32_t last = 0;
	unsigned int n, i;

	while (entries < want) {
		if (stands || rounds++ % ROUNDS == 0) {
			seen += restarts++ && holds_mark(h->loot, 0x10000);
			hostile_restart(h);
			last = 0;
			for (i = 0; i < PUSH_WORDS; i += SEGMENT)
				some_segment(h, h->chan.push + i);
			bare_emit(&h->chan, SUBCH_COPY, HOST_SET_OBJECT, A0B5_CLASS);
			bare_run(&h->chan, BEGIN_MS);
			last = *doorbell(h, USERD_GP_GET) % RING;
		}
		n = rng_range(&h->rng, 1, RING - 1);
		bells += fill_ring(h, n);
		entries += n;
		fetched += taken(h, &last, &stands);
	}
	printf("COUNT: ring-entries %lu\nCOUNT: doorbells %lu\nCOUNT: ring-entries-fetched %lu\n",
	       entries, bells, fetched);
	report_info("%lu channels began anew", restarts);
	report(!seen && !holds_mark(h->loot, 0x10000), "random rings bring nothing of others");
	report(hostile_alive(h), "own work runs after %lu random ring entries", entries);
}
