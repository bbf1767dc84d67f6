// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest's channel has filled the MMU's queue of invalidates by MEM_OP when a page is unmapped.
 * If the host writes its own invalidate without a look at the queue, that invalidate is lost, and
 * an empty queue afterwards says nothing about it: the GPU keeps the page (S2). That a GK110 loses
 * such an invalidate is not known (T17 of docs/supported.md).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/world.h"

static const struct chip_manners loads = { .eager = true };
static const struct policy quiet = { .seed = 1 };

static void queue_is_full(void **state)
{
	u32 looks = 100;
	u16 id;

	setup_begin(&quiet, &loads, 1);
	id = g_hchid(&world.vgpu[0], 1);
	while (!chip_loaded(id) && looks--)
		harness_sleep(NSEC_PER_MSEC);
	chip_look("the chip has seen the page");
	assert_true(chip_mem_ops(id));
	assert_int_equal(container_unmap(setup_c, SETUP_RAM, SETUP_RAM), SETUP_RAM);
	chip_look("after the unmap");
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(queue_is_full) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
