/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A vGPU on a K20m for these tests. All of mmio-trap/ is real; one thread. bench/rooms uses it,
 * too.
 */
#ifndef KVGPU_TEST_MMIO_TRAP_GUEST_H
#define KVGPU_TEST_MMIO_TRAP_GUEST_H

#include <mmio-trap/units.h>
#include <selftests/unit_test.h>

#define GUEST_VRAM     (512ull << 20)
#define GUEST_CTX_SIZE 0x41000u

struct guest {
	struct kvgpu_trap t;
	struct kvgpu_topo topo;
	uint8_t vbios[8192];
	uint64_t now; /* ns; moves on by 1024 with each rd() and wr() */
	struct kvgpu_cmd cmd; /* made by the last write */
};

struct guest *guest_new(void);
void guest_free(struct guest *g);
uint32_t rd(struct guest *g, uint32_t reg);
/* Writes a register. Returns the command's kind; the whole command is in g->cmd. */
enum kvgpu_cmd_kind wr(struct guest *g, uint32_t reg, uint32_t val);
void mask(struct guest *g, uint32_t reg, uint32_t clear, uint32_t set);
/* Takes the next interrupt message from the vGPU. Returns whether one was due. */
bool message_due(struct guest *g);

/* the vGPU of each test of TEST_MAIN(guest_begin, guest_end) */
static struct guest *g;

static inline int guest_begin(void **state)
{
	g = guest_new();
	return 0;
}

static inline int guest_end(void **state)
{
	guest_free(g);
	return 0;
}

#endif
