/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What attacks on a card that nouveau drives need: nouveau's structures, and a channel of ours
 * among nouveau's channels.
 */
#ifndef KVGPU_ATTACKS_FOREIGN_H
#define KVGPU_ATTACKS_FOREIGN_H

#include "bare/gpu.h"
#include "client.h"

enum { FORGED_ID = 4090, OWN_BYTES = 1 << 20 };

/* the runlist that nouveau submitted last */
struct list {
	unsigned int runlist, count;
	enum bare_target target;
	uint64_t addr;
};

uint64_t instance_of(struct bare_gpu *g, int chid);
void current_list(struct bare_gpu *g, unsigned int runlist, struct list *l);
/*
 * Return the VRAM address of @bo, which nouveau gave us and which is to hold structures of our own.
 * Its OWN_BYTES are physically contiguous: the program ends when they are not.
 */
uint64_t own_vram(struct bare_gpu *g, struct gpu_chan *own, struct nouveau_bo *bo);
/* submit list @l with the entry @extra at its end */
bool submit_with(struct bare_gpu *g, const struct list *l, uint32_t extra);

#endif
