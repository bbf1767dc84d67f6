// SPDX-License-Identifier: GPL-2.0-only
/* The queue meta data that libcuda writes for a launch, read by the decoder of the GPU model. */
#include <selftests/unit_test.h>

#include <cuda/kepler/device/qmd.h>
#include <gr/qmd.h>

TEST(fields)
{
	const struct device_launch l = {
		.entry = 0x12340,
		.new_code = true,
		.grid = { 2147483647, 65535, 3 },
		.block = { 8, 4, 8 },
		.regs = 255,
		.barriers = 16,
		.shared = 20001,
		.stack = 528,
		.local = 64,
		.crs = 1024,
		.l1_kb = 16,
		.const0_size = 0x180,
		.const0 = (uint8_t[0x180]){ [0x17f] = 9 },
		.bank[3] = { 0xab12345600, 65536 },
	};
	uint32_t words[QMD_BYTES / 4];
	struct qmd q;

	qmd_build(words, &l, 0xcd00000100, 0xef00000200, 0x89abcdef);
	qmd_decode(words, &q);
	assert_int_equal(qmd_check(&q), 0);
	assert_int_equal(q.program_offset, 0x12340);
	assert_int_equal(q.cta_raster_width, 2147483647);
	assert_int_equal(q.cta_raster_height, 65535);
	assert_int_equal(q.cta_raster_depth, 3);
	assert_int_equal(q.cta_thread_dimension0, 8);
	assert_int_equal(q.cta_thread_dimension1, 4);
	assert_int_equal(q.cta_thread_dimension2, 8);
	assert_int_equal(q.register_count, 255);
	assert_int_equal(q.barrier_count, 16);
	assert_int_equal(q.shared_memory_size, 20224);
	assert_int_equal(q.l1_configuration, QMD_L1_32KB);
	assert_int_equal(q.shader_local_memory_low_size, 64);
	assert_int_equal(q.shader_local_memory_high_size, 528);
	assert_int_equal(q.shader_local_memory_crs_size, 1024);
	assert_int_equal(q.invalidate_instruction_cache, 1);
	assert_int_equal(q.constant_buffer_valid[0], 1);
	assert_int_equal(q.constant_buffer_addr_upper[0], 0xcd);
	assert_int_equal(q.constant_buffer_addr_lower[0], 0x100);
	assert_int_equal(q.constant_buffer_size[0], 0x180);
	assert_int_equal(q.constant_buffer_valid[2], 0);
	assert_int_equal(q.constant_buffer_addr_upper[3], 0xab);
	assert_int_equal(q.constant_buffer_addr_lower[3], 0x12345600);
	assert_int_equal(q.constant_buffer_size[3], 65536);
	assert_int_equal(q.semaphore_release_enable0, 1);
	assert_int_equal(q.release0_address_upper, 0xef);
	assert_int_equal(q.release0_address_lower, 0x200);
	assert_int_equal(q.release0_payload, 0x89abcdef);
	assert_int_equal(q.release0_structure_size, QMD_RELEASE_ONE_WORD);
}

TEST(shared_memory_chooses_l1)
{
	const struct {
		uint32_t kb, shared, want;
	} cases[] = {
		{ 16, 0, QMD_L1_16KB },	    { 16, 16384, QMD_L1_16KB }, { 16, 16385, QMD_L1_32KB },
		{ 32, 0, QMD_L1_32KB },	    { 32, 32769, QMD_L1_48KB }, { 48, 0, QMD_L1_48KB },
		{ 16, 49152, QMD_L1_48KB }, { 0, 0, QMD_L1_48KB },
	};
	uint32_t words[QMD_BYTES / 4];
	unsigned int i;
	struct qmd q;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct device_launch l = { .grid = { 1, 1, 1 },
					   .block = { 1, 1, 1 },
					   .l1_kb = cases[i].kb,
					   .shared = cases[i].shared };

		qmd_build(words, &l, 0, 0, 0);
		qmd_decode(words, &q);
		assert_int_equal(q.l1_configuration, cases[i].want);
		assert_int_equal(qmd_check(&q), 0);
	}
}

TEST(bank0)
{
	const struct device_launch l = { .grid = { 4, 5, 6 },
					 .block = { 1, 2, 3 },
					 .stack = 272,
					 .const0_size = 0x148,
					 .const0 = (uint8_t[0x148]){ [0x140] = 1, [0x147] = 2 } };
	uint32_t bank[0x148 / 4];

	assert_int_equal(qmd_const0_size(&l), 0x148);
	qmd_const0(bank, &l);
	assert_memory_equal(&bank[0x28 / 4], ((uint32_t[]){ 1, 2, 3, 4, 5, 6 }), 24);
	assert_int_equal(bank[0x20 / 4], 0xfe000000);
	assert_int_equal(bank[0x24 / 4], 0xff000000);
	assert_int_equal(bank[0x44 / 4], 1 << 24); /* end of the local memory window */
	assert_int_equal(bank[0x140 / 4], 1);
	assert_int_equal(bank[0x144 / 4], 2u << 24);
}

TEST_MAIN(NULL, NULL)
