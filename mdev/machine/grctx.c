// SPDX-License-Identifier: GPL-2.0-only
/*
 * Graphics contexts that the host owns (docs/hardware.md). FECS loads a context image with full
 * authority, and carries out the patch list to which the image's header points. Therefore a guest
 * must be able to write neither the image nor the list. The guest's instance block has the virtual
 * address of the context. There the shadow tables lead to the host's pages, not to the guest's: a
 * copy of the host's golden image, then one page with those pairs of the guest's patch list that
 * are harmless. The context size that the guest is told includes that page.
 *
 * The host reads the guest's own memory at that address once, for the patch list. FECS never loads
 * it.
 */
#include <linux/io.h>
#include <linux/slab.h>

#include "gk110/gr.h"
#include "mdev/machine/internal.h"

/* entries of a patch list that the host takes, the rest is left out; nouveau emits some 36 */
#define PATCHES_MAX	64

static u32 ctx_pages(const struct kvgpu_vgpu *v)
{
	return (v->gpu->hw.gr_ctx_size >> PAGE_SHIFT) + 1;
}

/* ----------------------------------------------------------- reading through the guest's tables */

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
	struct kvgpu_patch guest[PATCHES_MAX], out[PATCHES_MAX];
	u32 nr;
};

/*
 * Reads and filters the patch list of the guest's context at @va. If the list can't be read it
 * counts as empty, and the image keeps the golden values.
 */
static void read_patches(struct kvgpu_vgpu *v, struct kvgpu_as *as, u64 va, struct patches *p)
{
	u32 header[2], rejected = 0, nr;

	if (read_virtual(v, as, va + GR_CTX_OS_PATCH_COUNT, header, sizeof(header)))
		return;
	nr = min_t(u32, header[0], PATCHES_MAX);
	if (!nr || read_virtual(v, as, (u64)header[1] << 8, p->guest, nr * sizeof(p->guest[0])))
		return;
	p->nr = kvgpu_shadow_patch_filter(&v->gpu->hw.topo, p->guest, nr, p->out, PATCHES_MAX,
					  &rejected);
	if (rejected)
		kvgpu_mdev_fault_note(v, "patch list: registers left out", -1, va, rejected);
}

/* ------------------------------------------------------------------ images */

static int fill_image(struct kvgpu_vgpu *v, struct kvgpu_grctx *gr)
{
	u64 list = gr->va + v->gpu->hw.gr_ctx_size;
	struct patches *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!p)
		return -ENOMEM;
	read_patches(v, gr->space->as, gr->va, p);
	ret = kvgpu_hw_gr_ctx_init(&v->gpu->hw, gr->image.at);
	if (!ret) {
		iowrite32(p->nr, gr->image.cpu + GR_CTX_OS_PATCH_COUNT);
		iowrite32(list >> 8, gr->image.cpu + GR_CTX_OS_PATCH_ADDR);
		memset_io(gr->image.cpu + v->gpu->hw.gr_ctx_size, 0, PAGE_SIZE);
		memcpy_toio(gr->image.cpu + v->gpu->hw.gr_ctx_size, p->out,
			    p->nr * sizeof(p->out[0]));
	}
	kfree(p);
	return ret;
}

static int ctx_image_make(struct kvgpu_vgpu *v, struct kvgpu_grctx *gr)
{
	int ret;

	ret = vmach_pool_alloc(v, (u64)gr->pages << PAGE_SHIFT, &gr->image);
	if (ret)
		return ret;
	ret = fill_image(v, gr);
	ret = ret ?: kvgpu_shadow_as_subst(gr->space->as, gr->va, gr->pages, gr->image.at);
	if (ret)
		vmach_pool_free(v, &gr->image);
	return ret;
}

struct kvgpu_grctx *vmach_grctx_get(struct kvgpu_vgpu *v, struct kvgpu_space *sp, u64 va,
				    u64 limit)
{
	u64 size = (u64)ctx_pages(v) << PAGE_SHIFT;
	struct kvgpu_grctx *gr;

	list_for_each_entry(gr, &v->m->grctxs, node) {
		if (gr->space == sp && gr->va == va) {
			gr->users++;
			return gr;
		}
	}
	if (!PAGE_ALIGNED(va) || limit < size || va > limit - size + 1 || vmach_gpu_wedged(v->gpu))
		return NULL;
	gr = kzalloc(sizeof(*gr), GFP_KERNEL_ACCOUNT);
	if (!gr)
		return NULL;
	gr->space = sp;
	gr->va = va;
	gr->pages = ctx_pages(v);
	gr->users = 1;
	if (ctx_image_make(v, gr)) {
		kfree(gr);
		return NULL;
	}
	sp->flush = true;
	list_add_tail(&gr->node, &v->m->grctxs);
	return gr;
}

void vmach_grctx_put(struct kvgpu_vgpu *v, struct kvgpu_grctx *gr)
{
	if (--gr->users)
		return;
	kvgpu_shadow_as_unsubst(gr->space->as, gr->va, gr->pages);
	gr->space->flush = true;
	list_move_tail(&gr->node, &v->m->dead_images);
}

void vmach_grctx_free_dead(struct kvgpu_vgpu *v)
{
	struct kvgpu_grctx *gr, *n;

	list_for_each_entry_safe(gr, n, &v->m->dead_images, node) {
		list_del(&gr->node);
		vmach_pool_free(v, &gr->image);
		kfree(gr);
	}
}

/* ----------------------------------------------------------------- the guest's own golden image */

/*
 * Copies @len bytes or less of the image from @from to the memory to which the guest's tables lead
 * at @va. *@len: the bytes copied. An address that is not in the partition is an error.
 */
static int put_image_part(struct kvgpu_vgpu *v, struct kvgpu_as *as, u64 va, hvram_t from, u32 *len)
{
	struct kvgpu_gaddr at;
	u32 left;
	int ret;

	ret = kvgpu_shadow_as_walk(as, va, &at, &left);
	if (ret)
		return ret;
	*len = min(*len, left);
	if (at.target != KVGPU_VRAM)
		return -EFAULT;
	vmach_range_touch(v, at.addr, *len);
	return kvgpu_hw_copy_vram(&v->gpu->hw, (hvram_t){ v->part.v + at.addr }, from, *len);
}

static int put_image(struct kvgpu_vgpu *v, struct kvgpu_as *as, u64 va)
{
	u32 size = v->gpu->hw.gr_ctx_size, done, len;
	struct kvgpu_vram image = { };
	int ret;

	ret = vmach_pool_alloc(v, size, &image);
	if (ret)
		return ret;
	ret = kvgpu_hw_gr_ctx_init(&v->gpu->hw, image.at);
	for (done = 0; !ret && done < size; done += len) {
		len = size - done;
		ret = put_image_part(v, as, va + done, (hvram_t){ image.at.v + done }, &len);
	}
	vmach_pool_free(v, &image);
	return ret;
}

/*
 * The guest's driver has set up its golden context by register writes, which the host did not carry
 * out, and now waits for FECS to save that context at the address in instance block @inst. Writes
 * the host's golden image there, because the driver copies what was saved into every context that
 * it makes, and may read it. The channel's space may have no shadow yet.
 */
void vmach_grctx_save(struct kvgpu_vgpu *v, struct kvgpu_gaddr inst)
{
	u32 block[(RAMIN_GR_CTX + 8) / 4];
	u64 va;
	struct kvgpu_gaddr pd;
	struct kvgpu_space *sp;
	int ret;

	vmach_stage_drop(v->m);
	if (vmach_gpu_wedged(v->gpu) || vmach_guest_read(v, inst, block, sizeof(block)))
		return;
	pd.target = FIELD_GET(GMMU_INST_PDB_LO_TARGET, block[GMMU_INST_PDB_LO / 4]);
	pd.addr = (block[GMMU_INST_PDB_LO / 4] & GMMU_INST_PDB_LO_ADDR) |
		  (u64)FIELD_GET(GMMU_INST_PDB_HI_ADDR, block[GMMU_INST_PDB_HI / 4]) << 32;
	va = (block[RAMIN_GR_CTX / 4] & RAMIN_CTX_ADDR_LO) |
	     (u64)(block[RAMIN_GR_CTX / 4 + 1] & 0xff) << 32;
	if (!va || !kvgpu_target_ok(pd.target))
		return;
	sp = vmach_space_get(v, pd);
	if (!sp)
		return;
	vmach_shadow_sync(v);
	ret = put_image(v, sp->as, va);
	if (ret)
		kvgpu_mdev_fault_note(v, "golden context not written", -1, va, -ret);
	vmach_space_put(v, sp, NULL);
	vmach_shadow_settle(v);
}
