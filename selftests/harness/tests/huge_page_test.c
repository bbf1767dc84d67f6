// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page fault that maps 2 MiB of BAR1 at once, which the stand-in's kernel does not have. The
 * source is included, under another name, for its static functions; the module of the program has
 * its own copy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define vgpu_region_mmap copy_region_mmap
#include "mdev/compat.h"
#undef compat_insert_pmd
#define compat_insert_pmd(vmf, pfn) insert(vmf, pfn)
static vm_fault_t insert(struct vm_fault *vmf, unsigned long pfn);
#include "mdev/mapping.c"
#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define ORDER	  9
#define DOORBELLS 0x800000ull
#define CHANNEL	  17 /* its doorbell is in the third page of doorbells */
#define AT	  0x40000000ul

static const struct chip_manners calm = { .late = 1 };
static const struct policy quiet = { .seed = 1 };
static struct world_vgpu *g;
static unsigned long inserted;

static vm_fault_t insert(struct vm_fault *vmf, unsigned long pfn)
{
	inserted = pfn;
	return VM_FAULT_NOPAGE;
}

/* A fault at offset @off of a mapping of @len bytes of the region, from offset @first on. */
static vm_fault_t fault(unsigned int region, u64 first, u64 len, u64 off, unsigned int flags)
{
	struct vm_area_struct vma = { .vm_mm = setup_mm,
				      .vm_start = AT + first,
				      .vm_end = AT + first + len,
				      .vm_pgoff = (((u64)region << 40) + first) >> PAGE_SHIFT,
				      .vm_private_data = g->v };
	struct vm_fault vmf = { .vma = &vma, .address = AT + off, .flags = flags };
	vm_fault_t ret;

	inserted = 0;
	ret = vgpu_huge_fault(&vmf, ORDER);
	vgpu_compat_vma_close(&vma);
	return ret;
}

/* All of the 2 MiB is mapped, and each page shows what it would show if it were mapped alone. */
static void must_be_huge(u64 off, bool huge)
{
	u64 start = off & ~(PMD_SIZE - 1);
	unsigned long pfn;
	u32 i;

	if (fault(1, 0, 16 << 20, off, 0) != (huge ? VM_FAULT_NOPAGE : VM_FAULT_FALLBACK))
		harness_fail("the 2 MiB at 0x%llx of BAR1 are%s mapped as one",
			     (unsigned long long)start, huge ? " not" : "");
	if (!huge)
		return;
	mutex_lock(&g->v->map_lock);
	for (i = 0; i < PMD_SIZE / PAGE_SIZE; i++)
		if (kvgpu_machine_pfn_find(g->v, 1, start + i * PAGE_SIZE, &pfn) ||
		    pfn != inserted + i)
			harness_fail("page %u of 2 MiB that are mapped as one shows another frame",
				     i);
	mutex_unlock(&g->v->map_lock);
}

/* A doorbell among the pages is another frame. As one, the 2 MiB would have no doorbell. */
static void doorbells_among_them(void **state)
{
	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	world_reset(0); /* the first page of doorbells would be channel 1's */
	must_be_huge(0x203000, true);
	must_be_huge(DOORBELLS + 0x9000, true);
	g_inst(g, CHANNEL, 0, 0);
	g_write(g, PFIFO_USERD_BAR1, PFIFO_USERD_BAR1_VALID | DOORBELLS >> 12);
	g_bind(g, CHANNEL);
	assert_true(g->v->m->id_block[CHANNEL / KVGPU_ID_BLOCK] >= 0);
	must_be_huge(DOORBELLS + 0x9000, false);
	must_be_huge(0x203000, true);
	g_write(g, PFIFO_USERD_BAR1, 0);
	must_be_huge(DOORBELLS + 0x9000, true);
	setup_end();
}

static void what_is_mapped_by_pages(void **state)
{
	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	/* the mapping begins, or ends, in the middle of the 2 MiB */
	assert_int_equal(fault(1, 0x1000, 4 << 20, 0x3000, 0), VM_FAULT_FALLBACK);
	assert_int_equal(fault(1, 0, 0x1ff000, 0x3000, 0), VM_FAULT_FALLBACK);
	assert_int_equal(fault(3, 0, 4 << 20, 0x3000, 0), VM_FAULT_FALLBACK);
	assert_int_equal(fault(1, 0, 4 << 20, 0x3000, FAULT_FLAG_REMOTE), VM_FAULT_SIGBUS);
	assert_int_equal(inserted, 0);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(doorbells_among_them),
		cmocka_unit_test(what_is_mapped_by_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
