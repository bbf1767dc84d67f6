/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A copy as the copy class takes it, and the same copy done by the CPU to say what memory must look
 * like afterwards.
 */
#ifndef KVGPU_SELFTESTS_CE_H
#define KVGPU_SELFTESTS_CE_H

#include "gpu.h"
#include "tiling.h"

struct ce_side {
	uint64_t offset; /* in its buffer */
	uint32_t pitch;
	bool tiled;
	struct surface surf; /* when tiled */
	uint32_t x, y, layer; /* origin, when tiled */
};

struct ce_copy {
	struct ce_side src, dst;
	uint32_t length, lines; /* bytes, or elements when remap is on */
	bool remap;
	uint32_t consts[2];
	/* CE_REMAP_*: where each destination component comes from */
	uint8_t select[4];
	uint8_t comp_size, src_comps, dst_comps; /* bytes; numbers 1..4 */
};

enum { CE_COPY_WORDS = 48 }; /* pushbuffer space of one copy */

void ce_emit(struct gpu_chan *c, const struct ce_copy *copy, uint64_t src_va, uint64_t dst_va);
void ce_emit_linear(struct gpu_chan *c, uint64_t src_va, uint64_t dst_va, uint32_t length);
/* @src, @dst: what the two buffers hold */
void ce_reference(const struct ce_copy *copy, const uint8_t *src, uint8_t *dst);

#endif
