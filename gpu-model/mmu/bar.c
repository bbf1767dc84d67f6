// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU windows: BAR1 and BAR3 (video memory from address 0, or a GPU address space, by bit 31 of
 * their register), and PRAMIN, the 1 MiB window of BAR0 on physical memory of any target.
 *
 * The state of a window changes with lock, and with dma_lock held for writing. Any thread may call
 * the accesses and bar_translate(), which run with dma_lock held for reading. bar_write() releases
 * dma_lock, and then takes lock for a doorbell. Open, and chosen by the model:
 *  - CPU accesses may use privileged pages (the worst case for isolation);
 *  - the instance block is read when the register is written, as at a channel's load;
 *  - BAR3's bit 30 has no effect on the window;
 *  - in a window that is not translated, an access behind the end of memory reads all ones and
 *    writes nothing, without a fault record.
 */
#include <errno.h>
#include <stdlib.h>

#include <linux/bitfield.h>

#include <gk110/bar.h>
#include <gk110/mmu.h>

#include "state.h"

struct window {
	bool virt;
	struct mmu_space space;
	struct mmu_client client;
};

struct bar {
	struct window win[2]; /* WIN_BAR1, WIN_BAR3 */
	uint64_t pramin_base;
	enum mem_target pramin_target;
};

static uint64_t window_size(enum bar_window w)
{
	switch (w) {
	case WIN_BAR1:
		return GK110_BAR1_SIZE;
	case WIN_BAR3:
		return GK110_BAR3_SIZE;
	case WIN_PRAMIN:
	case NR_WIN:
		break;
	}
	return PRAMIN_SIZE;
}

static int physical(struct gk110 *g, enum mem_target t, uint64_t addr, size_t want, bool write,
		    struct mmu_seg *seg)
{
	*seg = (struct mmu_seg){ .len = want, .phys = addr, .target = t };
	seg->ptr = mem_ptr(g, t, addr, &seg->len, write);
	return seg->ptr ? 0 : -EFAULT;
}

/* @want must be inside of the window. */
static int translate_page(struct gk110 *g, enum bar_window w, uint64_t off, size_t want,
			  enum mmu_access acc, unsigned int flags, struct mmu_seg *seg)
{
	struct bar *b = g->bar;
	struct window *win;

	if (w == WIN_PRAMIN)
		return physical(g, b->pramin_target, b->pramin_base + off, want, acc != ACC_READ,
				seg);
	win = &b->win[w];
	if (!win->virt)
		return physical(g, MEM_VRAM, off, want, acc != ACC_READ, seg);
	return mmu_translate(g, &win->client, &win->space, off, want, acc, flags | MMU_PRIV_ACCESS,
			     seg);
}

int bar_translate(struct gk110 *g, enum bar_window w, uint64_t off, size_t want,
		  enum mmu_access acc, unsigned int flags, struct mmu_seg *seg)
{
	struct mmu_seg next;
	uint64_t size = window_size(w);

	if (off >= size)
		return -EFAULT;
	if (want > size - off)
		want = size - off;
	if (!want)
		want = 1;
	if (translate_page(g, w, off, want, acc, flags, seg))
		return -EFAULT;
	/* the caller did not access the pages that follow: no faults */
	while (seg->len < want) {
		if (translate_page(g, w, off + seg->len, want - seg->len, acc, flags | MMU_PEEK,
				   &next))
			break;
		if (next.ptr != (uint8_t *)seg->ptr + seg->len || next.target != seg->target ||
		    next.phys != seg->phys + seg->len || next.read_only != seg->read_only ||
		    next.kind != seg->kind)
			break;
		seg->len += next.len;
	}
	return 0;
}

static bool window_access(struct gk110 *g, enum bar_window w, uint64_t off, unsigned int size,
			  uint8_t *bytes, enum mmu_access acc, unsigned int flags)
{
	unsigned int done = 0;
	struct mmu_seg seg;
	bool ok = true;

	if (off >= window_size(w) || size > window_size(w) - off)
		return false;
	pthread_rwlock_rdlock(&g->dma_lock);
	while (done < size) {
		if (translate_page(g, w, off + done, size - done, acc, flags, &seg)) {
			unsigned int to_page = GK110_PAGE - (off + done) % GK110_PAGE;

			done += to_page < size - done ? to_page : size - done;
			ok = false;
			continue;
		}
		if (acc == ACC_READ)
			mem_copy_from(bytes + done, seg.ptr, seg.len);
		else
			mem_copy_to(seg.ptr, bytes + done, seg.len);
		done += seg.len;
	}
	pthread_rwlock_unlock(&g->dma_lock);
	if (!ok)
		stat_inc(g, bar_faults[w]);
	return ok;
}

uint64_t bar_read(struct gk110 *g, enum bar_window w, uint64_t off, unsigned int size)
{
	union {
		uint64_t val;
		uint8_t bytes[8];
	} u = { .val = ~0ull };

	if (size > 8)
		size = 8;
	stat_inc(g, bar_rd[w]);
	window_access(g, w, off, size, u.bytes, ACC_READ, 0);
	return size < 8 ? u.val & ((1ull << (8 * size)) - 1) : u.val;
}

void bar_write(struct gk110 *g, enum bar_window w, uint64_t off, unsigned int size, uint64_t val)
{
	union {
		uint64_t val;
		uint8_t bytes[8];
	} u = { .val = val };

	if (size > 8)
		size = 8;
	stat_inc(g, bar_wr[w]);
	if (!window_access(g, w, off, size, u.bytes, ACC_WRITE, 0) || w != WIN_BAR1)
		return;
	pthread_mutex_lock(&g->lock);
	fifo_bar1_written(g, off, size);
	pthread_mutex_unlock(&g->lock);
}

static void bus_invalidate(struct gk110 *g, enum bar_window w)
{
	if (g->bus && g->bus->win_invalidate)
		g->bus->win_invalidate(g->bus_priv, w);
}

void bar_tlb_invalidated(struct gk110 *g, const struct tlb_match *m)
{
	enum bar_window w;

	if (!g->bar)
		return;
	for (w = WIN_BAR1; w <= WIN_BAR3; w++) {
		const struct window *win = &g->bar->win[w];

		if (win->virt &&
		    (m->all_pdb || (win->space.pdb == m->pdb &&
				    (win->space.pdb_target == MEM_VRAM) == m->pdb_vram)))
			bus_invalidate(g, w);
	}
}

static void bind_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	enum bar_window w = reg == HOSTMEM_BAR1 ? WIN_BAR1 : WIN_BAR3;
	uint32_t word = reg_merge(g, reg, val, be);
	struct window *win = &g->bar->win[w];
	struct mmu_space s = { 0 };

	if (word & HOSTMEM_VIRTUAL)
		space_load_word(g, word, &s);
	dma_write_lock(g);
	win->virt = word & HOSTMEM_VIRTUAL;
	win->space = s;
	dma_write_unlock(g);
	bus_invalidate(g, w);
}

static void pramin_bind(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	uint32_t old = reg_get(g, reg);
	uint32_t word = reg_merge(g, reg, val, be);

	if (word == old)
		return;
	dma_write_lock(g);
	g->bar->pramin_base = (uint64_t)FIELD_GET(HOSTMEM_PRAMIN_BASE, word)
			      << HOSTMEM_PRAMIN_BASE_SHIFT;
	g->bar->pramin_target = FIELD_GET(HOSTMEM_PRAMIN_TARGET, word);
	dma_write_unlock(g);
	bus_invalidate(g, WIN_PRAMIN);
}

/* PRAMIN as registers of BAR0. These handlers are called with lock held. */
static uint32_t pramin_read(struct gk110 *g, uint32_t reg)
{
	union {
		uint32_t val;
		uint8_t bytes[4];
	} u = { .val = ~0u };

	stat_inc(g, bar_rd[WIN_PRAMIN]);
	window_access(g, WIN_PRAMIN, reg - PRAMIN_BASE, 4, u.bytes, ACC_READ, MMU_LOCKED);
	return u.val;
}

static void pramin_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	union {
		uint32_t val;
		uint8_t bytes[4];
	} u = { .val = val };
	unsigned int first, n;

	if (!be)
		return;
	first = __builtin_ctz(be) / 8;
	n = (32 - __builtin_clz(be)) / 8 - first; /* the bus writes neighbouring bytes only */
	stat_inc(g, bar_wr[WIN_PRAMIN]);
	window_access(g, WIN_PRAMIN, reg - PRAMIN_BASE + first, n, u.bytes + first, ACC_WRITE,
		      MMU_LOCKED);
}

static uint32_t flush_read(struct gk110 *g, uint32_t reg)
{
	return 0;
}

static void flush_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	atomic_thread_fence(memory_order_seq_cst);
}

static int bar_init(struct gk110 *g)
{
	struct bar *b = calloc(1, sizeof(*b));
	int ret;

	if (!b)
		return -ENOMEM;
	ret = mmu_client_init(g, &b->win[WIN_BAR1].client, "BAR1", GMMU_UNIT_BAR1,
			      GMMU_HUB_HOST_CPU, -1);
	if (!ret)
		ret = mmu_client_init(g, &b->win[WIN_BAR3].client, "BAR3", GMMU_UNIT_BAR3,
				      GMMU_HUB_HOST_CPU, -1);
	if (!ret)
		ret = peephole_init(g);
	if (ret) {
		mmu_client_fini(g, &b->win[WIN_BAR3].client);
		mmu_client_fini(g, &b->win[WIN_BAR1].client);
		free(b);
		return ret;
	}
	g->bar = b;
	return 0;
}

static void bar_reset(struct gk110 *g)
{
	unsigned int w;

	dma_write_lock(g);
	for (w = WIN_BAR1; w <= WIN_BAR3; w++) {
		g->bar->win[w].virt = false;
		g->bar->win[w].space = (struct mmu_space){ 0 };
	}
	g->bar->pramin_base = 0;
	g->bar->pramin_target = MEM_VRAM;
	dma_write_unlock(g);
	reg_set(g, HOSTMEM_PRAMIN, 0);
	reg_set(g, HOSTMEM_BAR1, 0);
	reg_set(g, HOSTMEM_BAR3, 0);
	peephole_reset(g);
	for (w = 0; w < NR_WIN; w++)
		bus_invalidate(g, w);
}

static void bar_fini(struct gk110 *g)
{
	peephole_fini(g);
	mmu_client_fini(g, &g->bar->win[WIN_BAR3].client);
	mmu_client_fini(g, &g->bar->win[WIN_BAR1].client);
	free(g->bar);
	g->bar = NULL;
}

static const struct mmio_range ranges[] = {
	{ .base = HOSTMEM_PRAMIN, .size = 4, .name = "pramin_window", .write = pramin_bind },
	{ .base = HOSTMEM_BAR1, .size = 4, .name = "bar1_bind", .write = bind_write },
	{ .base = HOSTMEM_BAR3, .size = 4, .name = "bar3_bind", .write = bind_write },
	{ .base = HOSTMEM_PEEPHOLE, .size = 4, .name = "peephole_bind", .write = peephole_bind },
	{ .base = PEEPHOLE_ADDR_HIGH,
	  .size = 12,
	  .name = "peephole",
	  .read = peephole_read,
	  .write = peephole_write },
	{ .base = FLUSH_BAR, .size = 8, .name = "flush", .read = flush_read, .write = flush_write },
	{ .base = FLUSH_L2_DIRTY,
	  .size = 4,
	  .name = "flush_l2",
	  .read = flush_read,
	  .write = flush_write },
	{ .base = PRAMIN_BASE,
	  .size = PRAMIN_SIZE,
	  .name = "pramin",
	  .read = pramin_read,
	  .write = pramin_write },
};

const struct unit_ops bar_unit = {
	.name = "bar",
	.ranges = ranges,
	.nr_ranges = sizeof(ranges) / sizeof(ranges[0]),
	.init = bar_init,
	.reset = bar_reset,
	.fini = bar_fini,
};
