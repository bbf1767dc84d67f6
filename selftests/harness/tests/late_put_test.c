// SPDX-License-Identifier: GPL-2.0-only
/*
 * An admin takes the module off the card while a thread of a VMM, in the middle of closing
 * /dev/vfio/devices/vfioN, gives the last reference to the vfio_device back (S6). The release of
 * the mediated device uses its type, which is memory of the card's object. So the card's object has
 * to stay until the vGPU has given the mediated device back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/kernel/services.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

static const struct chip_manners calm = { .eager = true, .late = 1, .idles = true };
static const struct policy quiet = { .seed = 1 };
/* Each time that the VMM's thread could be kept from running it gets no CPU for long. */
static const struct policy kept = {
	.seed = 1,
	.delay_ppm = 1000000,
	.delay_ns = 10 * NSEC_PER_SEC,
};

/* A thread of the VMM: __fput() after vfio_device_fops_release(). */
static void cdev_put(void *arg)
{
	vfio_put_device(arg);
}

static void the_card_goes(void **state)
{
	struct world_vgpu *g;

	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	world_close(0);
	g->dev->refs++; /* chrdev_open() */
	g->made = false;
	mdev_remove(g->mdev);
	actor_new("closes", setup_mm, true, cdev_put, g->dev);
	harness_policy(&kept);
	pool_watch(false);
	card_remove(&world.pdev);
	harness_policy(&quiet);
	actors_run();
	container_free(setup_c);
	mm_free(setup_mm);
	world_end_without_card();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_card_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
