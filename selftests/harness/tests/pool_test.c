// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's pool, of which each vGPU has a share (S5). A guest decides when the host takes and
 * gives back the guest's tables of 8 and 256 KiB, and so where in the pool they lie. Still its
 * neighbour must be able to use all of the neighbour's own share.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/mmu.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define SMALL_BYTES (256u << 10)
#define BIG_BYTES   (8u << 10)

static const struct chip_manners calm = { .late = 0 };
static const struct policy quiet = { .seed = 1 };

enum which { NONE, SMALL, BIG };

/* Write entry @at of the guest's directory. The table that it names is empty. */
static void entry(struct world_vgpu *g, u32 at, enum which which)
{
	u64 table = G_TABLE(0) >> 12, pde = 0;

	if (which == SMALL)
		pde = FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_VRAM) |
		      FIELD_PREP(GMMU_PDE_SMALL_ADDR, table);
	if (which == BIG)
		pde = FIELD_PREP(GMMU_PDE_BIG_APERTURE, GMMU_PDE_APERTURE_VRAM) |
		      FIELD_PREP(GMMU_PDE_BIG_ADDR, table);
	g_store64(g, G_PD(0) + at * GMMU_ENTRY_SIZE, pde);
}

/*
 * Have the host make small tables for the directory entries from @at on, as long as it takes memory
 * for them. Return how many it made.
 */
static u32 fill(struct world_vgpu *g, u32 at)
{
	u64 left = g->v->m->pool_max - g->v->m->pool_used, used;
	u32 n = 0;

	do {
		used = g->v->m->pool_used;
		entry(g, at + n, SMALL);
		g_tlb(g, 0);
		n += g->v->m->pool_used > used;
	} while (g->v->m->pool_used > used && n <= left / SMALL_BYTES);
	return n;
}

static void begin(u32 i, const char *type)
{
	struct world_vgpu *g = world_make_type(i, type);

	assert_true(g && world_open(i, setup_c));
	g_inst(g, 1, 0, 0);
	g_bind(g, 1);
}

/*
 * Give back each small table, from the last one on, and have a big one taken in its place. Then
 * take the rest of the share, at whatever place there is.
 */
static void scatter(struct world_vgpu *g)
{
	u32 n = fill(g, 0), i;

	for (i = n; i--;) {
		entry(g, i, NONE);
		g_tlb(g, 0);
		entry(g, 2000 + i, BIG);
		g_tlb(g, 0);
	}
	n = fill(g, 4000);
	assert_true(g->v->m->pool_used <= g->v->m->pool_max);
}

static void share_of(u32 attackers)
{
	struct world_vgpu *victim;
	u64 left;
	u32 n, i;

	world_begin(&quiet, &calm);
	setup_mm = mm_new();
	setup_c = container_new(setup_mm);
	begin(0, "1g");
	begin(1, "512m");
	begin(2, "512m");
	victim = &world.vgpu[2];
	for (i = 0; i < attackers; i++)
		scatter(&world.vgpu[i]);
	left = victim->v->m->pool_max - victim->v->m->pool_used;
	n = fill(victim, 0);
	if ((u64)n * SMALL_BYTES + SMALL_BYTES < left)
		harness_fail(
			"S5: beside %u others a vGPU gets %u tables, %llu KiB of the %llu KiB that are its share",
			attackers, n, (unsigned long long)n * SMALL_BYTES >> 10,
			(unsigned long long)left >> 10);
	for (i = 0; i < 3; i++)
		world_close(i);
	container_free(setup_c);
	mm_free(setup_mm);
	world_end();
}

static void alone(void **state)
{
	share_of(0);
}

static void beside_one(void **state)
{
	share_of(1);
}

static void beside_two(void **state)
{
	share_of(2);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(alone),
		cmocka_unit_test(beside_one),
		cmocka_unit_test(beside_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
