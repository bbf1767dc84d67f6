// SPDX-License-Identifier: GPL-2.0-only
/*
 * A VMM takes memory back that its guests have pinned. VFIO's container asks ten times again for
 * one mapping, then it hits a BUG_ON(). iommufd asks 100 times for areas, then it warns (S6; the
 * stand-ins fail there). Guests that were kept from pinning meanwhile pin again afterwards (S5).
 */
#include "selftests/module/harness/kernel/services.h"
#include "selftests/module/harness/steps.h"

#define G	 V(0)
#define RAM	 SETUP_RAM
#define SECOND	 (1000 * MS)
#define AREA(i)	 (0x10000000ull + (i)*scene->arg[1] * PAGE_SIZE)
#define NR_AREAS (scene->arg[0])

static const struct policy quiet = { .seed = 1 };
static const struct policy starved = { .delay_ppm = 1000000, .delay_ns = 1000 * SECOND };
static bool asked;
static u32 attached;

MEASURE(rounds, "rounds", container_most_rounds, VALUE);

/* Map the memory where it is not mapped, and let all guests use it. */
static void pin_again(const struct scene *s)
{
	u32 i;

	container_map(setup_c, RAM, 0, RAM);
	for (i = 0; i < s->vgpus; i++) {
		g_map_sys(V(i), 0, 16, RAM + i * 0x1000);
		g_map_sys(V(i), 0, 17, RAM + 0x80000);
		g_tlb(V(i), 0);
	}
	harness_sleep(30 * MS); /* what was put off is done */
	FAIL_ON(container_pins(setup_c) != 2 * s->vgpus, "S5: %u vGPUs pin %u pages after an unmap",
		s->vgpus, container_pins(setup_c));
}

/* ------------------------------------------------------------------ a container */

/* .arg: by iommufd */
static void unmaps(const struct role *r)
{
	u32 i;

	for (i = 0; i < 2; i++, harness_sleep(MS)) {
		FAIL_ON(r->arg ? ioas_unmap(setup_c, RAM, RAM) :
				 container_unmap(setup_c, RAM, RAM) != RAM,
			"S6: memory can't be taken back");
		world_check("memory was taken back");
		container_map(setup_c, RAM, 0, RAM);
	}
	scene_stop();
}

static void unmaps_another(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(MS / 2)) {
		container_map(setup_c, 4 * RAM, RAM, RAM);
		container_unmap(setup_c, 4 * RAM, RAM);
	}
}

static void invalidates(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(200 * US + harness_below(MS)))
		g_tlb(V(r->vgpu), 0);
}

static void reopens(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(harness_below(MS))) {
		world_close(0);
		harness_sleep(100 * US + harness_below(MS));
		setup_open(0); /* S5: a process can open its vGPU while it unmaps */
	}
}

/* vGPU 0 is opened when vGPU 1 may pin no more, and so was not asked before. */
static void opens_late(const struct role *r)
{
	world_close(0);
	for (; container_pins(setup_c); harness_sleep(MS / 10))
		g_tlb(V(1), 0);
	setup_open(0);
	invalidates(r);
}

/* .arg: how much. .vgpu: no file is left for the VMM, so the host has to make one */
static void unmaps_slowly(const struct role *r)
{
	files_full = r->vgpu;
	container_unmap(setup_c, RAM, r->arg);
	scene_stop();
}

/*
 * Whenever the slow thread has its answer, unmap the memory, and map it again, .arg further on: the
 * core's record of it may have the address of the old one.
 */
static void remaps(const struct role *r)
{
	u64 at = RAM;
	u32 i;

	for (i = 0; i < 16; i++) {
		UNTIL_OVER(MS / 10, !container_pins(setup_c));
		if (!scene_goes_on())
			return;
		container_unmap(setup_c, at, RAM);
		if (!r->arg)
			g_tlb(G, 0);
		at += r->arg;
		g_map_sys(G, 0, 16, at);
		g_map_sys(G, 0, 17, at + 0x80000);
		container_map(setup_c, at, 0, RAM);
		g_tlb(G, 0);
	}
}

static void two_pieces(const struct scene *s)
{
	container_unmap(setup_c, RAM, RAM);
	container_map(setup_c, RAM, 0, RAM / 2);
	container_map(setup_c, RAM + RAM / 2, RAM / 2, RAM / 2);
	container_map(setup_c, 8 * RAM, RAM, PAGE_SIZE);
	g_tlb(G, 0);
}

/* The thread that unmaps has its answer, and is not back yet. Other memory is not unmapped. */
/* clang-format off */
STEP(pins_are_gone) { UNTIL_IN(5000 * MS, MS / 10, !container_pins(setup_c)); return true; }
STEP(counts_pins) { scene_count[0] = container_pins(setup_c); return true; }
/* clang-format on */
#define MAPS_MEANWHILE                                                                         \
	PLAYS(0, { pins_are_gone }, { sys, 0, 16, 8 * RAM }, { sys, 0, 17, 8 * RAM }, { tlb }, \
	      { counts_pins })

/* The memory of a VMM that is killed never comes. */
static void is_killed(const struct role *r)
{
	u64 at;

	while (scene_goes_on())
		harness_sleep(MS);
	setup_c->slow_ns = 1000 * SECOND;
	at = harness_now;
	world_close(0);
	scene_count[0] = (harness_now - at) / MS;
	setup_c->slow_ns = 0;
}

/* Another VMM opens the vGPU as soon as it may, counts refusals, and its guest pins memory. */
static struct container *next_tenant(bool (*opens)(u32 vgpu, struct container *c))
{
	struct container *c = container_new();

	container_map(c, RAM, 0, RAM);
	task_mm_set(c->mm);
	for (; !opens(0, c); harness_sleep(SECOND / 100))
		scene_count[0]++;
	setup_run(0, 1, 0);
	FAIL_ON(container_pins(c) != 2, "S5: the next VMM's guest pins %u pages",
		container_pins(c));
	return c;
}

static void next_tenant_leaves(struct container *c)
{
	FAIL_ON(container_pins(c) != 2,
		"S5: the last VMM's unmap took the next tenant's memory off the GPU");
	world_close(0);
}

/* The kernel's answer to the VMM goes to memory of a server of the VMM's own. */
static void answer_waits(void)
{
	for (asked = true; !scene_count[0] && scene_goes_on();)
		harness_sleep(MS);
}

static void hands_over(const struct role *r)
{
	container_answer = answer_waits;
	UNTIL(asked);
	container_answer = NULL;
	world_close(0);
	next_tenant_leaves(next_tenant(world_open));
}

/* ------------------------------------------------------------------ iommufd */

static void by_iommufd(const struct scene *s)
{
	u32 i;

	for (i = 0; i < s->vgpus; i++) {
		world_close(i);
		NEEDS(world_open_ioas(i, setup_c));
		setup_run(i, 1, 0);
	}
}

/* Memory is .arg[0] areas, one in .arg[1] pages. */
static void map_areas(void)
{
	u32 i;

	for (i = 0; i < NR_AREAS; i++)
		container_map(setup_c, AREA(i), i * PAGE_SIZE, PAGE_SIZE);
}

/* vGPU 0 has pinned all areas, others are detached. */
static void pin_areas(const struct scene *s)
{
	u32 i, k;

	container_unmap(setup_c, RAM, RAM);
	map_areas();
	by_iommufd(s);
	for (k = 0; k < s->vgpus; k++) {
		for (i = 0; i < NR_AREAS; i++)
			g_map_sys(V(k), 0, 20 + i, AREA(i));
		g_tlb(V(k), 0);
		if (k)
			ioas_detach(world.vgpu[k].dev);
	}
	scene_count[0] = container_pins(setup_c);
}

static void unmaps_areas(const struct role *r)
{
	FAIL_ON(ioas_unmap(setup_c, AREA(0), AREA(NR_AREAS) - AREA(0)) || container_pins(setup_c),
		"S2: memory can't be taken back");
	scene_stop();
}

/* The thread waits where it is to take the vGPU's lock. */
static void ask_waits(void)
{
	for (asked = true; asked;)
		harness_sleep(US);
}

/* Each time that the thread waits, another vGPU pins what is left. */
static void takes_turns(const struct role *r)
{
	ioas_asks = ask_waits;
	for (; scene_goes_on(); harness_sleep(US)) {
		if (!asked)
			continue;
		ioas_detach(world.vgpu[attached].dev);
		attached = (attached + 1) % scene->vgpus;
		ioas_attach(world.vgpu[attached].dev);
		g_tlb(V(attached), 0);
		asked = false;
	}
}

static void areas_are_pinned(const struct scene *s)
{
	u32 k;

	map_areas();
	for (k = 0; k < s->vgpus; k++) {
		ioas_attach(world.vgpu[k].dev);
		g_tlb(V(k), 0);
	}
	FAIL_ON(container_pins(setup_c) != NR_AREAS * s->vgpus,
		"S5: %u pages are pinned afterwards", container_pins(setup_c));
}

/* The thread gets no CPU where it is to take the vGPU's lock. */
static void ask_never_comes(void)
{
	asked = true;
	harness_policy(&starved);
}

/* iommufd waits 60 s for that thread. Then the next VMM comes (.arg), and the vGPU is removed. */
static void closes_late(const struct role *r)
{
	struct container *c;

	ioas_asks = ask_never_comes;
	UNTIL(asked);
	harness_sleep(MS);
	world_close(0);
	harness_policy(&quiet);
	if (r->arg) {
		c = next_tenant(world_open_ioas);
		while (scene_goes_on())
			harness_sleep(SECOND);
		next_tenant_leaves(c);
	}
	task_mm_set(NULL);
	world_unmake(0);
}

/* clang-format off */
STEP(detaches) { ioas_detach(V(i)->dev); return true; }
STEP(pins_nothing) { return ASK(!container_pins(setup_c)); }
STEP(attaches_once) { return ASK(!ioas_attach(V(i)->dev) && ioas_attach(V(i)->dev) == -EBUSY); }
/* clang-format on */

/* ------------------------------------------------------------------ */

/* clang-format off */

#define RESTLESS { .eager = true, .load_ppm = 5000, .look_ppm = 2000, .late = 2 }
#define SLOW { .seed = 7, .delay_ppm = 1000000, .delay_ns = 40 * MS }
#define LATE(i) { .seed = 1000 + (i), .switch_ppm = 10000 + 20000 * (i), \
		  .delay_ppm = (i) ? 300000 : 60000, .delay_ns = 3 * MS << (i) }
#define END 1000000 /* the thread that unmaps ends a row */

/* At most two rounds, and one more for each vGPU that is opened meanwhile. */
#define ROUNDS { { &m_rounds, CARD, 1, 4, "S6: the core asks for the same memory again" } }
#define BESIDE(n, i, nr, ...) \
	{ n " (" #i ")", nr, RESTLESS, LATE(i), END,                                         \
	  .roles = { __VA_ARGS__, { unmaps, .lazy = true } }, .after = pin_again, .must = ROUNDS }
#define REMAPS(n, on, ...)                                                                 \
	{ n, 1, RESTLESS, SLOW, END, .roles = { __VA_ARGS__, { remaps, .arg = on } },          \
	  .after = pin_again, .must = ROUNDS }
#define AREAS(n, nr, stride, vgpus, ...)                                                   \
	{ n, vgpus, { .eager = true }, .ms = END, .arg = { nr, stride }, .before = pin_areas, \
	  .roles = { __VA_ARGS__ { unmaps_areas } }, .after = areas_are_pinned,            \
	  .must = { { &m_count, 0, IS(nr), "no such areas" } } }
#define NEXT(n, no_file)                                                                   \
	{ n, 1, { .late = 1 }, .ms = END, .before = two_pieces,                            \
	  .roles = { { hands_over }, { unmaps_slowly, no_file, RAM } },                    \
	  .must = { { &m_count, 0, AT_LEAST(1), "S5: a vGPU is opened that may not pin" } } }
#define RACE(n, one, ...) \
	{ n, 1, .before = by_iommufd, .interleaved = true, .roles = { one, __VA_ARGS__ }, \
	  .after = pin_again }
#define REMAPS_AT(at) { sys, 0, 20, at }, { tlb }, { none, 0, 16 }, { tlb }, { sys, 0, 16, RAM }, \
		      { none, 0, 20 }, { tlb }
#define GUEST_MAPS PLAYS(0, REMAPS_AT(RAM + 0x10000), REMAPS_AT(RAM + 0x20000), \
			 REMAPS_AT(RAM + 0x30000))
/* A device that is attached to nothing has pinned no page (S2). It is attached once (S6). */
#define DETACHES PLAYS(0, { detaches }, { pins_nothing }, { is_well }, { sleeps, 300 * US }, \
		       { tlb }, { is_well }, { attaches_once })

static const struct scene table[] = {
	BESIDE("two guests pin", 0, 2, { invalidates, 0 }, { invalidates, 1 }),
	BESIDE("two guests pin", 1, 2, { invalidates, 0 }, { invalidates, 1 }),
	BESIDE("two guests pin", 2, 2, { invalidates, 0 }, { invalidates, 1 }),
	BESIDE("two ranges at once", 1, 1, { invalidates }, { unmaps_another, .lazy = true }),
	BESIDE("two ranges at once", 2, 1, { invalidates }, { unmaps_another, .lazy = true }),
	BESIDE("a vGPU is opened again", 3, 2, { reopens }, { invalidates, 1 }),
	BESIDE("a vGPU is opened again", 1, 2, { reopens }, { invalidates, 1 }),
	BESIDE("a vGPU is opened again", 2, 2, { reopens }, { invalidates, 1 }),
	{ "a vGPU is opened later", 2, RESTLESS, SLOW, END, .after = pin_again, .must = ROUNDS,
	  .roles = { { opens_late }, { unmaps_slowly, 0, RAM, true } } },
	REMAPS("nothing is mapped for a while", 0, { unmaps_slowly, 0, RAM, true }),
	REMAPS("another range each time", RAM, { unmaps_slowly, 0, 64 * RAM, true }),
	REMAPS("no file is left", RAM, { unmaps_slowly, 1, 64 * RAM, true }),
	{ "other memory is pinned", 1, { .late = 1 },
	  { .seed = 5, .delay_ppm = 1000000, .delay_ns = MS }, END, .before = two_pieces,
	  .roles = { { unmaps_slowly, 0, RAM, true }, MAPS_MEANWHILE },
	  .must = { { &m_count, 0, IS(1), "S5: a guest waits for its VMM and pins nothing" } } },
	{ "a VMM is killed", 1, RESTLESS, .ms = END, .roles = { { unmaps }, { is_killed } },
	  .must = { { &m_count, 0, AT_MOST(1000), "S5: a close waits for a VMM's memory" } } },
	NEXT("the next tenant pins", 0),
	NEXT("the next tenant pins, no file is left", 1),
	RACE("iommufd: memory is unmapped", GUEST_MAPS, { unmaps, .arg = 1 }),
	RACE("iommufd: a device is detached", GUEST_MAPS, DETACHES),
	RACE("iommufd: a detached one is reset", PLAYS(0, { resets }, { uses, 1 }), DETACHES),
	AREAS("iommufd: areas with holes", 120, 2, 1),
	AREAS("iommufd: a hundred areas", 100, 1, 1),
	AREAS("iommufd: one more area", 101, 1, 1),
	AREAS("iommufd: two vGPUs in turns", 128, 1, 2, { takes_turns },),
	AREAS("iommufd: three vGPUs in turns", 128, 1, 3, { takes_turns },),
	{ "iommufd: a late thread, the next tenant", 1, { .eager = true }, .ms = END,
	  .before = by_iommufd,
	  .roles = { { closes_late, 0, 1 }, { unmaps, 0, 1, true } } },
	{ "iommufd: a late thread, no vGPU", 1, { .eager = true }, .ms = END, .before = by_iommufd,
	  .roles = { { closes_late }, { unmaps, 0, 1, true } } },
};

/* clang-format on */

SCENES(table)
