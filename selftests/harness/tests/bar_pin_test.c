// SPDX-License-Identifier: GPL-2.0-only
/*
 * A VMM with two vGPUs gives a page of the second vGPU's BAR3 to the first vGPU as memory of its
 * guest. Where BAR3 lies in a section of 128 MiB in which there is RAM, too, BAR3's frames have
 * struct pages, and the core pins them (container_map_device()). When the second vGPU is removed,
 * the frame becomes another tenant's, and the pin of the first vGPU stays. By then its GPU would
 * reach the other tenant's BAR3 (S4).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define BAR3 (3ull << 40)
#define IOVA 0x40000000ull

static const struct chip_manners calm = { .late = 0 };
static const struct policy quiet = { .seed = 1 };

/* Return the frame that the GPU of vGPU @i reaches as @iova of its guest; 0: none. */
static u64 frame_of(u32 i, u64 iova)
{
	void *e = xa_load(&world.vgpu[i].v->m->pins, iova >> PAGE_SHIFT);

	return e ? iommu_find((dma_addr_t)xa_to_value(e) << PAGE_SHIFT)->pfn : 0;
}

static void a_page_of_a_bar_for_memory(void **state)
{
	struct mm_struct *mm, *other_mm;
	struct container *c, *other;
	unsigned long at;
	u64 slice;

	world_begin(&quiet, &calm);
	mm = mm_new();
	c = container_new(mm);
	other_mm = mm_new();
	other = container_new(other_mm);
	assert_non_null(world_make(0));
	assert_non_null(world_make(1));
	assert_true(world_open(0, c));
	assert_true(world_open(1, c));
	at = mm_map(mm, world.vgpu[1].dev, BAR3, PAGE_SIZE);
	/* touch the page: before that the module refuses the fault by which VFIO's core pins it */
	assert_int_not_equal(mm_touch(mm, at), 0);
	assert_int_equal(container_map_device(c, IOVA, at), 0);
	g_space(&world.vgpu[0], 0);
	g_map_sys(&world.vgpu[0], 0, 16, IOVA);
	g_inst(&world.vgpu[0], 1, 0, 0);
	g_bind(&world.vgpu[0], 1);
	slice = world.vgpu[1].v->slice[KVGPU_BAR3];
	print_message("vGPU 0's GPU reaches frame 0x%llx, BAR3 is at 0x%llx\n",
		      (unsigned long long)frame_of(0, IOVA), BAR3_PHYS >> PAGE_SHIFT);
	/* the VMM gives the second vGPU back, and another tenant gets its slice of BAR3 */
	mm_unmap(mm, at, PAGE_SIZE);
	world_close(1);
	world_unmake(1);
	assert_non_null(world_make(1));
	assert_int_equal(world.vgpu[1].v->slice[KVGPU_BAR3], slice);
	assert_true(world_open(1, other));
	if (frame_of(0, IOVA) == (BAR3_PHYS + slice) >> PAGE_SHIFT)
		harness_fail("S4: vGPU 0's GPU reaches another tenant's BAR3 by DMA");
	world_close(1);
	world_close(0);
	world_unmake(1);
	world_unmake(0);
	container_free(c);
	container_free(other);
	mm_free(mm);
	mm_free(other_mm);
	world_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_of_a_bar_for_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
