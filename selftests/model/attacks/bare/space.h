/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An address space of our own making: 16 MiB from address 0 on, of which each page points wherever
 * we like.
 */
#ifndef KVGPU_BARE_SPACE_H
#define KVGPU_BARE_SPACE_H

#include "gpu.h"

enum { BARE_SPACE_SIZE = 16 << 20 };

struct bare_space {
	uint64_t pdb, table; /* in VRAM */
};

void bare_space_create(struct bare_gpu *g, struct bare_space *s);
/* Map one 4 KiB page. The caller invalidates the TLB. */
void bare_space_map(struct bare_gpu *g, struct bare_space *s, uint64_t va, enum bare_target t,
		    uint64_t addr);
/* Map @len bytes, which lie in one piece at @addr. The caller invalidates the TLB. */
void bare_space_map_range(struct bare_gpu *g, struct bare_space *s, uint64_t va, enum bare_target t,
			  uint64_t addr, uint64_t len);
void bare_space_unmap(struct bare_gpu *g, struct bare_space *s, uint64_t va);

/*
 * Look @va up in the tables of instance block @inst, which may be any channel's. Return false when
 * no page is mapped there.
 * @left: bytes from @addr to the end of its page.
 */
bool bare_walk(struct bare_gpu *g, uint64_t inst, uint64_t va, enum bare_target *t, uint64_t *addr,
	       uint64_t *left);

#endif
