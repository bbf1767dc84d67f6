// SPDX-License-Identifier: GPL-2.0-only
/*
 * What kvgpu-top --plan says (tools/plan.c) is what the module does (mdev/type.c): in all mixes of
 * types, made in any order, both have room for the same vGPUs, on cards of several sizes. The table
 * of types in docs/supported.md says the same.
 */
#include <selftests/unit_test.h>

#include "gk110/boards.h"
#include "mdev/internal.h"
#include "mdev/machine/internal.h"
#include "selftests/module/harness/kernel/kernel.h"
#include "tools/plan.h"

#define MIB	  (1ull << 20)
#define ALL_TYPES 4
#define VGPUS	  32

/* ----------------------------------------------------- what type.c links with, and does not use */

void harness_log(const struct device *d, const char *level, const char *fmt, ...)
{
}

void mutex_lock(struct mutex *m)
{
}

void mutex_unlock(struct mutex *m)
{
}

void complete(struct completion *c)
{
}

void *harness_alloc(size_t size, gfp_t gfp)
{
	return NULL;
}

void harness_free(const void *p)
{
}

/* ------------------------------------------------------------------------------------- the card */

static struct kvgpu_gpu gpu;
static struct kvgpu_vgpu vgpus[VGPUS];
static struct plan_size sizes[ALL_TYPES];
static unsigned long compared;

static void make_card(u64 vram_mib, u64 bar1_mib, u64 bar3_mib)
{
	memset(&gpu, 0, sizeof(gpu));
	refcount_set(&gpu.users, 1);
	gpu.hw.part_first = 2 * MIB;
	gpu.hw.part_end = gpu.hw.part_first + vram_mib * MIB;
	gpu.hw.bar[KVGPU_BAR1].size = bar1_mib * MIB;
	gpu.hw.bar[KVGPU_BAR3].size = bar3_mib * MIB;
	assert_int_equal(vgpu_types_init(&gpu), 0);
	for (u32 t = 0; t < gpu.nr_types; t++)
		sizes[t] = (struct plan_size){ gpu.type[t].vram / MIB,
					       gpu.type[t].bar[KVGPU_BAR1] / MIB,
					       gpu.type[t].bar[KVGPU_BAR3] / MIB };
}

static void begin_plan(struct plan *p)
{
	struct vgpu_types_room room;
	struct plan_size size;

	vgpu_types_room_get(&gpu, &room);
	size = (struct plan_size){ room.vram / MIB, room.bar[KVGPU_BAR1] / MIB,
				   room.bar[KVGPU_BAR3] / MIB };
	plan_begin(p, &size);
}

static void compare(const struct plan *p)
{
	for (u32 t = 0; t < gpu.nr_types; t++)
		assert_int_equal(plan_count(p, &sizes[t]), vgpu_type_available(&gpu, &gpu.type[t]));
	compared++;
}

/* Make vGPUs of each type in turn, in each order there is. @nr vGPUs are there. */
static void make_all(const struct plan *p, u32 nr)
{
	compare(p);
	for (u32 t = 0; t < gpu.nr_types; t++) {
		struct kvgpu_vgpu *v = &vgpus[nr];
		struct plan next = *p;
		bool made;

		assert_true(nr < VGPUS);
		v->type = &gpu.type[t];
		made = !vgpu_type_reserve(&gpu, v);
		assert_int_equal(plan_add(&next, &sizes[t]), made);
		if (!made)
			continue;
		make_all(&next, nr + 1);
		vgpu_type_unreserve(&gpu, v);
	}
}

/* The mixes of a card: of each type a number, types in order of size or the other way around. */
static void make_mixes(const struct plan *p, u32 nr, u32 first, bool down)
{
	compare(p);
	for (u32 t = first; t < gpu.nr_types; t++) {
		struct kvgpu_vgpu *v = &vgpus[nr];
		u32 type = down ? gpu.nr_types - 1 - t : t;
		struct plan next = *p;
		bool made;

		assert_true(nr < VGPUS);
		v->type = &gpu.type[type];
		made = !vgpu_type_reserve(&gpu, v);
		assert_int_equal(plan_add(&next, &sizes[type]), made);
		if (!made)
			continue;
		make_mixes(&next, nr + 1, t, down);
		vgpu_type_unreserve(&gpu, v);
	}
}

TEST(test_every_order_on_five_gib)
{
	struct plan p;

	compared = 0;
	make_card(9 * 512, 256, 32);
	assert_int_equal(gpu.nr_types, 4);
	begin_plan(&p);
	make_all(&p, 0);
	assert_true(compared > 100);
}

TEST(test_mixes_on_cards_of_all_sizes)
{
	static const struct {
		u64 bar1, bar3;
	} bars[] = { { 256, 32 }, { 128, 32 }, { 256, 64 }, { 512, 32 } };
	struct plan p;

	compared = 0;
	for (u32 b = 0; b < ARRAY_SIZE(bars); b++)
		for (u64 parts = 1; parts <= 24; parts++) {
			make_card(parts * 512 + 100, bars[b].bar1, bars[b].bar3);
			begin_plan(&p);
			make_mixes(&p, 0, 0, false);
			make_mixes(&p, 0, 0, true);
		}
	assert_true(compared > 1000);
}

/* Sizes that no module has, but that a file may: nothing is read or written beyond the maps. */
TEST(test_strange_sizes)
{
	struct plan_size none = {}, huge = { 1 << 20, 1 << 20, 1 << 20 };
	struct plan p;

	plan_begin(&p, &none);
	assert_false(plan_add(&p, &huge));
	assert_false(plan_add(&p, &none)); /* BAR1 has no place for its PRAMIN window */
	plan_begin(&p, &huge);
	assert_false(plan_add(&p, &huge));
	assert_int_equal(plan_count(&p, &none), PLAN_UNITS);
	plan_begin(&p, &(struct plan_size){ -1, INT64_MIN, INT64_MAX });
	assert_int_equal(plan_count(&p, &none), 0);
}

/* --------------------------------------------------------------- the table of docs/supported.md */

#define TABLE "docs/supported.md"

static char table[65536];

static void want_row(const char *row)
{
	if (!strstr(table, row))
		fail_msg("%s has no row as the module has it:\n%s", TABLE, row);
}

#define NAME(id, name, memory, run) { name, memory },
static const struct {
	const char *name;
	u64 mib;
} boards[] = { GK110_BOARDS(NAME) };

/* Writes "| BOARD, BOARD" of the boards with the memory of board @b; 0: an earlier one has it. */
static int names_write(char *row, size_t size, u32 b)
{
	int n = 0;

	for (u32 i = 0; i < ARRAY_SIZE(boards); i++) {
		if (boards[i].mib != boards[b].mib)
			continue;
		if (i < b)
			return 0;
		n += snprintf(row + n, size - n, "%s%s", n ? ", " : "| ",
			      boards[i].name + strlen("Tesla "));
	}
	return n;
}

/* All boards have BARs of one size, and the ends of their memory are the host's (hw/pool.c). */
TEST(test_table_of_types)
{
	char row[400], types[400];
	FILE *f = fopen(TABLE, "r");
	int n, m = 0;

	assert_non_null(f);
	assert_in_range(fread(table, 1, sizeof(table) - 1, f), 1, sizeof(table) - 2);
	fclose(f);
	for (u32 b = 0; b < ARRAY_SIZE(boards); b++) {
		n = names_write(row, sizeof(row), b);
		if (!n)
			continue;
		make_card(boards[b].mib - KVGPU_POOL_SIZE / MIB - 4, 256, 32);
		m = 0;
		for (u32 t = 0; t < gpu.nr_types; t++) {
			const struct kvgpu_type *type = &gpu.type[t];
			struct kvgpu_vgpu v = { .gpu = &gpu, .part_size = type->vram };

			n += snprintf(row + n, sizeof(row) - n, " | %u; %u",
				      vgpu_type_max(&gpu, type),
				      vmach_id_blocks_get(&v) * KVGPU_ID_BLOCK);
			m += snprintf(types + m, sizeof(types) - m, " | %llu; %llu; %llu",
				      type->vram / MIB, type->bar[KVGPU_BAR1] / MIB,
				      type->bar[KVGPU_BAR3] / MIB);
		}
		want_row(strcat(row, " |\n"));
	}
	want_row(strcat(types, " |\n"));
}

TEST_MAIN(NULL, NULL)
