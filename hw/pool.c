// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host pool: video memory for structures that the host makes, such as instance blocks, page
 * tables, context images and runlists. The CPU sees it write-combined through the last
 * KVGPU_POOL_SIZE bytes of BAR1. Takes no lock of hw/: gen_pool has its own. Any thread.
 */
#include "hw/internal.h"

/*
 * Bytes at the start (HEAD) and at the end (TAIL) of video memory that nouveau reserves for VGA and
 * for the VBIOS (gf100_ram_ctor()). They stay unused here, too.
 */
#define TAIL (1ull << 20)
#define HEAD (256ull << 10)
/* The memory for partitions begins and ends at multiples of this: it begins at 2 MiB. */
#define PART_ALIGN (2ull << 20)
/* The size of a share is a multiple of this, the size of a table of small pages. */
#define SHARE_UNIT (256ull << 10)

int hw_pool_init(struct kvgpu_hw *hw)
{
	struct kvgpu_hw_priv *p = hw->p;
	u64 base = ALIGN_DOWN(hw->vram_size - TAIL - KVGPU_POOL_SIZE, 1ull << GMMU_BIG_SHIFT_128K);
	int ret;

	p->pool = gen_pool_create(PAGE_SHIFT, dev_to_node(&hw->pdev->dev));
	if (!p->pool)
		return -ENOMEM;
	ret = gen_pool_add(p->pool, base, KVGPU_POOL_SIZE, dev_to_node(&hw->pdev->dev));
	if (ret)
		goto err;
	p->pool_base.v = base;
	p->pool_cpu =
		ioremap_wc(hw->bar[KVGPU_BAR1].phys + hw->bar[KVGPU_BAR1].size - KVGPU_POOL_SIZE,
			   KVGPU_POOL_SIZE);
	ret = -ENOMEM;
	if (!p->pool_cpu)
		goto err;
	hw->part_first = ALIGN(HEAD, PART_ALIGN);
	hw->part_end = ALIGN_DOWN(base, PART_ALIGN);
	return 0;
err:
	gen_pool_destroy(p->pool);
	p->pool = NULL;
	return ret;
}

void hw_pool_fini(struct kvgpu_hw *hw)
{
	struct kvgpu_hw_priv *p = hw->p;

	if (p->pool_cpu)
		iounmap(p->pool_cpu);
	if (p->pool)
		gen_pool_destroy(p->pool);
	p->pool_cpu = NULL;
	p->pool = NULL;
}

int hw_pool_lower(struct kvgpu_hw *hw)
{
	hw_pool_fini(hw);
	hw->vram_size = ALIGN_DOWN(hw->vram_size - hw->vram_size / 8, PART_ALIGN);
	dev_warn(&hw->pdev->dev,
		 "the top of video memory does not answer (is ECC on?): using %llu MiB\n",
		 hw->vram_size >> 20);
	return hw_pool_init(hw);
}

static int pool_take(struct kvgpu_hw *hw, struct gen_pool *pool, u64 size, u64 align,
		     struct kvgpu_vram *out)
{
	struct genpool_data_align data = { .align = max_t(u64, align, PAGE_SIZE) };
	unsigned long at;

	size = ALIGN(size, PAGE_SIZE);
	at = gen_pool_alloc_algo(pool, size, gen_pool_first_fit_align, &data);
	if (!at)
		return -ENOMEM;
	out->at.v = at;
	out->size = size;
	out->cpu = hw->p->pool_cpu + (at - hw->p->pool_base.v);
	return 0;
}

int kvgpu_hw_vram_alloc(struct kvgpu_hw *hw, u64 size, u64 align, struct kvgpu_vram *out)
{
	return pool_take(hw, hw->p->pool, size, align, out);
}

void kvgpu_hw_vram_free(struct kvgpu_hw *hw, struct kvgpu_vram *v)
{
	if (v->size)
		gen_pool_free(hw->p->pool, v->at.v, v->size);
	memset(v, 0, sizeof(*v));
}

u64 kvgpu_hw_vram_left(struct kvgpu_hw *hw)
{
	return gen_pool_avail(hw->p->pool);
}

/* --------------------------------------------------------- shares: each vGPU's part of the pool */

int kvgpu_hw_share_take(struct kvgpu_hw *hw, u64 size, u64 least, struct kvgpu_hw_share *s)
{
	int node = dev_to_node(&hw->pdev->dev), ret = -ENOMEM;

	for (size = ALIGN_DOWN(size, SHARE_UNIT); ret && size >= least; size -= SHARE_UNIT)
		ret = kvgpu_hw_vram_alloc(hw, size, PAGE_SIZE, &s->mem);
	if (ret)
		return ret;
	s->pool = gen_pool_create(PAGE_SHIFT, node);
	if (s->pool && !gen_pool_add(s->pool, s->mem.at.v, s->mem.size, node))
		return 0;
	if (s->pool)
		gen_pool_destroy(s->pool);
	s->pool = NULL;
	kvgpu_hw_vram_free(hw, &s->mem);
	return -ENOMEM;
}

void kvgpu_hw_share_give(struct kvgpu_hw *hw, struct kvgpu_hw_share *s)
{
	/* gen_pool_destroy() of a pool in use would be a BUG() */
	if (s->pool && WARN_ON_ONCE(gen_pool_avail(s->pool) != s->mem.size))
		return;
	if (s->pool)
		gen_pool_destroy(s->pool);
	s->pool = NULL;
	kvgpu_hw_vram_free(hw, &s->mem);
}

int kvgpu_hw_share_alloc(struct kvgpu_hw *hw, struct kvgpu_hw_share *s, u64 size,
			 struct kvgpu_vram *out)
{
	return pool_take(hw, s->pool, size, PAGE_SIZE, out);
}

void kvgpu_hw_share_free(struct kvgpu_hw_share *s, struct kvgpu_vram *v)
{
	gen_pool_free(s->pool, v->at.v, v->size);
	memset(v, 0, sizeof(*v));
}
