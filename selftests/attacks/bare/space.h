/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An address space of our own making: 16 MiB from address 0 on, every page pointing wherever we
 * like.
 */
#ifndef KVGPU_BARE_SPACE_H
#define KVGPU_BARE_SPACE_H

#include "gpu.h"

enum { BARE_SPACE_SIZE = 16 << 20 };

struct bare_space {
	uint64_t pdb, table;	/* in VRAM */
};

void bare_space_create(struct bare_gpu *g, struct bare_space *s);
/* one 4 KiB page; the caller invalidates the TLB */
void bare_space_map(struct bare_gpu *g, struct bare_space *s, uint64_t va, enum bare_target t,
		    uint64_t addr);
/* pages that follow each other, @len bytes of them */
void bare_space_map_range(struct bare_gpu *g, struct bare_space *s, uint64_t va, enum bare_target t,
			  uint64_t addr, uint64_t len);
void bare_space_unmap(struct bare_gpu *g, struct bare_space *s, uint64_t va);

/*
 * Looks an address up in the tables of any instance block, wherever they are. false when there is
 * no page.
 * @left: bytes to the end of the page.
 */
bool bare_walk(struct bare_gpu *g, uint64_t inst, uint64_t va, enum bare_target *t, uint64_t *addr,
	       uint64_t *left);

#endif
