/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that this library wants from where it runs: fixed-width types, memcpy and memset, mapped
 * BARs, and pages of host memory whose bus address is known. A program under an operating system
 * fills the structures in from linux.c; one without (a hostile guest made of nothing else) maps the
 * BARs by itself and hands out its own memory.
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
	 * for a BAR0 of which only PRAMIN can be mapped (a mediated device, seen by its VMM); else
	 * NULL
	 */
	uint32_t (*read)(void *port, uint32_t reg);
	void (*write)(void *port, uint32_t reg, uint32_t value);
	void *port;
};

/* physically contiguous host memory that the GPU can reach */
struct bare_pages {
	uint8_t *cpu;
	uint64_t bus;
	size_t size, used;
};

#endif
