// SPDX-License-Identifier: GPL-2.0-only
/*
 * Graphics context images that the host owns (gk110/facts.md). FECS, the microcontroller that
 * switches the contexts of GR, loads a context image, and carries out the patch list (pairs of
 * register and value) to which the image's header points. Therefore a guest must be able to write
 * neither the image nor the list.
 *
 * The guest's instance block has the virtual address of the context. At that address the shadow
 * tables lead to pages of the host:
 * - a copy of the host's golden image, which is the image of a context in its initial state
 * - a page with a patch list that gtt-shadow/patch.c makes from the guest's list
 * - two buffers that units of GR use for the context: the page pool and the bundle buffer
 *
 * The shadow entries of these pages have PRIV: only privileged accesses reach the pages. Units of
 * GR access the two buffers with privilege. If the guest chose the buffers' addresses, it could
 * have GR write over a context image. So the host chooses them. The context size that the guest is
 * told includes all these pages.
 *
 * At the same virtual address the guest's own page tables lead to memory of the guest, in which the
 * host reads where the guest's patch list is.
 */
#include <linux/io.h>
#include <linux/slab.h>

#include "gk110/gr.h"
#include "gk110/grinit.h"
#include "mdev/machine/internal.h"

/* most pairs of a guest's patch list that the host reads */
#define PATCHES_MAX 64
#define OUT_MAX	    (PATCHES_MAX + KVGPU_PATCH_OWN)

static_assert(OUT_MAX * sizeof(struct kvgpu_patch) <= PAGE_SIZE);
static_assert(GR_PAGEPOOL_SIZE % PAGE_SIZE == 0 && GR_BUNDLE_SIZE % PAGE_SIZE == 0);

static u32 pagepool_off(const struct kvgpu_hw *hw)
{
	return hw->gr_ctx_size + PAGE_SIZE;
}

static u32 bundle_off(const struct kvgpu_hw *hw)
{
	return pagepool_off(hw) + GR_PAGEPOOL_SIZE;
}

u32 vmach_grctx_size(const struct kvgpu_hw *hw)
{
	return bundle_off(hw) + GR_BUNDLE_SIZE;
}

/* ---------------------------------- read the guest's patch list through the guest's page tables */

/* Reads @len bytes from where the guest's page tables lead at virtual address @va. */
static int read_virtual(struct kvgpu_vgpu *v, struct kvgpu_as *as, u64 va, void *buf, u32 len)
{
	struct kvgpu_gaddr at;
	u32 n, left;
	int ret;

	while (len) {
		ret = kvgpu_shadow_as_walk(as, va, &at, &left);
		if (ret)
			return ret;
		n = min3(len, left, (u32)(PAGE_SIZE - offset_in_page(at.addr)));
		ret = vmach_guest_read(v, at, buf, n);
		if (ret)
			return ret;
		va += n;
		buf += n;
		len -= n;
	}
	return 0;
}

struct patches {
	struct kvgpu_patch guest[PATCHES_MAX], out[OUT_MAX];
	u32 nr;
};

/* Reads the guest's patch list to @p->guest. Returns the number of pairs; 0 if it can't be read. */
static u32 read_patches(struct kvgpu_vgpu *v, const struct kvgpu_grctx *gr, struct patches *p)
{
	u32 header[2], nr;

	if (read_virtual(v, gr->space->as, gr->va + GR_CTX_OS_PATCH_COUNT, header, sizeof(header)))
		return 0;
	nr = min_t(u32, header[0], PATCHES_MAX);
	if (read_virtual(v, gr->space->as, (u64)header[1] << 8, p->guest, nr * sizeof(p->guest[0])))
		return 0;
	return nr;
}

/*
 * Makes the list that FECS executes, in @p->out. The list has the addresses of the page pool and
 * the bundle buffer, because the golden image has other virtual addresses for them, where a guest
 * can map memory of its own.
 */
static void make_patches(struct kvgpu_vgpu *v, const struct kvgpu_grctx *gr, struct patches *p)
{
	const struct kvgpu_hw *hw = &v->gpu->hw;
	const struct kvgpu_patch_host h = { .topo = &hw->topo,
					    .pagepool = gr->va + pagepool_off(hw),
					    .bundle = gr->va + bundle_off(hw) };
	u32 nr = read_patches(v, gr, p), rejected;

	p->nr = kvgpu_shadow_patch_filter(&h, p->guest, nr, p->out, OUT_MAX, &rejected);
	if (rejected)
		kvgpu_mdev_fault_note(v, "patch list: registers left out", -1, gr->va, rejected);
}

/* ---------------------------------------------------------- make, share and free context images */

/* Writes to @gr's memory: the golden image, the patch list, and zeros in the rest. */
static int fill_image(struct kvgpu_vgpu *v, struct kvgpu_grctx *gr)
{
	u32 size = v->gpu->hw.gr_ctx_size;
	struct patches *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!p)
		return -ENOMEM;
	make_patches(v, gr, p);
	ret = kvgpu_hw_gr_ctx_init(&v->gpu->hw, gr->image.at, 0, size);
	if (!ret) {
		iowrite32(p->nr, gr->image.cpu + GR_CTX_OS_PATCH_COUNT);
		iowrite32((gr->va + size) >> 8, gr->image.cpu + GR_CTX_OS_PATCH_ADDR);
		memset_io(gr->image.cpu + size, 0, gr->image.size - size);
		memcpy_toio(gr->image.cpu + size, p->out, p->nr * sizeof(p->out[0]));
	}
	kfree(p);
	return ret;
}

struct kvgpu_grctx *vmach_grctx_get(struct kvgpu_vgpu *v, struct kvgpu_space *sp, u64 va, u64 limit)
{
	u32 size = vmach_grctx_size(&v->gpu->hw);
	struct kvgpu_grctx *gr;

	list_for_each_entry(gr, &v->m->mem.grctxs, node) {
		if (gr->space == sp && gr->va == va) {
			gr->users++;
			return gr;
		}
	}
	if (!PAGE_ALIGNED(va) || limit < size || va > limit - size + 1 || vmach_gpu_lost(v->gpu))
		return NULL;
	gr = kzalloc(sizeof(*gr), GFP_KERNEL_ACCOUNT);
	if (!gr)
		return NULL;
	gr->space = sp;
	gr->va = va;
	gr->users = 1;
	if (vmach_pool_alloc(v, size, &gr->image) || fill_image(v, gr) ||
	    kvgpu_shadow_as_subst(sp->as, va, size >> PAGE_SHIFT, gr->image.at)) {
		vmach_pool_free(v, &gr->image);
		kfree(gr);
		return NULL;
	}
	sp->flush = true;
	list_add_tail(&gr->node, &v->m->mem.grctxs);
	return gr;
}

void vmach_grctx_put(struct kvgpu_vgpu *v, struct kvgpu_grctx *gr)
{
	if (--gr->users)
		return;
	kvgpu_shadow_as_unsubst(gr->space->as, gr->va, gr->image.size >> PAGE_SHIFT);
	gr->space->flush = true;
	list_move_tail(&gr->node, &v->m->mem.dead_images);
}

void vmach_grctx_free_dead(struct kvgpu_vgpu *v)
{
	struct kvgpu_grctx *gr, *n;

	list_for_each_entry_safe(gr, n, &v->m->mem.dead_images, node) {
		list_del(&gr->node);
		vmach_pool_free(v, &gr->image);
		kfree(gr);
	}
}

/* ------------------------------------------------- write the golden image to the guest's memory */

/* Copies the golden image to the memory to which the guest's page tables lead at @va. */
static int put_image(struct kvgpu_vgpu *v, struct kvgpu_as *as, u64 va)
{
	struct kvgpu_hw *hw = &v->gpu->hw;
	struct kvgpu_gaddr at;
	u32 done, len;
	int ret = 0;

	for (done = 0; !ret && done < hw->gr_ctx_size; done += len) {
		ret = kvgpu_shadow_as_walk(as, va + done, &at, &len);
		if (ret)
			return ret;
		if (at.target != KVGPU_VRAM)
			return -EFAULT;
		len = min(len, hw->gr_ctx_size - done);
		vmach_range_mark_dirty(v, at.addr, len);
		ret = kvgpu_hw_gr_ctx_init(hw, (hvram_t){ v->part.v + at.addr }, done, len);
	}
	return ret;
}

/*
 * The guest's driver has set up its golden context by register writes, which the host did not carry
 * out. Now it waits for FECS to save that context where block @inst has it, and will copy it into
 * those that it makes.
 */
void vmach_grctx_save(struct kvgpu_vgpu *v, struct kvgpu_gaddr inst)
{
	u32 block[(RAMIN_GR_CTX + 8) / 4];
	struct kvgpu_inst_guest g;
	struct kvgpu_space *sp;
	const char *why;
	int ret;

	if (vmach_gpu_lost(v->gpu) || vmach_guest_read(v, inst, block, sizeof(block)))
		return;
	/* an error is not handled: the block may be that of no channel */
	kvgpu_shadow_inst_decode(block, &g, &why);
	if (!g.gr_ctx || !kvgpu_target_ok(g.pd.target))
		return;
	sp = vmach_space_get(v, g.pd);
	if (!sp)
		return;
	vmach_space_sync(v, sp);
	ret = put_image(v, sp->as, g.gr_ctx);
	if (ret)
		kvgpu_mdev_fault_note(v, "golden context not written", -1, g.gr_ctx, -ret);
	vmach_space_put(v, sp, NULL);
	vmach_shadow_commit(v);
}
