// SPDX-License-Identifier: GPL-2.0-only
/* The MMU's fault records. */
#include <selftests/unit_test.h>
#include <unistd.h>

#include "mmu/fake.h"
#include "mmu/fake_device.h"

static struct mmu_client client(uint8_t unit, uint8_t id, int gpc)
{
	return (struct mmu_client){ .name = "test", .unit = unit, .client = id, .gpc = gpc };
}

static const struct mmu_space space = { .inst = 0x123456000,
					.pdb = 0,
					.limit = ~0ull,
					.valid = true };

TEST(record_contents)
{
	const struct {
		uint8_t unit, client;
		int gpc;
		uint64_t va;
		enum mmu_reason why;
		enum mmu_access acc;
		uint32_t lo, hi, info;
	} cases[] = {
		{ 0x15, 0x01, -1, 0x24123, MMU_PTE, ACC_READ, 0x24000, 0, 0x00000142 },
		{ 0x1b, 0x18, -1, 0xff12345678, MMU_RO, ACC_WRITE, 0x12345000, 0xff, 0x000018c6 },
		{ 0x00, 0x0f, 3, 0x1000000000, MMU_BOTH_PTES, ACC_ATOMIC, 0, 0x10, 0x03000f8e },
		{ 0x00, 0x1e, 0, 0xfff, MMU_KIND, ACC_READ, 0, 0, 0x00001e0c },
		{ 0x07, 0x06, -1, 0xffffffffffffffff, MMU_LIMIT, ACC_READ, 0xfffff000, 0xffffffff,
		  0x00000643 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake *f = fake_create(1 << 20, 4096);
		struct mmu_client c = client(cases[i].unit, cases[i].client, cases[i].gpc);
		unsigned int u = cases[i].unit;

		fake_intr_updates = fake_intr_raised = 0;
		mmu_fault(&f->g, &c, &space, cases[i].va, cases[i].why, cases[i].acc, 0);
		assert_int_equal(fake_rd32(f, 0x259c), 1u << u);
		assert_int_equal(fake_rd32(f, 0x2800 + 16 * u), 0x123456);
		assert_int_equal(fake_rd32(f, 0x2804 + 16 * u), cases[i].lo);
		assert_int_equal(fake_rd32(f, 0x2808 + 16 * u), cases[i].hi);
		assert_int_equal(fake_rd32(f, 0x280c + 16 * u), cases[i].info);
		assert_int_equal(fake_intr_updates, 1);
		assert_int_equal(fake_intr_raised, 0);
		assert_int_equal(c.faults, 1);
		assert_int_equal(f->g.stats.mmu_faults, 1);
		fake_destroy(f);
	}
}

TEST(second_fault_is_dropped)
{
	struct fake *f = fake_create(1 << 20, 4096);
	struct mmu_client a = client(0x15, 1, -1), b = client(0x16, 2, -1);

	fake_intr_raised = 0;
	mmu_fault(&f->g, &a, &space, 0x1000, MMU_PTE, ACC_READ, 0);
	/* another unit has a record of its own */
	mmu_fault(&f->g, &b, &space, 0x2000, MMU_PDE, ACC_READ, 0);
	assert_int_equal(fake_intr_raised, 0);
	mmu_fault(&f->g, &a, NULL, 0x3000, MMU_RO, ACC_WRITE, 0);
	assert_int_equal(fake_intr_raised, 1u << 27);
	assert_int_equal(fake_rd32(f, GMMU_FAULT_VA_LO(0x15)), 0x1000);
	assert_int_equal(fake_rd32(f, GMMU_FAULT_SOURCE), 1u << 0x15 | 1u << 0x16);
	fake_wr32(f, GMMU_FAULT_SOURCE, 1u << 0x15);
	assert_int_equal(fake_rd32(f, GMMU_FAULT_SOURCE), 1u << 0x16);
	fake_wr32(f, GMMU_FAULT_VA_LO(0x15), 0xdead); /* read only */
	mmu_fault(&f->g, &a, NULL, 0x3000, MMU_RO, ACC_WRITE, 0);
	assert_int_equal(fake_rd32(f, GMMU_FAULT_VA_LO(0x15)), 0x3000);
	assert_int_equal(fake_rd32(f, GMMU_FAULT_INST(0x15)), 0);
	fake_destroy(f);
}

TEST(with_the_lock)
{
	struct fake *f = fake_create(1 << 20, 4096);
	struct mmu_client c = client(4, 7, -1);

	pthread_mutex_lock(&f->g.lock);
	mmu_fault(&f->g, &c, &space, 0x1000, MMU_PTE, ACC_READ, MMU_LOCKED);
	assert_int_equal(reg_get(&f->g, GMMU_FAULT_SOURCE), 1u << 4);
	pthread_mutex_unlock(&f->g.lock);
	fake_destroy(f);
}

/*
 * While another thread holds the lock, mmu_fault() returns at once. The fault is posted when the
 * lock is free.
 */
TEST(lock_busy)
{
	struct fake *f = fake_create(1 << 20, 4096);
	struct mmu_client a = client(0x15, 1, -1), b = client(0x00, 4, -1);
	unsigned int i;

	assert_int_equal(mmu_unit.start(&f->g), 0);
	fake_intr_raised = fake_intr_updates = 0;
	pthread_mutex_lock(&f->g.lock);
	mmu_fault(&f->g, &a, &space, 0x5000, MMU_PTE, ACC_READ, 0);
	mmu_fault(&f->g, &b, &space, 0x6000, MMU_PDE, ACC_READ, 0);
	/* dropped, because the unit's record is in use */
	mmu_fault(&f->g, &a, &space, 0x7000, MMU_PTE, ACC_READ, 0);
	assert_int_equal(reg_get(&f->g, GMMU_FAULT_SOURCE), 0);
	pthread_mutex_unlock(&f->g.lock);
	/* a wait of a minute would be a hang */
	for (i = 0; i < 600000 && atomic_load(&fake_intr_updates) < 2; i++)
		usleep(100);
	pthread_mutex_lock(&f->g.lock);
	assert_int_equal(reg_get(&f->g, GMMU_FAULT_SOURCE), 1u << 0x15 | 1);
	assert_int_equal(reg_get(&f->g, GMMU_FAULT_VA_LO(0x15)), 0x5000);
	assert_int_equal(fake_intr_raised, 1u << 27);
	pthread_mutex_unlock(&f->g.lock);
	mmu_unit.stop(&f->g);
	fake_destroy(f);
}

/* A read of the source register shows a queued fault even if no thread of the model runs. */
TEST(queued_fault_is_seen)
{
	struct fake *f = fake_create(1 << 20, 4096);
	struct mmu_client a = client(0x15, 1, -1);

	pthread_mutex_lock(&f->g.lock);
	mmu_fault(&f->g, &a, &space, 0x5000, MMU_PTE, ACC_READ, 0);
	pthread_mutex_unlock(&f->g.lock);
	assert_int_equal(fake_rd32(f, GMMU_FAULT_SOURCE), 1u << 0x15);
	fake_destroy(f);
}

static void *faulting(void *arg)
{
	struct fake *f = arg;
	struct mmu_client c = client(0x15, 1, -1);
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		dma_read_lock(&f->g);
		mmu_fault(&f->g, &c, &space, i * 0x1000, MMU_PTE, ACC_READ, 0);
		dma_read_unlock(&f->g);
	}
	return NULL;
}

/*
 * Faults with dma_lock held, against invalidates, which hold g->lock and wait for dma_lock: a fault
 * may not wait for g->lock.
 */
TEST(faults_against_invalidates)
{
	struct fake *f = fake_create(1 << 20, 4096);
	pthread_t t[2];
	unsigned int i;

	assert_int_equal(mmu_unit.start(&f->g), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i], NULL, faulting, f), 0);
	for (i = 0; i < 1000; i++) {
		fake_invalidate(f, 0, 0, 3);
		fake_wr32(f, GMMU_FAULT_SOURCE, ~0u);
	}
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	mmu_unit.stop(&f->g);
	assert_int_equal(f->g.stats.mmu_faults, 4000);
	fake_destroy(f);
}

TEST(reset_forgets)
{
	struct fake *f = fake_create(1 << 20, 4096);
	struct mmu_client a = client(0x15, 1, -1);

	mmu_fault(&f->g, &a, &space, 0x5000, MMU_PTE, ACC_READ, 0);
	pthread_mutex_lock(&f->g.lock);
	mmu_unit.reset(&f->g);
	pthread_mutex_unlock(&f->g.lock);
	assert_int_equal(fake_rd32(f, GMMU_FAULT_SOURCE), 0);
	assert_int_equal(fake_rd32(f, GMMU_FAULT_VA_LO(0x15)), 0);
	fake_destroy(f);
}

TEST_MAIN(NULL, NULL)
