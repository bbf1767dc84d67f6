// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest of our own: what its copy engine may reach, and that it does not reach memory that was
 * unmapped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <linux/bitfield.h>
#include <linux/capability.h>

#include <gk110/ce.h>
#include <gk110/fifo.h>
#include <gk110/push.h>

#include "bare/chan.h"
#include "check.h"
#include "pattern.h"
#include "tests.h"

enum { PAGE = 4096, RUN_MS = 60000, REFUSED_MS = 400, BYTES = 2048 };
enum { SRC_VA = BARE_VA_FREE, DST_VA = BARE_VA_FREE + 0x200000 };
enum { LENT_IOVA = 0x60000000, LENT_LEN = 1 << 20, MANY = 400 };
/*
 * So few pages that the guest uses their addresses again before the host has unpinned the old
 * pages.
 */
enum { REUSE_LEN = 8 * PAGE };

static void open_channel(struct bare_gpu *g, struct bare_space *s, struct bare_chan *c,
			 struct bare_chan_config *cfg)
{
	uint32_t entry = cfg->id;

	cfg->runlist = g->engine[BARE_CE0].runlist;
	bare_space_create(g, s);
	bare_chan_create(g, s, cfg, c);
	bare_runlist(g, cfg->runlist, &entry, 1);
}

static void close_channel(struct bare_chan *c)
{
	bare_runlist(c->g, c->runlist, NULL, 0);
	bare_chan_destroy(c);
}

/* Return true when a fresh channel copies from host memory to video memory and back. */
static bool serves(struct bare_gpu *g, unsigned int id)
{
	struct bare_chan_config cfg = { .id = id };
	uint64_t src_bus, dst_bus, vram = bare_vram(g, PAGE, PAGE);
	uint8_t *src = bare_host(g, PAGE, &src_bus), *dst = bare_host(g, PAGE, &dst_bus);
	struct bare_space s;
	struct bare_chan c;
	bool ran;

	open_channel(g, &s, &c, &cfg);
	bare_space_map(g, &s, SRC_VA, BARE_HOST, src_bus);
	bare_space_map(g, &s, SRC_VA + PAGE, BARE_VRAM, vram);
	bare_space_map(g, &s, DST_VA, BARE_HOST_NCOH, dst_bus);
	bare_tlb_invalidate(g, BARE_VRAM, s.pdb);
	pattern_fill(src, PAGE, id);
	bare_copy(&c, SRC_VA, SRC_VA + PAGE, PAGE, 0);
	bare_copy(&c, SRC_VA + PAGE, DST_VA, PAGE, 0);
	ran = bare_run(&c, RUN_MS);
	close_channel(&c);
	return ran && !memcmp(src, dst, PAGE);
}

void test_copies(struct device *d, const struct options *o)
{
	struct bare_gpu g;
	unsigned int i;

	checks_begin();
	gpu_attach(d, &g);
	for (i = 0; i < 20; i++)
		CHECK(serves(&g, 1 + i % 13));
	gpu_detach(d, &g);
	CHECK(counter(d, "pinned_pages") == 0);
	checks_end(
		"20 channels, one after the other, copy between host and video memory; every page is let go");
}

/* ------------------------------------------------------------------ unmap under way */

struct lent {
	struct bare_space s;
	struct bare_chan c;
	uint8_t *memory;
};

static void lend(struct device *d, struct bare_gpu *g, struct lent *l, unsigned int id)
{
	struct bare_chan_config cfg = { .id = id };
	uint64_t vram = bare_vram(g, LENT_LEN, PAGE), off;

	l->memory = mmap(NULL, LENT_LEN, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	CHECK(l->memory != MAP_FAILED && !dma_map(d, l->memory, LENT_IOVA, LENT_LEN));
	open_channel(g, &l->s, &l->c, &cfg);
	for (off = 0; off < LENT_LEN; off += PAGE) {
		bare_space_map(g, &l->s, SRC_VA + off, BARE_VRAM, vram + off);
		bare_space_map(g, &l->s, DST_VA + off, BARE_HOST, LENT_IOVA + off);
	}
	bare_tlb_invalidate(g, BARE_VRAM, l->s.pdb);
	bare_mem_write32(g, BARE_VRAM, vram, 0);
	memset(l->memory, 0x55, LENT_LEN);
}

/*
 * Copies write a zero and what follows it into the lent memory. In the middle of that the memory is
 * unmapped and filled with something else.
 */
static void take_back(struct device *d, struct bare_gpu *g, unsigned int id, bool whole)
{
	uint64_t before, after;
	unsigned int i;
	struct lent l;

	lend(d, g, &l, id);
	before = counter(d, "pinned_pages");
	CHECK(before >= LENT_LEN / PAGE);
	for (i = 0; i < MANY; i++)
		bare_copy(&l.c, SRC_VA, DST_VA, LENT_LEN, 0);
	bare_ring(&l.c);
	for (i = 0; i < RUN_MS && l.memory[0] == 0x55; i++)
		usleep(1000);
	CHECK(l.memory[0] == 0);
	CHECK(!dma_unmap(d, whole ? 0 : LENT_IOVA, whole ? 1ull << 40 : LENT_LEN));
	after = counter(d, "pinned_pages");
	memset(l.memory, 0x77, LENT_LEN);
	CHECK(before - after >= LENT_LEN / PAGE);
	usleep(300000);
	CHECK(all_bytes(l.memory, LENT_LEN, 0x77));
	/* An invalidate with tables that still name the memory must pin nothing. */
	bare_tlb_invalidate(g, BARE_VRAM, l.s.pdb);
	CHECK(counter(d, "pinned_pages") <= after);
	if (!whole) {
		CHECK(dma_unmap(d, LENT_IOVA, LENT_LEN) == 0);
		close_channel(&l.c);
	}
	munmap(l.memory, LENT_LEN);
}

void test_unmap(struct device *d, const struct options *o)
{
	struct bare_gpu g;
	unsigned int i;

	checks_begin();
	gpu_attach(d, &g);
	for (i = 0; i < 3; i++) {
		take_back(d, &g, 1 + i, false);
		CHECK(serves(&g, 8 + i));
	}
	take_back(d, &g, 5, true);
	CHECK(counter(d, "pinned_pages") == 0);
	gpu_detach(d, &g);
	checks_end(
		"memory unmapped under running copies: unpinned at once, never written again, the vGPU serves on");
}

/* ------------------------------------------------------------------ the same addresses again */

/* Return true when the GPU reads through SRC_VA what is in @memory now. */
static bool reads(struct bare_chan *c, const uint8_t *memory, uint64_t vram, const uint8_t *back)
{
	bare_copy(c, SRC_VA, vram, REUSE_LEN, 0);
	bare_copy(c, vram, DST_VA, REUSE_LEN, 0);
	return bare_run(c, RUN_MS) && !memcmp(memory, back, REUSE_LEN);
}

static void map_all(struct bare_gpu *g, struct bare_space *s, uint64_t va, enum bare_target t,
		    uint64_t at)
{
	bare_space_map_range(g, s, va, t, at, REUSE_LEN);
}

static void unmap_all(struct bare_gpu *g, struct bare_space *s, uint64_t va)
{
	uint64_t off;

	for (off = 0; off < REUSE_LEN; off += PAGE)
		bare_space_unmap(g, s, va + off);
	bare_tlb_invalidate(g, BARE_VRAM, s->pdb);
}

/*
 * With @on false the process may only lock as much memory as lock_limit() says, like a VMM without
 * CAP_IPC_LOCK.
 */
static void may_lock_all(bool on)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	CHECK(!syscall(SYS_capget, &head, data));
	if (on)
		data[0].effective |= 1u << CAP_IPC_LOCK;
	else
		data[0].effective &= ~(1u << CAP_IPC_LOCK);
	CHECK(!syscall(SYS_capset, &head, data));
}

static void lock_limit(unsigned long more)
{
	struct rlimit limit = { 0, RLIM_INFINITY };
	unsigned long kib = 0;
	char line[128];
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmLck: %lu", &kib);
	if (f)
		fclose(f);
	limit.rlim_cur = more ? kib * 1024 + more : RLIM_INFINITY;
	CHECK(!setrlimit(RLIMIT_MEMLOCK, &limit));
}

/*
 * What a channel of our guest works on: memory that is lent once and gets new pages each turn, and
 * where its contents are copied to.
 */
struct reuse {
	struct bare_gpu g;
	struct bare_space s;
	struct bare_chan c;
	uint8_t *memory, *back; /* @memory: two parts of REUSE_LEN */
	uint64_t pinned;
};

static void reuse_begin(struct device *d, struct reuse *r)
{
	struct bare_chan_config cfg = { .id = 3 };
	uint64_t back_bus, vram;

	gpu_attach(d, &r->g);
	r->back = bare_host(&r->g, REUSE_LEN, &back_bus);
	vram = bare_vram(&r->g, REUSE_LEN, PAGE);
	r->memory = mmap(NULL, 2 * REUSE_LEN, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	CHECK(r->memory != MAP_FAILED && !dma_map(d, r->memory, LENT_IOVA, 2 * REUSE_LEN));
	open_channel(&r->g, &r->s, &r->c, &cfg);
	map_all(&r->g, &r->s, SRC_VA + REUSE_LEN, BARE_VRAM, vram);
	map_all(&r->g, &r->s, DST_VA, BARE_HOST, back_bus);
	bare_tlb_invalidate(&r->g, BARE_VRAM, r->s.pdb);
	r->pinned = counter(d, "pinned_pages");
}

static void reuse_end(struct device *d, struct reuse *r)
{
	uint64_t end = now_ms() + RUN_MS;

	while (counter(d, "pinned_pages") != r->pinned && now_ms() < end)
		usleep(50000);
	CHECK(counter(d, "pinned_pages") == r->pinned);
	CHECK(!dma_unmap(d, LENT_IOVA, 2 * REUSE_LEN));
	close_channel(&r->c);
	gpu_detach(d, &r->g);
	munmap(r->memory, 2 * REUSE_LEN);
}

/* Give part @part of the memory new pages, have the GPU read it, and unmap it for the GPU. */
static void reuse_turn(struct reuse *r, unsigned int part, unsigned int seed)
{
	uint8_t *memory = r->memory + part * REUSE_LEN;

	CHECK(!madvise(memory, REUSE_LEN, MADV_DONTNEED));
	pattern_fill(memory, REUSE_LEN, seed);
	map_all(&r->g, &r->s, SRC_VA, BARE_HOST, LENT_IOVA + part * REUSE_LEN);
	bare_tlb_invalidate(&r->g, BARE_VRAM, r->s.pdb);
	CHECK(reads(&r->c, memory, SRC_VA + REUSE_LEN, r->back));
	unmap_all(&r->g, &r->s, SRC_VA);
}

/*
 * The guest unmaps memory, the VMM takes the pages away (as a balloon does), and the guest uses the
 * same addresses again. Pages that the host has not unpinned by then must not be taken for the
 * pages that are there now.
 */
void test_reuse(struct device *d, const struct options *o)
{
	struct reuse r;
	unsigned int i;

	checks_begin();
	reuse_begin(d, &r);
	for (i = 0; i < 20; i++)
		reuse_turn(&r, 0, i);
	reuse_end(d, &r);
	if (!d->iommufd) { /* iommufd counts locked memory where it can't be read */
		may_lock_all(false);
		reuse_begin(d, &r);
		lock_limit(REUSE_LEN);
		for (i = 0; i < 20; i++)
			reuse_turn(&r, i & 1, i);
		reuse_end(d, &r);
		lock_limit(0);
		may_lock_all(true);
	}
	checks_end(
		"memory that comes and goes by the same addresses, each time other pages: read as it is; unpinned soon after");
}

/* ------------------------------------------------------------------ what is not the guest's */

static uint64_t physical_address(const void *p)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (pread(fd, &entry, 8, (uintptr_t)p / PAGE * 8) != 8)
		entry = 0;
	close(fd);
	return (entry << 9 >> 9) * PAGE;
}

/*
 * Have a page table entry for @addr, and try to read that into a page of ours. Return true when
 * that failed.
 */
static bool unreadable(struct bare_gpu *g, unsigned int id, enum bare_target t, uint64_t addr)
{
	struct bare_chan_config cfg = { .id = id };
	uint64_t loot_bus;
	uint8_t *loot = bare_host(g, PAGE, &loot_bus);
	struct bare_space s;
	struct bare_chan c;
	bool ran;

	memset(loot, 0x3d, PAGE);
	open_channel(g, &s, &c, &cfg);
	bare_space_map(g, &s, SRC_VA, t, addr);
	bare_space_map(g, &s, DST_VA, BARE_HOST, loot_bus);
	bare_tlb_invalidate(g, BARE_VRAM, s.pdb);
	bare_copy(&c, SRC_VA, DST_VA, BYTES, 0);
	ran = bare_run(&c, REFUSED_MS);
	close_channel(&c);
	return !ran && all_bytes(loot, PAGE, 0x3d);
}

/* Return true when no data was copied. */
static bool physical_refused(struct bare_gpu *g, unsigned int id, uint64_t src, uint32_t target)
{
	struct bare_chan_config cfg = { .id = id, .hce_priv = true };
	uint64_t loot_bus;
	uint8_t *loot = bare_host(g, PAGE, &loot_bus);
	struct bare_space s;
	struct bare_chan c;

	memset(loot, 0x3d, PAGE);
	open_channel(g, &s, &c, &cfg);
	bare_space_map(g, &s, DST_VA, BARE_HOST, loot_bus);
	bare_tlb_invalidate(g, BARE_VRAM, s.pdb);
	bare_emit(&c, SUBCH_COPY, HOST_SET_OBJECT, A0B5_CLASS);
	bare_emit(&c, SUBCH_COPY, A0B5_SET_SRC_PHYS_MODE, target, target);
	bare_copy(&c, src, DST_VA, BYTES, A0B5_LAUNCH_SRC_PHYSICAL);
	bare_run(&c, REFUSED_MS);
	close_channel(&c);
	return all_bytes(loot, PAGE, 0x3d);
}

/*
 * Make a channel whose progress would be written to @page. Return true when the
 * channel does not run and @page stays as it is.
 */
static bool userd_refused(struct bare_gpu *g, unsigned int id, uint64_t at, const uint8_t *page)
{
	struct bare_chan_config cfg = {
		.id = id, .userd_forged = true, .userd_target = BARE_HOST, .userd = at
	};
	struct bare_space s;
	struct bare_chan c;
	bool ran;

	open_channel(g, &s, &c, &cfg);
	ran = bare_run(&c, REFUSED_MS);
	close_channel(&c);
	return !ran && all_bytes(page, PAGE, 0x11);
}

/*
 * Write pointers at which there is no memory, or none that may hold an instance block, to
 * registers: nothing may happen, and each submit and preempt is told to be done.
 */
static void odd_pointers(struct bare_gpu *g)
{
	static const uint32_t insts[] = { 0x0fffffff, 0x00020000, 0x20000000 | 0x40000,
					  0x30000000 | 0x123 };
	unsigned int i;

	for (i = 0; i < sizeof(insts) / sizeof(insts[0]); i++) {
		bare_write(g, PCCSR_INST(14), PCCSR_INST_BIND | insts[i]);
		bare_write(g, PCCSR_CHAN(14), PCCSR_CHAN_ENABLE_SET);
		CHECK(bare_runlist_at(g, 0, BARE_VRAM, 0xfffffff000ull, 5));
		CHECK(bare_runlist_at(g, 0, BARE_HOST, 0x1000, 4000));
		CHECK(bare_preempt(g, false, 14));
		bare_write(g, PCCSR_CHAN(14), PCCSR_CHAN_ENABLE_CLR);
		bare_write(g, PCCSR_INST(14), 0);
	}
	bare_tlb_invalidate(g, BARE_VRAM, 0xfffffff000ull);
}

void test_foreign(struct device *d, const struct options *o)
{
	uint8_t *secret = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE | MAP_LOCKED, -1, 0);
	struct bare_gpu g;
	uint64_t at;

	checks_begin();
	memset(secret, 0x11, PAGE);
	at = physical_address(secret);
	CHECK(at);
	gpu_attach(d, &g);
	CHECK(unreadable(&g, 1, BARE_HOST, at));
	CHECK(unreadable(&g, 2, BARE_HOST_NCOH, at));
	CHECK(unreadable(&g, 3, BARE_HOST, 0x7fff000));
	CHECK(unreadable(&g, 4, BARE_VRAM, 0x140000000ull));
	CHECK(unreadable(&g, 5, BARE_VRAM, 0xfffffff000ull));
	CHECK(serves(&g, 6));
	CHECK(physical_refused(&g, 7, at, A0B5_PHYS_COHERENT));
	CHECK(physical_refused(&g, 8, 0x100000, A0B5_PHYS_LOCAL_FB));
	CHECK(userd_refused(&g, 9, at, secret));
	odd_pointers(&g);
	CHECK(serves(&g, 10));
	gpu_detach(d, &g);
	CHECK(all_bytes(secret, PAGE, 0x11));
	munmap(secret, PAGE);
	checks_end(
		"entries, physical copies, USERD, instance and runlist pointers to what is not the guest's lead nowhere");
}
