/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bare library under Linux, as root: BARs through sysfs, host memory with known bus addresses.
 * No vIOMMU.
 */
#ifndef KVGPU_ATTACKS_LINUX_H
#define KVGPU_ATTACKS_LINUX_H

#include "bare/gpu.h"

struct machine {
	struct bare_gpu gpu;
	char device[256];	/* sysfs folder of the card */
	char driver[32];	/* who holds it; "" for nobody */
};

/* ends the program when there is no card or it can't be mapped */
void machine_open(struct machine *m);
/* a card without a driver: switched on, may master the bus, raises nothing */
void machine_power(struct machine *m);
/* a page of this process, never given to the GPU, and where it lies */
uint8_t *secret_page(uint64_t *bus);

#endif
