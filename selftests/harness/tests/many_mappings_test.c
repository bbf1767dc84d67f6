// SPDX-License-Identifier: GPL-2.0-only
/*
 * A VMM makes as many mappings of a vGPU as it can, on kernels that give a VFIO device no inode of
 * its own (mdev/vmas.c). The module searches its list of mappings at a first page fault and at a
 * close. No signal ends the closes of a process that was killed. Without a bound on the list they
 * would take very long, and the vGPU would stay open meanwhile (S6).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define BAR1  (1ull << 40)
#define MOST  1024 /* docs/threat-model.md */
#define ASKED (MOST + 200) /* half of them by each of two processes */

static const struct chip_manners calm = { .late = 0 };
static const struct policy quiet = { .seed = 1 };
static unsigned long at[ASKED];

/* Map ASKED times a page and touch each mapping. Return how many touches were let pass. */
static u32 map_all(struct mm_struct *other)
{
	u32 i, n = 0;

	for (i = 0; i < ASKED; i++) {
		struct mm_struct *mm = i % 2 ? other : setup_mm;

		at[i] = mm_map(mm, world.vgpu[0].dev, BAR1, PAGE_SIZE);
		assert_int_not_equal(at[i], 0);
		n += mm_touch(mm, at[i]) != 0;
	}
	return n;
}

/* A page fault that gets no memory is repeated without end, so a refusal is a signal. */
static void a_refusal_is_a_signal(void)
{
	struct vm_area_struct vma = { .vm_mm = setup_mm,
				      .vm_start = 0x1000,
				      .vm_end = 0x2000,
				      .vm_pgoff = BAR1 >> PAGE_SHIFT,
				      .vm_flags = VM_SHARED };
	struct vm_fault vmf = { .vma = &vma, .address = 0x1000 };

	assert_int_equal(world.vgpu[0].dev->ops->mmap(world.vgpu[0].dev, &vma), 0);
	assert_int_equal(vma.vm_ops->fault(&vmf), VM_FAULT_SIGBUS);
	vma.vm_ops->close(&vma);
}

static void mappings_of_a_vgpu_are_bounded(void **state)
{
	struct mm_struct *other;
	u32 i, n;

	setup_begin(&quiet, &calm, 1);
	other = mm_new();
	n = map_all(other);
	print_message("%u of %u mappings have a page\n", n, ASKED);
	if (n > MOST)
		harness_fail("S6: %u mappings of a vGPU have pages, and %u may", n, MOST);
	assert_int_equal(n, MOST);
	a_refusal_is_a_signal();
	assert_int_not_equal(mm_touch(setup_mm, at[0]), 0);
	world_reset(0);
	assert_int_not_equal(mm_touch(setup_mm, at[0]), 0);

	/* closed mappings make room, and those that were refused are served */
	for (i = 0; i < MOST; i++)
		mm_unmap(i % 2 ? other : setup_mm, at[i], PAGE_SIZE);
	for (i = MOST; i < ASKED; i++)
		assert_int_not_equal(mm_touch(i % 2 ? other : setup_mm, at[i]), 0);
	for (i = MOST; i < ASKED; i++)
		mm_unmap(i % 2 ? other : setup_mm, at[i], PAGE_SIZE);
	assert_int_equal(world.vgpu[0].v->nr_vmas, 0);
	mm_free(other);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_of_a_vgpu_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
