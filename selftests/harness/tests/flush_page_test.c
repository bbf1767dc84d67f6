// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words of the page of flushes, while two threads serve the page at a time: a thread of the VMM
 * for a trapped read, and the slicer. The guest may write the words at any moment.
 *
 * A word of L2 shows BUSY only while a thread serves it: a driver polls the word, and would wait in
 * vain. The driver sees its flush done only after a flush that was begun after the driver asked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/world.h"

#define SEEDS	60
#define ASKS	20
#define POLL_NS 200
#define POLLS	1000000 /* 0.2 s: far more than the servers need for a flush */

/*
 * While a flush is slow, the thread that waits for it sleeps, and the other one goes on. With the
 * prompt chip a thread that is switched to at a point may do all before the other one goes on.
 */
static const struct chip_manners slow = { .late = 3 }, prompt = { .late = 0 };
static const struct policy quiet = { .seed = 1 };
static const u32 l2[] = { FLUSH_L2_SYSMEM_INVALIDATE, FLUSH_L2_DIRTY };
static u32 begun[5]; /* flushes that the chip had begun when the guest asked */
static u32 asking; /* CPUs of the guest that are not done */

static volatile u32 *word(u32 reg)
{
	const struct vgpu_own *o = &world.vgpu[0].v->own[VGPU_OWN_FLUSH];

	return (volatile u32 *)(o->memory + (reg - o->at));
}

static u32 nr(u32 reg)
{
	return (reg - FLUSH_BAR) / 4;
}

static void ask(u32 reg)
{
	begun[nr(reg)] = chip.flush[nr(reg)].begun;
	*word(reg) = FLUSH_TRIGGER;
}

static void must_be_flushed(u32 reg, u32 before)
{
	if (chip.flush[nr(reg)].ended <= before)
		harness_fail("register 0x%06x: the guest is told of a flush that is not done", reg);
}

static void ask_all(void)
{
	ask(FLUSH_BAR);
	ask(FLUSH_L2_SYSMEM_INVALIDATE);
	ask(FLUSH_L2_DIRTY);
}

/* ------------------------------------------------------------------ the actors */

static void vmm_serves(void *arg)
{
	g_read(&world.vgpu[0], FLUSH_BAR);
}

/* Before a read of the page that traps is answered, all that the guest asked for is done. */
static void vmm_serves_all(void *arg)
{
	vmm_serves(NULL);
	must_be_flushed(FLUSH_BAR, begun[nr(FLUSH_BAR)]);
	must_be_flushed(FLUSH_L2_SYSMEM_INVALIDATE, begun[nr(FLUSH_L2_SYSMEM_INVALIDATE)]);
	must_be_flushed(FLUSH_L2_DIRTY, begun[nr(FLUSH_L2_DIRTY)]);
}

/*
 * Before the guest's TLB is invalidated, CPUs' writes to BARs have reached memory: the host reads
 * the guest's tables there.
 */
static void vmm_invalidates(void *arg)
{
	g_tlb(&world.vgpu[0], 0);
	must_be_flushed(FLUSH_BAR, begun[nr(FLUSH_BAR)]);
}

/*
 * Before a command takes effect, all that the guest asked for is done: the host reads memory for it
 * that the guest's CPU or GPU has written.
 */
static void vmm_commands(void *arg)
{
	u64 list[] = { 1 };

	g_list(&world.vgpu[0], list, 1);
	must_be_flushed(FLUSH_BAR, begun[nr(FLUSH_BAR)]);
	must_be_flushed(FLUSH_L2_SYSMEM_INVALIDATE, begun[nr(FLUSH_L2_SYSMEM_INVALIDATE)]);
	must_be_flushed(FLUSH_L2_DIRTY, begun[nr(FLUSH_L2_DIRTY)]);
}

/* as after a sample: slice.c, serve_flushes() */
static void slicer_serves(void *arg)
{
	kvgpu_hw_lock(&world.gpu->lock);
	vmach_flush_page_serve(world.vgpu[0].v);
	kvgpu_hw_unlock(&world.gpu->lock);
}

static void guest_clears(void *arg)
{
	*word(FLUSH_BAR) = 0;
	*word(FLUSH_L2_SYSMEM_INVALIDATE) = 0;
	*word(FLUSH_L2_DIRTY) = 0;
}

/* ------------------------------------------------- two actors, with each one or two switches */

static u64 run(const struct policy *p, void (*one)(void *arg), void (*other)(void *arg))
{
	struct policy between = { .seed = p->seed };
	u32 i, left;
	u64 points;

	ask_all();
	harness_policy(p);
	actor_new("one", setup_mm, false, one, NULL);
	actor_new("other", setup_mm, false, other, NULL);
	actors_run();
	points = harness_points();
	harness_policy(&between);
	for (i = 0; i < ARRAY_SIZE(l2); i++) {
		left = *word(l2[i]);
		if (left & FLUSH_BUSY)
			harness_fail("register 0x%06x shows BUSY for ever", l2[i]);
		if (left)
			harness_fail("register 0x%06x: nobody did the flush", l2[i]);
	}
	return points;
}

static void try_switches(const struct chip_manners *m, void (*one)(void *arg),
			 void (*other)(void *arg))
{
	struct policy p = { .seed = 1, .actors_only = true };
	u64 points, i, k, runs = 0;

	setup_begin(&quiet, m, 1);
	points = run(&p, one, other);
	for (i = 1; i <= points; i++)
		for (k = i + 1; k <= points + 1; k++, runs++) {
			p.script[0].at = i;
			p.script[1].at = k;
			p.nr_script = 2;
			p.seed = 1 + runs % 7;
			run(&p, one, other);
		}
	printf("# %llu pairs of switches\n", (unsigned long long)runs);
	setup_end();
}

static void try_both(void (*one)(void *arg), void (*other)(void *arg))
{
	try_switches(&prompt, one, other);
	try_switches(&prompt, other, one);
	try_switches(&slow, one, other);
	try_switches(&slow, other, one);
}

static void cleared_meanwhile(void **state)
{
	try_both(vmm_serves, guest_clears);
	try_both(slicer_serves, guest_clears);
}

static void served_meanwhile(void **state)
{
	try_both(vmm_serves, slicer_serves);
}

static void done_before_the_answer(void **state)
{
	try_both(vmm_serves_all, slicer_serves);
	try_both(vmm_invalidates, slicer_serves);
	try_both(vmm_commands, slicer_serves);
}

/* ------------------------------------------- two CPUs of the guest ask for the same, by chance */

static void vmm_serves_on(void *arg)
{
	while (asking)
		vmm_serves(NULL);
}

static void slicer_serves_on(void *arg)
{
	while (asking)
		slicer_serves(NULL);
}

static void guest_asks(void *arg)
{
	const u32 *reg = arg;
	u32 i, k, before;

	for (i = 0; i < ASKS; i++) {
		before = chip.flush[nr(*reg)].begun;
		*word(*reg) = FLUSH_TRIGGER;
		for (k = 0; *word(*reg) & (FLUSH_TRIGGER | FLUSH_BUSY); k++) {
			if (k == POLLS)
				harness_fail("register 0x%06x: the guest polls in vain", *reg);
			harness_sleep(POLL_NS);
		}
		must_be_flushed(*reg, before);
	}
	asking--;
}

static void try_chance(const u32 *reg)
{
	struct policy p = {};
	u32 i;

	setup_begin(&quiet, &slow, 1);
	for (i = 0; i < SEEDS; i++) {
		p.seed = 1 + i;
		p.switch_ppm = 50000 + 100000 * (i % 4);
		harness_policy(&p);
		asking = 2;
		actor_new("a VMM's thread", setup_mm, false, vmm_serves_on, NULL);
		actor_new("as the slicer", setup_mm, false, slicer_serves_on, NULL);
		actor_new("CPU 1", setup_mm, false, guest_asks, (void *)reg);
		actor_new("CPU 2", setup_mm, false, guest_asks, (void *)reg);
		actors_run();
	}
	setup_end();
}

static void asked_twice(void **state)
{
	try_chance(&l2[0]);
	try_chance(&l2[1]);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(cleared_meanwhile),
		cmocka_unit_test(served_meanwhile),
		cmocka_unit_test(done_before_the_answer),
		cmocka_unit_test(asked_twice),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
