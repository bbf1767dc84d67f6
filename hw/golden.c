// SPDX-License-Identifier: GPL-2.0-only
/*
 * The golden context, whose image every graphics context starts with. It is made once, at bring-up:
 * the host writes the registers of the graphics engine, and FECS, the falcon (microcontroller) that
 * switches contexts, saves them into the image. FECS finds the image in an address space that only
 * the golden context has. After the save the image is taken out of that address space, so that no
 * guest's work on the GPU can change it. The address space is kept, because the engine is bound to
 * that address space until the engine loads another context.
 *
 * gr_lock is held while the golden context is made and freed.
 * kvgpu_hw_gr_ctx_init() does not need gr_lock, because the image is constant after bring-up. This
 * function waits for the copy, so its callers hold no lock of mdev/ that other
 * vGPUs wait for.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "hw/gr.h"

#define VA_PAGEPOOL 0x00100000ull
#define VA_BUNDLE   0x00110000ull
#define VA_ATTRIB   0x00200000ull
#define VA_CONTEXT  0x00800000ull
#define VA_LAST	    0x00ffffffull
#define TABLE_SIZE  (32768u * GMMU_ENTRY_SIZE)

static void golden_map(struct hw_gr *gr, u64 va, const struct kvgpu_vram *v, u64 flags)
{
	u32 page;

	for (page = 0; page < v->size >> GMMU_SMALL_SHIFT; page++)
		hw_vram_wr64(&gr->table, ((va >> GMMU_SMALL_SHIFT) + page) * GMMU_ENTRY_SIZE,
			     GMMU_PTE_VALID | flags |
				     FIELD_PREP(GMMU_PTE_ADDR,
						(v->at.v >> GMMU_ADDR_SHIFT) + page));
}

static void golden_unmap(struct hw_gr *gr, u64 va, const struct kvgpu_vram *v)
{
	u32 page;

	for (page = 0; page < v->size >> GMMU_SMALL_SHIFT; page++)
		hw_vram_wr64(&gr->table, ((va >> GMMU_SMALL_SHIFT) + page) * GMMU_ENTRY_SIZE, 0);
}

static int golden_alloc(struct kvgpu_hw *hw, struct hw_gr *gr)
{
	const struct {
		struct kvgpu_vram *v;
		u32 size;
	} want[] = {
		{ &gr->inst, RAMIN_SIZE },	  { &gr->pd, HW_PD_SIZE },
		{ &gr->table, TABLE_SIZE },	  { &gr->pagepool, GR_PAGEPOOL_SIZE },
		{ &gr->bundle, GR_BUNDLE_SIZE },  { &gr->attrib, hw_gr_attrib_size(hw) },
		{ &gr->golden, hw->gr_ctx_size },
	};
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		ret = kvgpu_hw_vram_alloc(hw, want[i].size, PAGE_SIZE, want[i].v);
		if (ret) {
			dev_err(&hw->pdev->dev,
				"no room in the pool for %u bytes of the golden context (%d)\n",
				want[i].size, ret);
			return ret;
		}
		memset_io(want[i].v->cpu, 0, want[i].v->size);
	}
	return 0;
}

/*
 * Makes the instance block and the address space of the channel for which FECS saves the golden
 * context.
 */
static int make_space(struct kvgpu_hw *hw, struct hw_gr *gr)
{
	int ret;

	hw_vram_wr64(&gr->pd, 0,
		     FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_VRAM) |
			     FIELD_PREP(GMMU_PDE_SMALL_ADDR, gr->table.at.v >> GMMU_ADDR_SHIFT));
	golden_map(gr, VA_PAGEPOOL, &gr->pagepool, GMMU_PTE_PRIV);
	golden_map(gr, VA_BUNDLE, &gr->bundle, GMMU_PTE_PRIV);
	golden_map(gr, VA_ATTRIB, &gr->attrib, 0);
	golden_map(gr, VA_CONTEXT, &gr->golden, GMMU_PTE_PRIV);
	hw_inst_space_write(&gr->inst, gr->pd.at.v, VA_LAST);
	hw_vram_wr32(&gr->inst, GR_INST_CTX_LO, lower_32_bits(VA_CONTEXT) | GR_INST_CTX_VIRTUAL);
	hw_vram_wr32(&gr->inst, GR_INST_CTX_HI, upper_32_bits(VA_CONTEXT));
	ret = kvgpu_hw_flush_writes(hw);
	return ret ?: kvgpu_hw_tlb_flush(hw, gr->pd.at.v, false);
}

static int golden_seal(struct kvgpu_hw *hw, struct hw_gr *gr)
{
	int ret;

	golden_unmap(gr, VA_CONTEXT, &gr->golden);
	hw_vram_wr32(&gr->inst, GR_INST_CTX_LO, 0);
	hw_vram_wr32(&gr->inst, GR_INST_CTX_HI, 0);
	ret = kvgpu_hw_flush_writes(hw);
	return ret ?: kvgpu_hw_tlb_flush(hw, gr->pd.at.v, false);
}

/*
 * Refuses an empty image, and an image with a patch list: register writes that FECS does, with full
 * privileges, when it loads the context.
 */
static int check_image(struct kvgpu_hw *hw, const u32 *image)
{
	u32 i;

	if (image[GR_CTX_OS_PATCH_COUNT / 4] || image[GR_CTX_OS_PATCH_ADDR / 4]) {
		dev_err(&hw->pdev->dev, "golden context has a patch list of its own\n");
		return -EIO;
	}
	for (i = GR_CTX_HEADER / 4; i < hw->gr_ctx_size / 4; i++)
		if (image[i])
			return 0;
	dev_err(&hw->pdev->dev, "golden context is empty: FECS saved nothing\n");
	return -EIO;
}

static int check_golden(struct kvgpu_hw *hw, struct hw_gr *gr)
{
	u32 *image = kvmalloc(hw->gr_ctx_size, GFP_KERNEL);
	int ret;

	if (!image)
		return -ENOMEM;
	memcpy_fromio(image, gr->golden.cpu, hw->gr_ctx_size);
	ret = check_image(hw, image);
	kvfree(image);
	return ret;
}

int hw_golden_make(struct kvgpu_hw *hw)
{
	static const struct hw_gr_buffers buffers = { .pagepool = VA_PAGEPOOL,
						      .bundle = VA_BUNDLE,
						      .attrib = VA_ATTRIB };
	struct hw_gr *gr = &hw->p->gr;
	int ret, sealed;

	ret = hw_fecs_reset(hw);
	ret = ret ?: golden_alloc(hw, gr);
	ret = ret ?: make_space(hw, gr);
	ret = ret ?: hw_fecs_set_chan(hw, gr->inst.at.v);
	ret = ret ?: hw_gr_write_context(hw, &buffers);
	ret = ret ?: hw_fecs_unload(hw);
	if (ret)
		return ret;
	sealed = golden_seal(hw, gr);
	ret = check_golden(hw, gr);
	return ret ?: sealed;
}

/*
 * Call it only while the engine is in reset: out of reset, the engine might still use the address
 * space that is freed here.
 */
void hw_golden_free(struct kvgpu_hw *hw)
{
	struct hw_gr *gr = &hw->p->gr;
	struct kvgpu_vram *all[] = {
		&gr->golden, &gr->attrib, &gr->bundle, &gr->pagepool,
		&gr->table,  &gr->pd,	  &gr->inst,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		kvgpu_hw_vram_free(hw, all[i]);
}

int kvgpu_hw_gr_ctx_init(struct kvgpu_hw *hw, hvram_t at, u32 off, u32 size)
{
	return kvgpu_hw_copy_vram(hw, at, (hvram_t){ hw->p->gr.golden.at.v + off }, size);
}
