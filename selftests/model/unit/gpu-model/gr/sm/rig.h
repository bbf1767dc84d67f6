/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shader machine without a front end, on the real MMU, page tables and TLBs. Programs are
 * instruction words or cubins (as ptxas makes them). Memory is video memory that an address space
 * maps.
 */
#ifndef KVGPU_SELFTESTS_SM_RIG_H
#define KVGPU_SELFTESTS_SM_RIG_H

#include "gr/sm.h"

/* offset in bank 0 at which sm_35 code expects its parameters */
#define RIG_PARAM	  0x140
#define RIG_LOCAL_WINDOW  0xff000000u
#define RIG_SHARED_WINDOW 0xfe000000u
#define RIG_STACK	  512u /* bytes of local memory that each thread has */

struct rig {
	struct gk110 *g;
	struct fake *f;
	struct fake_vm *vm;
	struct mmu_space space;
	/* the last launch's grid; class state is kept between launches */
	struct sm_grid grid;
	struct pacer pacer;
	atomic_bool stop;
	/* begin of the free video memory; rig_alloc() adds VA_BASE for its address */
	uint64_t next;
	struct qmd qmd; /* initial fields of every launch */
};

struct rig *rig_create(uint64_t vram);
void rig_destroy(struct rig *r);
/*
 * rig_alloc() returns the address of @size zeroed bytes. rig_host() returns where the test sees the
 * same memory.
 */
uint64_t rig_alloc(struct rig *r, uint64_t size);
void *rig_host(struct rig *r, uint64_t va);
void rig_unmap(struct rig *r, uint64_t va);
/* Maps at @va the page of rig memory that has @of, as a second mapping. */
void rig_map(struct rig *r, uint64_t va, uint64_t of);

struct rig_kernel {
	uint64_t code; /* address of its first instruction word */
	unsigned int regs;
	uint32_t shared;
	uint64_t cbuf[QMD_NR_CBUF];
	uint32_t cbuf_size[QMD_NR_CBUF];
	uint32_t param_size;
};

struct rig_dim {
	uint32_t x, y, z;
};

/* Makes a kernel of @words, which have no scheduling words: this adds them. */
struct rig_kernel rig_program(struct rig *r, const uint64_t *words, unsigned int n,
			      unsigned int regs);
/*
 * Loads a kernel of a cubin. False if there is none of that name, or it needs what the rig does not
 * know.
 */
bool rig_cubin(struct rig *r, const void *image, size_t size, const char *name,
	       struct rig_kernel *k);
enum sm_result rig_launch(struct rig *r, struct rig_kernel *k, struct rig_dim grid,
			  struct rig_dim block, uint32_t dynamic_shared, const void *param,
			  uint32_t param_size);

#endif
