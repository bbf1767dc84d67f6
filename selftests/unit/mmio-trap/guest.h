/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A vGPU on a K20m as these tests use it: the card's topology as a host would read it, and short
 * ways to access it.
 */
#ifndef KVGPU_TEST_MMIO_TRAP_GUEST_H
#define KVGPU_TEST_MMIO_TRAP_GUEST_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

#include <mmio-trap/units.h>

#define GUEST_VRAM	(512ull << 20)
#define GUEST_CTX_SIZE	0x41000u

struct guest {
	struct kvgpu_trap t;
	struct kvgpu_topo topo;
	uint8_t vbios[8192];
	uint64_t now;
	struct kvgpu_cmd cmd;		/* of the last write */
};

struct guest *guest_new(void);
void guest_free(struct guest *g);
uint32_t rd(struct guest *g, uint32_t reg);
/* the command's kind; the whole is in g->cmd */
enum kvgpu_cmd_kind wr(struct guest *g, uint32_t reg, uint32_t val);
void mask(struct guest *g, uint32_t reg, uint32_t clear, uint32_t set);
/* the next message: whether one is due */
bool message_due(struct guest *g);

#endif
