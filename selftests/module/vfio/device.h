/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A VMM without a guest: it opens one mediated device through VFIO's group interface, with a type 1
 * container, or with iommufd in the container's place.
 */
#ifndef KVGPU_VFIO_DEVICE_H
#define KVGPU_VFIO_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/vfio.h>

#include "bare/gpu.h"

#define REGION_AT(r) ((off_t)(r) << 40)
#define BAR0_SIZE    (16u << 20)
#define PROM_AT	     0x300000u
#define FLUSH_AT     0x070000u /* a page of registers that ask for a flush */
#define MMU_AT	     0x100000u /* page of the MMU's registers */
#define PLAIN_AT     0x10e000u /* two pages of registers without an effect */
#define PLAIN_LEN    0x2000u
#define PRAMIN_AT    0x700000u
#define PRAMIN_LEN   0x100000u
/* Where the GPU sees the memory that the bare library hands out. */
#define ARENA_IOVA 0x40000000ull
#define ARENA_LEN  (2u << 20)

struct device {
	const char *uuid;
	int container, group, fd;
	bool iommufd;
	uint64_t bar1_size, bar3_size;
};

/*
 * Set what device_open() opens as the container from now on: /dev/vfio/vfio, the default, or
 * /dev/iommu.
 */
void device_container(const char *path);
/* Open the device. The program ends when that fails. */
void device_open(struct device *d, const char *uuid);
/* Likewise, but in the container of @first. */
void device_join(struct device *d, const char *uuid, const struct device *first);
void device_close(struct device *d);

uint32_t reg_read(struct device *d, uint32_t reg);
void reg_write(struct device *d, uint32_t reg, uint32_t value);
uint32_t config_read(struct device *d, unsigned int off, unsigned int len);
bool config_write(struct device *d, unsigned int off, unsigned int len, uint32_t value);

/* Return 0, or -1 with errno set. */
int dma_map(struct device *d, void *at, uint64_t iova, uint64_t len);
int dma_unmap(struct device *d, uint64_t iova, uint64_t len);
/* Return a counter of the vGPU, from /sys/bus/mdev/devices/UUID/kvgpu; ~0 when it can't be read. */
uint64_t counter(struct device *d, const char *name);
/* Return a counter of the card, whose folder in sysfs is @card. */
uint64_t card_counter(const char *card, const char *name);
uint64_t now_ms(void);

/*
 * Prepare the device for the bare library: registers by pread and pwrite, PRAMIN and BAR1 mapped,
 * ARENA_LEN of our memory mapped at ARENA_IOVA, memory decoding and bus mastering on,
 * bare_take_over() called. Call gpu_detach() before device_close().
 */
void gpu_attach(struct device *d, struct bare_gpu *g);
/* Likewise for a second device in the same container, with its memory at @iova. */
void gpu_attach_at(struct device *d, struct bare_gpu *g, uint64_t iova);
void gpu_detach(struct device *d, struct bare_gpu *g);

#endif
