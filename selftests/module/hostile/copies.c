// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies by physical address, privileged ring entries, memory that is taken away under a copy, and
 * memory that another guest left.
 */
#include "hostile.h"

#include <linux/bitfield.h>

#include <gk110/bar.h>
#include <gk110/ce.h>
#include <gk110/fifo.h>
#include <gk110/push.h>
#include <gk110/ram.h>

enum { PHYSICAL_PROBES = 24, LOOK_STEP = 64 << 10 };

/*
 * Return where PRAMIN shows @addr, a multiple of LOOK_STEP of our video memory. Call with rising
 * addresses. @first: move PRAMIN in any case.
 */
static volatile uint32_t *look_at(struct hostile *h, uint64_t addr, bool first)
{
	uint64_t off = addr % PRAMIN_SIZE;

	if (first || !off)
		bare_window(&h->gpu, BARE_VRAM, addr - off);
	return (volatile uint32_t *)(h->gpu.bars.bar0 + PRAMIN_BASE + off);
}

static void emit_physical(struct hostile *h, uint64_t src, uint32_t target, uint64_t dst_va)
{
	struct bare_chan *c = &h->chan;

	bare_emit(c, SUBCH_COPY, HOST_SET_OBJECT, A0B5_CLASS);
	bare_emit(c, SUBCH_COPY, A0B5_SET_SRC_PHYS_MODE, target, target);
	bare_copy(c, src, dst_va, PAGE, A0B5_LAUNCH_SRC_PHYSICAL);
}

static bool untouched(const uint8_t *p, size_t len)
{
	while (len && p[len - 1] == 0x5a)
		len--;
	return !len;
}

/*
 * The guest sets the bit of RAMFC that permits copies by physical address; every other ring entry
 * claims privilege, too. Nothing may be copied.
 */
void hostile_physical(struct hostile *h)
{
	static const uint32_t targets[] = { A0B5_PHYS_LOCAL_FB, A0B5_PHYS_COHERENT,
					    A0B5_PHYS_NONCOHERENT };
	struct bare_gpu *g = &h->gpu;
	unsigned int i, copied = 0;

	for (i = 0; i < PHYSICAL_PROBES; i++) {
		uint64_t at = rng_range(&h->rng, 0, (4ull << 30) / PAGE - 1) * PAGE;
		uint32_t entry;

		hostile_restart(h);
		entry = h->chan.id;
		bare_runlist(g, h->chan.runlist, NULL, 0);
		bare_preempt(g, false, entry);
		bare_mem_write32(g, BARE_VRAM, h->chan.inst + RAMFC_HCE_CTRL, RAMFC_HCE_PRIV_MODE);
		bare_chan_bind(&h->chan);
		bare_runlist(g, h->chan.runlist, &entry, 1);
		memset(h->loot, 0x5a, PAGE);
		emit_physical(h, at, targets[i % 3], LOOT_VA);
		if (i & 1)
			/* bit 8 of a ring entry's second word says that it is privileged */
			h->chan.push_va |= 1ull << 40;
		hostile_run_refused(h);
		copied += !untouched(h->loot, PAGE);
	}
	report(!copied, "copies by physical address are refused (%u tried, %u copied)", i, copied);
	report(hostile_alive(h), "own work runs");
}

/* ------------------------------------------------------------------ memory that goes away */

/*
 * 440FX: registers 0x5a..0x5f of the host bridge choose for each 16 KiB from 0xc0000 to 0xeffff
 * whether the CPU, and every device as well, sees memory or the ROM. Each round takes memory away
 * from the GPU and gives it back, in the middle of copies into that memory.
 */
enum {
	HOST_BRIDGE_PAM = 0x5c,
	PAM_RAM = 0x33333333,
	PAM_ROM = 0,
	REMAP_AT = 0xd0000,
	REMAP_PAGES = 32,
	ROUNDS = 200
};

static void set_pam(uint32_t v)
{
	asm volatile("outl %0, %1" : : "a"(0x80000000u | HOST_BRIDGE_PAM), "Nd"((uint16_t)0xcf8));
	asm volatile("outl %0, %1" : : "a"(v), "Nd"((uint16_t)0xcfc));
}

void hostile_remap(struct hostile *h)
{
	struct bare_gpu *g = &h->gpu;
	unsigned int i, p, wrong = 0, ended = 0;

	hostile_restart(h);
	set_pam(PAM_RAM);
	bare_space_map_range(g, &h->space, AIM_VA, BARE_HOST, REMAP_AT, REMAP_PAGES * PAGE);
	bare_tlb_invalidate(g, BARE_VRAM, h->space.pdb);
	for (i = 0; i < ROUNDS; i++) {
		pattern_fill(h->loot, PAGE, i);
		for (p = 0; p < REMAP_PAGES; p++)
			bare_copy(&h->chan, LOOT_VA, AIM_VA + p * PAGE, PAGE, 0);
		bare_ring(&h->chan);
		set_pam(PAM_ROM);
		set_pam(PAM_RAM);
		if (!hostile_run_refused(h)) {
			ended++;
			hostile_restart(h);
			bare_space_map_range(g, &h->space, AIM_VA, BARE_HOST, REMAP_AT,
					     REMAP_PAGES * PAGE);
		}
		bare_tlb_invalidate(g, BARE_VRAM, h->space.pdb);
	}
	/* at the end the GPU's copies must arrive in that memory */
	pattern_fill(h->loot, PAGE, ~0ull);
	for (p = 0; p < REMAP_PAGES; p++) {
		memset((void *)(uintptr_t)(REMAP_AT + p * PAGE), 0, PAGE);
		if (!hostile_copy(h, LOOT_VA, AIM_VA + p * PAGE, PAGE, RUN_MS) ||
		    memcmp((void *)(uintptr_t)(REMAP_AT + p * PAGE), h->loot, PAGE))
			wrong++;
	}
	report(!wrong,
	       "after %u times of memory going away and coming back copies reach it (%u channels ended, %u pages wrong)",
	       i, ended, wrong);
	report(hostile_alive(h), "own work runs");
}

/* ------------------------------------------------------------------ what others left */

/*
 * Look at a page of each 64 KiB of the video memory that was given to us. Run this on a vGPU whose
 * last guest was "victim", which wrote marks to these pages but those of the first quarter.
 */
void hostile_stale(struct hostile *h)
{
	uint64_t addr, pages = 0, dirty = 0;
	unsigned int i;

	for (addr = 0; addr < h->vram; addr += LOOK_STEP, pages++) {
		volatile uint32_t *w = look_at(h, addr, !addr);

		for (i = 0; i < PAGE / 4 && !w[i]; i++)
			;
		dirty += i < PAGE / 4;
	}
	report(!dirty,
	       "video memory is zeroed when it is given to us (%lu pages looked at, %lu not zero)",
	       (unsigned long)pages, (unsigned long)dirty);
}

/* ----------------------------------------------------------------- the one that must not notice */

enum { VICTIM_COPY = 8192 };

#define TELL_NS 5000000000ull /* ns between two reports of progress */

static uint64_t word64(volatile uint32_t *w)
{
	return w[0] | (uint64_t)w[1] << 32;
}

static uint64_t check_marks(struct hostile *h, uint64_t from)
{
	uint64_t addr, wrong = 0;
	unsigned int i;

	for (addr = from; addr < h->vram; addr += LOOK_STEP) {
		volatile uint32_t *w = look_at(h, addr, addr == from);

		for (i = 0; i < PAGE / 4; i += 16)
			wrong += word64(w + i) != VICTIM_MARK || word64(w + i + 2) != addr;
	}
	return wrong;
}

static void write_marks(struct hostile *h, uint64_t from)
{
	uint64_t addr;
	unsigned int i;

	for (addr = from; addr < h->vram; addr += LOOK_STEP) {
		volatile uint32_t *w = look_at(h, addr, addr == from);

		for (i = 0; i < PAGE / 4; i += 2) {
			uint64_t v = i % 16 ? addr : VICTIM_MARK;

			w[i] = v;
			w[i + 1] = v >> 32;
		}
		(void)w[0]; /* the writes must arrive before PRAMIN moves */
	}
}

/*
 * Write marks to a page of each 64 KiB of our video memory but its first quarter, copy and verify
 * until told to stop or a copy is lost, then check the marks.
 */
void victim(struct hostile *h)
{
	enum { BACK_VA = LOOT_VA + VICTIM_COPY };
	struct bare_gpu *g = &h->gpu;
	uint64_t rounds = 0, wrong = 0, lost = 0, vram, off, longest = 0, start, told;
	uint64_t from = h->vram / 4;

	write_marks(h, from);
	hostile_restart(h);
	vram = bare_vram(g, VICTIM_COPY, PAGE);
	for (off = 0; off < VICTIM_COPY; off += PAGE)
		bare_space_map(g, &h->space, AIM_VA + off, BARE_VRAM, vram + off);
	bare_tlb_invalidate(g, BARE_VRAM, h->space.pdb);
	printf("READY\n");
	told = bare_now_ns(g);
	while (!told_to_stop() && !lost) {
		pattern_fill(h->loot, VICTIM_COPY, rounds);
		memset(h->loot + VICTIM_COPY, 0, VICTIM_COPY);
		start = bare_now_ns(g);
		bare_copy(&h->chan, LOOT_VA, AIM_VA, VICTIM_COPY, 0);
		bare_copy(&h->chan, AIM_VA, BACK_VA, VICTIM_COPY, 0);
		lost += !bare_run(&h->chan, 20000);
		off = bare_now_ns(g);
		longest = off - start > longest ? off - start : longest;
		wrong += memcmp(h->loot, h->loot + VICTIM_COPY, VICTIM_COPY) != 0;
		rounds++;
		if (off - told > TELL_NS) {
			told = off;
			printf("ROUNDS: %lu\n", (unsigned long)rounds);
		}
	}
	report(!lost, "no copy was lost in %lu rounds", (unsigned long)rounds);
	report(!wrong, "every byte was right (%lu rounds wrong)", (unsigned long)wrong);
	wrong = check_marks(h, from);
	report(!wrong, "nobody wrote to our video memory (%lu marks changed)",
	       (unsigned long)wrong);
	report_info("the longest round took %lu us", (unsigned long)(longest / 1000));
}
