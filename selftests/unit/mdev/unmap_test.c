// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rounds of an unmap, against the core's loop as vfio_dma_do_unmap() has it: while anything is pinned, all open devices are
 * asked, and the eleventh time after the first is a BUG. Between any two steps guests pin what they may, vGPUs are closed
 * and opened, other threads make calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "standin.h"

enum { VGPUS = 8, ROUNDS_OF_CORE = 11, FIRST = 0x1000, LAST = 0x1fff, SEEDS = 20000, UNMAPS = 4 };

struct vgpu {
	struct kvgpu_vgpu v;
	struct kvgpu_machine m;
	bool open, pins;
};

static struct vgpu vgpu[VGPUS];
static struct pid pids[2];
static struct task unmaps = { &pids[0] }, other = { &pids[1] };
static unsigned int nr;
static bool mapped;
struct task *current;

int vfio_dma_rw(struct vfio_device *vdev, u64 iova, void *data, size_t len, bool write)
{
	return mapped ? 0 : -EINVAL;
}

static void start(unsigned int n)
{
	unsigned int i;

	memset(vgpu, 0, sizeof(vgpu));
	memset(pids, 0, sizeof(pids));
	nr = n;
	mapped = true;
	for (i = 0; i < n; i++) {
		vgpu[i].v.m = &vgpu[i].m;
		vgpu[i].m.v = &vgpu[i].v;
		machine_unmap_init(&vgpu[i].m);
	}
}

static void end(void)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		machine_unmap_fini(&vgpu[i].m);
	assert_int_equal(pids[0].refs, 0);
}

static void open_it(struct vgpu *g)
{
	g->open = g->m.may_pin = true;
	g->m.opened++;
}

static void close_it(struct vgpu *g)
{
	g->open = g->m.may_pin = g->pins = false;
}

static bool try_pin(struct vgpu *g)
{
	current = &other;
	if (g->open && machine_unmap_may_pin(&g->v, FIRST, LAST) && mapped)
		g->pins = true;
	return g->pins;
}

static void ask(struct vgpu *g, u64 first, u64 last)
{
	current = &unmaps;
	machine_unmap_asked(&g->v, first, last);
	g->pins = false;
}

static bool any_pins(void)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (vgpu[i].pins)
			return true;
	return false;
}

/* ------------------------------------------------------------------ what ends a loop */

static void refused(struct vgpu *g)
{
	ask(g, FIRST, LAST);
	assert_true(try_pin(g));
	ask(g, FIRST, LAST);
	assert_false(try_pin(g));
}

static void a_call_ends_it(void **state)
{
	start(1);
	open_it(&vgpu[0]);
	refused(&vgpu[0]);
	current = &other;
	vgpu_machine_called();
	assert_false(try_pin(&vgpu[0]));
	current = &unmaps;
	vgpu_machine_called();
	assert_true(try_pin(&vgpu[0]));
	end();
}

static void another_range_ends_it(void **state)
{
	start(1);
	open_it(&vgpu[0]);
	refused(&vgpu[0]);
	ask(&vgpu[0], 0x100000, 0x1fffff);
	assert_true(try_pin(&vgpu[0]));
	end();
}

static void death_ends_it(void **state)
{
	start(1);
	open_it(&vgpu[0]);
	refused(&vgpu[0]);
	pids[0].dead = true;
	assert_true(try_pin(&vgpu[0]));
	end();
}

static void a_gap_ends_it(void **state)
{
	start(2);
	open_it(&vgpu[0]);
	refused(&vgpu[0]);
	mapped = false;
	assert_false(try_pin(&vgpu[0]));	/* nothing there to pin, but that was seen */
	mapped = true;
	assert_true(try_pin(&vgpu[0]));
	/* one that was opened anew may be in another container, where nothing is mapped */
	vgpu[0].pins = false;
	refused(&vgpu[0]);
	close_it(&vgpu[0]);
	open_it(&vgpu[0]);
	mapped = false;
	assert_false(try_pin(&vgpu[0]));
	mapped = true;
	assert_false(try_pin(&vgpu[0]));
	end();
}

/* ------------------------------------------------------------------ the core's loop */

/* those that know of the loop pin whenever they may; a new one is opened when none of them does */
static void late_comers(void **state)
{
	unsigned int next = 1, rounds = 0, i;

	start(VGPUS);
	open_it(&vgpu[0]);
	assert_true(try_pin(&vgpu[0]));
	while (any_pins()) {
		assert_true(++rounds <= ROUNDS_OF_CORE);
		for (i = VGPUS; i-- > 0;)
			if (vgpu[i].open)
				ask(&vgpu[i], FIRST, LAST);
		for (i = 0; i < VGPUS; i++)
			try_pin(&vgpu[i]);
		if (any_pins() || next == VGPUS)
			continue;
		close_it(&vgpu[next - 1]);
		open_it(&vgpu[next - 1]);
		try_pin(&vgpu[next - 1]);
		open_it(&vgpu[next]);
		assert_true(try_pin(&vgpu[next++]));
	}
	assert_int_equal(rounds, VGPUS + 1);
	end();
}

static void anything(void)
{
	unsigned int n = rand() % 6;

	while (n--) {
		struct vgpu *g = &vgpu[rand() % nr];

		switch (rand() % 8) {
		case 0:
			close_it(g);
			break;
		case 1:
			if (!g->open)
				open_it(g);
			break;
		case 2:
			current = &other;
			vgpu_machine_called();
			break;
		default:
			try_pin(g);
		}
	}
}

static unsigned int unmap(void)
{
	unsigned int rounds = 0, first, i;

	while (any_pins()) {
		if (++rounds > ROUNDS_OF_CORE)
			break;
		first = rand() % nr;
		for (i = 0; i < nr; i++) {
			struct vgpu *g = &vgpu[(first + i) % nr];

			anything();
			if (g->open)
				ask(g, FIRST, LAST);
		}
		anything();
	}
	return rounds;
}

static void at_random(void **state)
{
	unsigned int seed, i, worked = 0;

	for (seed = 1; seed <= SEEDS; seed++) {
		srand(seed);
		start(1 + rand() % VGPUS);
		open_it(&vgpu[0]);
		for (i = 0; i < UNMAPS; i++) {
			mapped = true;
			current = &unmaps;
			vgpu_machine_called();
			anything();
			worked += any_pins();
			assert_true(unmap() <= ROUNDS_OF_CORE);
			mapped = false;
			anything();
		}
		end();
	}
	assert_true(worked > SEEDS);	/* or nothing was tried */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_ends_it),
		cmocka_unit_test(another_range_ends_it),
		cmocka_unit_test(death_ends_it),
		cmocka_unit_test(a_gap_ends_it),
		cmocka_unit_test(late_comers),
		cmocka_unit_test(at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
