// SPDX-License-Identifier: GPL-2.0-only
/*
 * The TLB behaviour that software can see. An entry that was changed without an invalidate keeps
 * its old translation. An invalidate ends that for the entries that it names.
 */
#include <sched.h>
#include <selftests/unit_test.h>
#include <time.h>

#include "mmu/fake.h"
#include "mmu/fake_device.h"

#define VA	0x123456000ull
#define OLD	0x100000ull
#define NEW	0x300000ull
#define LIMIT	((1ull << 40) - 1)
#define INV_ALL (FB_MMU_INVALIDATE_ALL_VA)

static uint64_t phys_of(struct fake *f, struct mmu_client *c, const struct mmu_space *s,
			uint64_t va)
{
	struct mmu_seg seg = { 0 };
	int ret;

	pthread_rwlock_rdlock(&f->g.dma_lock);
	ret = mmu_translate(&f->g, c, s, va, 1, ACC_READ, 0, &seg);
	pthread_rwlock_unlock(&f->g.dma_lock);
	return ret ? ~0ull : seg.phys;
}

struct rig {
	struct fake *f;
	struct fake_vm vm, other;
	struct mmu_space s, so;
	struct mmu_client hub, gpc;
};

static struct rig *rig_create(void)
{
	struct rig *r = calloc(1, sizeof(*r));

	r->f = fake_create(16 << 20, 1 << 20);
	r->vm = fake_vm_create(r->f, LIMIT);
	r->other = fake_vm_create(r->f, LIMIT);
	r->s = fake_space(r->f, &r->vm);
	r->so = fake_space(r->f, &r->other);
	assert_int_equal(mmu_client_init(&r->f->g, &r->hub, "hub", 0x15, 1, -1), 0);
	assert_int_equal(mmu_client_init(&r->f->g, &r->gpc, "gpc", 0, 0, 2), 0);
	return r;
}

static void rig_destroy(struct rig *r)
{
	mmu_client_fini(&r->f->g, &r->hub);
	mmu_client_fini(&r->f->g, &r->gpc);
	fake_destroy(r->f);
	free(r);
}

/*
 * Fills the TLBs of both clients, in both address spaces, with OLD. Then points the entries at NEW.
 */
static void make_stale(struct rig *r, bool big)
{
	struct fake_vm *vm[] = { &r->vm, &r->other };
	struct mmu_space *s[] = { &r->s, &r->so };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		fake_map(r->f, vm[i], VA, OLD, MEM_VRAM, 0, big);
		fake_invalidate(r->f, 0, 0, INV_ALL | FB_MMU_INVALIDATE_ALL_PDB);
		phys_of(r->f, &r->hub, s[i], VA);
		phys_of(r->f, &r->gpc, s[i], VA);
	}
	/*
	 * the second invalidate above dropped the first space's lines: fill again, then change the
	 * entries
	 */
	for (i = 0; i < 2; i++) {
		phys_of(r->f, &r->hub, s[i], VA);
		phys_of(r->f, &r->gpc, s[i], VA);
		fake_map(r->f, vm[i], VA, NEW, MEM_VRAM, 0, big);
	}
}

/*
 * Returns which of hub/space, hub/other, gpc/space, gpc/other still see the old page, as bits 0 to
 * 3.
 */
static unsigned int stale(struct rig *r, bool big)
{
	uint64_t old = OLD + (big ? VA & 0x1ffff : 0);

	return (phys_of(r->f, &r->hub, &r->s, VA) == old) |
	       (phys_of(r->f, &r->hub, &r->so, VA) == old) << 1 |
	       (phys_of(r->f, &r->gpc, &r->s, VA) == old) << 2 |
	       (phys_of(r->f, &r->gpc, &r->so, VA) == old) << 3;
}

TEST(invalidates)
{
	struct rig *r = rig_create();
	const struct {
		const char *name;
		uint64_t pdb;
		uint32_t target, what, page;
		unsigned int stale;
	} cases[] = {
		{ "none", 0, 0, ~0u, 0, 0xf },
		{ "pdb, all va", r->vm.pdb, 0, 1, 0, 0xa },
		{ "other pdb", r->other.pdb, 0, 1, 0, 0x5 },
		{ "pdb, hub only", r->vm.pdb, 0, 1 | 4, 0, 0xe },
		{ "all pdb", 0, 0, 1 | 2, 0, 0 },
		{ "all pdb, hub only", 0, 0, 1 | 2 | 4, 0, 0xc },
		{ "foreign pdb", 0x77000, 0, 1, 0, 0xf },
		{ "right address, wrong target", r->vm.pdb, 2, 1, 0, 0xf },
		{ "the page", r->vm.pdb, 0, 0, VA >> 12, 0xa },
		{ "another page", r->vm.pdb, 0, 0, (VA >> 12) + 32, 0xf },
		{ "the page, all pdb", 0, 0, 2, VA >> 12, 0 },
		{ "the page, hub only", r->vm.pdb, 0, 4, VA >> 12, 0xe },
	};
	unsigned int i, big;

	for (big = 0; big < 2; big++) {
		for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			make_stale(r, big);
			assert_int_equal(stale(r, big), 0xf);
			if (cases[i].what != ~0u) {
				fake_wr32(r->f, FB_MMU_INVALIDATE_PAGE, cases[i].page << 4);
				fake_invalidate(r->f, cases[i].pdb, cases[i].target, cases[i].what);
			}
			if (stale(r, big) != cases[i].stale)
				fail_msg("%s (big %u): stale %x, expected %x", cases[i].name, big,
					 stale(r, big), cases[i].stale);
		}
		fake_unmap(r->f, &r->vm, VA, big);
		fake_unmap(r->f, &r->other, VA, big);
	}
	rig_destroy(r);
}

TEST(no_trigger_no_invalidate)
{
	struct rig *r = rig_create();

	make_stale(r, false);
	fake_wr32(r->f, FB_MMU_INVALIDATE_PDB, r->vm.pdb >> 8);
	fake_wr32(r->f, FB_MMU_INVALIDATE, 1 | 2);
	fake_wr32_be(r->f, FB_MMU_INVALIDATE, ~0u, 0xff);
	assert_int_equal(stale(r, false), 0xf);
	/* write the byte with the trigger alone; the lowest byte has 0xff from the write before */
	fake_wr32_be(r->f, FB_MMU_INVALIDATE, 0x80000000, 0xff000000);
	assert_int_equal(stale(r, false), 0xc);
	assert_int_equal(fake_rd32(r->f, FB_MMU_INVALIDATE) & FB_MMU_INVALIDATE_TRIGGER, 0);
	rig_destroy(r);
}

TEST(system_memory_targets_match)
{
	struct rig *r = rig_create();
	const uint64_t pdb = FAKE_IOVA;
	struct mmu_space s = {
		.pdb = pdb, .pdb_target = MEM_SYS_NCOH, .limit = LIMIT, .valid = true
	};
	uint64_t *entry = (uint64_t *)(r->f->guest + 0x40000);

	((uint64_t *)r->f->guest)[0] = 3ull << 32 | (FAKE_IOVA + 0x40000) << 24;
	entry[0] = fake_pte(OLD, MEM_VRAM, 0);
	assert_int_equal(phys_of(r->f, &r->hub, &s, 0), OLD);
	entry[0] = fake_pte(NEW, MEM_VRAM, 0);
	assert_int_equal(phys_of(r->f, &r->hub, &s, 0), OLD);
	fake_invalidate(r->f, pdb, 0, 1);
	assert_int_equal(phys_of(r->f, &r->hub, &s, 0), OLD);
	/* a code of system memory in the register matches both targets of system memory */
	fake_invalidate(r->f, pdb, 2, 1);
	assert_int_equal(phys_of(r->f, &r->hub, &s, 0), NEW);
	rig_destroy(r);
}

TEST(rebinding_keeps_lines)
{
	struct rig *r = rig_create();

	make_stale(r, false);
	r->s = fake_space(r->f, &r->vm);
	fake_wr32(r->f, HOSTMEM_BAR1, HOSTMEM_VIRTUAL | r->vm.inst >> 12);
	assert_int_equal(stale(r, false), 0xf);
	rig_destroy(r);
}

TEST(directory_is_cached)
{
	struct rig *r = rig_create();
	uint64_t slot = r->vm.pdb + (VA >> 27) * 8;

	fake_map(r->f, &r->vm, VA, OLD, MEM_VRAM, 0, false);
	fake_map(r->f, &r->vm, VA + 0x1000, NEW, MEM_VRAM, 0, false);
	assert_int_equal(phys_of(r->f, &r->hub, &r->s, VA), OLD);
	fake_wr64(r->f, slot, 0);
	/* the first access to this page uses the cached directory entry */
	assert_int_equal(phys_of(r->f, &r->hub, &r->s, VA + 0x1000), NEW);
	fake_wr32(r->f, FB_MMU_INVALIDATE_PAGE, (VA >> 12) << 4);
	fake_invalidate(r->f, r->vm.pdb, 0, 0);
	/* an invalidate of one page leaves the cached directory entry */
	assert_int_equal(phys_of(r->f, &r->hub, &r->s, VA), OLD);
	fake_invalidate(r->f, r->vm.pdb, 0, 1);
	assert_int_equal(phys_of(r->f, &r->hub, &r->s, VA), ~0ull);
	rig_destroy(r);
}

TEST(faults_are_not_cached)
{
	struct rig *r = rig_create();

	assert_int_equal(phys_of(r->f, &r->hub, &r->s, VA), ~0ull);
	fake_map(r->f, &r->vm, VA, OLD, MEM_VRAM, 0, false);
	assert_int_equal(phys_of(r->f, &r->hub, &r->s, VA), OLD);
	rig_destroy(r);
}

TEST(peek_fills_nothing)
{
	struct rig *r = rig_create();
	struct mmu_seg seg;

	fake_map(r->f, &r->vm, VA, OLD, MEM_VRAM, 0, false);
	assert_int_equal(mmu_translate(&r->f->g, &r->hub, &r->s, VA, 1, ACC_READ, MMU_PEEK, &seg),
			 0);
	fake_map(r->f, &r->vm, VA, NEW, MEM_VRAM, 0, false);
	assert_int_equal(phys_of(r->f, &r->hub, &r->s, VA), NEW);
	fake_map(r->f, &r->vm, VA, OLD, MEM_VRAM, 0, false);
	assert_int_equal(mmu_translate(&r->f->g, &r->hub, &r->s, VA, 1, ACC_READ, MMU_PEEK, &seg),
			 0);
	/* a peek fills no TLB line, but uses one that is there, as an access does */
	assert_int_equal(seg.phys, NEW);
	rig_destroy(r);
}

/* Many more pages than TLB lines, in an order that evicts lines. */
TEST(eviction)
{
	struct rig *r = rig_create();
	unsigned int i, round;

	for (i = 0; i < 3000; i++)
		fake_map(r->f, &r->vm, i * 0x1000ull, i * 0x1000ull, MEM_VRAM, 0, false);
	for (round = 0; round < 3; round++)
		for (i = 0; i < 3000; i++) {
			uint64_t va = (i * 1103515245u + round) % 3000 * 0x1000ull;

			assert_int_equal(phys_of(r->f, &r->hub, &r->s, va), va);
		}
	rig_destroy(r);
}

TEST(mode_change)
{
	struct rig *r = rig_create();

	fake_map(r->f, &r->vm, 0x20000, OLD, MEM_VRAM, 0, true);
	assert_int_equal(phys_of(r->f, &r->hub, &r->s, 0x30000), OLD + 0x10000);
	assert_int_equal(fake_rd32(r->f, FB_MMU_CTRL), 0x00ff8000);
	fake_wr32(r->f, FB_MMU_CTRL, FB_MMU_CTRL_BIG_64K);
	assert_int_equal(fake_rd32(r->f, FB_MMU_CTRL), 0x00ff8001);
	/* the second big entry: pages have 64 KiB now */
	assert_int_equal(phys_of(r->f, &r->hub, &r->s, 0x10000), OLD);
	assert_int_equal(phys_of(r->f, &r->hub, &r->s, 0x30000), ~0ull);
	rig_destroy(r);
}

TEST(bypass)
{
	struct rig *r = rig_create();
	struct mmu_seg seg;

	fake_map(r->f, &r->vm, VA, OLD, MEM_VRAM, 0, false);
	assert_int_equal(phys_of(r->f, &r->hub, &r->s, VA), OLD);
	fake_wr32(r->f, FB_MMU_CTRL, FB_MMU_CTRL_BYPASS);
	assert_int_equal(phys_of(r->f, &r->hub, &r->s, 0x5678), 0x5678);
	fake_wr32(r->f, FB_MMU_CTRL,
		  FB_MMU_CTRL_BYPASS | FIELD_PREP(FB_MMU_CTRL_BYPASS_TARGET, MEM_SYS_COH));
	assert_int_equal(
		mmu_translate(&r->f->g, &r->hub, &r->s, FAKE_IOVA + 8, 1, ACC_WRITE, 0, &seg), 0);
	assert_ptr_equal(seg.ptr, r->f->guest + 8);
	fake_wr32(r->f, FB_MMU_CTRL, 0);
	assert_int_equal(phys_of(r->f, &r->hub, &r->s, VA), OLD);
	rig_destroy(r);
}

/* ----------------------------------------------------- invalidates against running translations */

#define ROUNDS 2000
#define PAGES  8

struct race {
	struct rig *r;
	/* no access may see a page of an older epoch */
	atomic_uint epoch;
	atomic_bool stop;
	atomic_uint seen;
	atomic_int holders;
	int64_t give_up_ns;
};

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static void *translating(void *arg)
{
	struct race *race = arg;
	struct rig *r = race->r;
	unsigned int i = 0, spin;

	while (!atomic_load(&race->stop)) {
		unsigned int least = atomic_load(&race->epoch), got;
		struct mmu_seg seg;

		dma_read_lock(&r->f->g);
		if (mmu_translate(&r->f->g, &r->hub, &r->s, VA + i++ % PAGES * 0x1000, 4, ACC_READ,
				  0, &seg))
			abort();
		/* keep the access under way for a while */
		for (spin = 0; spin < i % 64 * 64; spin++)
			atomic_signal_fence(memory_order_seq_cst);
		mem_copy_from(&got, seg.ptr, 4);
		if (got < least)
			abort();
		dma_read_unlock(&r->f->g);
		atomic_fetch_add(&race->seen, 1);
	}
	return NULL;
}

static void write_pages(struct rig *r, uint64_t base, unsigned int val)
{
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		mem_copy_to(r->f->g.vram + base + i * 0x1000, &val, 4);
}

/*
 * Each epoch has its own pages, which hold the epoch's number. When an invalidate has returned, the
 * old pages are cleared at once. An access that still uses an old translation or an old pointer
 * reads a number that is too small.
 */
TEST(translate_against_invalidate)
{
	struct rig *r = rig_create();
	struct race race = { .r = r };
	unsigned int i, e;
	pthread_t t[3];

	for (i = 0; i < PAGES; i++)
		fake_map(r->f, &r->vm, VA + i * 0x1000, 0x200000 + i * 0x1000, MEM_VRAM, 0, false);
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&t[i], NULL, translating, &race), 0);
	for (e = 1; e <= ROUNDS || atomic_load(&race.seen) < 20000; e++) {
		uint64_t base = 0x200000 + (e % 2) * PAGES * 0x1000;

		write_pages(r, base, e);
		for (i = 0; i < PAGES; i++)
			fake_map(r->f, &r->vm, VA + i * 0x1000, base + i * 0x1000, MEM_VRAM, 0,
				 false);
		fake_invalidate(r->f, r->vm.pdb, 0, 1);
		write_pages(r, 0x200000 + (e + 1) % 2 * PAGES * 0x1000, 0);
		atomic_store(&race.epoch, e);
		if (e % 16 == 0)
			sched_yield();
	}
	atomic_store(&race.stop, true);
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	rig_destroy(r);
}

static void *invalidating(void *arg)
{
	struct race *race = arg;

	fake_invalidate(race->r->f, race->r->vm.pdb, 0, 1);
	atomic_store(&race->stop, true);
	return NULL;
}

TEST(invalidate_waits_for_accesses)
{
	struct rig *r = rig_create();
	struct race race = { .r = r };
	struct timespec nap = { .tv_nsec = 50000000 };
	pthread_t t;

	dma_read_lock(&r->f->g);
	assert_int_equal(pthread_create(&t, NULL, invalidating, &race), 0);
	nanosleep(&nap, NULL);
	assert_false(atomic_load(&race.stop));
	dma_read_unlock(&r->f->g);
	pthread_join(t, NULL);
	rig_destroy(r);
}

/*
 * Holds dma_lock for reading until another thread has it, too, or 5 ms are over. So without
 * fairness the lock would hardly ever be free for a writer.
 */
static void *hogging(void *arg)
{
	struct race *race = arg;

	while (!atomic_load(&race->stop) && now_ns() < race->give_up_ns) {
		int64_t until = now_ns() + 5000000;

		dma_read_lock(&race->r->f->g);
		/* a thread may take the read lock twice, even while a writer waits */
		dma_read_lock(&race->r->f->g);
		atomic_fetch_add(&race->holders, 1);
		while (atomic_load(&race->holders) < 2 && now_ns() < until)
			sched_yield();
		dma_read_unlock(&race->r->f->g);
		sched_yield();
		atomic_fetch_sub(&race->holders, 1);
		dma_read_unlock(&race->r->f->g);
	}
	return NULL;
}

TEST(writers_are_not_starved)
{
	struct rig *r = rig_create();
	/* only ends a hang: 20 invalidates wait for one access each, some milliseconds in all */
	struct race race = { .r = r, .give_up_ns = now_ns() + 60000000000ll };
	pthread_t t[4];
	unsigned int i;
	bool gave_up;

	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, hogging, &race), 0);
	while (atomic_load(&race.holders) < 2)
		sched_yield();
	for (i = 0; i < 20; i++)
		fake_invalidate(r->f, r->vm.pdb, 0, 1);
	gave_up = now_ns() >= race.give_up_ns;
	atomic_store(&race.stop, true);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	assert_false(gave_up);
	rig_destroy(r);
}

TEST_MAIN(NULL, NULL)
