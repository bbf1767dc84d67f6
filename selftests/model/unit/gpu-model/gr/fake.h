/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device around gr/ for its tests: the register file and the dispatch of the units under test, a
 * flat address space for each page directory. An access of gr/ to an address space asserts that its
 * thread holds gk110.lock if it has the flag MMU_LOCKED, and does not hold it otherwise.
 */
#ifndef KVGPU_SELFTESTS_GR_FAKE_H
#define KVGPU_SELFTESTS_GR_FAKE_H

#include "gr/gr.h"

#define FAKE_VRAM (16u << 20)
/* Bytes of an address space. Its address 0 is the VRAM at the page directory's address. */
#define FAKE_SPACE (2u << 20)
/* accesses from this address on must be privileged */
#define FAKE_PRIV_VA 0x100000u
#define FAKE_VICTIM  0x800000u /* a register range of another unit */

struct fake_fault {
	unsigned int count;
	const char *client;
	uint8_t unit, hub_client;
	int gpc;
	uint64_t va;
};

struct fake {
	/*
	 * must be the first member: the stand-ins get struct gk110 and find struct fake by it
	 */
	struct gk110 g;
	struct fake_fault fault;
	uint32_t irq_lines;
	unsigned int resumed, kicked;
	uint64_t warps_charged;
	bool stop_when_charged;
	struct chan *charging;
	uint64_t time;
	char note[256];
	uint32_t victim_reg, victim_val;
	unsigned int victim_writes;
};

struct fake *fake_create(void);
void fake_destroy(struct fake *f);
/*
 * For fuzzers: clears the VRAM in [@from, @from + FAKE_SPACE), the victim's registers, the register
 * that FECS_OS_LIST_FIRST names and .fault, and resets the units under test.
 */
void fake_recycle(struct fake *f, uint32_t from);

uint32_t rd32(struct fake *f, uint32_t reg);
void wr32(struct fake *f, uint32_t reg, uint32_t val);
void mask32(struct fake *f, uint32_t reg, uint32_t clear, uint32_t set);

uint32_t vram32(struct fake *f, uint64_t addr);
void vram32_set(struct fake *f, uint64_t addr, uint32_t val);

/*
 * Writes an instance block at @inst. Its address space is the VRAM at @pd, its GR context is at
 * @ctx_va (0: none).
 */
void fake_instance(struct fake *f, uint64_t inst, uint64_t pd, uint64_t ctx_va);
void fake_chan(struct fake *f, struct chan *c, unsigned int id, uint64_t inst);

void fake_upload(struct fake *f, uint32_t falcon, const uint32_t *data, unsigned int words);
/*
 * Start the context switch programs as nouveau does, with images that are laid out like nouveau's
 * own ones (fake_boot_nouveau()) or NVIDIA's (fake_boot_external()).
 */
void fake_boot_nouveau(struct fake *f);
void fake_boot_external(struct fake *f);
/* As nouveau's gf100_gr_init_csdata(): appends registers to a list in a falcon's data memory. */
void fake_csdata(struct fake *f, uint32_t falcon, uint32_t starstar, uint32_t base,
		 const uint32_t (*lists)[2], unsigned int n);
/* Enables exceptions as gf100_gr_init() does. */
void fake_enable_exceptions(struct fake *f);

static inline enum eng_ret method(struct fake *f, struct chan *c, unsigned int subc, uint32_t mthd,
				  uint32_t data)
{
	return gr_engine.method(&f->g, 0, c, subc, mthd, data, true);
}

#endif
