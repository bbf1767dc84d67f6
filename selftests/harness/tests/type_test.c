// SPDX-License-Identifier: GPL-2.0-only
/*
 * For how many vGPUs of each type the card has room: what is told is true, parts of vGPUs do not
 * overlap, and all room is given back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "mdev/vgpu.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define TYPES 3 /* the harness's card is too small for a 4g */
#define STEPS 150

static const struct chip_manners calm = { .late = 1 };
static const struct policy quiet = { .seed = 3 };
static const char *const names[TYPES] = { "512m", "1g", "2g" };

static u32 available(u32 t)
{
	return the_mdev_driver->get_available(the_parent->types[t]);
}

static u32 told_maximum(u32 t)
{
	char buf[4096], *at;

	the_mdev_driver->show_description(the_parent->types[t], buf);
	at = strstr(buf, "max_instance=");
	return at ? strtoul(at + strlen("max_instance="), NULL, 10) : 0;
}

static bool overlap(u64 a, u64 a_size, u64 b, u64 b_size)
{
	return a < b + b_size && b < a + a_size;
}

/*
 * The host has the start of BAR1, where it sees the doorbells of all, and the end, where its pool
 * is.
 */
static bool in_hosts_bar1(u64 at, u64 size)
{
	u64 pool = world.gpu->hw.bar[KVGPU_BAR1].size - KVGPU_POOL_SIZE;

	return overlap(at, size, 0, KVGPU_USERD_SIZE + KVGPU_MIRROR_SIZE) ||
	       overlap(at, size, pool, KVGPU_POOL_SIZE);
}

static void look_at_parts(void)
{
	const struct kvgpu_vgpu *a, *b;
	u32 i, k;

	for (i = 0; i < WORLD_VGPUS; i++) {
		a = world.vgpu[i].v;
		if (world.vgpu[i].made &&
		    (in_hosts_bar1(a->slice[KVGPU_BAR1], a->type->bar[KVGPU_BAR1]) ||
		     in_hosts_bar1(a->pramin_slice, PRAMIN_SIZE)))
			harness_fail("S4: a part of BAR1 is vGPU %u's and the host's", a->id);
	}
	for (i = 0; i < WORLD_VGPUS; i++)
		for (k = 0; k < i; k++) {
			if (!world.vgpu[i].made || !world.vgpu[k].made)
				continue;
			a = world.vgpu[i].v;
			b = world.vgpu[k].v;
			if (overlap(a->part.v, a->part_size, b->part.v, b->part_size) ||
			    overlap(a->slice[KVGPU_BAR1], a->type->bar[KVGPU_BAR1],
				    b->slice[KVGPU_BAR1], b->type->bar[KVGPU_BAR1]) ||
			    overlap(a->slice[KVGPU_BAR3], a->type->bar[KVGPU_BAR3],
				    b->slice[KVGPU_BAR3], b->type->bar[KVGPU_BAR3]) ||
			    overlap(a->pramin_slice, PRAMIN_SIZE, b->slice[KVGPU_BAR1],
				    b->type->bar[KVGPU_BAR1]) ||
			    overlap(b->pramin_slice, PRAMIN_SIZE, a->slice[KVGPU_BAR1],
				    a->type->bar[KVGPU_BAR1]) ||
			    overlap(a->pramin_slice, PRAMIN_SIZE, b->pramin_slice, PRAMIN_SIZE))
				harness_fail("S1: parts of vGPUs %u and %u overlap", a->id, b->id);
		}
}

struct maps {
	typeof(((struct kvgpu_gpu *)0)->part_map) part;
	typeof(((struct kvgpu_gpu *)0)->bar_map) bar;
};

static void note_maps(struct maps *m)
{
	memcpy(m->part, world.gpu->part_map, sizeof(m->part));
	memcpy(m->bar, world.gpu->bar_map, sizeof(m->bar));
}

static void all_is_given_back(const struct maps *m)
{
	if (memcmp(m->part, world.gpu->part_map, sizeof(m->part)) ||
	    memcmp(m->bar, world.gpu->bar_map, sizeof(m->bar)))
		harness_fail("S6: a part of the card is taken, and there is no vGPU");
}

static void as_many_as_told(void **state)
{
	struct maps empty;
	u32 t, n, i;

	world_begin(&quiet, &calm);
	note_maps(&empty);
	assert_int_equal(the_parent->nr_types, TYPES);
	for (t = 0; t < TYPES; t++) {
		assert_string_equal(the_parent->types[t]->sysfs_name, names[t]);
		n = available(t);
		assert_int_equal(n, told_maximum(t));
		assert_in_range(n, 1, WORLD_VGPUS);
		for (i = 0; i < n; i++) {
			assert_int_equal(available(t), n - i);
			assert_non_null(world_make_type(i, names[t]));
			assert_int_equal(world.vgpu[i].v->part_size,
					 the_parent->types[t] == the_parent->types[0] ?
						 512ull << 20 :
						 512ull << (20 + t));
		}
		look_at_parts();
		assert_int_equal(available(t), 0);
		assert_int_equal(told_maximum(t), n);
		assert_null(mdev_create(names[t]));
		for (i = 0; i < n; i++)
			world_unmake(i);
		assert_int_equal(available(t), n);
		all_is_given_back(&empty);
	}
	world_end();
}

/*
 * A vGPU of a type can be made if and only if the type says that it has room, and in the end all
 * room is there again.
 */
static void mixed(void **state)
{
	u32 empty[TYPES], t, i, k;
	struct maps maps;

	world_begin(&quiet, &calm);
	note_maps(&maps);
	for (t = 0; t < TYPES; t++)
		empty[t] = available(t);
	for (k = 0; k < STEPS; k++) {
		i = harness_below(WORLD_VGPUS);
		t = harness_below(TYPES);
		if (world.vgpu[i].made) {
			world_unmake(i);
			continue;
		}
		if (!!available(t) != !!world_make_type(i, names[t]))
			harness_fail("S6: type %s is told to have room, or not, and it is not so",
				     names[t]);
		look_at_parts();
	}
	for (i = 0; i < WORLD_VGPUS; i++)
		if (world.vgpu[i].made)
			world_unmake(i);
	for (t = 0; t < TYPES; t++)
		assert_int_equal(available(t), empty[t]);
	all_is_given_back(&maps);
	world_end();
}

static void without_memory(void **state)
{
	struct policy p = quiet;
	u32 k, before, refused = 0;

	world_begin(&quiet, &calm);
	before = available(0);
	for (k = 0; k < 60; k++) {
		p.seed = 10 + k;
		p.nomem_ppm = 30000;
		harness_policy(&p);
		if (world_make(0)) {
			harness_policy(&quiet);
			world_unmake(0);
		} else {
			refused++;
		}
		assert_int_equal(available(0), before);
	}
	harness_policy(&quiet);
	assert_in_range(refused, 5, 55);
	world_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_told),
		cmocka_unit_test(mixed),
		cmocka_unit_test(without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
