// SPDX-License-Identifier: GPL-2.0-only
/* context.h has the contracts, README.md what this code may use. */
#include "context.h"

#include <gk110/gr.h>
#include <gk110/ram.h>

enum { PAGE = 4096 };

uint32_t bare_image_size(struct bare_gpu *g)
{
	uint32_t size = bare_read(g, GR_FECS + FECS_SCRATCH(FECS_OS_SIZE));

	return (size + PAGE - 1) / PAGE * PAGE;
}

void bare_image_create(struct bare_gpu *g, struct bare_space *s, uint64_t va, uint32_t size,
		       struct bare_image *img)
{
	img->va = va;
	img->size = size;
	img->vram = bare_vram(g, size + PAGE, PAGE);
	bare_mem_zero(g, BARE_VRAM, img->vram, size + PAGE);
	bare_space_map_range(g, s, va, BARE_VRAM, img->vram, size + PAGE);
}

void bare_image_patch(struct bare_gpu *g, const struct bare_image *img, uint32_t reg,
		      uint32_t value)
{
	uint32_t pair[2] = { reg, value };

	bare_mem_write(g, BARE_VRAM, img->vram + img->size, pair, sizeof(pair));
	bare_mem_write32(g, BARE_VRAM, img->vram + GR_CTX_OS_PATCH_COUNT, 1);
	bare_mem_write32(g, BARE_VRAM, img->vram + GR_CTX_OS_PATCH_ADDR,
			 (img->va + img->size) >> 8);
	bare_flush(g);
}

bool bare_image_copy(struct bare_gpu *g, const struct bare_image *img, uint64_t inst)
{
	uint32_t lo = bare_mem_read32(g, BARE_VRAM, inst + RAMIN_GR_CTX);
	uint64_t va = (uint64_t)bare_mem_read32(g, BARE_VRAM, inst + RAMIN_GR_CTX + 4) << 32 |
		      (lo & RAMIN_CTX_ADDR_LO);
	uint64_t addr, left;
	uint32_t page[PAGE / 4], off;
	enum bare_target t;

	for (off = 0; off < img->size; off += PAGE) {
		if (!va || !bare_walk(g, inst, va + off, &t, &addr, &left))
			return false;
		bare_mem_read(g, t, addr, page, sizeof(page));
		bare_mem_write(g, BARE_VRAM, img->vram + off, page, sizeof(page));
	}
	return true;
}
