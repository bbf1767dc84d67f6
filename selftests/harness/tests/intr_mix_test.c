// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest raises interrupts of several kinds at once: of an idle PBDMA, of copies whose channel has
 * left, NON_STALL_INTERRUPTs, faults. Each service takes a while. The interrupt thread works for
 * about half of the time at most (S6). How long a fault stops the runlist meanwhile is printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "gk110/mmu.h"
#include "gk110/pmc.h"
#include "selftests/harness/tests/nobodys.h"
#include "selftests/harness/tests/partners.h"

enum { ATTACKER, VICTIM, VGPUS };
/* kinds of interrupts */
enum { COPY, PBDMA_IDLE, NON_STALL, KINDS };

#define RUN_NS (1000 * MS)
#define CHANS  8
#define ALL    (BIT(KINDS) - 1)
#define FAULTS BIT(KINDS)
#define MOST   550 /* thousandths of the time that the interrupt thread may work */

static const struct chip_manners calm = { .eager = true, .busy = true, .late = 2, .idles = true };
static struct policy rough = { .seed = 1, .oversleep_ns = 3000, .switch_ppm = 500 };
static const struct kvgpu_hw_events *real_events;
static struct kvgpu_hw_events slow_events;
static u64 service_ns, raised, faults, waited, most_wait;

static void slow_ce(void *ctx, u8 engine, u32 intr, u32 code, int id, bool tsg)
{
	harness_now += service_ns;
	real_events->ce(ctx, engine, intr, code, id, tsg);
}

static void slow_pbdma(void *ctx, const struct kvgpu_hw_pbdma *p)
{
	harness_now += service_ns;
	real_events->pbdma(ctx, p);
}

static void storms(void *arg)
{
	u64 kind = (u64)arg;

	for (; !done; harness_sleep(5 * US)) {
		switch (kind) {
		case COPY:
			if (!COPY_INTR) {
				nobodys_copy();
				raised++;
			}
			break;
		case PBDMA_IDLE:
			raised += nobodys_method();
			break;
		case NON_STALL:
			chip_nonstall();
			break;
		}
	}
}

static void faulter(void *arg)
{
	struct world_vgpu *g = &world.vgpu[ATTACKER];
	u64 list[CHANS], at;
	struct kvgpu_chan *c;
	u32 i;

	while (!done) {
		g_write(g, PMC_ENABLE, 0);
		g_write(g, PMC_ENABLE, ~0u);
		for (i = 0; i < CHANS; i++) {
			list[i] = 2 + i;
			g_inst(g, 2 + i, 0, 0);
			g_bind(g, 2 + i);
			g_enable(g, 2 + i, true);
		}
		g_list(g, list, CHANS);
		for (i = 2; i < 2 + CHANS && !done; i++) {
			harness_sleep(600 * US);
			c = vmach_chan_find(g->v, (gchid_t){ i });
			if (!c || !chip_may_load(c->hchid.v, 0))
				continue;
			load_on_gr(c->hchid.v);
			at = harness_now;
			if (!fault_now(c->hchid.v))
				continue;
			faults++;
			while (chip.reg[PFIFO_RUNLIST_ERROR / 4] & 1 && harness_now < at + 100 * MS)
				harness_sleep(2 * US);
			waited += harness_now - at;
			most_wait = max(most_wait, harness_now - at);
		}
	}
}

static void clock_task(void *arg)
{
	harness_sleep(RUN_NS);
	done = true;
}

static void judge(u64 seed, u32 us, u32 mask)
{
	u64 began, worked;
	u32 k;

	rough.seed = seed;
	service_ns = us * US;
	setup_begin(&coarse, &calm, VGPUS);
	g_ring(&world.vgpu[ATTACKER], 1, 0);
	harness_sleep(100 * MS);
	real_events = world.gpu->hw.events;
	slow_events = *real_events;
	slow_events.ce = slow_ce;
	slow_events.pbdma = slow_pbdma;
	world.gpu->hw.events = &slow_events;
	done = false;
	raised = faults = waited = most_wait = 0;
	began = harness_now;
	worked = world.gpu->hw.intr_ns;
	harness_policy(&rough);
	for (k = 0; k < KINDS; k++)
		if (mask & BIT(k))
			actor_new("storm", setup_mm, false, storms, (void *)(u64)k);
	if (mask & FAULTS)
		actor_new("faulter", setup_mm, false, faulter, NULL);
	actor_new("clock", setup_mm, false, clock_task, NULL);
	actors_run();
	harness_policy(&coarse);
	world.gpu->hw.events = real_events;
	worked = 1000 * (world.gpu->hw.intr_ns - worked) / (harness_now - began);
	printf("# seed %llu, services of %u us, kinds %x: the thread works for %llu thousandths; %llu interrupts; a fault stops the runlist for %llu us on the average, %llu at most, %llu faults\n",
	       (unsigned long long)seed, us, mask, (unsigned long long)worked,
	       (unsigned long long)raised, (unsigned long long)(waited / (faults ?: 1) / US),
	       (unsigned long long)(most_wait / US), (unsigned long long)faults);
	assert_true(faults > 100);
	if (worked > MOST)
		harness_fail("S6: the interrupt thread works for %llu thousandths of the time",
			     (unsigned long long)worked);
	setup_end();
}

static void all_kinds(void **state)
{
	static const u32 us[] = { 200, 60, 20, 0 };
	u64 seed;
	u32 i;

	for (seed = 1; seed <= (harness_all() ? 3 : 1); seed++)
		for (i = 0; i < (harness_all() ? ARRAY_SIZE(us) : 2); i++) {
			judge(seed, us[i], FAULTS | ALL);
			if (!harness_all())
				continue;
			judge(seed, us[i], FAULTS);
			judge(seed, us[i], FAULTS | BIT(COPY));
			judge(seed, us[i], FAULTS | BIT(PBDMA_IDLE));
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(all_kinds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
