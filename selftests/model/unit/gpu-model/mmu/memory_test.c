// SPDX-License-Identifier: GPL-2.0-only
/* Accesses to memory by physical address. */
#include <selftests/unit_test.h>

#include "mmu/fake.h"
#include "mmu/fake_device.h"

TEST(bounds)
{
	const uint64_t vram = 1 << 20, guest = 1 << 16;
	const struct {
		enum mem_target t;
		uint64_t addr;
		size_t len;
		bool ok;
	} cases[] = {
		{ MEM_VRAM, 0, 16, true },
		{ MEM_VRAM, vram - 16, 16, true },
		{ MEM_VRAM, vram - 15, 16, false },
		{ MEM_VRAM, vram, 1, false },
		{ MEM_VRAM, ~0ull, 1, false },
		{ MEM_VRAM, ~0ull - 7, 16, false },
		{ MEM_VRAM, 0, 0, true },
		{ MEM_PEER, 0, 1, false },
		{ MEM_SYS_COH, FAKE_IOVA, 16, true },
		{ MEM_SYS_NCOH, FAKE_IOVA + guest - 16, 16, true },
		{ MEM_SYS_COH, FAKE_IOVA + guest - 8, 16, false },
		{ MEM_SYS_COH, FAKE_IOVA - 8, 16, false },
		{ MEM_SYS_NCOH, 0, 1, false },
	};
	struct fake *f = fake_create(vram, guest);
	uint8_t in[16] = "0123456789abcde", out[16];
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(out, 0, sizeof(out));
		assert_int_equal(mem_write(&f->g, cases[i].t, cases[i].addr, in, cases[i].len),
				 cases[i].ok);
		assert_int_equal(mem_read(&f->g, cases[i].t, cases[i].addr, out, cases[i].len),
				 cases[i].ok);
		if (cases[i].ok)
			assert_memory_equal(in, out, cases[i].len);
	}
	assert_true(f->g.stats.vram_rd_bytes >= 32 && f->g.stats.dma_wr_bytes >= 32);
	fake_destroy(f);
}

TEST(pointers_are_cut)
{
	struct fake *f = fake_create(1 << 20, 1 << 16);
	size_t len = ~0ul;

	assert_ptr_equal(mem_ptr(&f->g, MEM_VRAM, 0x1000, &len, true), f->g.vram + 0x1000);
	assert_int_equal(len, (1 << 20) - 0x1000);
	len = ~0ul;
	assert_ptr_equal(mem_ptr(&f->g, MEM_SYS_COH, FAKE_IOVA + 0x8000, &len, true),
			 f->guest + 0x8000);
	assert_int_equal(len, 0x8000);
	f->guest_read_only = true;
	assert_null(mem_ptr(&f->g, MEM_SYS_COH, FAKE_IOVA, &len, true));
	assert_non_null(mem_ptr(&f->g, MEM_SYS_COH, FAKE_IOVA, &len, false));
	fake_destroy(f);
}

TEST(copy_sizes)
{
	uint8_t mem[32], src[16], dst[16];
	unsigned int at, len, i;

	for (i = 0; i < sizeof(src); i++)
		src[i] = 0x40 + i;
	for (at = 0; at < 8; at++)
		for (len = 0; len <= 16; len++) {
			memset(mem, 0, sizeof(mem));
			memset(dst, 0, sizeof(dst));
			mem_copy_to(mem + at, src, len);
			for (i = 0; i < sizeof(mem); i++)
				assert_int_equal(mem[i], i >= at && i < at + len ? src[i - at] : 0);
			mem_copy_from(dst, mem + at, len);
			assert_memory_equal(dst, src, len);
		}
}

TEST_MAIN(NULL, NULL)
