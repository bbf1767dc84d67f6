// SPDX-License-Identifier: GPL-2.0-only
/*
 * All channels of a vGPU are unbound at once: by a reset of PFIFO, a function level reset, a close.
 * Meanwhile the interrupt thread sleeps for 1 to 2 ms at a time, because an idle unit keeps
 * interrupting for no channel. That costs no vGPU a strike. docs/invariants.md says that a register
 * access that has the host wait for the chip ends within about 5 s (S5): the wait for the thread
 * must not grow with the number of channels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "gk110/pmc.h"
#include "gk110/ram.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/tests/nobodys.h"
#include "selftests/harness/world.h"

#define MS	     1000000ull
#define US	     1000ull
#define FIRST	     8
#define OWN_INST(c)  (0x400000ull + (c)*0x1000)
#define OWN_USERD(c) (0x200000ull + (c)*0x200)
#define OWN_LIST     0x1f0000ull
/* what two runs of the interrupt thread and the sleeps after them may add */
#define SETTLE_MS 20

static const struct chip_manners manners = { .idles = true };
static const struct policy quiet = { .seed = 1, .oversleep_ns = 3000 };
static bool done;

/*
 * As many channels as the vGPU can have: bound, enabled and listed, each second pair of them in a
 * group. Returns their number.
 */
static u32 own_chans(struct world_vgpu *g)
{
	u32 c, nr = 0, entries = 0;

	for (c = FIRST; c < g->v->m->max_id_blocks * KVGPU_ID_BLOCK; c++) {
		g_inst_at(g, OWN_INST(c), OWN_USERD(c), 0, 0);
		g_bind_at(g, c, OWN_INST(c));
		if (!vmach_chan_find(g->v, (gchid_t){ c }))
			break;
		g_enable(g, c, true);
		if (c % 4 == 0)
			g_store64(g, OWN_LIST + entries++ * RUNLIST_ENTRY_SIZE,
				  RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_COUNT, 2) |
					  FIELD_PREP(RUNLIST_ID, c));
		g_store64(g, OWN_LIST + entries++ * RUNLIST_ENTRY_SIZE, c);
		nr++;
	}
	g_write(g, PFIFO_RUNLIST_BASE, OWN_LIST >> 12);
	g_write(g, PFIFO_RUNLIST_SUBMIT, entries);
	return nr;
}

static void reset_pfifo(void)
{
	g_write(&world.vgpu[0], PMC_ENABLE, 0);
}

static void reset_function(void)
{
	world_reset(0);
}

static void close_it(void)
{
	world_close(0);
}

/* Returns the ns that @stop takes. */
static u64 run(const char *name, void (*stop)(void), bool attacked)
{
	struct kvgpu_machine *m;
	u64 took;
	u32 nr;

	done = false;
	setup_begin(&quiet, &manners, 1);
	m = world.vgpu[0].v->m;
	nr = own_chans(&world.vgpu[0]);
	harness_sleep(2000 * MS);
	if (attacked) {
		task_new("idle unit", nobodys_storm, &done);
		harness_sleep(300 * MS);
	}
	took = harness_now;
	stop();
	took = harness_now - took;
	printf("# %s, %u channels%s: %llu.%03llu ms, %llu strikes\n", name, nr,
	       attacked ? ", interrupts" : "", took / MS, took / US % 1000,
	       (u64)m->slice.strikes.total);
	if (!RB_EMPTY_ROOT(&m->chans) || m->nr_id_blocks)
		harness_fail("S4: channels or ids are left");
	assert_int_equal(m->slice.strikes.total, 0);
	done = true;
	harness_sleep(20 * MS);
	setup_end();
	return took;
}

static void must_be_short(const char *name, void (*stop)(void))
{
	u64 alone = run(name, stop, false), beside = run(name, stop, true);

	if (beside > alone + SETTLE_MS * MS)
		harness_fail("S5: %s takes %llu ms beside interrupts, %llu ms alone", name,
			     beside / MS, alone / MS);
}

static void a_reset_of_pfifo(void **state)
{
	must_be_short("reset of PFIFO", reset_pfifo);
}

static void a_function_level_reset(void **state)
{
	must_be_short("function level reset", reset_function);
}

static void a_close(void **state)
{
	must_be_short("close", close_it);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reset_of_pfifo),
		cmocka_unit_test(a_function_level_reset),
		cmocka_unit_test(a_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
