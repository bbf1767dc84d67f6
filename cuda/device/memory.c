// SPDX-License-Identifier: MIT
/* Buffers. nouveau puts each at an address of its own in this process's address space on the GPU, for as long as it lives. */
#include <stdlib.h>

#include "nv.h"

enum { HOST_PAGE = 4096, VRAM_PAGE = 128 * 1024 };

/* the kind that block-linear surfaces of any texel size use: rnndb g80_defs.xml GF100_PTE_KIND */
enum { KIND_BLOCK_LINEAR = 0xfe };

static bool in_windows(const struct nouveau_bo *bo)
{
	return bo->offset < WINDOWS_END && bo->offset + bo->size > SHARED_WINDOW;
}

/* a buffer where generic addresses mean something else keeps its place until there is one elsewhere */
static int new_bo(struct nv_device *d, uint32_t flags, uint32_t align, uint64_t size, union nouveau_bo_config *config,
		  struct nouveau_bo **out)
{
	struct nouveau_bo *aside = NULL;
	int ret = nouveau_bo_new(d->dev, flags, align, size, config, out);

	if (ret || !in_windows(*out))
		return ret;
	aside = *out;
	*out = NULL;
	ret = new_bo(d, flags, align, size, config, out);
	nouveau_bo_ref(NULL, &aside);
	return ret;
}

enum device_status nv_alloc(struct device *dev, enum device_place place, uint64_t size, struct device_memory **out)
{
	struct nv_device *d = nv(dev);
	uint32_t page = place == PLACE_TILED || (place == PLACE_VRAM && size >= VRAM_PAGE) ? VRAM_PAGE : HOST_PAGE;
	uint32_t aperture = place == PLACE_HOST ? NOUVEAU_BO_GART : NOUVEAU_BO_VRAM;
	union nouveau_bo_config config = { .nvc0.memtype = KIND_BLOCK_LINEAR };
	struct nv_memory *m;

	if (d->nr_refs == MAX_BUFFERS || size > 1ull << 40)
		return DEVICE_NO_MEMORY;
	m = calloc(1, sizeof(*m));
	if (!m)
		return DEVICE_NO_MEMORY;
	size = (size + page - 1) & ~((uint64_t)page - 1);
	if (new_bo(d, aperture | (place == PLACE_HOST ? NOUVEAU_BO_MAP : 0), page, size, place == PLACE_TILED ? &config : NULL,
		   &m->bo))
		goto err;
	if (place == PLACE_HOST && nouveau_bo_map(m->bo, 0, d->client))
		goto err_bo;
	m->base = (struct device_memory){ .va = m->bo->offset, .size = size, .map = m->bo->map };
	m->index = d->nr_refs++;
	d->memory[m->index] = m;
	/* read only, whatever is done with it: else the kernel would order the queues by their buffers */
	d->refs[m->index] = (struct nouveau_pushbuf_refn){ m->bo, aperture | NOUVEAU_BO_RD };
	*out = &m->base;
	return DEVICE_OK;

err_bo:
	nouveau_bo_ref(NULL, &m->bo);
err:
	free(m);
	return DEVICE_NO_MEMORY;
}

void nv_release(struct device *dev, struct device_memory *base)
{
	struct nv_memory *m = (struct nv_memory *)base;
	struct nv_device *d = nv(dev);

	d->nr_refs--;
	d->memory[m->index] = d->memory[d->nr_refs];
	d->memory[m->index]->index = m->index;
	d->refs[m->index] = d->refs[d->nr_refs];
	nouveau_bo_ref(NULL, &m->bo);
	free(m);
}
