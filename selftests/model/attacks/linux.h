/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bare library under Linux, for root: BARs through sysfs, and host memory whose bus addresses
 * are known. There must be no vIOMMU.
 */
#ifndef KVGPU_ATTACKS_LINUX_H
#define KVGPU_ATTACKS_LINUX_H

#include "bare/gpu.h"

struct machine {
	struct bare_gpu gpu;
	char device[256]; /* sysfs folder of the card */
	char driver[32]; /* name of the driver that has it; "": none */
};

/* Open the card. The program ends when there is none or it can't be mapped. */
void machine_open(struct machine *m);
/* Return a page of this process that is never given to the GPU. *@bus: its bus address. */
uint8_t *secret_page(uint64_t *bus);

#endif
