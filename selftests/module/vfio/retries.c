// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory is unmapped while the GPU uses it. VFIO's container asks its devices to unpin, looks
 * whether they have, and asks again; when pages are still pinned after the eleventh time, the core
 * hits a BUG_ON(). Here a VMM has two vGPUs. One pins the memory again as fast as it can. The other
 * keeps the core waiting for its lock, so that there is time for that.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include <linux/bitfield.h>

#include <gk110/fifo.h>
#include <gk110/mmu.h>

#include "bare/chan.h"
#include "check.h"
#include "tap.h"
#include "tests.h"

enum {
	PAGE = 4096,
	DST_VA = BARE_VA_FREE,
	LENT_IOVA = 0x60000000,
	LENT_LEN = 1 << 20,
	PIECES = 2,
	PIECE = LENT_LEN / PIECES
};
enum { USED = 8 * PAGE, TABLES = 24, TABLES_LEN = 256 << 10, UNMAPS = 20, AGAIN_MS = 60000 };

/* a guest of ours that invalidates its TLB all the time */
struct guest {
	struct device d;
	struct bare_gpu g;
	struct bare_space s;
	struct bare_chan c;
	volatile int *stop;
	pthread_t thread;
};

static void *sync_forever(void *arg)
{
	struct guest *w = arg;

	while (!*w->stop)
		bare_tlb_invalidate(&w->g, BARE_VRAM, w->s.pdb);
	return NULL;
}

static void begin(struct guest *w, uint64_t arena, volatile int *stop)
{
	struct bare_chan_config cfg = { .id = 1 };
	uint32_t entry = cfg.id;

	gpu_attach_at(&w->d, &w->g, arena);
	cfg.runlist = w->g.engine[BARE_CE0].runlist;
	w->stop = stop;
	bare_space_create(&w->g, &w->s);
	bare_chan_create(&w->g, &w->s, &cfg, &w->c);
	bare_runlist(&w->g, cfg.runlist, &entry, 1);
}

/* Tables in host memory make an invalidate take long. */
static void make_slow(struct guest *w)
{
	uint64_t bus, pde;
	unsigned int i;

	bare_host(&w->g, TABLES_LEN, &bus);
	pde = FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_SYS_COH) |
	      FIELD_PREP(GMMU_PDE_SMALL_ADDR, bus >> GMMU_ADDR_SHIFT);
	for (i = 1; i <= TABLES; i++)
		bare_mem_write(&w->g, BARE_VRAM, w->s.pdb + i * GMMU_ENTRY_SIZE, &pde,
			       GMMU_ENTRY_SIZE);
}

/* Map the pages that @w is to pin, in both pieces of the lent memory. */
static void use(struct guest *w)
{
	uint64_t off;
	unsigned int i;

	for (i = 0; i < PIECES; i++)
		for (off = 0; off < USED; off += PAGE)
			bare_space_map(&w->g, &w->s, DST_VA + i * USED + off, BARE_HOST,
				       LENT_IOVA + i * PIECE + off);
}

static bool pinned(struct guest *w, uint64_t want)
{
	uint64_t end = now_ms() + AGAIN_MS;

	while (counter(&w->d, "pinned_pages") < want)
		if (now_ms() > end)
			return false;
		else
			usleep(1000);
	return true;
}

static void lend(struct device *d, uint8_t *memory)
{
	unsigned int i;

	for (i = 0; i < PIECES; i++)
		CHECK(!dma_map(d, memory + i * PIECE, LENT_IOVA + i * PIECE, PIECE));
}

/*
 * When dma_unmap() has returned, the core's loop of retries is over. So memory that is then mapped
 * at the same IOVA can be pinned by the guest without harm.
 */
static void unmap_and_map(struct guest *pins, uint8_t *memory, uint64_t want)
{
	reg_read(&pins->d, 0);
	CHECK(pinned(pins, want));
	CHECK(!dma_unmap(&pins->d, LENT_IOVA, LENT_LEN));
	lend(&pins->d, memory);
}

void test_retries(struct device *d, const struct options *o)
{
	static struct guest pins, holds; /* too large for the stack */
	volatile int stop = 0;
	uint8_t *memory;
	uint64_t own;
	unsigned int i;

	if (!o->second) {
		tap_skip("retries", "no second vGPU was named");
		return;
	}
	checks_begin();
	/* the core asks the vGPU that was opened last first */
	holds.d = *d;
	device_join(&pins.d, o->second, d);
	begin(&holds, ARENA_IOVA, &stop);
	make_slow(&holds);
	begin(&pins, ARENA_IOVA + ARENA_LEN, &stop);
	memory = mmap(NULL, LENT_LEN, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	CHECK(memory != MAP_FAILED);
	lend(d, memory);
	own = counter(&pins.d, "pinned_pages");
	use(&pins);
	CHECK(!pthread_create(&pins.thread, NULL, sync_forever, &pins));
	CHECK(!pthread_create(&holds.thread, NULL, sync_forever, &holds));
	for (i = 0; i < UNMAPS; i++)
		unmap_and_map(&pins, memory, own + PIECES * USED / PAGE);
	reg_read(d, 0);
	CHECK(pinned(&pins, own + PIECES * USED / PAGE));
	stop = 1;
	pthread_join(pins.thread, NULL);
	pthread_join(holds.thread, NULL);
	gpu_detach(&pins.d, &pins.g);
	gpu_detach(d, &holds.g);
	CHECK(!dma_unmap(d, LENT_IOVA, LENT_LEN));
	CHECK(counter(&pins.d, "pinned_pages") == 0 && counter(d, "pinned_pages") == 0);
	munmap(memory, LENT_LEN);
	device_close(&pins.d);
	checks_end(
		"memory is unmapped under a vGPU that pins again and one that keeps the core waiting: let go, and usable again");
}
