// SPDX-License-Identifier: GPL-2.0-only
/*
 * After a reset nothing of before is left but the contents of video memory, after a close and an
 * open nothing at all. The guest can begin at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "gk110/pmc.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/explore.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

static const struct chip_manners restless = { .eager = true,
					      .load_ppm = 20000,
					      .look_ppm = 5000,
					      .late = 3 };
static const struct policy quiet = { .seed = 1 };

static void nothing_is_left(const struct world_vgpu *g)
{
	u32 i;

	if (!RB_EMPTY_ROOT(&g->v->m->chans) || g->v->m->nr_id_blocks || g->v->m->nr_tsgs ||
	    !list_empty(&g->v->m->spaces) || g->v->m->nr_due)
		harness_fail("S2: a vGPU that was reset has channels, groups, spaces or pins");
	for (i = 0; i < KVGPU_NR_ID_BLOCKS; i++)
		if (g->v->m->id_block[i] >= 0)
			harness_fail("S4: a vGPU that was reset has id block %d of the chip",
				     g->v->m->id_block[i]);
}

static void a_reset(void **state)
{
	struct world_vgpu *g;
	u32 power_on;

	setup_begin(&quiet, &restless, 2);
	g = &world.vgpu[0];
	power_on = g_read(&world.vgpu[1], PFIFO_INTR_EN);
	g_write(g, PFIFO_INTR_EN, ~0u);
	assert_int_equal(container_pins(setup_c), 4);
	world_reset(0);
	nothing_is_left(g);
	assert_int_equal(container_pins(setup_c), 2);
	assert_int_equal(g_read(g, PFIFO_INTR_EN), power_on);
	assert_int_equal(g_load32(g, G_INST(1) + RAMFC_USERD), G_USERD(1));
	setup_run(0, 1, 0);
	assert_int_equal(container_pins(setup_c), 4);
	setup_end();
}

/* A device that is opened again has nothing of its last user in video memory. */
static void opened_again(void **state)
{
	struct world_vgpu *g;

	setup_begin(&quiet, &restless, 1);
	g = &world.vgpu[0];
	g_store32(g, G_DATA, 0x5ec4e7);
	world_close(0);
	nothing_is_left(g);
	assert_true(world_open(0, setup_c));
	if (!chip_is_zero(g->v->part.v, g->v->part_size))
		harness_fail("S4: memory of the user before is there when a device is opened");
	assert_int_equal(g_load32(g, G_DATA), 0);
	setup_end();
}

/* Have BAR1 show an address space in which nothing is mapped. */
static void show_nothing(struct world_vgpu *g)
{
	g_inst(g, 9, 1, 0);
	g_space(g, 1);
	g_write(g, HOSTMEM_BAR1, HOSTMEM_VIRTUAL | G_INST(9) >> 12);
}

/*
 * A CPU can store in BAR1 where nothing is mapped, too. A device's next user finds nothing there
 * (S4).
 */
static void where_nothing_is_mapped(void **state)
{
	struct world_vgpu *g;

	setup_begin(&quiet, &restless, 1);
	g = &world.vgpu[0];
	show_nothing(g);
	g_store32(g, 0x7010, 0x5ec4e7);
	assert_int_equal(g_load32(g, 0x7010), 0x5ec4e7);
	world_close(0);
	assert_true(world_open(0, setup_c));
	show_nothing(g);
	if (g_load32(g, 0x7010))
		harness_fail(
			"S4: what the user before stored in BAR1 where nothing was mapped is there");
	setup_end();
}

/*
 * The memory of the vGPU itself, which a VMM can map and write: the ROM, the page of flushes, and
 * registers without a trap. After a reset, and for the next user, it is as at the start (S4).
 */
static void memory_that_stands_for_registers(void **state)
{
	static u8 start[VGPU_NR_OWN][256 << 10];
	const struct vgpu_own *o;
	struct world_vgpu *g;
	u32 again, i;

	setup_begin(&quiet, &restless, 1);
	g = &world.vgpu[0];
	world_close(0);
	assert_true(world_open(0, setup_c));
	for (i = 0; i < VGPU_NR_OWN; i++) {
		assert_true(g->v->own[i].size <= sizeof(start[i]));
		memcpy(start[i], g->v->own[i].memory, g->v->own[i].size);
	}
	for (again = 0; again < 2; again++) {
		for (o = g->v->own; o < g->v->own + VGPU_NR_OWN; o++)
			memset(o->memory, 0x5e, o->size);
		if (again) {
			world_close(0);
			assert_true(world_open(0, setup_c));
		} else {
			world_reset(0);
		}
		for (i = 0; i < VGPU_NR_OWN; i++)
			if (memcmp(g->v->own[i].memory, start[i], g->v->own[i].size))
				harness_fail(
					"S4: what was written in the memory that stands for registers at 0x%llx is there after %s",
					(unsigned long long)g->v->own[i].at,
					again ? "a close" : "a reset");
	}
	assert_memory_equal(start[VGPU_OWN_ROM], world.gpu->hw.vbios, world.gpu->hw.vbios_size);
	setup_end();
}

/* ------------------------------------------------------------------ events */

/* What PFIFO tells a guest of faults, of a hang and of interrupts. */
static void nothing_is_told(struct world_vgpu *g)
{
	if (g_read(g, PFIFO_MMU_FAULT_SOURCE) || g_read(g, PFIFO_ENGINE_STATUS(0)) ||
	    g_read(g, PFIFO_INTR))
		harness_fail(
			"S4: a guest is told of an event from before: faults 0x%x, engine 0x%x, interrupts 0x%x",
			g_read(g, PFIFO_MMU_FAULT_SOURCE), g_read(g, PFIFO_ENGINE_STATUS(0)),
			g_read(g, PFIFO_INTR));
}

/*
 * A guest is not told of the events of before the reset, nor a device's next user of those of the
 * user before (S4): of a fault and a hang that were still queued, of an interrupt of which nobody
 * was told, and of the channel that hung before.
 */
static void no_event_of_before(void **state)
{
	struct machine_event fault = { .kind = EVENT_FAULT, .fault = { 3, G_INST(1), 0x1000, 2 } };
	struct machine_event hang = { .kind = EVENT_SCHED,
				      .sched = { .id = 1, .inst = G_INST(1) } };
	struct machine_event hung = hang;
	struct world_vgpu *g;
	u32 again;

	setup_begin(&quiet, &restless, 1);
	g = &world.vgpu[0];
	hung.sched.engine = 1;
	for (again = 0; again < 2; again++) {
		vmach_event_push(g->v->m, &hung);
		g_read(g, PFIFO_INTR); /* what is queued is told after an access */
		assert_int_not_equal(g_read(g, PFIFO_ENGINE_STATUS(1)), 0);
		vmach_event_push(g->v->m, &fault);
		vmach_event_push(g->v->m, &hang);
		world.gpu->hw.events->nonstall(world.gpu);
		assert_int_equal(g->v->m->event_put - g->v->m->event_get, 2);
		if (again) {
			world_close(0);
			assert_true(world_open(0, setup_c));
		} else {
			world_reset(0);
		}
		nothing_is_told(g);
		g_write(g, PFIFO_FAULT_INJECT(1), PFIFO_FAULT_INJECT_VALID | 3);
		nothing_is_told(g);
		setup_run(0, 1, 0);
	}
	setup_end();
}

/* ------------------------------------------------------------------ in the middle of anything */

static void begin(const struct chip_manners *m)
{
	setup_begin(&quiet, m, 2);
}

static void resets(void *arg)
{
	world_reset(0);
	world_check("a vGPU was reset");
	setup_run(0, 1, 0);
}

static void binds(void *arg)
{
	u64 list[] = { 2, 3 };

	g_inst(&world.vgpu[0], 2, 0, 0);
	g_bind(&world.vgpu[0], 2);
	g_list(&world.vgpu[0], list, 2);
	g_enable(&world.vgpu[0], 2, true);
	g_tlb(&world.vgpu[0], 0);
	g_preempt(&world.vgpu[0], false, 2);
}

static void takes_memory(void *arg)
{
	container_unmap(setup_c, SETUP_RAM, SETUP_RAM);
	world_check("memory was taken back");
}

static void beside_other_threads(void **state)
{
	explore(&(struct explore){ "a reset, another vCPU", begin, setup_end, resets, binds,
				   &setup_mm });
	explore(&(struct explore){ "a reset, an unmap", begin, setup_end, resets, takes_memory,
				   &setup_mm });
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reset),
		cmocka_unit_test(opened_again),
		cmocka_unit_test(where_nothing_is_mapped),
		cmocka_unit_test(memory_that_stands_for_registers),
		cmocka_unit_test(no_event_of_before),
		cmocka_unit_test(beside_other_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
