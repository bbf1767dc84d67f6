// SPDX-License-Identifier: GPL-2.0-only
/* The device as the driver API opens it, in place of nouveau's. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cuda/kepler/driver/driver.h>

#include "inprocess.h"

enum { NR_SMX = 13, K20M = 0x1028 };

static const struct device_ops device_inprocess;
const struct device_ops *backend = &device_inprocess;

static unsigned int count(void)
{
	return in_nr_gpus();
}

static enum device_status describe(unsigned int index, struct device_facts *out)
{
	if (index >= in_nr_gpus())
		return DEVICE_NONE;
	*out = (struct device_facts){ .name = "Tesla K20m (in this process)",
				      .pci_id = K20M,
				      .bus = 1 + index,
				      .vram = in_vram_size(),
				      .nr_smx = NR_SMX,
				      .copies_apart = true };
	return DEVICE_OK;
}

static void in_close(struct device *dev)
{
	struct in_device *d = in(dev);

	in_queues_close(d);
	while (d->vram.first)
		in_release(dev, &d->vram.first->base);
	while (d->host.first)
		in_release(dev, &d->host.first->base);
	in_chip_close(d);
	pthread_cond_destroy(&d->change);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static enum device_status in_open(unsigned int index, bool moves, struct device **out)
{
	bool there = index < in_nr_gpus() && card_take(index, 0);
	struct in_device *d = there ? calloc(1, sizeof(*d)) : NULL;
	enum device_status ret = DEVICE_OK;
	unsigned int i;

	if (!d)
		return DEVICE_NONE;
	d->base.ops = &device_inprocess;
	d->gpu = index;
	d->moves = moves;
	d->vram.file = d->host.file = -1;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->change, NULL);
	if (!in_chip_open(d))
		ret = DEVICE_NO_MEMORY;
	if (!ret)
		ret = in_alloc(&d->base, PLACE_HOST, MAX_IN_FLIGHT * SLOT_BYTES, &d->slots);
	for (i = 0; i < NR_GPU_QUEUES && !ret; i++)
		if (!in_queue_open(d, i))
			ret = DEVICE_NO_MEMORY;
	if (ret) {
		in_close(&d->base);
		return ret;
	}
	*out = &d->base;
	return DEVICE_OK;
}

static bool in_copies_beside(struct device *dev)
{
	return true;
}

static enum device_cause in_cause(struct device *dev)
{
	return atomic_load(&in(dev)->cause);
}

static const struct device_ops device_inprocess = {
	.count = count,
	.describe = describe,
	.open = in_open,
	.close = in_close,
	.vram_used = in_vram_used,
	.in_use = card_used,
	.alloc = in_alloc,
	.view = in_view,
	.release = in_release,
	.move = in_move,
	.copies_beside = in_copies_beside,
	.copy = in_copy,
	.fill = in_fill,
	.launch = in_launch,
	.stamp = in_stamp,
	.host_begin = in_host_begin,
	.host_done = in_host_done,
	.poll = in_poll,
	.cause = in_cause,
};
