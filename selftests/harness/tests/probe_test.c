// SPDX-License-Identifier: GPL-2.0-only
/*
 * Want of memory while a card is brought up. Each allocation of the probe but those from the pool
 * fails once, by number: alone, and with all that come after it. A probe that fails undoes what it
 * has done, and nothing else (S6). A later one, with memory at hand, succeeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/vgpu.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

static const struct chip_manners calm = { .late = 0 };
static const struct policy quiet = { .seed = 1 };

/* Bring the card up, and take it down if that was done. Return the number of allocations. */
static u64 probe(u64 nth, bool rest)
{
	struct policy p = { .seed = 1, .nomem_nth = nth, .nomem_rest = rest };
	u64 allocs;
	int ret;

	harness_policy(&p);
	ret = the_pci_driver->probe(&world.pdev, the_pci_driver->id_table);
	allocs = harness_allocs();
	harness_policy(&quiet);
	if (!ret)
		the_pci_driver->remove(&world.pdev);
	else if (!nth)
		harness_fail("S6: the card is not taken after a probe that had no memory: %d", ret);
	return allocs;
}

static void a_probe_without_memory(void **state)
{
	u64 nth, last;

	world_begin(&quiet, &calm);
	pool_watch(false);
	the_pci_driver->remove(&world.pdev);
	last = probe(0, false);
	for (nth = 1; nth <= last; nth++) {
		probe(nth, false);
		probe(nth, true);
	}
	assert_int_equal(probe(0, false), last);
	print_message("%llu allocations\n", (unsigned long long)last);
	assert_int_equal(the_pci_driver->probe(&world.pdev, the_pci_driver->id_table), 0);
	world.gpu = pci_get_drvdata(&world.pdev);
	world_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_probe_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
