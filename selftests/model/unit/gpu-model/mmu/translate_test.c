// SPDX-License-Identifier: GPL-2.0-only
/*
 * Translations and copies in address spaces. One thread. So some tests call mmu_translate() without
 * dma_lock, which its contract asks for.
 */
#include <errno.h>
#include <selftests/unit_test.h>

#include "mmu/fake.h"
#include "mmu/fake_device.h"

#define LIMIT ((1ull << 40) - 1)

struct rig {
	struct fake *f;
	struct fake_vm vm;
	struct mmu_space s;
	struct mmu_client c;
};

static struct rig *rig_create(void)
{
	struct rig *r = calloc(1, sizeof(*r));

	r->f = fake_create(64 << 20, 4 << 20);
	r->vm = fake_vm_create(r->f, LIMIT);
	r->s = fake_space(r->f, &r->vm);
	assert_int_equal(mmu_client_init(&r->f->g, &r->c, "test", 0x15, 1, -1), 0);
	return r;
}

static void rig_destroy(struct rig *r)
{
	mmu_client_fini(&r->f->g, &r->c);
	fake_destroy(r->f);
	free(r);
}

/*
 * Returns the reason of the fault that is recorded for the client's unit, or -1 if there is none.
 * Clears the record.
 */
static int take_fault(struct rig *r)
{
	uint32_t source = fake_rd32(r->f, GMMU_FAULT_SOURCE);

	fake_wr32(r->f, GMMU_FAULT_SOURCE, source);
	return source & BIT(0x15) ? (int)FIELD_GET(GMMU_FAULT_INFO_REASON,
						   fake_rd32(r->f, GMMU_FAULT_INFO(0x15))) :
				    -1;
}

static int try(struct rig *r, uint64_t va, enum mmu_access acc, unsigned int flags)
{
	struct mmu_seg seg;
	int ret;

	pthread_rwlock_rdlock(&r->f->g.dma_lock);
	ret = mmu_translate(&r->f->g, &r->c, &r->s, va, 4, acc, flags, &seg);
	pthread_rwlock_unlock(&r->f->g.dma_lock);
	assert_true(ret == 0 || ret == -EFAULT);
	return ret ? take_fault(r) : -1;
}

TEST(rights_of_cached_lines)
{
	/* fault reasons by [access][privileged], -1: none */
	const struct {
		uint64_t bits;
		int want[3][2];
	} cases[] = {
		{ 0, { { -1, -1 }, { -1, -1 }, { -1, -1 } } },
		{ GMMU_PTE_RO, { { -1, -1 }, { 6, 6 }, { 6, 6 } } },
		{ GMMU_PTE_WRITE_DISABLE, { { -1, -1 }, { 6, 6 }, { 6, 6 } } },
		{ GMMU_PTE_READ_DISABLE, { { 7, 7 }, { -1, -1 }, { 7, 7 } } },
		{ GMMU_PTE_PRIV, { { 5, -1 }, { 5, -1 }, { 5, -1 } } },
		{ GMMU_PTE_PRIV | GMMU_PTE_RO, { { 5, -1 }, { 5, 6 }, { 5, 6 } } },
	};
	struct rig *r = rig_create();
	unsigned int i, acc, priv, warm;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		fake_map(r->f, &r->vm, i * 0x1000, 0x100000, MEM_VRAM, cases[i].bits, false);
	for (warm = 0; warm < 2; warm++)
		for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			for (acc = ACC_READ; acc <= ACC_ATOMIC; acc++)
				for (priv = 0; priv < 2; priv++)
					assert_int_equal(try(r, i * 0x1000, acc,
							     priv ? MMU_PRIV_ACCESS : 0),
							 cases[i].want[acc][priv]);
	rig_destroy(r);
}

TEST(segments)
{
	struct rig *r = rig_create();
	struct mmu_seg seg;

	fake_map(r->f, &r->vm, 0x5000, 0x300000, MEM_VRAM,
		 GMMU_PTE_VOL | GMMU_PTE_RO | 0xdbull << 36, false);
	assert_int_equal(mmu_translate(&r->f->g, &r->c, &r->s, 0x5ff0, 64, ACC_READ, 0, &seg), 0);
	assert_int_equal(seg.len, 16);
	assert_int_equal(seg.phys, 0x300ff0);
	assert_ptr_equal(seg.ptr, r->f->g.vram + 0x300ff0);
	assert_int_equal(seg.kind, 0xfe); /* kind 0xdb without compression */
	assert_true(seg.vol && seg.read_only);
	assert_int_equal(seg.target, MEM_VRAM);

	fake_map(r->f, &r->vm, 0x100000000, 0x400000, MEM_VRAM, 0, true);
	assert_int_equal(
		mmu_translate(&r->f->g, &r->c, &r->s, 0x100000010, ~0ul, ACC_WRITE, 0, &seg), 0);
	assert_int_equal(seg.len, 0x1fff0);
	assert_false(seg.read_only);

	fake_map(r->f, &r->vm, 0x7000, FAKE_IOVA + 0x8000, MEM_SYS_COH, 0, false);
	assert_int_equal(mmu_translate(&r->f->g, &r->c, &r->s, 0x7004, 0, ACC_WRITE, 0, &seg), 0);
	assert_int_equal(seg.len, 1);
	assert_ptr_equal(seg.ptr, r->f->guest + 0x8004);
	rig_destroy(r);
}

TEST(limit_inside_a_page)
{
	struct rig *r = rig_create();
	struct mmu_seg seg;

	fake_map(r->f, &r->vm, 0x20000, 0x400000, MEM_VRAM, 0, true);
	r->s.limit = 0x27fff;
	assert_int_equal(mmu_translate(&r->f->g, &r->c, &r->s, 0x27000, 0x10000, ACC_READ, 0, &seg),
			 0);
	assert_int_equal(seg.len, 0x1000);
	assert_int_equal(try(r, 0x28000, ACC_READ, 0), MMU_LIMIT);
	assert_int_equal(try(r, 1ull << 40, ACC_READ, 0), MMU_LIMIT);
	assert_int_equal(try(r, ~0ull, ACC_READ, 0), MMU_LIMIT);
	/* a limit above 2^40 does not make the address space larger */
	r->s.limit = ~0ull;
	assert_int_equal(try(r, (1ull << 40) + 0x20000, ACC_READ, 0), MMU_LIMIT);
	r->s.valid = false;
	assert_int_equal(try(r, 0x20000, ACC_READ, 0), MMU_UNBOUND_INST);
	rig_destroy(r);
}

TEST(no_memory_there)
{
	struct rig *r = rig_create();

	fake_map(r->f, &r->vm, 0x1000, 1ull << 30, MEM_VRAM, 0, false);
	fake_map(r->f, &r->vm, 0x2000, 0x1000, MEM_SYS_COH, 0, false);
	fake_map(r->f, &r->vm, 0x3000, FAKE_IOVA, MEM_SYS_NCOH, 0, false);
	assert_int_equal(try(r, 0x1000, ACC_READ, 0), MMU_REGION);
	assert_int_equal(try(r, 0x2000, ACC_READ, 0), MMU_REGION);
	assert_int_equal(try(r, 0x3000, ACC_WRITE, 0), -1);
	r->f->guest_read_only = true;
	assert_int_equal(try(r, 0x3000, ACC_WRITE, 0), MMU_REGION);
	assert_int_equal(try(r, 0x3000, ACC_READ, 0), -1);
	rig_destroy(r);
}

static uint32_t rnd_state = 1;
static uint32_t rnd(uint32_t below)
{
	rnd_state = rnd_state * 1664525 + 1013904223;
	return (rnd_state >> 8) % below;
}

TEST(copies_over_pages)
{
	const unsigned int pages = 96, size = 96 * 4096;
	struct rig *r = rig_create();
	uint8_t *flat = calloc(1, size), *buf = malloc(size);
	unsigned int i, n;

	for (i = 0; i < 32; i++) /* video memory, downwards, and system memory in turn */
		fake_map(r->f, &r->vm, i * 0x1000,
			 i & 1 ? FAKE_IOVA + i * 0x1000 : 0x200000 - i * 0x1000,
			 i & 1 ? MEM_SYS_COH : MEM_VRAM, 0, false);
	fake_map(r->f, &r->vm, 0x20000, 0x600000, MEM_VRAM, 0, true);
	fake_map(r->f, &r->vm, 0x40000, 0x400000, MEM_VRAM, 0, true);
	for (n = 0; n < 3000; n++) {
		unsigned int off = rnd(pages * 4096), len = rnd(n % 3 ? 64 : size);

		if (len > size - off)
			len = size - off;
		for (i = 0; i < len; i++)
			buf[i] = rnd(256);
		memcpy(flat + off, buf, len);
		assert_int_equal(mmu_write(&r->f->g, &r->c, &r->s, off, buf, len, 0), 0);
		off = rnd(size);
		len = rnd(size - off);
		assert_int_equal(mmu_read(&r->f->g, &r->c, &r->s, off, buf, len, 0), 0);
		assert_memory_equal(buf, flat + off, len);
	}
	assert_int_equal(mmu_read(&r->f->g, &r->c, &r->s, size - 8, buf, 16, 0), -EFAULT);
	assert_int_equal(take_fault(r), MMU_PTE);
	assert_true(r->f->g.stats.dma_wr_bytes && r->f->g.stats.vram_wr_bytes);
	free(flat);
	free(buf);
	rig_destroy(r);
}

/* A copy drops dma_lock after each MiB (COPY_CHUNK): the pieces must join. */
TEST(more_than_one_hold)
{
	struct rig *r = rig_create();
	uint64_t size = 3 << 20, i;
	uint8_t *buf = malloc(size);

	for (i = 0; i < size; i += 0x20000)
		fake_map(r->f, &r->vm, i, 0x1000000 + i, MEM_VRAM, 0, true);
	for (i = 0; i < size; i++)
		buf[i] = i * 7 + (i >> 12);
	assert_int_equal(mmu_write(&r->f->g, &r->c, &r->s, 0, buf, size, 0), 0);
	assert_memory_equal(r->f->g.vram + 0x1000000, buf, size);
	free(buf);
	rig_destroy(r);
}

TEST(spaces_are_read_from_memory)
{
	struct rig *r = rig_create();
	struct mmu_space s;
	uint32_t *inst = (uint32_t *)r->f->guest;

	assert_int_equal(r->s.limit, LIMIT);
	assert_int_equal(r->s.pdb, r->vm.pdb);
	inst[0x200 / 4] = 0xabcde000 | 4 | 3;
	inst[0x204 / 4] = 0xffffff12;
	inst[0x208 / 4] = 0x12345678;
	inst[0x20c / 4] = 0xffffff03;
	assert_true(mmu_space_load(&r->f->g, FAKE_IOVA, MEM_SYS_COH, &s));
	assert_int_equal(s.pdb, 0x12abcde000);
	assert_int_equal(s.pdb_target, MEM_SYS_NCOH);
	assert_int_equal(s.limit, 0x312345fff);
	assert_int_equal(s.inst, FAKE_IOVA);
	assert_false(mmu_space_load(&r->f->g, 0, MEM_SYS_COH, &s));
	assert_false(s.valid);
	assert_false(mmu_space_load(&r->f->g, 0, MEM_PEER, &s));
	assert_false(mmu_space_load(&r->f->g, (64 << 20) - 0x200, MEM_VRAM, &s));
	rig_destroy(r);
}

TEST_MAIN(NULL, NULL)
