// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU windows: physical and virtual BAR1 and BAR3; PRAMIN on every target; the peephole port;
 * faults. One thread.
 */
#include <errno.h>
#include <selftests/unit_test.h>

#include "mmu/fake.h"
#include "mmu/fake_device.h"

#define VRAM  (8ull << 20)
#define GUEST (4ull << 20)
#define NR(a) (sizeof(a) / sizeof((a)[0]))

static const uint32_t bind_reg[] = { [WIN_BAR1] = HOSTMEM_BAR1, [WIN_BAR3] = HOSTMEM_BAR3 };

static struct fake *device(void)
{
	return fake_create(VRAM, GUEST);
}

static struct fake_vm bind_window(struct fake *f, enum bar_window w, uint64_t limit)
{
	struct fake_vm vm = fake_vm_create(f, limit);

	fake_wr32(f, bind_reg[w], HOSTMEM_VIRTUAL | vm.inst >> 12);
	return vm;
}

TEST(physical_windows)
{
	struct fake *f = device();
	enum bar_window w;

	for (w = WIN_BAR1; w <= WIN_BAR3; w++) {
		bar_write(&f->g, w, 0x12345, 4, 0xdeadbeef);
		assert_memory_equal(f->g.vram + 0x12345, "\xef\xbe\xad\xde", 4);
		assert_int_equal(bar_read(&f->g, w, 0x12346, 2), 0xadbe);
		/* behind the end of video memory */
		assert_int_equal(bar_read(&f->g, w, VRAM, 8), ~0ull);
		/* its first half lies in video memory */
		assert_int_equal(bar_read(&f->g, w, VRAM - 2, 4), 0xffff0000);
		bar_write(&f->g, w, VRAM, 8, 1);
	}
	assert_int_equal(bar_read(&f->g, WIN_BAR3, GK110_BAR3_SIZE, 4), 0xffffffff);
	assert_int_equal(bar_read(&f->g, WIN_BAR1, ~0ull, 1), 0xff);
	bar_write(&f->g, WIN_BAR1, ~0ull - 3, 8, 0);
	/* no access was translated, so there is no fault */
	assert_int_equal(fake_rd32(f, GMMU_FAULT_SOURCE), 0);
	fake_destroy(f);
}

/* Scattered pages: accesses compared with a flat array. */
TEST(virtual_windows)
{
	static const unsigned int sizes[] = { 1, 2, 4, 8 };
	enum bar_window w;

	for (w = WIN_BAR1; w <= WIN_BAR3; w++) {
		struct fake *f = device();
		struct fake_vm vm = bind_window(f, w, 0xffffff);
		uint8_t flat[4 * 4096] = { 0 };
		uint64_t val = 0x0123456789abcdef;
		unsigned int off, i;

		fake_map(f, &vm, 0x0000, 0x9000, MEM_VRAM, 0, false);
		fake_map(f, &vm, 0x1000, 0x3000, MEM_VRAM, 0, false);
		fake_map(f, &vm, 0x2000, FAKE_IOVA + 0x5000, MEM_SYS_COH, 0, false);
		fake_map(f, &vm, 0x3000, 0x7000, MEM_VRAM, GMMU_PTE_PRIV, false);
		for (off = 0; off < sizeof(flat) - 8;
		     off += off % 4096 < 16 || off % 4096 > 4080 ? 1 : 61)
			for (i = 0; i < NR(sizes); i++) {
				val = val * 6364136223846793005ull + 1442695040888963407ull;
				bar_write(&f->g, w, off, sizes[i], val);
				memcpy(flat + off, &val, sizes[i]);
			}
		for (off = 0; off < sizeof(flat) - 8; off++)
			for (i = 0; i < NR(sizes); i++) {
				val = 0;
				memcpy(&val, flat + off, sizes[i]);
				assert_int_equal(bar_read(&f->g, w, off, sizes[i]), val);
			}
		assert_memory_equal(f->g.vram + 0x9000, flat, 4096);
		assert_memory_equal(f->guest + 0x5000, flat + 0x2000, 4096);
		assert_int_equal(fake_rd32(f, GMMU_FAULT_SOURCE), 0);
		fake_destroy(f);
	}
}

TEST(window_faults)
{
	const struct {
		enum bar_window w;
		unsigned int unit;
	} cases[] = { { WIN_BAR1, 4 }, { WIN_BAR3, 5 } };
	unsigned int i;

	for (i = 0; i < NR(cases); i++) {
		struct fake *f = device();
		struct fake_vm vm = bind_window(f, cases[i].w, 0x3fff);
		unsigned int u = cases[i].unit;

		fake_map(f, &vm, 0, 0x9000, MEM_VRAM, GMMU_PTE_RO, false);
		memset(f->g.vram + 0x9000, 0x55, 4096);
		assert_int_equal(bar_read(&f->g, cases[i].w, 0x1008, 4), 0xffffffff);
		assert_int_equal(fake_rd32(f, GMMU_FAULT_SOURCE), 1u << u);
		assert_int_equal(fake_rd32(f, GMMU_FAULT_INST(u)), vm.inst >> 12);
		assert_int_equal(fake_rd32(f, GMMU_FAULT_VA_LO(u)), 0x1000);
		/* the fields say: client HOST_CPU, hub, read, reason PTE */
		assert_int_equal(fake_rd32(f, GMMU_FAULT_INFO(u)), 0x742);
		fake_wr32(f, GMMU_FAULT_SOURCE, ~0u);
		bar_write(&f->g, cases[i].w, 0x10, 4, 0);
		/* the fields say: write, reason read-only */
		assert_int_equal(fake_rd32(f, GMMU_FAULT_INFO(u)), 0x7c6);
		assert_int_equal(bar_read(&f->g, cases[i].w, 0x10, 4), 0x55555555);
		fake_wr32(f, GMMU_FAULT_SOURCE, ~0u);
		assert_int_equal(bar_read(&f->g, cases[i].w, 0xffc, 8), 0xffffffff55555555);
		fake_wr32(f, GMMU_FAULT_SOURCE, ~0u);
		bar_read(&f->g, cases[i].w, 0x4000, 1);
		assert_int_equal(fake_rd32(f, GMMU_FAULT_INFO(u)) & 15, MMU_LIMIT);
		fake_wr32(f, GMMU_FAULT_SOURCE, ~0u);
		/* bind to an instance block where no memory is: it counts as unbound */
		fake_wr32(f, bind_reg[cases[i].w], HOSTMEM_VIRTUAL | 0x0fffffff);
		assert_int_equal(bar_read(&f->g, cases[i].w, 0, 1), 0xff);
		assert_int_equal(fake_rd32(f, GMMU_FAULT_INFO(u)) & 15, MMU_UNBOUND_INST);
		fake_destroy(f);
	}
}

TEST(instance_in_guest_memory)
{
	const uint32_t target[] = { MEM_SYS_COH, MEM_SYS_NCOH };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct fake *f = device();
		struct fake_vm vm = fake_vm_create(f, 0xffff);

		memcpy(f->guest, f->g.vram + vm.inst, 0x1000);
		fake_map(f, &vm, 0, 0x9000, MEM_VRAM, 0, false);
		f->g.vram[0x9000] = 0x77;
		fake_wr32(f, HOSTMEM_BAR3, HOSTMEM_VIRTUAL | target[i] << 28 | FAKE_IOVA >> 12);
		assert_int_equal(bar_read(&f->g, WIN_BAR3, 0, 1), 0x77);
		fake_destroy(f);
	}
}

/*
 * The MMU reads the instance block when the register is written. A later change of the block needs
 * another bind.
 */
TEST(bind_reads_the_block)
{
	struct fake *f = device();
	struct fake_vm vm = bind_window(f, WIN_BAR1, 0xfff), other = fake_vm_create(f, 0xffff);

	fake_map(f, &vm, 0, 0x9000, MEM_VRAM, 0, false);
	fake_map(f, &other, 0, 0xa000, MEM_VRAM, 0, false);
	f->g.vram[0x9000] = 9;
	f->g.vram[0xa000] = 10;
	f->g.vram[0xb000] = 11;
	assert_int_equal(bar_read(&f->g, WIN_BAR1, 0, 1), 9);
	fake_wr64(f, vm.inst + 0x200, other.pdb);
	assert_int_equal(bar_read(&f->g, WIN_BAR1, 0, 1), 9);
	fake_wr32(f, HOSTMEM_BAR1, HOSTMEM_VIRTUAL | vm.inst >> 12);
	assert_int_equal(bar_read(&f->g, WIN_BAR1, 0, 1), 10);
	fake_map(f, &other, 0, 0xb000, MEM_VRAM, 0, false);
	fake_wr32(f, HOSTMEM_BAR1, HOSTMEM_VIRTUAL | vm.inst >> 12);
	assert_int_equal(bar_read(&f->g, WIN_BAR1, 0, 1), 10);
	fake_invalidate(f, other.pdb, 0, 5);
	assert_int_equal(bar_read(&f->g, WIN_BAR1, 0, 1), 11);
	/* clear the byte of bit 31 alone: the window is physical */
	fake_wr32_be(f, HOSTMEM_BAR1, 0, 0xff000000);
	assert_int_equal(bar_read(&f->g, WIN_BAR1, 0xa000, 1), 10);
	fake_destroy(f);
}

TEST(bus_is_told)
{
	struct fake *f = device();
	struct fake_vm vm = bind_window(f, WIN_BAR1, 0xffff);
	unsigned int *n = f->win_invalidated;

	assert_int_equal(n[WIN_BAR1], 1);
	fake_invalidate(f, vm.pdb, 0, 5);
	assert_int_equal(n[WIN_BAR1], 2);
	fake_invalidate(f, vm.pdb + 0x1000, 0, 5);
	fake_invalidate(f, vm.pdb, 2, 5);
	assert_int_equal(n[WIN_BAR1], 2);
	fake_invalidate(f, 0, 0, 3);
	assert_int_equal(n[WIN_BAR1], 3);
	/* BAR3 is physical: it has no translation that could change */
	assert_int_equal(n[WIN_BAR3], 0);
	fake_wr32(f, HOSTMEM_BAR1, 0);
	assert_int_equal(n[WIN_BAR1], 4);
	fake_wr32(f, HOSTMEM_PRAMIN, 5);
	fake_wr32(f, HOSTMEM_PRAMIN, 5);
	assert_int_equal(n[WIN_PRAMIN], 1);
	fake_wr32(f, FB_MMU_CTRL, FB_MMU_CTRL_BIG_64K);
	bind_window(f, WIN_BAR3, 0xffff);
	fake_wr32(f, FB_MMU_CTRL, 0);
	assert_int_equal(n[WIN_BAR3], 2);
	fake_destroy(f);
}

TEST(doorbells)
{
	struct fake *f = device();

	fake_bar1_writes = 0;
	bar_write(&f->g, WIN_BAR1, 0x28c, 4, 7);
	assert_int_equal(fake_bar1_writes, 1);
	assert_int_equal(fake_bar1_last_off, 0x28c);
	assert_int_equal(f->g.vram[0x28c], 7);
	bar_write(&f->g, WIN_BAR3, 0x28c, 4, 8);
	bar_write(&f->g, WIN_PRAMIN, 0x28c, 4, 9);
	bind_window(f, WIN_BAR1, 0xffff);
	bar_write(&f->g, WIN_BAR1, 0x28c, 4, 7); /* faults, so no write arrives */
	assert_int_equal(fake_bar1_writes, 1);
	fake_destroy(f);
}

TEST(pramin)
{
	struct fake *f = device();

	fake_wr32(f, HOSTMEM_PRAMIN, 0x12);
	fake_wr32(f, PRAMIN_BASE + 0x3450, 0xcafe1234);
	assert_memory_equal(f->g.vram + 0x123450, "\x34\x12\xfe\xca", 4);
	assert_int_equal(fake_rd32(f, PRAMIN_BASE + 0x3450), 0xcafe1234);
	fake_wr32_be(f, PRAMIN_BASE + 0x3450, 0x00ab0000, 0x00ff0000);
	assert_int_equal(fake_rd32(f, PRAMIN_BASE + 0x3450), 0xcaab1234);
	fake_wr32_be(f, PRAMIN_BASE + 0x3450, 0x00775500, 0x00ffff00);
	assert_int_equal(bar_read(&f->g, WIN_PRAMIN, 0x3450, 4), 0xca775534);
	bar_write(&f->g, WIN_PRAMIN, 0xffffc, 4, 1);
	assert_int_equal(f->g.vram[0x12 * 0x10000 + 0xffffc], 1);
	assert_int_equal(bar_read(&f->g, WIN_PRAMIN, 0xffffd, 4), 0xffffffff);
	fake_wr32(f, HOSTMEM_PRAMIN, 0xffffff);
	assert_int_equal(fake_rd32(f, PRAMIN_BASE), 0xffffffff);
	fake_wr32(f, HOSTMEM_PRAMIN, 2 << 24 | FAKE_IOVA >> 16);
	/* PRAMIN reaches any byte of the guest's memory */
	fake_wr32(f, PRAMIN_BASE + 0x10, 0x1d1ea);
	assert_int_equal(*(uint32_t *)(f->guest + 0x10), 0x1d1ea);
	fake_wr32(f, HOSTMEM_PRAMIN, 3 << 24 | FAKE_IOVA >> 16);
	assert_int_equal(fake_rd32(f, PRAMIN_BASE + 0x10), 0x1d1ea);
	fake_wr32(f, HOSTMEM_PRAMIN, 1 << 24);
	assert_int_equal(fake_rd32(f, PRAMIN_BASE + 0x10), 0xffffffff);
	fake_destroy(f);
}

TEST(flushes_are_done_at_once)
{
	static const uint32_t reg[] = { FLUSH_BAR, FLUSH_L2_SYSMEM_INVALIDATE, FLUSH_L2_DIRTY };
	struct fake *f = device();
	unsigned int i;

	for (i = 0; i < NR(reg); i++) {
		fake_wr32(f, reg[i], FLUSH_TRIGGER);
		assert_int_equal(fake_rd32(f, reg[i]), 0);
	}
	fake_destroy(f);
}

static int translate(struct fake *f, enum bar_window w, uint64_t off, size_t want,
		     enum mmu_access acc, unsigned int flags, struct mmu_seg *seg)
{
	int ret;

	pthread_rwlock_rdlock(&f->g.dma_lock);
	ret = bar_translate(&f->g, w, off, want, acc, flags, seg);
	pthread_rwlock_unlock(&f->g.dma_lock);
	return ret;
}

TEST(mapping_answers)
{
	struct fake *f = device();
	struct fake_vm vm = bind_window(f, WIN_BAR1, 0xffffff);
	struct mmu_seg seg;
	unsigned int i;

	for (i = 0; i < 4; i++)
		fake_map(f, &vm, i << 12, 0x9000 + (i << 12), MEM_VRAM, i == 3 ? GMMU_PTE_RO : 0,
			 false);
	fake_map(f, &vm, 0x5000, 0x20000, MEM_VRAM, GMMU_PTE_READ_DISABLE, false);
	assert_int_equal(translate(f, WIN_BAR1, 0, 1 << 20, ACC_READ, MMU_PEEK, &seg), 0);
	/* three pages with equal rights; the fourth is read-only */
	assert_int_equal(seg.len, 0x3000);
	assert_int_equal(seg.phys, 0x9000);
	assert_int_equal(translate(f, WIN_BAR1, 0x3000, 4096, ACC_READ, MMU_PEEK, &seg), 0);
	assert_true(seg.read_only);
	assert_int_equal(translate(f, WIN_BAR1, 0x3000, 4096, ACC_WRITE, MMU_PEEK, &seg), -EFAULT);
	assert_int_equal(translate(f, WIN_BAR1, 0x4000, 4096, ACC_READ, MMU_PEEK, &seg), -EFAULT);
	assert_int_equal(translate(f, WIN_BAR1, 0x5000, 4096, ACC_ATOMIC, MMU_PEEK, &seg), -EFAULT);
	assert_int_equal(translate(f, WIN_BAR1, GK110_BAR1_SIZE, 1, ACC_READ, MMU_PEEK, &seg),
			 -EFAULT);
	assert_int_equal(fake_rd32(f, GMMU_FAULT_SOURCE), 0);
	assert_int_equal(translate(f, WIN_BAR1, 0x4000, 4096, ACC_READ, 0, &seg), -EFAULT);
	assert_int_equal(fake_rd32(f, GMMU_FAULT_SOURCE), 1 << 4);
	assert_int_equal(translate(f, WIN_BAR3, 0x1000, ~0ul, ACC_READ, MMU_PEEK, &seg), 0);
	assert_int_equal(seg.len, VRAM - 0x1000);
	assert_int_equal(translate(f, WIN_PRAMIN, 0, ~0ul, ACC_READ, MMU_PEEK, &seg), 0);
	assert_int_equal(seg.len, PRAMIN_SIZE);
	fake_destroy(f);
}

TEST(peephole)
{
	struct fake *f = device();
	struct fake_vm vm = fake_vm_create(f, (1ull << 40) - 1);

	fake_wr32(f, PEEPHOLE_ADDR_LOW, 0x4003);
	fake_wr32(f, PEEPHOLE_DATA, 0x11223344); /* physical, as after a reset */
	fake_wr32_be(f, PEEPHOLE_DATA, 0x00aa0000, 0x00ff0000);
	assert_memory_equal(f->g.vram + 0x4000, "\x44\x33\x22\x11\0\0\xaa\0", 8);
	assert_int_equal(fake_rd32(f, PEEPHOLE_ADDR_LOW), 0x4008);
	fake_map(f, &vm, 0x12fffff000, 0x9000, MEM_VRAM, GMMU_PTE_PRIV, false);
	fake_map(f, &vm, 0x1300000000, FAKE_IOVA, MEM_SYS_COH, 0, false);
	fake_wr32(f, HOSTMEM_PEEPHOLE, HOSTMEM_VIRTUAL | vm.inst >> 12);
	fake_wr32(f, PEEPHOLE_ADDR_HIGH, 0xffffff12);
	fake_wr32(f, PEEPHOLE_ADDR_LOW, 0xfffffffc);
	fake_wr32(f, PEEPHOLE_DATA, 0x0badcafe);
	/* the address's increment carries into its high part */
	fake_wr32(f, PEEPHOLE_DATA, 0x600df00d);
	assert_int_equal(*(uint32_t *)(f->g.vram + 0x9ffc), 0x0badcafe);
	assert_int_equal(*(uint32_t *)f->guest, 0x600df00d);
	assert_int_equal(fake_rd32(f, PEEPHOLE_ADDR_HIGH), 0x13);
	fake_wr32(f, PEEPHOLE_ADDR_LOW, 0);
	assert_int_equal(fake_rd32(f, PEEPHOLE_DATA), 0x600df00d);
	fake_wr32(f, PEEPHOLE_ADDR_LOW, 0x8000);
	assert_int_equal(fake_rd32(f, PEEPHOLE_DATA), 0xffffffff);
	assert_int_equal(fake_rd32(f, GMMU_FAULT_SOURCE), 1 << GMMU_UNIT_PEEPHOLE);
	fake_destroy(f);
}

TEST(reset_unbinds)
{
	struct fake *f = device();

	bind_window(f, WIN_BAR1, 0xffff);
	fake_wr32(f, HOSTMEM_PRAMIN, 0x12);
	pthread_mutex_lock(&f->g.lock);
	bar_unit.reset(&f->g);
	pthread_mutex_unlock(&f->g.lock);
	f->g.vram[0x40] = 0x99;
	assert_int_equal(bar_read(&f->g, WIN_BAR1, 0x40, 1), 0x99);
	assert_int_equal(bar_read(&f->g, WIN_PRAMIN, 0x40, 1), 0x99);
	assert_int_equal(fake_rd32(f, HOSTMEM_BAR1), 0);
	fake_destroy(f);
}

TEST_MAIN(NULL, NULL)
