// SPDX-License-Identifier: GPL-2.0-only
/* card_model.h has the contracts. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gk110/bar.h>
#include <gk110/fifo.h>
#include <gk110/gr.h>
#include <gk110/mmu.h>
#include <gk110/pci.h>
#include <gk110/pmc.h>

#include "gr/gr.h"
#include "model.h"
#include "vbios/image.h"

#include "card_model.h"

/* from the end of memory: where the host's pool is; what of that is used */
#define DIRTY_AT   (98u << 20)
#define DIRTY_SIZE (12u << 20)

#define ENGINES                                                                         \
	((uint32_t)(PMC_ENABLE_FIFO | PMC_ENABLE_GR | PMC_ENABLE_CE0 | PMC_ENABLE_CE1 | \
		    PMC_ENABLE_CE2))

/* A store on its way. */
struct posted {
	struct posted *next;
	int bar;
	uint64_t off;
	size_t size;
	uint8_t data[];
};

static struct gk110 *g;
static atomic_bool message, master;
static struct posted *posted, **posted_end = &posted;
static struct card_faults faults;
static atomic_uint dma_faults;
static uint32_t were_off; /* bits of PMC_ENABLE */
/* of the last load through a BAR; .bar 0: there was none */
static struct {
	int bar;
	uint64_t off;
} loaded;

static void bus_intr(void *bus, bool level, bool edge)
{
	/* a message is a write to memory of the host */
	if (edge && atomic_load(&master))
		atomic_store(&message, true);
}

static void *bus_dma_ptr(void *bus, uint64_t iova, size_t *len, bool write)
{
	void *p = atomic_load(&master) ? card_host_memory(iova, len) : NULL;

	if (!p)
		atomic_fetch_add(&dma_faults, 1);
	return p;
}

static void bus_win_invalidate(void *bus, enum bar_window win)
{
}

static const struct bus_ops bus = { .dma_ptr = bus_dma_ptr,
				    .intr = bus_intr,
				    .win_invalidate = bus_win_invalidate };

bool card_make(const char *board, unsigned int seed)
{
	char path[] = "/tmp/kvgpu-bringup-test-XXXXXX";
	struct gk110_config cfg = { .vbios_path = path, .unposted = true };
	static struct image img;
	int fd = mkstemp(path);

	if (!board_find(board, &cfg.board))
		return false;
	if (seed)
		board_draw(&cfg.board, seed);
	cfg.vram_size = cfg.board.vram_size;
	memset(&img, 0, sizeof(img));
	if (!image_make(&img, board))
		return false;
	if (fd < 0 || write(fd, img.rom, sizeof(img.rom)) != sizeof(img.rom))
		return false;
	close(fd);
	g = gk110_create(&cfg, &bus, NULL);
	unlink(path);
	if (!g || gk110_start(g))
		return false;
	memset(g->vram + cfg.vram_size - DIRTY_AT, 0xa5, DIRTY_SIZE);
	/* somebody has looked where no registers are, as kvgpu-verify does before POST */
	gk110_mmio_read(g, PFIFO_PBDMA_RUNLISTS(GK110_MAX_PBDMA), 4);
	gk110_mmio_read(g, GR_GPC(GR_NR_GPC, 0), 4);
	atomic_store(&g->stats.pri_errors, 0);
	memset(&faults, 0, sizeof(faults));
	memset(&loaded, 0, sizeof(loaded));
	atomic_store(&dma_faults, 0);
	atomic_store(&message, false);
	atomic_store(&master, false);
	return true;
}

void card_unmake(void)
{
	struct posted *p;

	while ((p = posted)) {
		posted = p->next;
		free(p);
	}
	posted_end = &posted;
	gk110_destroy(g);
	g = NULL;
}

void card_wiring(struct card_wiring *w)
{
	unsigned int e;

	*w = (struct card_wiring){ .vram_size = g->cfg.vram_size,
				   .tpcs = board_tpcs(&g->cfg.board) };
	for (e = 0; e < g->nr_engines; e++)
		w->runlist[g->engine[e].type] = g->engine[e].runlist;
}

/* ------------------------------------------------------------------ registers */

static void note_answer(uint32_t reg)
{
	uint64_t errors = atomic_load(&g->stats.pri_errors);

	if (errors && !faults.unanswered)
		faults.reg = reg;
	faults.unanswered = errors;
}

uint64_t card_read(uint32_t reg, unsigned int size)
{
	uint64_t val = gk110_mmio_read(g, reg, size);

	note_answer(reg);
	return val;
}

/* ------------------------------------------------------------------ windows */

static enum bar_window window(int bar)
{
	return bar == CARD_BAR1 ? WIN_BAR1 : WIN_BAR3;
}

/* Moves bytes between @buf and the window, piece by piece. */
static void window_move(int bar, uint64_t off, uint8_t *buf, size_t size, bool write)
{
	struct mmu_seg seg;
	size_t n;

	pthread_rwlock_rdlock(&g->dma_lock);
	for (; size; size -= n, off += n, buf += n) {
		n = size < GK110_PAGE - off % GK110_PAGE ? size : GK110_PAGE - off % GK110_PAGE;
		if (bar_translate(g, window(bar), off, n, write ? ACC_WRITE : ACC_READ, 0, &seg)) {
			faults.bar++;
			if (!write)
				memset(buf, 0xff, n);
			continue;
		}
		n = seg.len < n ? seg.len : n;
		memcpy(write ? seg.ptr : buf, write ? buf : seg.ptr, n);
	}
	pthread_rwlock_unlock(&g->dma_lock);
}

static void posted_bring(void)
{
	struct posted *p;

	while ((p = posted)) {
		posted = p->next;
		window_move(p->bar, p->off, p->data, p->size, true);
		free(p);
	}
	posted_end = &posted;
}

/* Stores of this CPU that are on their way do not come before the load of another one. */
static void other_cpu_loads(void)
{
	struct mmu_seg seg;

	if (!loaded.bar)
		return;
	pthread_rwlock_rdlock(&g->dma_lock);
	if (!bar_translate(g, window(loaded.bar), loaded.off, 4, ACC_READ, MMU_PEEK, &seg))
		bar_translate(g, window(loaded.bar), loaded.off, 4, ACC_READ, 0, &seg);
	pthread_rwlock_unlock(&g->dma_lock);
}

void card_write(uint32_t reg, unsigned int size, uint64_t val)
{
	if (reg == FLUSH_BAR && val & FLUSH_TRIGGER)
		posted_bring();
	gk110_mmio_write(g, reg, size, val);
	note_answer(reg);
	if (reg == PMC_ENABLE)
		were_off |= ~val;
	if (reg == FB_MMU_INVALIDATE)
		other_cpu_loads();
}

void card_store(int bar, uint64_t off, const void *from, size_t size)
{
	struct posted *p = malloc(sizeof(*p) + size);

	if (!p)
		abort();
	*p = (struct posted){ .bar = bar, .off = off, .size = size };
	memcpy(p->data, from, size);
	*posted_end = p;
	posted_end = &p->next;
}

void card_doorbell(uint64_t off, uint32_t val)
{
	bar_write(g, WIN_BAR1, off, sizeof(val), val);
}

void card_load(int bar, uint64_t off, void *to, size_t size)
{
	posted_bring();
	window_move(bar, off, to, size, false);
	loaded.bar = bar;
	loaded.off = off;
}

static const struct falcon *falcon_of(int gpc)
{
	return gpc < 0 ? &g->gr->fecs.falcon : &g->gr->gpccs[gpc];
}

uint32_t card_imem(int gpc, uint32_t word)
{
	return falcon_of(gpc)->imem[word];
}

uint32_t card_dmem(int gpc, uint32_t word)
{
	return falcon_of(gpc)->dmem[word];
}

uint8_t *card_vram(uint64_t at)
{
	return g->vram + at;
}

/* ------------------------------------------------------------------ the PCI function */

void card_msi(bool on)
{
	pthread_mutex_lock(&g->lock);
	g->config[GK110_PCI_MSI + 2] = on ? GK110_PCI_MSI_ENABLE >> 16 : 0;
	pthread_mutex_unlock(&g->lock);
}

void card_master(bool on)
{
	if (on)
		faults.early += !!(ENGINES & ~were_off);
	were_off = 0;
	atomic_store(&master, on);
}

bool card_message(void)
{
	return atomic_exchange(&message, false);
}

void card_faults(struct card_faults *f)
{
	*f = faults;
	f->bar += atomic_load(&g->stats.bar_faults[WIN_BAR1]) +
		  atomic_load(&g->stats.bar_faults[WIN_BAR3]) +
		  atomic_load(&g->stats.bar_faults[WIN_PRAMIN]);
	f->mmu = atomic_load(&g->stats.mmu_faults);
	f->dma = atomic_load(&dma_faults);
}
