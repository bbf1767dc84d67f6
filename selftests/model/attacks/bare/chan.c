// SPDX-License-Identifier: GPL-2.0-only
/* chan.h has the contracts, README.md what this code may use. */
#include "chan.h"

#include <linux/bitfield.h>

#include <gk110/bar.h>
#include <gk110/ce.h>
#include <gk110/fifo.h>
#include <gk110/mmu.h>
#include <gk110/push.h>
#include <gk110/ram.h>

enum { RING_LOG2 = 9, WAIT_MS = 60000, RUNLIST_AT_ONCE = 64 };

/* what nouveau puts into a new RAMFC (nvkm/engine/fifo/gk104.c gk104_chan_ramfc_write) */
#define INIT_ACQUIRE   0xfffff902 /* longest time limit, usual retry */
#define INIT_HEADER    0x20400000
#define INIT_SUBDEVICE 0x30000001
#define INIT_FORMATS   0x00000100
#define INIT_UNK_B8    0xf8000000
#define RAMFC_UNK_B8   0xb8

void bare_chan_write_ramfc(struct bare_chan *c, uint64_t userd, enum bare_target userd_target,
			   bool hce_priv)
{
	const struct {
		uint32_t at, value;
	} words[] = {
		{ RAMFC_USERD, (uint32_t)userd | userd_target },
		{ RAMFC_USERD_HI, userd >> 32 },
		{ RAMFC_SIGNATURE, RAMFC_SIGNATURE_FACE },
		{ RAMFC_ACQUIRE, INIT_ACQUIRE },
		{ RAMFC_GP_BASE, c->ring_va },
		{ RAMFC_GP_BASE_HI,
		  c->ring_va >> 32 | FIELD_PREP(RAMFC_GP_BASE_LIMIT2, RING_LOG2) },
		{ RAMFC_PB_HEADER, INIT_HEADER },
		{ RAMFC_SUBDEVICE, INIT_SUBDEVICE },
		{ RAMFC_FORMATS, INIT_FORMATS },
		{ RAMFC_TARGET, RAMFC_TARGET_SW },
		{ RAMFC_UNK_B8, INIT_UNK_B8 },
		{ RAMFC_HCE_CTRL, hce_priv ? (uint32_t)RAMFC_HCE_PRIV_MODE : 0 },
		{ RAMFC_CHID, c->id },
		{ RAMFC_TIMESLICE, PFIFO_ENG_TIMESLICE_RESET },
		{ RAMFC_PB_TIMESLICE, PFIFO_ENG_PB_TIMESLICE_RESET },
	};
	uint32_t block[RAMIN_RAMFC_SIZE / 4];
	unsigned int i;

	bare_mem_read(c->g, BARE_VRAM, c->inst, block, sizeof(block));
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		block[words[i].at / 4] = words[i].value;
	bare_mem_write(c->g, BARE_VRAM, c->inst, block, sizeof(block));
}

static void write_space(struct bare_gpu *g, uint64_t inst, const struct bare_space *s)
{
	/* GMMU_INST_PDB_LO, _HI, GMMU_INST_LIMIT_LO, _HI */
	const uint32_t words[] = { s->pdb, s->pdb >> 32, BARE_SPACE_SIZE - 1, 0 };

	bare_mem_write(g, BARE_VRAM, inst + GMMU_INST_PDB_LO, words, sizeof(words));
}

static void write_context(struct bare_gpu *g, uint64_t inst, uint64_t va)
{
	bare_mem_write32(g, BARE_VRAM, inst + RAMIN_GR_CTX, va | RAMIN_CTX_VIRTUAL);
	bare_mem_write32(g, BARE_VRAM, inst + RAMIN_GR_CTX + 4, va >> 32);
}

static uint8_t *map_host(struct bare_gpu *g, struct bare_space *s, uint64_t va, size_t size)
{
	uint64_t bus;
	uint8_t *cpu = bare_host(g, size, &bus);

	bare_space_map_range(g, s, va, BARE_HOST, bus, size);
	return cpu;
}

/*
 * Return where in VRAM the doorbell at offset @bar1_off of BAR1 lies: BAR1 may be physical or go
 * through tables. 0: the tables have no page there.
 */
static uint64_t userd_memory(struct bare_gpu *g, uint64_t bar1_off)
{
	uint32_t bar1 = bare_read(g, HOSTMEM_BAR1);
	enum bare_target t;
	uint64_t addr, left;

	if (!(bar1 & HOSTMEM_VIRTUAL))
		return bar1_off;
	if (!bare_walk(g, (uint64_t)FIELD_GET(HOSTMEM_INST, bar1) << HOSTMEM_INST_SHIFT, bar1_off,
		       &t, &addr, &left))
		return 0;
	return addr;
}

/*
 * Channel @cfg->id has its ring, pushbuffer and semaphore in the 64 KiB of @s that begin at (id
 * modulo 16) times 64 KiB.
 */
void bare_chan_create(struct bare_gpu *g, struct bare_space *s, const struct bare_chan_config *cfg,
		      struct bare_chan *c)
{
	uint64_t base = (uint64_t)(cfg->id % 16) << 16, userd_base, userd;

	memset(c, 0, sizeof(*c));
	c->g = g;
	c->id = cfg->id;
	c->runlist = cfg->runlist;
	c->ring_va = base + BARE_VA_RING;
	c->push_va = base + BARE_VA_PUSH;
	c->semaphore_va = base + BARE_VA_SEMAPHORE;
	c->ring = (uint32_t *)map_host(g, s, c->ring_va, 4096);
	c->push = (uint32_t *)map_host(g, s, c->push_va, BARE_PUSH_BYTES);
	c->semaphore = (uint32_t *)map_host(g, s, c->semaphore_va, 4096);
	bare_tlb_invalidate(g, BARE_VRAM, s->pdb);
	userd_base = (uint64_t)FIELD_GET(PFIFO_USERD_BAR1_ADDR, bare_read(g, PFIFO_USERD_BAR1))
		     << 12;
	c->userd_bar1 = userd_base + c->id * USERD_SIZE;
	c->inst = bare_vram(g, RAMIN_SIZE, RAMIN_SIZE);
	bare_mem_zero(g, BARE_VRAM, c->inst, RAMIN_SIZE);
	write_space(g, c->inst, s);
	if (cfg->gr_ctx)
		write_context(g, c->inst, cfg->gr_ctx);
	userd = userd_memory(g, c->userd_bar1);
	bare_mem_zero(g, BARE_VRAM, userd, USERD_SIZE);
	if (cfg->userd_forged)
		bare_chan_write_ramfc(c, cfg->userd, cfg->userd_target, cfg->hce_priv);
	else
		bare_chan_write_ramfc(c, userd, BARE_VRAM, cfg->hce_priv);
	bare_flush(g);
	bare_chan_bind(c);
}

/* Write the runlist's number before the instance block's address, as nouveau does. */
void bare_chan_bind(struct bare_chan *c)
{
	bare_write(c->g, PCCSR_CHAN(c->id), FIELD_PREP(PCCSR_CHAN_RUNLIST, c->runlist));
	bare_write(c->g, PCCSR_INST(c->id),
		   PCCSR_INST_BIND | FIELD_PREP(PCCSR_INST_PTR, c->inst >> 12));
	bare_write(c->g, PCCSR_CHAN(c->id),
		   FIELD_PREP(PCCSR_CHAN_RUNLIST, c->runlist) | PCCSR_CHAN_ENABLE_SET);
}

bool bare_preempt(struct bare_gpu *g, bool tsg, unsigned int id)
{
	bare_write(g, PFIFO_PREEMPT,
		   FIELD_PREP(PFIFO_PREEMPT_ID, id) | (tsg ? PFIFO_PREEMPT_TSG : 0));
	return bare_poll(g, PFIFO_PREEMPT, PFIFO_PREEMPT_PENDING, 0, WAIT_MS);
}

bool bare_chan_destroy(struct bare_chan *c)
{
	bool ok;

	bare_write(c->g, PCCSR_CHAN(c->id),
		   FIELD_PREP(PCCSR_CHAN_RUNLIST, c->runlist) | PCCSR_CHAN_ENABLE_CLR);
	ok = bare_preempt(c->g, false, c->id);
	bare_write(c->g, PCCSR_INST(c->id), 0);
	return ok;
}

/* ------------------------------------------------------------------ runlists */

uint32_t bare_tsg_entry(unsigned int tsg, unsigned int members)
{
	return FIELD_PREP(RUNLIST_ID, tsg) | RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_SCALE, 3) |
	       FIELD_PREP(RUNLIST_TSG_TIMEOUT, 128) | FIELD_PREP(RUNLIST_TSG_COUNT, members);
}

bool bare_runlist_at(struct bare_gpu *g, unsigned int runlist, enum bare_target t, uint64_t addr,
		     unsigned int count)
{
	bare_flush(g);
	bare_write(g, PFIFO_RUNLIST_BASE,
		   FIELD_PREP(PFIFO_RUNLIST_TARGET, t) |
			   FIELD_PREP(PFIFO_RUNLIST_ADDR, addr >> 12));
	bare_write(g, PFIFO_RUNLIST_SUBMIT,
		   FIELD_PREP(PFIFO_RUNLIST_ID, runlist) | FIELD_PREP(PFIFO_RUNLIST_COUNT, count));
	return bare_poll(g, PFIFO_ENG_RUNLIST(runlist), PFIFO_ENG_RUNLIST_PENDING, 0, WAIT_MS);
}

bool bare_runlist(struct bare_gpu *g, unsigned int runlist, const uint32_t *entries,
		  unsigned int count)
{
	uint64_t at = bare_vram(g, 0x1000, 0x1000);
	uint32_t words[RUNLIST_AT_ONCE][2];
	unsigned int i = 0, n;

	while (i < count) {
		uint64_t to = at + i * RUNLIST_ENTRY_SIZE;

		for (n = 0; n < RUNLIST_AT_ONCE && i < count; n++, i++) {
			words[n][0] = entries[i];
			words[n][1] = 0;
		}
		bare_mem_write(g, BARE_VRAM, to, words, n * sizeof(words[0]));
	}
	return bare_runlist_at(g, runlist, BARE_VRAM, at, count);
}

/* ------------------------------------------------------------------ work */

void bare_method(struct bare_chan *c, uint32_t subch, uint32_t mthd, const uint32_t *data,
		 unsigned int count)
{
	c->push[c->words++] = FIELD_PREP(PB_SEC_OP, PB_SEC_INC) | FIELD_PREP(PB_COUNT, count) |
			      FIELD_PREP(PB_SUBCH, subch) | FIELD_PREP(PB_METHOD, mthd >> 2);
	memcpy(c->push + c->words, data, count * 4);
	c->words += count;
}

void bare_copy(struct bare_chan *c, uint64_t src, uint64_t dst, uint32_t len,
	       uint32_t more_launch_bits)
{
	bare_emit(c, SUBCH_COPY, HOST_SET_OBJECT, A0B5_CLASS);
	bare_emit(c, SUBCH_COPY, A0B5_OFFSET_IN_UPPER, src >> 32, src, dst >> 32, dst, len, len,
		  len, 1);
	bare_emit(c, SUBCH_COPY, A0B5_LAUNCH_DMA,
		  FIELD_PREP(A0B5_LAUNCH_TRANSFER, A0B5_TRANSFER_NON_PIPELINED) |
			  A0B5_LAUNCH_FLUSH | A0B5_LAUNCH_SRC_PITCH | A0B5_LAUNCH_DST_PITCH |
			  more_launch_bits);
}

void bare_ring(struct bare_chan *c)
{
	uint32_t entry = c->put % (1 << RING_LOG2);

	c->ring[2 * entry] = c->push_va;
	c->ring[2 * entry + 1] = c->push_va >> 32 | FIELD_PREP(GP_ENTRY1_LENGTH, c->words);
	c->put++;
	/* the pushbuffer must be in memory before the doorbell is written */
	__sync_synchronize();
	*(volatile uint32_t *)(c->g->bars.bar1 + c->userd_bar1 + USERD_GP_PUT) =
		c->put % (1 << RING_LOG2);
	c->words = 0;
}

void bare_submit(struct bare_chan *c)
{
	bare_emit(c, SUBCH_COPY, HOST_SEMAPHORE_A, c->semaphore_va >> 32, c->semaphore_va, ++c->seq,
		  HOST_SEMAPHORE_RELEASE | HOST_SEMAPHORE_4BYTE);
	bare_ring(c);
}

bool bare_run(struct bare_chan *c, unsigned int ms)
{
	bare_submit(c);
	return bare_poll_word(c->g, c->semaphore, c->seq, ms);
}
