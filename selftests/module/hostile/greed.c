// SPDX-License-Identifier: GPL-2.0-only
/* Work that never ends, work that always fails, and forged graphics contexts. */
#include "hostile.h"

#include <linux/bitfield.h>

#include <gk110/fifo.h>
#include <gk110/gr.h>
#include <gk110/mmu.h>
#include <gk110/push.h>
#include <gk110/ram.h>

enum { WAIT_MS = 1000 };

/*
 * The channel waits for a number that is never written, with and without letting other channels in.
 */
void hostile_acquire(struct hostile *h)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		hostile_restart(h);
		bare_emit(&h->chan, SUBCH_COPY, HOST_SEMAPHORE_A, h->chan.semaphore_va >> 32,
			  h->chan.semaphore_va + 16, 0xdead,
			  HOST_SEMAPHORE_ACQUIRE | (i & 1 ? HOST_SEMAPHORE_SWITCH : 0));
		report(!bare_run(&h->chan, WAIT_MS),
		       "a channel that waits for ever waits (switching %s)",
		       i & 1 ? "allowed" : "forbidden");
	}
	report(hostile_alive(h), "own work runs afterwards");
}

/* A ring that is filled again and again with the same long copies. */
void hostile_endless(struct hostile *h)
{
	uint64_t end;
	unsigned int i;

	hostile_restart(h);
	for (i = 0; i < 200; i++)
		bare_copy(&h->chan, LOOT_VA, LOOT_VA, 0x10000, 0);
	bare_ring(&h->chan);
	end = bare_now_ns(&h->gpu) + 2 * WAIT_MS * 1000000ull;
	while (bare_now_ns(&h->gpu) < end) {
		for (i = 0; i < 512; i++) {
			h->chan.ring[2 * i] = h->chan.ring[0];
			h->chan.ring[2 * i + 1] = h->chan.ring[1];
		}
		h->chan.put += 500;
		*(volatile uint32_t *)(h->gpu.bars.bar1 + h->chan.userd_bar1 + USERD_GP_PUT) =
			h->chan.put % 512;
	}
	report(hostile_alive(h), "own work runs afterwards");
}

/* Methods that stop the channel's engine or need software to serve them, and random ones. */
void hostile_methods(struct hostile *h)
{
	unsigned long i, rounds = h->ops / 20 ?: 1;

	for (i = 0; i < rounds; i++) {
		if (i % 4 == 0)
			hostile_restart(h);
		switch (i % 4) {
		case 0:
			/* this subchannel has no object */
			bare_emit(&h->chan, 7, 0x100 + 4 * (i % 64), i);
			break;
		case 1:
			bare_emit(&h->chan, SUBCH_COPY, HOST_SET_OBJECT, rng_next(&h->rng));
			break;
		case 2:
			bare_emit(&h->chan, rng_next(&h->rng) & 7, rng_next(&h->rng) & 0x1ffc,
				  rng_next(&h->rng));
			break;
		default:
			bare_emit(&h->chan, SUBCH_COPY, HOST_ILLEGAL, 1);
		}
		bare_run(&h->chan, 5);
		/* as a driver does: acknowledge the interrupts, so that the next can come */
		bare_write(&h->gpu, PBDMA(0) + PBDMA_INTR0, ~0u);
		bare_write(&h->gpu, PFIFO_INTR, ~0u);
	}
	report(hostile_alive(h), "own work runs after %lu methods that nobody serves", i);
}

/* Faults, one after the other. */
void hostile_faults(struct hostile *h)
{
	unsigned long i, rounds = h->ops / 40 ?: 1, ran = 0;

	for (i = 0; i < rounds; i++) {
		hostile_restart(h);
		ran += hostile_copy(h, 0xe00000 + (i % 256) * PAGE, LOOT_VA, PAGE, 20);
	}
	report(!ran, "copies from nowhere do not end (%lu tried)", i);
	report(hostile_alive(h), "own work runs after %lu faults", i);
}

/*
 * A graphics context of our own making: an image whose head names a list of registers to write, as
 * nouveau's microcode has it (gk110/facts.md). The register is one of PFIFO. run.sh looks at the
 * real card, whether it was written.
 */
void hostile_context(struct hostile *h)
{
	enum { FORGED_REG = PFIFO_ENG_TIMESLICE(6), FORGED_VALUE = 0x10005042, IMAGE_PAGES = 256 };
	static const uint32_t kinds[] = { 0, RAMIN_CTX_VIRTUAL };
	struct bare_gpu *g = &h->gpu;
	unsigned int i, k, ran = 0;

	for (k = 0; k < 4; k++) {
		uint64_t image, va = k & 2 ? 0 : AIM_VA;
		uint32_t entry, head[2] = { 8, (uint32_t)(va >> 8) + 4 };

		hostile_restart(h);
		entry = h->chan.id;
		image = bare_vram(g, IMAGE_PAGES * PAGE, PAGE);
		for (i = 0; i < IMAGE_PAGES && va / PAGE + i < 4096; i++)
			if (va || i == 0)
				bare_space_map(g, &h->space, va + i * PAGE, BARE_VRAM,
					       image + i * PAGE);
		bare_mem_write(g, BARE_VRAM, image, head, sizeof(head));
		for (i = 0; i < 8; i++) {
			uint32_t pair[2] = { FORGED_REG, FORGED_VALUE };

			bare_mem_write(g, BARE_VRAM, image + 1024 + 8 * i, pair, sizeof(pair));
		}
		bare_runlist(g, h->chan.runlist, NULL, 0);
		bare_preempt(g, false, entry);
		bare_mem_write32(g, BARE_VRAM, h->chan.inst + RAMIN_GR_CTX,
				 (uint32_t)va | kinds[k & 1]);
		bare_mem_write32(g, BARE_VRAM, h->chan.inst + RAMIN_GR_CTX + 4, va >> 32);
		bare_tlb_invalidate(g, BARE_VRAM, h->space.pdb);
		bare_chan_bind(&h->chan);
		bare_runlist(g, h->chan.runlist, &entry, 1);
		bare_emit(&h->chan, SUBCH_INLINE, HOST_SET_OBJECT, 0xa140);
		bare_emit(&h->chan, SUBCH_INLINE, 0x110, 0);
		ran += bare_run(&h->chan, 300);
	}
	report_info("%u forged contexts, %u ran", k, ran);
	report(bare_read(g, FORGED_REG) != FORGED_VALUE,
	       "the list of a forged context was not carried out");
	report(hostile_alive(h), "own work runs");
}
