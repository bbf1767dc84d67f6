/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What this library wants from the place where it runs: fixed-width types, memcpy and memset,
 * mapped BARs, and pages of host memory whose bus address is known.
 */
#ifndef KVGPU_BARE_PORT_H
#define KVGPU_BARE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bare_bars {
	volatile uint8_t *bar0, *bar1;
	uint64_t bar1_size;
	/*
	 * Functions that access a register, where only the PRAMIN part of BAR0 can be mapped: a VMM
	 * has that of a mediated device. NULL: registers are accessed through @bar0.
	 */
	uint32_t (*read)(void *port, uint32_t reg);
	void (*write)(void *port, uint32_t reg, uint32_t value);
	void *port;
};

/* host memory that the GPU can reach, at consecutive bus addresses */
struct bare_pages {
	uint8_t *cpu;
	uint64_t bus;
	size_t size, used;
};

#endif
