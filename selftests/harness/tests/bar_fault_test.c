// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest can't cause faults of the card's BARs, which the host would have to serve (S5). The guest
 * maps pages of its BAR1 and BAR3 with each right that an entry can take away, and with entries
 * that are wrong. Its CPU reads and writes all of its slices of the BARs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

static const struct chip_manners calm = { .late = 1 };
static const struct policy quiet = { .seed = 1 };

static const u64 rights[] = {
	0,
	GMMU_PTE_RO,
	GMMU_PTE_PRIV,
	GMMU_PTE_READ_DISABLE,
	GMMU_PTE_WRITE_DISABLE,
	GMMU_PTE_READ_DISABLE | GMMU_PTE_WRITE_DISABLE,
	GMMU_PTE_RO | GMMU_PTE_PRIV | GMMU_PTE_READ_DISABLE | GMMU_PTE_WRITE_DISABLE,
};

static void map_all(struct world_vgpu *g, u64 space)
{
	u32 i, n = ARRAY_SIZE(rights);
	u64 at = G_TABLE(space);

	for (i = 0; i < 4 * n; i++) {
		u64 pte = GMMU_PTE_VALID | rights[i % n];

		switch (i / n) {
		case 0:
			pte |= FIELD_PREP(GMMU_PTE_ADDR, G_DATA >> 12);
			break;
		/* beyond its memory */
		case 1:
			pte |= FIELD_PREP(GMMU_PTE_ADDR, g->v->part_size >> 12);
			break;
		case 2:
			pte |= FIELD_PREP(GMMU_PTE_APERTURE, GMMU_PTE_APERTURE_SYS_COH);
			break;
		case 3:
			pte |= FIELD_PREP(GMMU_PTE_KIND, 0xff) |
			       FIELD_PREP(GMMU_PTE_ADDR, G_DATA >> 12);
			break;
		}
		g_store64(g, at + i * GMMU_ENTRY_SIZE, pte);
	}
}

static void touch(unsigned int bar, u64 slice, u64 size)
{
	u64 off;

	for (off = 0; off < size; off += PAGE_SIZE)
		if (!bar_read(bar, slice + off) || !bar_write(bar, slice + off))
			harness_fail("S5: BAR%u faults at 0x%llx of the slice", bar,
				     (unsigned long long)off);
}

static void no_access_faults(void **state)
{
	struct world_vgpu *g = &world.vgpu[0];
	u64 faults;

	setup_begin(&quiet, &calm, 2);
	faults = world.gpu->hw.stats.intrs;
	g_inst(g, 9, 1, 0);
	g_space(g, 1);
	map_all(g, 1);
	g_write(g, HOSTMEM_BAR1, HOSTMEM_VIRTUAL | G_INST(9) >> 12);
	g_write(g, HOSTMEM_BAR3, HOSTMEM_VIRTUAL | G_INST(9) >> 12);
	touch(1, g->v->slice[KVGPU_BAR1], g->v->type->bar[KVGPU_BAR1]);
	touch(3, g->v->slice[KVGPU_BAR3], g->v->type->bar[KVGPU_BAR3]);
	harness_sleep(20 * NSEC_PER_MSEC);
	assert_int_equal(world.gpu->hw.stats.intrs, faults);
	g_write(g, HOSTMEM_BAR1, 0);
	g_write(g, HOSTMEM_BAR3, 0);
	touch(1, g->v->slice[KVGPU_BAR1], g->v->type->bar[KVGPU_BAR1]);
	touch(3, g->v->slice[KVGPU_BAR3], g->v->type->bar[KVGPU_BAR3]);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_access_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
