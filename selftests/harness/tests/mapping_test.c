// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings that a VMM has of a vGPU. What such a mapping shows may become another vGPU's: a group
 * of doorbells does after a reset.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/pmc.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define DOORBELLS 0x800000ull /* offset of its doorbells in the guest's BAR1 */
#define BAR1	  (1ull << 40)
#define LEN	  (16 * 4096ull)
#define SEEDS	  8

static const struct chip_manners eager = { .eager = true,
					   .load_ppm = 5000,
					   .look_ppm = 2000,
					   .late = 2 };
static struct mm_struct *mm[2];
static struct container *c[2];

static void use_channel(u32 i)
{
	struct world_vgpu *g = &world.vgpu[i];
	u64 list[] = { 1 };

	g_space(g, 0);
	g_map_vram(g, 0, 16, G_DATA);
	g_inst(g, 1, 0, 0);
	g_write(g, PFIFO_USERD_BAR1, PFIFO_USERD_BAR1_VALID | DOORBELLS >> 12);
	g_bind(g, 1);
	g_list(g, list, 1);
	g_enable(g, 1, true);
}

static void begin(u64 seed)
{
	struct policy p = { .seed = seed, .switch_ppm = seed ? 20000 : 0 };
	u32 i;

	world_begin(&p, &eager);
	for (i = 0; i < 2; i++) {
		mm[i] = mm_new();
		c[i] = container_new(mm[i]);
		assert_non_null(world_make(i));
		assert_true(world_open(i, c[i]));
	}
	use_channel(0);
}

static void end(void)
{
	u32 i;

	world_check("at the end");
	for (i = 0; i < 2; i++) {
		world_close(i);
		container_free(c[i]);
		mm_free(mm[i]);
		world_unmake(i);
	}
	world_end();
}

static unsigned long map_doorbells(void)
{
	unsigned long at = mm_map(mm[0], world.vgpu[0].dev, BAR1 + DOORBELLS, LEN);

	assert_int_not_equal(at, 0);
	return at;
}

/* After a reset of the first vGPU, the second one gets the first one's doorbells. */
static void hand_over(void)
{
	world_reset(0);
	use_channel(1);
	world_check("another one has the doorbells");
}

/*
 * The page that is touched must be the card's page of doorbells, or the other tests would show
 * nothing.
 */
static void a_page_of_doorbells_is_mapped(void **state)
{
	unsigned long at;

	begin(0);
	at = map_doorbells();
	assert_int_equal(mm_touch(mm[0], at), (BAR1_PHYS >> 12) + world.vgpu[0].v->m->id_block[0]);
	world_check("a page is mapped");
	hand_over();
	end();
}

static void a_mapping_is_moved(void **state)
{
	unsigned long at;
	u64 seed;

	for (seed = 0; seed < SEEDS; seed++) {
		begin(seed);
		at = map_doorbells();
		mm_touch(mm[0], at);
		at = mm_move(mm[0], at, LEN);
		assert_int_not_equal(at, 0);
		if (seed & 1)
			mm_touch(mm[0], at);
		if (seed & 2)
			at = mm_move(mm[0], at, 4096);
		hand_over();
		mm_touch(mm[0], at);
		world_check("touched again");
		end();
	}
}

static void a_process_forks(void **state)
{
	struct mm_struct *child;
	unsigned long at;
	u64 seed;

	for (seed = 0; seed < SEEDS; seed++) {
		begin(seed);
		at = map_doorbells();
		mm_touch(mm[0], at);
		child = mm_fork(mm[0], seed & 2);
		if (seed & 1)
			mm_touch(child, at);
		hand_over();
		mm_free(child);
		end();
	}
}

static void a_mapping_gets_a_hole(void **state)
{
	unsigned long at;
	u64 seed;
	u32 i;

	for (seed = 0; seed < SEEDS; seed++) {
		begin(seed);
		at = map_doorbells();
		for (i = 0; i < 4; i++)
			mm_touch(mm[0], at + i * 4096);
		mm_unmap(mm[0], at + 4096 * (1 + seed % 3), 4096);
		hand_over();
		end();
	}
}

static unsigned long moved_at;

static void moves(void *arg)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		mm_touch(mm[0], moved_at);
		moved_at = mm_move(mm[0], moved_at, LEN);
	}
}

static void resets(void *arg)
{
	world_reset(0);
}

static void moves_while_reset(void **state)
{
	u64 seed;

	for (seed = 1; seed < 4 * SEEDS; seed++) {
		begin(seed);
		moved_at = map_doorbells();
		actor_new("moves", mm[0], false, moves, NULL);
		actor_new("resets", mm[0], false, resets, NULL);
		actors_run();
		use_channel(1);
		world_check("moved meanwhile");
		end();
	}
}

/*
 * A guest resets PFIFO, and so gives its doorbells back. The VMM's mapping of them is removed: it
 * would show those of the next vGPU that gets them (S4).
 */
static void a_guest_resets_pfifo(void **state)
{
	struct world_vgpu *g = &world.vgpu[0];
	unsigned long at;
	u32 block;

	begin(0);
	at = map_doorbells();
	assert_int_not_equal(mm_touch(mm[0], at), 0);
	block = g->v->m->id_block[0];
	g_write(g, PMC_ENABLE, g_read(g, PMC_ENABLE) & ~PMC_ENABLE_FIFO);
	assert_true(g->v->m->id_block[0] < 0);
	use_channel(1);
	assert_int_equal(world.vgpu[1].v->m->id_block[0], block);
	world_check("another one has the doorbells");
	assert_int_not_equal(mm_touch(mm[0], at), (BAR1_PHYS >> 12) + block);
	end();
}

/*
 * The vGPU's own memory, which stands for registers, is mapped as far as it goes. What lies behind
 * it is the host's (S4).
 */
static void own_memory_and_no_more(void **state)
{
	const struct vgpu_own *o;
	struct vfio_device *dev;

	begin(0);
	dev = world.vgpu[0].dev;
	for (o = world.vgpu[0].v->own; o < world.vgpu[0].v->own + VGPU_NR_OWN; o++) {
		const struct {
			u64 at, len;
			bool may;
		} cases[] = {
			{ o->at, o->size, true },
			{ o->at + o->size - PAGE_SIZE, PAGE_SIZE, true },
			{ o->at, o->size + PAGE_SIZE, false },
			{ o->at, 256 << 20, false },
			{ o->at + o->size - PAGE_SIZE, 2 * PAGE_SIZE, false },
			{ o->at + o->size, PAGE_SIZE, false },
			{ o->at - PAGE_SIZE, 2 * PAGE_SIZE, false },
		};
		unsigned long at;
		u32 i;

		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			at = mm_map(mm[0], dev, cases[i].at, cases[i].len);
			if (!at == cases[i].may)
				harness_fail("S4: 0x%llx bytes of BAR0 from 0x%llx on are%s mapped",
					     (unsigned long long)cases[i].len,
					     (unsigned long long)cases[i].at,
					     cases[i].may ? " not" : "");
			if (at)
				mm_unmap(mm[0], at, cases[i].len);
		}
	}
	end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_of_doorbells_is_mapped),
		cmocka_unit_test(a_mapping_is_moved),
		cmocka_unit_test(a_process_forks),
		cmocka_unit_test(a_mapping_gets_a_hole),
		cmocka_unit_test(moves_while_reset),
		cmocka_unit_test(a_guest_resets_pfifo),
		cmocka_unit_test(own_memory_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
