// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of a vGPU: its part of the host's pool of video memory, and the functions of struct
 * kvgpu_shadow_ops that are not in pin.c or dirty.c. By these functions gtt-shadow/ makes shadows
 * of the guest's page tables: tables of the host, which the GPU uses instead. A *sync* brings
 * shadows up to date with the guest's tables (space.c).
 *
 * Reads of the guest's tables. The host's copy engine fetches tables in video memory into a staging
 * buffer in system memory (m->mem.stage). Its contents are dropped when a command of the guest
 * begins, and when marks of written pages are taken (dirty.c). A fetch copies one page, or more if
 * it continues where the last fetch ended. Tables in system memory are read through the VFIO core.
 */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "mdev/machine/internal.h"

/*
 * Smallest share of the pool that a vGPU should get, bytes. It holds the shadow tables of some 30
 * small address spaces, or of fewer spaces and some graphics contexts (vmach_grctx_size()).
 */
#define POOL_MIN (10ull << 20)
/*
 * A vGPU can't be created if the pool has no free piece of this many bytes. If the largest free
 * piece is smaller than the vGPU's share, the vGPU gets that piece.
 */
#define POOL_LEAST (4ull << 20)
/* most shadow tables of one vGPU, page directories included */
#define MAX_TABLES 512

static unsigned int max_pinned_mib = 2048;
module_param(max_pinned_mib, uint, 0444);
MODULE_PARM_DESC(
	max_pinned_mib,
	"memory of one guest that may be pinned for the GPU at a time, MiB; costs 9 KiB per MiB");

/* --------------------------------------------- allocate from the vGPU's part of the host's pool */

/*
 * Allocates @size bytes, rounded up to pages, from the vGPU's part of the host's pool. Returns 0,
 * -ENOMEM, or -EIO on a card that was cut off from system memory (vmach_gpu_declare_lost()). On
 * such a card a loaded channel may use tables that went back to the pool, and would take new
 * contents for entries (S1 of docs/invariants.md). The card was lost before such tables went back
 * to the pool. So a check after the allocation is enough.
 */
int vmach_pool_alloc(struct kvgpu_vgpu *v, u64 size, struct kvgpu_vram *out)
{
	int ret = kvgpu_hw_share_alloc(&v->gpu->hw, &v->m->pool, size, out);

	if (ret || !vmach_gpu_lost(v->gpu))
		return ret;
	kvgpu_hw_share_free(&v->m->pool, out);
	return -EIO;
}

/*
 * Fills @vram with zeros and gives it back to the pool. The next user of @vram must find no data
 * there (S4). If the GPU still has an old pointer to @vram, it must find no entries there (S1). The
 * zeros reach video memory before the memory can be allocated again.
 */
void vmach_pool_free(struct kvgpu_vgpu *v, struct kvgpu_vram *vram)
{
	if (!vram->size)
		return;
	memset_io(vram->cpu, 0, vram->size);
	vmach_writes_flush(v, false);
	kvgpu_hw_share_free(&v->m->pool, vram);
}

/* ------------------------------------------------------------------ read the guest's memory */

/* Copies the page of the partition at offset @off, and maybe more, to m->mem.stage. */
static int stage_fill(struct kvgpu_vgpu *v, u64 off)
{
	struct kvgpu_machine *m = v->m;
	u64 at = off & PAGE_MASK;
	u32 len = min_t(u64, at == m->mem.stage.next ? STAGE_SIZE : PAGE_SIZE, v->part_size - at);

	m->mem.stage.len = 0;
	if (vmach_gpu_lost(v->gpu))
		return -EFAULT;
	/*
	 * the copy first waits until the CPU's writes to BARs have reached memory: so it also does
	 * a FLUSH_BAR that the guest has asked for (.flush.owed)
	 */
	if (kvgpu_hw_copy_to_sys(&v->gpu->hw, m->mem.stage.dma, (hvram_t){ v->part.v + at }, len))
		return -EFAULT;
	dma_rmb();
	/* without bus mastering a copy ends, too, and has written nothing */
	if (READ_ONCE(v->gpu->chip->going))
		return -EFAULT;
	m->mem.stage.at = at;
	m->mem.stage.len = len;
	m->mem.stage.next = at + len;
	m->flush.owed = false;
	return 0;
}

static int read_vram(struct kvgpu_vgpu *v, u64 off, void *buf, u32 len)
{
	struct kvgpu_machine *m = v->m;
	int ret = 0;

	if (off >= v->part_size || len > v->part_size - off)
		return -EFAULT;
	if (off < m->mem.stage.at || off + len > m->mem.stage.at + m->mem.stage.len)
		ret = stage_fill(v, off);
	if (!ret)
		memcpy(buf, m->mem.stage.cpu + (off - m->mem.stage.at), len);
	return ret;
}

int vmach_guest_read(struct kvgpu_vgpu *v, struct kvgpu_gaddr a, void *buf, u32 len)
{
	lockdep_assert_held(&v->lock);
	if (len > PAGE_SIZE - offset_in_page(a.addr))
		return -EFAULT;
	if (a.target == KVGPU_VRAM)
		return read_vram(v, a.addr, buf, len);
	if (!kvgpu_is_sys(a.target) || !v->m->pin.allowed)
		return -EFAULT;
	return vfio_dma_rw(&v->vdev, a.addr, buf, len, false) ? -EFAULT : 0;
}

static int op_guest_read(void *ctx, struct kvgpu_gaddr a, void *buf, u32 len)
{
	struct kvgpu_vgpu *v = ctx;

	if (a.target != KVGPU_VRAM && v->m->dirty.mmu_mapped) /* dirty.c */
		return -EFAULT;
	return vmach_guest_read(v, a, buf, len);
}

/* ----------------------------------------------------------- make, free and write shadow tables */

struct table_memory {
	/*
	 * in m->mem.freed from op_table_free() to vmach_tables_free(): the table is filled with
	 * zeros, which may not have reached video memory yet
	 */
	struct list_head node;
	struct kvgpu_vram vram;
};

static int op_table_new(void *ctx, u32 nr, struct kvgpu_table *t)
{
	struct kvgpu_vgpu *v = ctx;
	size_t aux = kvgpu_shadow_aux_size(nr);
	struct table_memory *mem = kzalloc(sizeof(*mem), GFP_KERNEL_ACCOUNT);

	/*
	 * Take the pool's piece first, before memory that has to be filled with zeros. A guest may
	 * cause failing calls again and again, and can see to it that no free piece is large
	 * enough.
	 */
	if (!mem || vmach_pool_alloc(v, (u64)nr * GMMU_ENTRY_SIZE, &mem->vram)) {
		kfree(mem);
		return -ENOMEM;
	}
	t->mirror = kvcalloc(nr, GMMU_ENTRY_SIZE, GFP_KERNEL_ACCOUNT);
	t->aux = aux && t->mirror ? kvzalloc(aux, GFP_KERNEL_ACCOUNT) : NULL;
	if (!t->mirror || (aux && !t->aux)) {
		kvfree(t->aux);
		kvfree(t->mirror);
		kvgpu_hw_share_free(&v->m->pool, &mem->vram); /* nothing was written there */
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
	list_add(&mem->node, &v->m->mem.freed);
	kvfree(t->mirror);
	kvfree(t->aux);
}

/* Gives the tables that op_table_free() has filled with zeros back to the pool, after one flush. */
void vmach_tables_free(struct kvgpu_vgpu *v)
{
	struct table_memory *mem, *n;

	if (list_empty(&v->m->mem.freed))
		return;
	vmach_writes_flush(v, false);
	list_for_each_entry_safe(mem, n, &v->m->mem.freed, node) {
		list_del(&mem->node);
		kvgpu_hw_share_free(&v->m->pool, &mem->vram);
		kfree(mem);
	}
}

/*
 * Writes entries to the GPU's table, each by one store of 64 bits: the GPU must never see one half
 * of a new entry with the other half of the old entry (S1).
 */
static void op_table_write(void *ctx, struct kvgpu_table *t, u32 first, u32 nr)
{
	struct table_memory *mem = t->priv;

	__iowrite64_copy(mem->vram.cpu + (size_t)first * GMMU_ENTRY_SIZE, t->mirror + first, nr);
}

static const struct kvgpu_shadow_ops machine_shadow_ops = {
	.take_dirty = vmach_dirty_log_take,
	.is_dirty = vmach_pages_are_dirty,
	.forget = vmach_tables_forget,
	.read = op_guest_read,
	.pin = vmach_pages_pin,
	.unpin = vmach_pages_unpin,
	.table_new = op_table_new,
	.table_free = op_table_free,
	.table_write = op_table_write,
};

/* --------------------------------------------------------- set up and free the memory of a vGPU */

int vmach_memory_init(struct kvgpu_vgpu *v)
{
	struct device *dev = &v->gpu->hw.pdev->dev;
	struct kvgpu_machine *m = v->m;
	u32 pages = vmach_part_pages_count(v);
	struct kvgpu_shadow_cfg cfg = {
		.part_base = v->part,
		.part_size = v->part_size,
		.max_tables = MAX_TABLES,
		.max_pinned = (u64)max_t(u32, max_pinned_mib, 16) << (20 - PAGE_SHIFT),
		.seed = get_random_u64(),
	};
	int ret;

	vmach_pins_init(v);
	INIT_LIST_HEAD(&m->pin.unmaps);
	INIT_LIST_HEAD(&m->mem.spaces);
	INIT_LIST_HEAD(&m->mem.dead_images);
	INIT_LIST_HEAD(&m->mem.freed);
	m->mem.stage.cpu = dma_alloc_coherent(dev, STAGE_SIZE, &m->mem.stage.dma, GFP_KERNEL);
	m->mem.shadow_mem = kvzalloc(kvgpu_shadow_size(&cfg), GFP_KERNEL_ACCOUNT);
	m->dirty.tables = kvcalloc(BITS_TO_LONGS(pages), sizeof(long), GFP_KERNEL_ACCOUNT);
	m->dirty.log = kvcalloc(BITS_TO_LONGS(pages), sizeof(long), GFP_KERNEL_ACCOUNT);
	m->dirty.log_bar1 = kvcalloc(BITS_TO_LONGS(pages), sizeof(long), GFP_KERNEL_ACCOUNT);
	if (!m->mem.stage.cpu || !m->mem.shadow_mem || !m->dirty.tables || !m->dirty.log ||
	    !m->dirty.log_bar1)
		return -ENOMEM;
	kvgpu_shadow_init(&m->mem.shadow, &cfg, &machine_shadow_ops, v, m->mem.shadow_mem);
	ret = kvgpu_hw_share_take(&v->gpu->hw,
				  max(vmach_share_get(v, v->gpu->chip->pool.size), POOL_MIN),
				  POOL_LEAST, &m->pool);
	return ret ?: vmach_pool_alloc(v, PAGE_SIZE, &m->mem.scrap);
}

void vmach_memory_fini(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;

	vmach_pool_free(v, &m->mem.scrap);
	kvgpu_hw_share_give(&v->gpu->hw, &m->pool);
	kvfree(m->dirty.log_bar1);
	kvfree(m->dirty.log);
	kvfree(m->dirty.tables);
	kvfree(m->mem.shadow_mem);
	if (m->mem.stage.cpu)
		dma_free_coherent(&v->gpu->hw.pdev->dev, STAGE_SIZE, m->mem.stage.cpu,
				  m->mem.stage.dma);
	vmach_pins_fini(v);
	vmach_unmap_fini(m);
}
