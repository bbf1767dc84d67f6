// SPDX-License-Identifier: GPL-2.0-only
/*
 * Channels, their groups (TSGs) and lists: what a channel uses is exchanged or freed when it is off
 * the chip (S1, S2), the chip's list has what guests submit, nobody else pays or waits (S4 to S6).
 */
#include "gk110/bar.h"
#include "gk110/ce.h"
#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "gk110/pmc.h"
#include "gk110/ram.h"
#include "selftests/module/harness/steps.h"
#include "selftests/module/harness/work.h"

#include <linux/bitfield.h>

#define G	   V(0)
#define NEIGHBOUR  V(1)
#define MOST_CHANS 63
#define VA_CTX	   0x40000ull /* where the guest has a context */

/* Channels 2 to .arg[0] run, too. No vGPU has work: all are on the chip. */
static void more(const struct scene *s)
{
	u32 i;

	for (i = 2; i <= s->arg[0]; i++)
		g_run(G, i);
	for (i = 0; i < s->vgpus; i++)
		g_ring(V(i), 1, 0);
	harness_sleep(200 * MS);
}

/* ------------------------------------------------------------- a channel gets another space */

/*
 * A preempt of channel 1 ends at once, and a unit has the channel for 20 ms more, by its own status
 * only. Meanwhile the guest gives it another space, or unbinds it. The oracle looks all the time.
 */
enum { PBDMA_HAS, GR_HAS, COPIES_HAVE };
static u16 somewhere;

/* clang-format off */
STEP(is_only_on)
{
	struct context *on[] = { &chip.pbdma[0], &chip.engine[0], &chip.engine[1] };
	struct context had = chip.pbdma[0];
	had.id = CHIP_NOBODY;
	somewhere = id_of(i, a);
	for (c = 0; c < 3; c++)
		on[c]->chid = NO_CHAN;
	*on[b] = had;
	if (b == COPIES_HAVE)
		chip_switch(somewhere, 20 * MS);
	scene_count[0] = 1;
	return true;
}
STEP(waits) { UNTIL(scene_count[0]); return true; }
STEP(leaves)
{
	chip.pbdma[0].chid = chip.engine[0].chid = chip.engine[1].chid = NO_CHAN;
	return true;
}
STEP(stays_ended) { return ASK(!chip.chan[somewhere].enabled); }
/* clang-format on */

/* ------------------------------------------------------------------ groups */

/*
 * The chip knows channels of a group by the group's name, and loads any of them. So all are
 * disabled when the host preempts the group or unbinds one of them.
 */
static u16 members[2];

static void rests(u32 reg, u32 val)
{
	if (reg != PFIFO_PREEMPT && reg != PCCSR_INST(members[1]))
		return;
	scene_count[0]++;
	FAIL_ON(chip.chan[members[0]].enabled || chip.chan[members[1]].enabled ||
			(reg != PFIFO_PREEMPT && chip_loaded(members[0])),
		"S2: register 0x%x is written, and the group may run", reg);
}

static u64 was;
#define DIRECTORY (*(u64 *)chip_vram(chip.chan[members[0]].inst + GMMU_INST_PDB_LO))

/* clang-format off */
STEP(must_rest)
{
	members[0] = id_of(0, 1);
	members[1] = id_of(0, 2);
	harness_sleep(20 * MS);
	was = DIRECTORY;
	chip_before_write = rests;
	return true;
}
/* channel 1 does, with .a in another space */
STEP(goes_on) { return ASK(chip.chan[members[0]].enabled && (!a || DIRECTORY != was)); }
/* until the channel of its group is ended */
STEP(copies_storm)
{
	chip.copies_tsg = true;
	chip_copies(admin_chan(i, a).tsg, NEVER);
	for (b = 0; b < 4000 && admin_chan_lives(i, a); b++) {
		chip_copy_raise(2, 0);
		UNTIL(!chip_copy_raised());
	}
	return true;
}
STEP(is_ended) { UNTIL(!admin_chan_lives(i, a)); return true; }
/* clang-format on */

/*
 * The interrupt thread has read a group's id from a copy engine's status, and gets no CPU for
 * 10 ms. Meanwhile the group goes, and a neighbour's group gets its id.
 */
static bool has_read;
static u32 reads_left; /* so many of the status are to come */

static void reads_late(u32 reg)
{
	if (reg != PFIFO_ENGINE_STATUS(3) || !reads_left || --reads_left)
		return;
	has_read = true;
	chip.copying_until = chip.switch_until = 0;
	harness_sleep(10 * MS);
}

static int tsg;
STEP(reads_id_late)
{
	tsg = admin_chan(0, 1).tsg;
	chip.copies_tsg = true;
	irq_has_read = reads_late;
	reads_left = a;
	return true;
}
STEP(copy_fails)
{
	chip_copies(tsg, harness_now + 1000 * MS);
	chip_copy_raise(GK110_CE_INTR_LAUNCHERR, 8);
	UNTIL(has_read);
	return true;
}
/* clang-format off */
STEP(switch_stays) { chip_switch(tsg, 1000 * MS); chip_alarm(); UNTIL(has_read); return true; }
STEP(has_its_id) { return ASK(admin_chan(i, 1).tsg == tsg); }
/* clang-format on */

/* Interrupts of an idle unit, for which the interrupt thread sleeps again and again. */
static bool calm;

static void idle_unit(void *arg)
{
	for (; scene_goes_on(); harness_sleep(20 * US))
		if (!calm)
			chip_pbdma_raise(1, CHIP_NOBODY, PBDMA_INTR0_DEVICE);
}

/* clang-format off */
STEP(idle_storm) { task_new("an idle unit", idle_unit, NULL); return true; }
/* clang-format on */

/* ------------------------------------------------------------------ lists */

/*
 * The chip's list in the guests' names: "2:" a group's header with its count, "1/3" vGPU 1's. The
 * host's own channel has no name. The host must know each channel by the name that the chip has
 * for it, or can't drive it off.
 */
static const char *listed(u32 runl)
{
	static char text[1000], name[KVGPU_MAX_CHAN][8];
	int tsg[KVGPU_MAX_CHAN], group = -1;
	u32 left = 0, id, i, v, c;
	typeof(*chip.list) list = chip.list[runl];
	struct admin_chan ac;
	char *at = text;

	for (v = 0; v < scene->vgpus; v++)
		for (c = 1; c <= 6; c++) {
			ac = admin_chan(v, c);
			if (ac.bound) {
				sprintf(name[ac.id], v ? " %u/%u" : "%.0u %u", v, c);
				tsg[ac.id] = ac.tsg;
			}
		}
	for (*at = 0, i = 0; i < list.nr; i++) {
		id = FIELD_GET(RUNLIST_ID, list.entry[i]);
		if (list.entry[i] & RUNLIST_TSG) {
			group = id;
			left = FIELD_GET(RUNLIST_TSG_COUNT, list.entry[i]);
			at += sprintf(at, " %u:", left);
			continue;
		}
		FAIL_ON(*name[id] && tsg[id] != (left ? group : -1),
			"S1: the host has channel%s in another group", name[id]);
		left -= !!left;
		at += sprintf(at, *name[id] ? "%s" : " host", name[id]);
	}
	return text + !!*text;
}

/* clang-format off */
/* .a: the text. .b: the runlist. A channel of a list that is blocked is not loaded. */
STEP(is_listed)
{
	const char *want = (const char *)a;
	FAIL_ON(strcmp(listed(b), want), "S5: the chip's list has \"%s\", and not \"%s\"",
		listed(b), want);
	g_preempt(G, false, 1);
	FAIL_ON(!b && !*want && !chip.manners.lone_ce && chip_loaded(id_of(0, 1)),
		"S4: a runlist is blocked, and a channel is loaded from it");
	return true;
}
#define LISTED(text) { is_listed, (u64)(text) }
#define LISTED_FOR_COPIES(text) { is_listed, (u64)(text), 1 }
/* clang-format on */

/* While the host writes a neighbour's list, channel 2 faults, and its guest submits it again. */
static void chip_takes_long(u32 reg, u32 val)
{
	if (reg != PFIFO_RUNLIST_SUBMIT || scene_count[0])
		return;
	scene_count[0] = 1 + chip_fault_now(id_of(0, 2));
	harness_sleep(2 * MS);
}

/* All vGPUs together may not list more than the chip takes: it fails the run. */
static void too_long(const struct role *r)
{
	struct world_vgpu *g;
	u32 i;

	for (g = world.vgpu; g < world.vgpu + scene->vgpus; g++) {
		for (i = 0; i < KVGPU_MAX_CHAN; i++)
			g_store64(g, 0xd00000 + i * RUNLIST_ENTRY_SIZE, 1);
		g_write(g, PFIFO_RUNLIST_BASE, 0xd00000 >> 12);
		g_write(g, PFIFO_RUNLIST_SUBMIT, KVGPU_MAX_CHAN - 1);
		FAIL_ON(!strstr(debugfs_text(dev_name(&g->mdev->dev), "faults"), "too long, cut"),
			"S5: a guest is not told that its list is cut");
	}
}

/* scene_count[]: how many blocks of eight channel ids a vGPU gets */
static void binds_all(const struct role *r)
{
	u32 v, c;

	for (v = 0; v < scene->vgpus; v++)
		for (c = 1; c < KVGPU_MAX_CHAN; c += 8, scene_count[v]++) {
			g_inst_at(V(v), 0x400000, G_USERD(1), 0, 0);
			g_bind_at(V(v), c, 0x400000);
			if (!admin_chan(v, c).bound)
				break;
		}
	FAIL_ON(scene_count[3] < 8 || scene_count[3] != scene_count[0],
		"S5: one vGPU has %llu blocks of channels, another one %llu", scene_count[0],
		scene_count[3]);
}

/* ------------------------------------------------------------------ how long it takes */

/*
 * All channels are unbound at once. scene_count[0]: by how many us that takes longer while the
 * interrupt thread sleeps again and again.
 */
enum { RESETS_PFIFO, RESETS_FUNCTION, CLOSES };

static u64 stop(u32 how)
{
	u64 began;

	NEEDS(G->open || world_open(0, setup_c));
	g_write(G, PMC_ENABLE, ~0u);
	setup_run(0, 1, 0);
	work_chans(0, 2, MOST_CHANS);
	scene_count[1] += admin_chan_lives(0, MOST_CHANS);
	calm = scene_count[1] == 1;
	harness_sleep(300 * MS);
	began = harness_now;
	if (how == RESETS_PFIFO)
		g_write(G, PMC_ENABLE, 0);
	else if (how == RESETS_FUNCTION)
		world_reset(0);
	else
		world_close(0);
	return harness_now - began;
}

static void stops(const struct role *r)
{
	u64 alone = stop(r->arg), beside = stop(r->arg);

	scene_count[0] = beside > alone ? (beside - alone) / US : 0;
	scene_stop();
	harness_sleep(MS);
}

/*
 * A guest resets GR while its channels hang, one after the other: the chip loads the next one when
 * the end of one is done. scene_count[0]: ms
 */
static void chip_loads_the_next(u32 reg, u32 val)
{
	u32 c;

	for (c = 1; reg == PFIFO_RUNLIST_ERROR && c <= scene->arg[0] && !chip_is_stuck(); c++)
		scene_count[1] += chip_hang(id_of(0, c), false);
}

static void resets_gr(const struct role *r)
{
	u64 began;

	LIST(G, 1, 2, 3, 4, 5);
	UNTIL(chip_hang(id_of(0, 1), false));
	chip_before_write = chip_loads_the_next;
	began = harness_now;
	g_write(G, PMC_ENABLE, (u32)~PMC_ENABLE_GR);
	scene_count[0] = (harness_now - began) / MS;
}

/* ------------------------------------------------------------------ reads that go wrong */

/*
 * Channels are unbound that a PBDMA has and that wait for GR, and reads of registers fail now and
 * then: the code for that is no status, and is not written back as the channel's runlist.
 */
static void unbinds_while_reads_fail(const struct role *r)
{
	static const struct chip_manners wrong = { .error_ppm = 150000 };
	struct context first;

	for (; scene_count[0] < 60 && !admin_read(CARD, "lost"); scene_count[0]++) {
		g_run(G, 2);
		LIST(G, 1, 2);
		chip_load_on_gr(id_of(0, 1));
		first = chip.pbdma[0];
		chip_load_some(0, id_of(0, 2));
		chip.engine[0] = first;
		chip.manners = wrong;
		g_unbind(G, 2);
		chip_look("after the unbind");
		chip.manners = scene->chip;
	}
}

STEP(is_on)
{
	UNTIL(chip_loaded(id_of(i, a)));
	chip_look("the chip has seen the page");
	return true;
}
/* clang-format off */
STEP(fills_queue) { chip_mem_ops(id_of(i, a)); return true; }
STEP(reads_ones) { chip.ones = a; return true; }
STEP(all_read) { chip_look("after the unmap"); return ASK(!chip.ones); }
/* clang-format on */

/* ------------------------------------------------------------------ who waits for whom */

enum { LISTS = 1, FLUSHES = 2, TABLES = 4, PREEMPTS = 8, HOLDS = 16, GROUPS = 32 };
#define EVERY(us) ((us) << 8)

static void act(u32 vgpu, u32 what, u32 i)
{
	struct world_vgpu *g = V(vgpu);

	if (what & LISTS)
		g_list(g, (u64[]){ 1, 2 }, 1 + i % 2);
	if (what & GROUPS) { /* and drops one */
		LIST(g, TSG(5, 1), 1);
		LIST(g, 1);
	}
	if (what & FLUSHES)
		g_write(g, FLUSH_L2_DIRTY, FLUSH_TRIGGER);
	if (what & TABLES) {
		g_map_vram(g, 0, 20 + i % 8, G_DATA);
		g_tlb(g, 0);
	}
	if (what & HOLDS) { /* work that can't be preempted for 1.9 s */
		UNTIL(chip_hold(g_hchid(g, 1), 1900 * MS));
		harness_sleep(MS);
	}
	if (what & (HOLDS | PREEMPTS))
		g_preempt(g, false, 1);
}

static void attacker(const struct role *r)
{
	u32 i;

	harness_sleep(300 * MS);
	for (i = 0; scene_goes_on() && i < scene->arg[1]; i++)
		act(r->vgpu, r->arg, i);
	scene_stop();
}

/* scene_count[0]: most us that a command takes; [1]: commands */
static void neighbour(const struct role *r)
{
	u64 began;

	while (scene_goes_on()) {
		harness_sleep((r->arg >> 8) * US);
		began = harness_now;
		act(r->vgpu, r->arg & 0xff, scene_count[1]++);
		scene_count[0] = max(scene_count[0], (harness_now - began) / US);
	}
}

/* The neighbours have no work, and all tables are made. */
static void are_idle(const struct scene *s)
{
	struct policy quiet = { .seed = 1 };
	u32 v, i;

	harness_policy(&quiet);
	for (v = 0; v < s->vgpus; v++) {
		g_ring(V(v), 1, !v);
		for (i = 0; i < 8; i++)
			act(v, TABLES, i);
	}
	harness_sleep(50 * MS);
	harness_policy(&s->policy);
}

/*
 * A kernel of vGPU 2, whose ring is empty, is put off for a moment when others get work: it must
 * not count as done. scene_count[0]: the vGPU's thousandths of the GPU
 */
static void is_put_off(const struct role *r)
{
	u16 first = id_of(0, 1), id = id_of(2, 1);
	u32 i, all = 25000;

	g_ring(V(2), 1, 1);
	g_write(V(2), PFIFO_RUNLIST_SUBMIT, 1);
	UNTIL(chip_engine_works(id));
	chip.at_work[id] = true;
	g_ring(V(2), 1, 0);
	harness_sleep(20 * MS);
	g_ring(G, 1, 1);
	chip.pbdma[0].chid = chip.engine[0].chid = NO_CHAN;
	chip_load_some(0, first);
	for (i = 0; i < 2; i++, harness_sleep(10 * US)) {
		g_ring(V(i), 1, 1);
		g_write(V(i), PFIFO_RUNLIST_SUBMIT, 1);
	}
	for (i = 0; i < all; i++, harness_sleep(20 * US))
		scene_count[1] += chip_engine_works(id);
	scene_count[0] = scene_count[1] * 1000 / all;
}

/* clang-format off */

#define IDLES  { .eager = true, .late = 1, .idles = true }
#define LOOKS  { .late = 1, .look_ppm = 200000 }
#define RESTLESS { .eager = true, .load_ppm = 2000, .late = 1, .idles = true }
/* A VMM's lazy thread goes on so much later when it has slept; PREEMPTED: it stops anywhere. */
#define LATE(us)      { .idle_ns = (us) * US, .oversleep_ns = 5000 }
#define PREEMPTED(us) \
	{ .seed = 5, .idle_ns = (us) * US, .delay_ppm = 100000, .delay_ns = (us) * US }

/* Channel 1 gets space 1, beside a role; .first: the list */
#define RACE(n, list, other, ...) \
	{ n, 1, .interleaved = true, .first = STEPS({ space, 1 }, { vram, 1, 16, G_DATA }, \
						    { runs, 2 }, { lists, list }), \
	  .roles = { PLAYS(0, __VA_ARGS__), other } }
#define MEMORY_GOES PLAYS(0, { ram_goes })
#define INVALIDATES PLAYS(0, { tlb }, { none, 0, 17 }, { tlb })
#define GETS_SPACE  { inst, 1, 1 }, { enables, 1 }
#define SOMEWHERE(n, unit, ...) \
	{ n, 1, LOOKS, .roles = { PLAYS(0, { loads, 1 }, { is_only_on, 1, unit }, { inst, 1, 1 }, \
					__VA_ARGS__, { stays_ended }), \
				  PLAYS(0, { waits }, { sleeps, 20 * MS }, { leaves }) }, \
	  .must = { { &m_lives, 0, IS(0), "S5: a channel that does not leave goes on" } } }
#define CHANGES(n, ...) { n, 1, IDLES, \
	  .roles = { PLAYS(0, { inst, 2 }, { binds, 2 }, { lists, ENTRIES(TSG(5, 2), 1, 2) }, \
			   __VA_ARGS__) }, \
	  .must = { { &m_count, 0, AT_LEAST(1), "the group is not preempted" }, \
		    { &m_lives, 0, IS(1), "S5: a channel of a group that changes" } } }
/*
 * Channel 1 of group 5 has faulted and stays bound. Channel 2 is listed in the group in its place,
 * and does what must end it.
 */
#define DEAD(n, ...) { n, 2, IDLES, \
	  .roles = { PLAYS(0, { lists, ENTRIES(TSG(5, 1), 1) }, __VA_ARGS__, \
			   { lives, 1, 0 }, { lives, 2, 0 }, { loaded, 2, 0 }) }, \
	  .must = { { &m_strikes, 0, 1, 2, "S6: a channel of a group goes on" } } }
#define ONE_DIED { faults, 1 }, { is_ended, 1 }, { runs, 2 }, \
	{ lists, ENTRIES(TSG(5, 1), 2) }, { rings, 2, 1 }
/* ... which tells of group 5 by so many reads. Then the group goes, and a neighbour's has its id */
#define NEXT_OWNER(n, times, what, ...) { n, 2, CALM, \
	  .roles = { PLAYS(0, { lists, ENTRIES(TSG(5, 1), 1) }, { reads_id_late, times }, \
			   { what }, __VA_ARGS__, { lists, ENTRIES(TSG(5, 1), 1), .i = 1 }, \
			   { sleeps, 20 * MS }, { has_its_id, .i = 1 }, \
			   { reads, GK110_CE(2) + GK110_CE_LAUNCHERR, .i = 1 }, \
			   { reads, GK110_CE(2) + GK110_CE_INTR, .i = 1 }) }, \
	  .must = { { &m_lives, 1, IS(1), "S5: a neighbour pays for a group before its own" } } }
/* a card with a copy engine that has a runlist for itself */
#define COPIES(n, ...) \
	{ n, 1, { .late = 1, .lone_ce = true }, .roles = { PLAYS(0, __VA_ARGS__) } }
#define LISTS_OF(n, v, ...) \
	{ n, v, EAGER, .arg = { 6 }, .before = more, .roles = { PLAYS(0, __VA_ARGS__) } }
#define STOP(n, a) { n, 1, { .idles = true }, COARSE, .ms = 60000, \
	  .roles = { { stops, 0, a }, PLAYS(0, { idle_storm }) }, \
	  .must = { { &m_count, 0, AT_MOST(20000), "S5: channels are unbound beside interrupts" }, \
		    { &m_count, 1, IS(2), "not so many channels" }, \
		    { &m_strikes, 0, IS(0), "S5: a stop beside interrupts" } } }
/*
 * A page is unmapped while a channel has filled the MMU's queue, which loses what the host asks
 * for then, or while FB_MMU_CTRL reads all ones, as if the bus lost the reads (S2).
 */
#define PAGE_GOES(n, ...) { n, 1, { .eager = true }, \
	  .roles = { PLAYS(0, { is_on, 1 }, __VA_ARGS__, { ram_goes }, { all_read }) } }
/* most us of a command of the neighbour's; the attacker acts so many times */
#define WAITS(n, v, most, times, ...) \
	{ n, v, .ms = 60000, .arg = { 0, times }, .before = are_idle, \
	  .must = { { &m_count, 0, AT_MOST(most), "S5: a neighbour waits" }, \
		    { &m_count, 1, AT_LEAST(3), "the neighbour does too little" }, \
		    { &m_lives, 1, IS(1), "S5: a neighbour's channel" } }, __VA_ARGS__ }
#define ALL (LISTS | FLUSHES | TABLES)
#define STARVES(n, ...) WAITS(n, 2, 50000, 3, .chip = RESTLESS, .policy = __VA_ARGS__, \
	  .roles = { { attacker, 0, ALL, true }, { neighbour, 1, ALL | EVERY(1000) } })

static const struct scene table[] = {
	RACE("an enabled channel is enabled, memory goes", ENTRIES(2, 1), MEMORY_GOES, GETS_SPACE,
	     { tlb }),
	RACE("an enabled channel is enabled beside invalidates", ENTRIES(2, 1), INVALIDATES,
	     GETS_SPACE, { tlb }),
	RACE("a loaded channel is listed, memory goes", ENTRIES(2), MEMORY_GOES, { inst, 1, 1 },
	     { lists, ENTRIES(1, 2) }, { tlb }),
	RACE("a group changes, memory goes", ENTRIES(2, 1), MEMORY_GOES, { inst, 2, 1 },
	     { lists, ENTRIES(TSG(5, 2), 1, 2) }, { enables, 2 }, { preempts, 5, true },
	     { lists, ENTRIES(2, 1) }, { tlb }),
	RACE("a channel is unbound beside invalidates", ENTRIES(2, 1), INVALIDATES, GETS_SPACE,
	     { is_anew, 1 }, { tlb }),
	RACE("a guest is reset, memory goes", ENTRIES(2, 1), MEMORY_GOES, GETS_SPACE, { resets }),
	SOMEWHERE("a PBDMA has a channel that gets a space", PBDMA_HAS, { enables, 1 }),
	SOMEWHERE("GR has a channel that gets a space", GR_HAS, { enables, 1 }),
	SOMEWHERE("a copy engine has a channel that gets a space", COPIES_HAVE, { enables, 1 }),
	SOMEWHERE("a PBDMA has a channel that is unbound", PBDMA_HAS, { unbinds, 1 }),
	SOMEWHERE("GR has a channel that is unbound", GR_HAS, { unbinds, 1 }),
	CHANGES("a channel of a group gets another space", { enables, 2 }, { must_rest },
		GETS_SPACE, { goes_on, true }),
	CHANGES("a channel of a group is unbound", { enables, 2 }, { must_rest }, { unbinds, 2 },
		{ goes_on }),
	CHANGES("a channel of a group is unbound that never ran", { must_rest }, { unbinds, 2 },
		{ goes_on }),
	/* the guest's preempt is for the one that runs, though the first one never has */
	{ "a group is preempted whose first never ran", 1, BUSY,
	  .roles = { PLAYS(0, { inst, 2 }, { binds, 2 }, { runs, 3 },
			   { lists, ENTRIES(TSG(5, 2), 2, 3) }, { loads, 3 }, { disables, 3 },
			   { preempts, 5, true }, { loaded, 3, 0 }, { lives, 3, 1 }) } },
	DEAD("a storm beside a dead channel", ONE_DIED, { copies_storm, 2 },
	     { sleeps, 3000 * MS }),
	DEAD("a hang beside a dead channel", ONE_DIED, { hangs, 2 }, { sleeps, 3000 * MS }),
	DEAD("a preempt beside a dead channel", ONE_DIED, { hangs, 2 }, { preempts, 5, true }),
	DEAD("a hang ends its group", { runs, 2 }, { lists, ENTRIES(TSG(5, 2), 2, 1) },
	     { rings, 2, 1 }, { hangs, 1 }, { sleeps, 3000 * MS }),
	NEXT_OWNER("a failed copy and the next group of its id", 1, copy_fails,
		   { lists, ENTRIES(1) }),
	NEXT_OWNER("a switch that does not end and the next group of its id", 11, switch_stays,
		   { lists, ENTRIES(1) }),
	NEXT_OWNER("a closed vGPU's copy and the next group of its id", 1, copy_fails, { closes },
		   { unmakes }),
	WAITS("beside groups that are dropped", 2, 300, 50, .chip = CALM, .policy = COARSE,
	      .roles = { { attacker, 0, GROUPS }, { neighbour, 1, LISTS | EVERY(50) },
			 PLAYS(0, { idle_storm }) }),

	LISTS_OF("channels are listed in the guest's order", 1, { lists, ENTRIES(4, 100, 2, 3) },
		 LISTED("4 2 3"), { unbinds, 2 }, LISTED("4 3"), { binds, 2 }, LISTED("4 2 3")),
	LISTS_OF("a group has the members that are bound", 1,
		 { lists, ENTRIES(TSG(7, 3), 1, 100, 2, TSG(9, 2), 101, 102, 3) },
		 LISTED("2: 1 2 3"), { unbinds, 1 }, LISTED("1: 2 3")),
	LISTS_OF("a group is listed once", 1,
		 { lists, ENTRIES(TSG(7, 1), 1, TSG(7, 2), 2, 3, TSG(8, 1), 4, TSG(7, 1), 5, 6) },
		 LISTED("1: 1 1: 4 6"), { lists, ENTRIES(TSG(7, 2), 2, 3) }, LISTED("2: 2 3")),
	LISTS_OF("a runlist is blocked", 1, { lists, ENTRIES(1, 2) }, LISTED("1 2"),
		 { writes, PFIFO_RUNLIST_BLOCK, 1 }, LISTED(""),
		 { writes, PFIFO_RUNLIST_BLOCK, 0 }, LISTED("1 2")),
	COPIES("a channel with a context is on GR's list", LISTED(""), LISTED_FOR_COPIES("1"),
	       { inst, 1, 0, VA_CTX }, { enables, 1 }, LISTED("1"), LISTED_FOR_COPIES(""),
	       { inst, 1 }, { enables, 1 }, LISTED(""), LISTED_FOR_COPIES("1")),
	COPIES("a group is on GR's list", { lists, ENTRIES(TSG(5, 1), 1) }, LISTED("1: 1"),
	       LISTED_FOR_COPIES(""), { lists, ENTRIES(1) }, LISTED(""), LISTED_FOR_COPIES("1")),
	COPIES("both lists are blocked", { inst, 2, 0, VA_CTX }, { binds, 2 }, { enables, 2 },
	       { lists, ENTRIES(1, 2) }, LISTED("2"), LISTED_FOR_COPIES("1"),
	       { writes, PFIFO_RUNLIST_BLOCK, 1 }, LISTED(""), LISTED_FOR_COPIES(""),
	       { writes, PFIFO_RUNLIST_BLOCK, 0 }, LISTED("2"), LISTED_FOR_COPIES("1")),
	LISTS_OF("the lists of two vGPUs", 2, { lists, ENTRIES(1, 3, 5) }, LISTED("1 3 5 1/1")),
	/* a fault ends the channel's group */
	{ "a list is submitted while its channel faults", 2, CALM, .arg = { 6 }, .before = more,
	  .roles = { PLAYS(0, { lists, ENTRIES(1, TSG(7, 2), 2, 4, 3) }, { loads, 2 },
			   { before_write, (u64)chip_takes_long }, { lists, ENTRIES(1), .i = 1 }),
		     PLAYS(0, { waits }, { sleeps, MS },
			   { lists, ENTRIES(1, TSG(7, 2), 2, 4, 3) }, { sleeps, 5 * MS },
			   LISTED("1 3 1/1")) },
	  .must = { { &m_count, 0, IS(2), "the channel does not fault" } } },
	{ "no longer than the chip takes", 4, EAGER, .before = more, .roles = { { too_long } } },
	{ "channel ids are shared", 4, CALM, .roles = { { binds_all } } },

	STOP("a reset of PFIFO", RESETS_PFIFO),
	STOP("a function level reset", RESETS_FUNCTION),
	STOP("a close", CLOSES),
	{ "channels hang one after the other", 1, { .late = 8 }, .arg = { 5 }, .before = more,
	  .roles = { { resets_gr } },
	  .must = { { &m_count, 0, AT_MOST(6500), "S6: a command that ends channels" },
		    { &m_count, 1, AT_LEAST(3), "too few channels hang" } } },
	{ "unbinds while reads fail", 1, {}, .may_lose = true,
	  .roles = { { unbinds_while_reads_fail } },
	  .must = { { &m_count, 0, AT_LEAST(5), "the card is lost too soon" } } },
	PAGE_GOES("the MMU's queue is full", { fills_queue, 1 }),
	PAGE_GOES("19 reads of all ones", { reads_ones, 19 }),

	STARVES("a thread is not run", LATE(2000000)),
	STARVES("a thread is preempted", PREEMPTED(2000000)),
	{ "a thread is preempted for a minute", 1, EAGER, PREEMPTED(60000000), .ms = 600000,
	  .arg = { 0, 1 }, .roles = { { attacker, 0, ALL, true } } },
	WAITS("beside a long preempt, run late", 2, 40000, 2, .chip = BUSY, .policy = LATE(1500),
	      .roles = { { attacker, 0, HOLDS }, { neighbour, 1, PREEMPTS | EVERY(5000), true } }),
	WAITS("beside three that submit, run very late", 4, 100000, 2000,
	      .chip = { .eager = true, .late = 10 }, .policy = LATE(6000),
	      .roles = { { neighbour, 1, LISTS | EVERY(5000), true }, { attacker, 0, LISTS },
			 { attacker, 2, LISTS }, { attacker, 3, LISTS } }),
	{ "a kernel is put off", 3, PLAIN(),
	  COARSE, .before = more, .roles = { { is_put_off } },
	  .must = { { &m_count, 0, AT_LEAST(290), "S5: a third is its share" } } },
};

/* clang-format on */

SCENES(table)
