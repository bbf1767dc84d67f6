// SPDX-License-Identifier: GPL-2.0-only
/*
 * Single entries: combinations of their bits, against an oracle that is written from the documented
 * format.
 */
#include <selftests/unit_test.h>

#include "gtt-shadow/shadow.h"

/* the GPU model's table, which was written independently of gtt-shadow */
uint8_t kind_plain(uint8_t kind);

#define PART_BASE 0x123460000ull
#define PART_SIZE (64ull << 20)
#define DMA	  0xab12345000ull

static struct kvgpu_shadow_cfg cfg(void)
{
	return (struct kvgpu_shadow_cfg){ .part_base = { PART_BASE }, .part_size = PART_SIZE };
}

static u64 naive(u64 e, bool big, u64 dma, bool *rejected)
{
	u64 size = !big ? 0x1000 : 0x20000, addr, out;
	u8 kind = (u8)(e >> 36);

	*rejected = false;
	if (!(e & 1))
		return big ? e & 2 : 0;
	*rejected = true;
	if (kind_plain(kind) == 0xff)
		return 0;
	out = (e & 0xc000000600000007ull) | (u64)kind_plain(kind) << 36;
	switch (e >> 33 & 3) {
	case 0:
		addr = (e >> 4 & 0x1ffffff) * 0x1000 / size * size;
		if (addr >= PART_SIZE || PART_SIZE - addr < size)
			return 0;
		addr += PART_BASE;
		out |= e & 0x100000000ull;
		break;
	case 1:
		return 0;
	default:
		if (big)
			return 0;
		addr = dma;
		/* always snooped: never_beside_caches() says why */
		out = (out & ~0x600000000ull) | 0x500000000ull;
		break;
	}
	*rejected = false;
	return out | addr / 0x1000 * 16;
}

static void compare_with(u64 e, bool big, u64 dma)
{
	struct kvgpu_shadow_cfg c = cfg();
	bool r1, r2;
	u64 a = vgtt_pte_transform(&c, e, big, dma, &r1), b = naive(e, big, dma, &r2);

	if (a != b || r1 != r2)
		fail_msg("entry %016llx big %d dma %llx: %016llx %d, want %016llx %d", e, big, dma,
			 a, r1, b, r2);
}

/*
 * Compares for two addresses of the pinned page: an odd one, and one where a big page could begin.
 */
static void compare(u64 e, bool big)
{
	compare_with(e, big, DMA);
	compare_with(e, big, DMA & ~0x3ffffull);
}

TEST(all_bits)
{
	static const u64 frames[] = { 0,
				      1,
				      0x1f,
				      0x20,
				      PART_SIZE / 4096 - 1,
				      PART_SIZE / 4096 - 16,
				      PART_SIZE / 4096,
				      0x1ffffff,
				      0x2000000,
				      0xfffffff };
	static const u64 flag[] = { 1,		2,	    4,
				    8,		1ull << 32, 1ull << 35,
				    1ull << 62, 1ull << 63, 0x5555ull << 44 };
	u32 f, ap, kind, bits, i, v;
	u64 e;

	for (f = 0; f < 10; f++)
		for (ap = 0; ap < 4; ap++)
			for (kind = 0; kind < 256; kind += (f > 1) ? 17 : 1)
				for (bits = 0; bits < 512; bits++) {
					e = frames[f] << 4 | (u64)ap << 33 | (u64)kind << 36;
					for (i = 0; i < 9; i++)
						e |= bits >> i & 1 ? flag[i] : 0;
					for (v = 0; v < 2; v++)
						compare(e, v);
				}
}

TEST(every_single_bit)
{
	u32 i, j, v;

	for (i = 0; i < 64; i++)
		for (j = 0; j < 64; j++)
			for (v = 0; v < 2; v++)
				compare(1ull | 1ull << i | 1ull << j, v);
}

/*
 * A non-coherent access is a PCIe read without a snoop: it may miss zeros of the host that are
 * still in a CPU's cache (S4). So system memory is made coherent.
 */
TEST(never_beside_caches)
{
	struct kvgpu_shadow_cfg c = cfg();
	bool rejected;

	assert_int_equal(vgtt_pte_transform(&c, 1 | 3ull << 33, false, 0x1000, &rejected),
			 1 | 5ull << 32 | 1 << 4);
	assert_false(rejected);
}

TEST(dma_must_fit)
{
	struct kvgpu_shadow_cfg c = cfg();
	u64 e = 1 | 2ull << 33;
	bool rejected;

	assert_int_equal(vgtt_pte_transform(&c, e, false, 1ull << 40, &rejected), 0);
	assert_true(rejected);
	assert_int_equal(vgtt_pte_transform(&c, e, false, 0x1800, &rejected), 0);
	assert_true(rejected);
	assert_int_not_equal(vgtt_pte_transform(&c, e, false, (1ull << 40) - 4096, &rejected), 0);
	assert_false(rejected);
}

TEST(odd_partitions)
{
	struct kvgpu_shadow_cfg c = cfg();
	bool rejected;

	c.part_size = 0x1f000; /* a partition that is smaller than a big page */
	assert_int_equal(vgtt_pte_transform(&c, 1, true, 0, &rejected), 0);
	assert_true(rejected);
	c = cfg();
	/* a big page of the guest would not be aligned on the chip */
	c.part_base.v += 0x1000;
	assert_int_equal(vgtt_pte_transform(&c, 1, true, 0, &rejected), 0);
	assert_int_not_equal(vgtt_pte_transform(&c, 1, false, 0, &rejected), 0);
	c.part_base.v = 1ull << 37; /* more than the address field for video memory can hold */
	assert_int_equal(vgtt_pte_transform(&c, 1, false, 0, &rejected), 0);
	c.part_size = 0;
	assert_int_equal(vgtt_pte_transform(&c, 1, false, 0, &rejected), 0);
}

TEST_MAIN(NULL, NULL)
