// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory for the shadow tables: what gtt-shadow/ asks of the host (struct kvgpu_shadow_ops).
 *
 * Reads of the guest's tables. Those in video memory are fetched by the host's copy engine into a
 * staging buffer that is good for one command: a page, which is what a guest mostly writes, and 64
 * KiB where reading goes on with the next one. A page that the CPU may have written since is taken
 * away from the CPU first, and the buffer dropped, by machine_range_dirty() (space.c). Tables in
 * system memory are read through the VFIO core.
 */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "mdev/machine/internal.h"

/*
 * an address space takes 328 KiB of it and up: 30 of them in the smallest vGPU, one for each
 * program that uses the GPU
 */
#define POOL_MIN	(10ull << 20)
#define MAX_TABLES	512

static unsigned int max_pinned_mib = 2048;
module_param(max_pinned_mib, uint, 0444);
MODULE_PARM_DESC(max_pinned_mib, "memory of one guest that may be pinned for the GPU at a time, MiB; costs 9 KiB per MiB");

/* -------------------------------------------------------------- the host's pool of video memory */

static bool has_room(const struct kvgpu_machine *m, u64 size)
{
	return size <= m->pool_max - m->pool_used;
}

/*
 * Not on a card that was cut off: it may have a channel that can't be taken off, which goes on with
 * its tables in video memory after they went back. They are empty, and must stay nobody's (S1). So
 * this is asked when the memory was taken: it went back later than that.
 */
int machine_pool_alloc(struct kvgpu_vgpu *v, u64 size, struct kvgpu_vram *out)
{
	struct kvgpu_machine *m = v->m;
	int ret;

	size = PAGE_ALIGN(size);
	if (!has_room(m, size))
		return -ENOMEM;
	ret = kvgpu_hw_vram_alloc(&v->gpu->hw, size, PAGE_SIZE, out);
	if (ret)
		return ret;
	if (machine_wedged(v->gpu)) {
		kvgpu_hw_vram_free(&v->gpu->hw, out);
		return -EIO;
	}
	m->pool_used += out->size;
	return 0;
}

static void give_back(struct kvgpu_vgpu *v, struct kvgpu_vram *vram)
{
	v->m->pool_used -= vram->size;
	kvgpu_hw_vram_free(&v->gpu->hw, vram);
}

/*
 * The pool is everybody's, and what goes back to it is empty: who still had a pointer to it would
 * find no entry in it, and nothing that was another vGPU's (S1, S4). It is written out before it
 * can be taken again, perhaps on another CPU.
 */
void machine_pool_free(struct kvgpu_vgpu *v, struct kvgpu_vram *vram)
{
	if (!vram->size)
		return;
	memset_io(vram->cpu, 0, vram->size);
	machine_flush(v, false);
	give_back(v, vram);
}

/* ------------------------------------------------------------------ reading */

void machine_stage_drop(struct kvgpu_machine *m)
{
	m->stage.len = 0;
}

static int stage_fill(struct kvgpu_vgpu *v, u64 off)
{
	struct kvgpu_machine *m = v->m;
	u64 at = off & PAGE_MASK;
	u32 len = min_t(u64, at == m->stage.next ? STAGE_SIZE : PAGE_SIZE, v->part_size - at);

	m->stage.len = 0;
	if (machine_wedged(v->gpu))
		return -EFAULT;
	/* the copy job writes out what the CPU has put into BARs before it starts */
	if (kvgpu_hw_copy_to_sys(&v->gpu->hw, m->stage.dma, (hvram_t){ v->part.v + at }, len))
		return -EFAULT;
	dma_rmb();
	m->stage.at = at;
	m->stage.len = len;
	m->stage.next = at + len;
	m->flush_owed = false;
	return 0;
}

static int read_vram(struct kvgpu_vgpu *v, u64 off, void *buf, u32 len)
{
	struct kvgpu_machine *m = v->m;
	int ret = 0;

	if (off >= v->part_size || len > v->part_size - off)
		return -EFAULT;
	if (!m->stage.len || off < m->stage.at || off + len > m->stage.at + m->stage.len)
		ret = stage_fill(v, off);
	if (!ret)
		memcpy(buf, m->stage.cpu + (off - m->stage.at), len);
	return ret;
}

int machine_read(struct kvgpu_vgpu *v, struct kvgpu_gaddr a, void *buf, u32 len)
{
	lockdep_assert_held(&v->lock);
	if (len > PAGE_SIZE - offset_in_page(a.addr))
		return -EFAULT;
	if (a.target == KVGPU_VRAM)
		return read_vram(v, a.addr, buf, len);
	if (!kvgpu_is_sys(a.target) || !v->m->may_pin)
		return -EFAULT;
	return vfio_dma_rw(&v->vdev, a.addr, buf, len, false) ? -EFAULT : 0;
}

static int op_read(void *ctx, struct kvgpu_gaddr a, void *buf, u32 len)
{
	return machine_read(ctx, a, buf, len);
}

/* ------------------------------------------------------------------ tables */

struct table_memory {
	struct list_head node;		/* m->freed: empty, and not written out yet */
	struct kvgpu_vram vram;
};

static int op_table_new(void *ctx, u32 nr, struct kvgpu_table *t)
{
	struct kvgpu_vgpu *v = ctx;
	size_t aux = kvgpu_table_aux(&v->m->shadow.cfg, nr);
	struct table_memory *mem;

	/* first what costs nothing: a guest may ask for tables in vain, again and again */
	if (!has_room(v->m, PAGE_ALIGN((u64)nr * GMMU_ENTRY_SIZE)))
		return -ENOMEM;
	mem = kzalloc(sizeof(*mem), GFP_KERNEL_ACCOUNT);
	t->mirror = kvcalloc(nr, GMMU_ENTRY_SIZE, GFP_KERNEL_ACCOUNT);
	t->aux = aux ? kvzalloc(aux, GFP_KERNEL_ACCOUNT) : NULL;
	if (!mem || !t->mirror || (aux && !t->aux) ||
	    machine_pool_alloc(v, (u64)nr * GMMU_ENTRY_SIZE, &mem->vram)) {
		kvfree(t->aux);
		kvfree(t->mirror);
		kfree(mem);
		return -ENOMEM;
	}
	memset_io(mem->vram.cpu, 0, mem->vram.size);
	t->nr = nr;
	t->addr = mem->vram.at.v;
	t->priv = mem;
	return 0;
}

static void op_table_free(void *ctx, struct kvgpu_table *t)
{
	struct kvgpu_vgpu *v = ctx;
	struct table_memory *mem = t->priv;

	memset_io(mem->vram.cpu, 0, mem->vram.size);
	list_add(&mem->node, &v->m->freed);
	kvfree(t->mirror);
	kvfree(t->aux);
}

/* as machine_pool_free(), for all of them at once */
void machine_tables_free(struct kvgpu_vgpu *v)
{
	struct table_memory *mem, *n;

	if (list_empty(&v->m->freed))
		return;
	machine_flush(v, false);
	list_for_each_entry_safe(mem, n, &v->m->freed, node) {
		list_del(&mem->node);
		give_back(v, &mem->vram);
		kfree(mem);
	}
}

/*
 * in stores of 64 bits: the GPU must never see one half of an entry with the other half of its
 * predecessor (S1)
 */
static void op_table_write(void *ctx, struct kvgpu_table *t, u32 first, u32 nr)
{
	struct table_memory *mem = t->priv;

	__iowrite64_copy(mem->vram.cpu + (size_t)first * GMMU_ENTRY_SIZE, t->mirror + first, nr);
}

const struct kvgpu_shadow_ops machine_shadow_ops = {
	.read = op_read,
	.pin = machine_pin,
	.unpin = machine_unpin,
	.table_new = op_table_new,
	.table_free = op_table_free,
	.table_write = op_table_write,
};

/* ------------------------------------------------------------------ life */

/*
 * the same part of the host's pool as of the memory for partitions, so that one tenant can't starve
 * the others
 */
static u64 pool_share(const struct kvgpu_vgpu *v)
{
	const struct kvgpu_hw *hw = &v->gpu->hw;
	u64 share =
		mul_u64_u64_div_u64(KVGPU_POOL_SIZE, v->part_size, hw->part_end - hw->part_first);

	return max(share, POOL_MIN);
}

int machine_memory_init(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	u64 pages = v->part_size >> PAGE_SHIFT;
	struct kvgpu_shadow_cfg cfg = {
		.part_base = v->part,
		.part_size = v->part_size,
		.max_tables = MAX_TABLES,
		.max_pinned = (u64)max_t(u32, max_pinned_mib, 16) << (20 - PAGE_SHIFT),
		.seed = get_random_u64(),
	};

	machine_pins_init(v);
	machine_unmap_init(m);
	INIT_LIST_HEAD(&m->spaces);
	INIT_LIST_HEAD(&m->dead_images);
	INIT_LIST_HEAD(&m->freed);
	m->pool_max = pool_share(v);
	m->stage.cpu =
		dma_alloc_coherent(machine_dma_dev(v), STAGE_SIZE, &m->stage.dma, GFP_KERNEL);
	m->shadow_mem = kvzalloc(kvgpu_shadow_size(&cfg), GFP_KERNEL_ACCOUNT);
	m->touched = kvcalloc(BITS_TO_LONGS(pages), sizeof(long), GFP_KERNEL_ACCOUNT);
	m->touched1 = kvcalloc(BITS_TO_LONGS(pages), sizeof(long), GFP_KERNEL_ACCOUNT);
	m->dirty = kvcalloc(BITS_TO_LONGS(pages), sizeof(long), GFP_KERNEL_ACCOUNT);
	if (!m->stage.cpu || !m->shadow_mem || !m->touched || !m->touched1 || !m->dirty)
		return -ENOMEM;
	kvgpu_shadow_init(&m->shadow, &cfg, &machine_shadow_ops, v, m->shadow_mem);
	return machine_pool_alloc(v, PAGE_SIZE, &m->scrap);
}

void machine_memory_fini(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;

	if (m->scrap.size)
		machine_pool_free(v, &m->scrap);
	kvfree(m->dirty);
	kvfree(m->touched1);
	kvfree(m->touched);
	kvfree(m->shadow_mem);
	if (m->stage.cpu)
		dma_free_coherent(machine_dma_dev(v), STAGE_SIZE, m->stage.cpu, m->stage.dma);
	machine_pins_fini(v);
	machine_unmap_fini(m);
}
