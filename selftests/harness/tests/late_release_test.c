// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU outlives its mediated device (S6). A thread in the middle of opening or closing
 * /dev/vfio/devices/vfioN has a reference to the vfio_device, but neither to its registration nor
 * to the mediated device, so that an admin's remove does not wait for it. Until that thread goes
 * on, the vGPU is on the card's list.
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

static void late(void **state)
{
	struct world_vgpu *g;
	struct vfio_device *dev;
	struct device *device;

	setup_begin(&quiet, &calm, 2);
	g = &world.vgpu[0];
	world_close(0);
	dev = g->dev;
	device = get_device(dev->dev); /* keeps the device, so that its .refs can be read below */
	dev->refs++; /* chrdev_open() */
	g->made = false;
	mdev_remove(g->mdev);
	assert_false(list_empty(&world.gpu->vgpus));
	if (device->refs < 2)
		harness_fail("S6: the vGPU is on the card's list, and its device is gone");
	assert_ptr_equal(list_first_entry(&world.gpu->vgpus, struct kvgpu_vgpu, node)->vdev.dev,
			 device);
	vfio_put_device(dev); /* cdev_put() */
	assert_int_equal(device->refs, 1);
	put_device(device);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
