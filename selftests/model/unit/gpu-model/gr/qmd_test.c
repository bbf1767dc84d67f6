// SPDX-License-Identifier: GPL-2.0-only
/*
 * The QMD decoder, field by field. The oracle has a table of its own (word, lowest bit, width; from
 * cla1c0qmd.h, layout 01.07) and a loop over single bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gk110/gr.h"
#include "gr/qmd.h"

#define F(member, word, bit, width)                                     \
	{                                                               \
#member, offsetof(struct qmd, member), word, bit, width \
	}

/* of an array of eight: the first one's place, and the steps from each to the next */
#define EIGHT(array, word, words, bit, bits, width)                                  \
	F(array[0], word, bit, width), F(array[1], word + words, bit + bits, width), \
		F(array[2], word + 2 * words, bit + 2 * bits, width),                \
		F(array[3], word + 3 * words, bit + 3 * bits, width),                \
		F(array[4], word + 4 * words, bit + 4 * bits, width),                \
		F(array[5], word + 5 * words, bit + 5 * bits, width),                \
		F(array[6], word + 6 * words, bit + 6 * bits, width),                \
		F(array[7], word + 7 * words, bit + 7 * bits, width)

static const struct {
	const char *name;
	size_t at;
	unsigned int word, bit, width;
} fields[] = {
	F(outer_put, 0, 0, 31),
	F(outer_overflow, 0, 31, 1),
	F(outer_get, 1, 0, 31),
	F(outer_sticky_overflow, 1, 31, 1),
	F(inner_get, 2, 0, 31),
	F(inner_overflow, 2, 31, 1),
	F(inner_put, 3, 0, 31),
	F(inner_sticky_overflow, 3, 31, 1),
	F(dependent_qmd_pointer, 5, 0, 32),
	F(qmd_group_id, 6, 0, 6),
	F(is_queue, 6, 8, 1),
	F(add_to_head_of_qmd_group_linked_list, 6, 9, 1),
	F(semaphore_release_enable0, 6, 10, 1),
	F(semaphore_release_enable1, 6, 11, 1),
	F(require_scheduling_pcas, 6, 12, 1),
	F(dependent_qmd_schedule_enable, 6, 13, 1),
	F(dependent_qmd_type, 6, 14, 1),
	F(dependent_qmd_field_copy, 6, 15, 1),
	F(circular_queue_size, 7, 0, 25),
	F(invalidate_texture_header_cache, 7, 26, 1),
	F(invalidate_texture_sampler_cache, 7, 27, 1),
	F(invalidate_texture_data_cache, 7, 28, 1),
	F(invalidate_shader_data_cache, 7, 29, 1),
	F(invalidate_instruction_cache, 7, 30, 1),
	F(invalidate_shader_constant_cache, 7, 31, 1),
	F(program_offset, 8, 0, 32),
	F(circular_queue_addr_lower, 9, 0, 32),
	F(circular_queue_addr_upper, 10, 0, 8),
	F(circular_queue_entry_size, 10, 16, 16),
	F(cwd_reference_count_id, 11, 0, 6),
	F(cwd_reference_count_delta_minus_one, 11, 6, 8),
	F(release_membar_type, 11, 14, 1),
	F(cwd_reference_count_incr_enable, 11, 15, 1),
	F(cwd_membar_type, 11, 16, 2),
	F(sequentially_run_ctas, 11, 18, 1),
	F(cwd_reference_count_decr_enable, 11, 19, 1),
	F(throttled, 11, 20, 1),
	F(fp32_nan_behavior, 11, 24, 1),
	F(fp32_f2i_nan_behavior, 11, 25, 1),
	F(api_visible_call_limit, 11, 26, 1),
	F(shared_memory_bank_mapping, 11, 27, 1),
	F(sampler_index, 11, 30, 1),
	F(fp32_narrow_instruction, 11, 31, 1),
	F(cta_raster_width, 12, 0, 32),
	F(cta_raster_height, 13, 0, 16),
	F(cta_raster_depth, 13, 16, 16),
	F(cta_raster_width_resume, 14, 0, 32),
	F(cta_raster_height_resume, 15, 0, 16),
	F(cta_raster_depth_resume, 15, 16, 16),
	F(queue_entries_per_cta_minus_one, 16, 0, 7),
	F(coalesce_waiting_period, 16, 10, 8),
	F(shared_memory_size, 17, 0, 18),
	F(qmd_version, 18, 0, 4),
	F(qmd_major_version, 18, 4, 4),
	F(cta_thread_dimension0, 18, 16, 16),
	F(cta_thread_dimension1, 19, 0, 16),
	F(cta_thread_dimension2, 19, 16, 16),
	EIGHT(constant_buffer_valid, 20, 0, 0, 1, 1),
	F(l1_configuration, 20, 29, 3),
	F(sm_disable_mask_lower, 21, 0, 32),
	F(sm_disable_mask_upper, 22, 0, 32),
	F(release0_address_lower, 23, 0, 32),
	F(release0_address_upper, 24, 0, 8),
	F(release0_reduction_op, 24, 20, 3),
	F(release0_reduction_format, 24, 24, 2),
	F(release0_reduction_enable, 24, 26, 1),
	F(release0_structure_size, 24, 31, 1),
	F(release0_payload, 25, 0, 32),
	F(release1_address_lower, 26, 0, 32),
	F(release1_address_upper, 27, 0, 8),
	F(release1_reduction_op, 27, 20, 3),
	F(release1_reduction_format, 27, 24, 2),
	F(release1_reduction_enable, 27, 26, 1),
	F(release1_structure_size, 27, 31, 1),
	F(release1_payload, 28, 0, 32),
	EIGHT(constant_buffer_addr_lower, 29, 2, 0, 0, 32),
	EIGHT(constant_buffer_addr_upper, 30, 2, 0, 0, 8),
	EIGHT(constant_buffer_invalidate, 30, 2, 14, 0, 1),
	EIGHT(constant_buffer_size, 30, 2, 15, 0, 17),
	F(shader_local_memory_low_size, 45, 0, 24),
	F(barrier_count, 45, 27, 5),
	F(shader_local_memory_high_size, 46, 0, 24),
	F(register_count, 46, 24, 8),
	F(shader_local_memory_crs_size, 47, 0, 24),
	F(sass_version, 47, 24, 8),
	F(hw_only_inner_get, 48, 0, 31),
	F(hw_only_require_scheduling_pcas, 48, 31, 1),
	F(hw_only_inner_put, 49, 0, 31),
	F(hw_only_span_list_head_index, 50, 0, 30),
	F(hw_only_span_list_head_index_valid, 50, 31, 1),
	F(hw_only_sked_next_qmd_pointer, 51, 0, 32),
	F(debug_id_upper, 62, 0, 32),
	F(debug_id_lower, 63, 0, 32),
};
#define NR_FIELDS (sizeof(fields) / sizeof(fields[0]))

static uint32_t member(const struct qmd *q, unsigned int i)
{
	uint32_t v;

	memcpy(&v, (const char *)q + fields[i].at, sizeof(v));
	return v;
}

static uint32_t oracle(const uint32_t *words, unsigned int i)
{
	uint32_t v = 0;

	for (unsigned int b = 0; b < fields[i].width; b++) {
		unsigned int pos = fields[i].word * 32 + fields[i].bit + b;

		if (words[pos / 32] & (1u << pos % 32))
			v |= 1u << b;
	}
	return v;
}

static void every_member_is_in_the_table_once(void **state)
{
	unsigned char seen[sizeof(struct qmd)] = { 0 };

	assert_int_equal(NR_FIELDS * sizeof(uint32_t), sizeof(struct qmd));
	for (unsigned int i = 0; i < NR_FIELDS; i++)
		assert_int_equal(seen[fields[i].at]++, 0);
}

static void every_bit_lands_in_its_field_alone(void **state)
{
	for (unsigned int pos = 0; pos < QMD_WORDS * 32; pos++) {
		uint32_t words[QMD_WORDS] = { 0 };
		struct qmd q;

		words[pos / 32] = 1u << pos % 32;
		qmd_decode(words, &q);
		for (unsigned int i = 0; i < NR_FIELDS; i++) {
			if (member(&q, i) != oracle(words, i))
				fail_msg("bit %u: %s is 0x%x, should be 0x%x", pos, fields[i].name,
					 member(&q, i), oracle(words, i));
		}
	}
}

/*
 * A launch of Mesa's rusticl: 65536 work items in groups of 1024 (captured from stock Mesa 25.0).
 */
static void captured_launch_has_its_sizes(void **state)
{
	uint32_t words[QMD_WORDS] = { 0 };
	struct qmd q;

	words[8] = 0x7f100;
	words[12] = 64;
	words[13] = 1 | 1 << 16;
	words[18] = 1024u << 16;
	words[19] = 1 | 1 << 16;
	words[20] = 3u << 29;
	qmd_decode(words, &q);
	assert_int_equal(q.program_offset, 0x7f100);
	assert_int_equal(qmd_warps_per_cta(&q), 32);
	assert_int_equal(qmd_warps(&q), 64 * 32);
	assert_int_equal(qmd_check(&q), 0);
}

static struct qmd good(void)
{
	struct qmd q;

	memset(&q, 0, sizeof(q));
	q.cta_raster_width = q.cta_raster_height = q.cta_raster_depth = 1;
	q.cta_thread_dimension0 = 32;
	q.cta_thread_dimension1 = q.cta_thread_dimension2 = 1;
	q.l1_configuration = QMD_L1_48KB;
	q.register_count = 16;
	return q;
}

static void check_refuses(struct qmd q, uint32_t want)
{
	assert_int_equal(qmd_check(&q) & want, want);
}

static void what_hardware_refuses_is_named(void **state)
{
	struct qmd q = good();

	assert_int_equal(qmd_check(&q), 0);
	q.cta_thread_dimension1 = 0;
	check_refuses(q, GR_SKED_CTA_DIMENSION_ZERO);
	q = good();
	q.cta_thread_dimension0 = q.cta_thread_dimension1 = 64;
	check_refuses(q, GR_SKED_TOTAL_THREADS);
	q = good();
	q.cta_thread_dimension2 = 65;
	check_refuses(q, GR_SKED_TOTAL_THREADS);
	q = good();
	q.cta_raster_width_resume = 2;
	check_refuses(q, GR_SKED_CTA_RESUME);
	q = good();
	q.cta_thread_dimension0 = 1024;
	q.register_count = 65;
	check_refuses(q, GR_SKED_TOTAL_REGISTERS);
	q.register_count = 64;
	assert_int_equal(qmd_check(&q), 0);
	q = good();
	q.l1_configuration = 0;
	check_refuses(q, GR_SKED_SHARED_CONFIG);
	q = good();
	q.l1_configuration = QMD_L1_16KB;
	q.shared_memory_size = 0x4001;
	check_refuses(q, GR_SKED_SHARED_CONFIG);
	q.shared_memory_size = 0xc001;
	check_refuses(q, GR_SKED_SHARED_MEMORY_SIZE);
	q = good();
	q.program_offset = 8;
	check_refuses(q, GR_SKED_PROGRAM_OFFSET);
	q = good();
	q.constant_buffer_size[5] = 0x10001;
	assert_int_equal(qmd_check(&q), 0);
	q.constant_buffer_valid[5] = 1;
	check_refuses(q, GR_SKED_CONSTANT_BUFFER_SIZE);
	q = good();
	q.shader_local_memory_low_size = 0x80001;
	check_refuses(q, GR_SKED_LOCAL_MEMORY_SIZE_POS);
	q = good();
	q.shader_local_memory_high_size = 0x80001;
	check_refuses(q, GR_SKED_LOCAL_MEMORY_SIZE_NEG);
}

static void huge_grids_saturate(void **state)
{
	struct qmd q = good();

	q.cta_raster_width = 0xffffffff;
	q.cta_raster_height = q.cta_raster_depth = 0xffff;
	q.cta_thread_dimension0 = 1024;
	assert_true(qmd_warps(&q) == UINT64_MAX);
	q.cta_raster_depth = 0;
	assert_int_equal(qmd_warps(&q), 0);
	q.cta_raster_depth = 1;
	q.cta_raster_height = 2;
	q.cta_thread_dimension0 = 33;
	assert_true(qmd_warps(&q) == 0xffffffffull * 2 * 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_member_is_in_the_table_once),
		cmocka_unit_test(every_bit_lands_in_its_field_alone),
		cmocka_unit_test(captured_launch_has_its_sizes),
		cmocka_unit_test(what_hardware_refuses_is_named),
		cmocka_unit_test(huge_grids_saturate),
	};

	return cmocka_run_group_tests_name("qmd", tests, NULL, NULL);
}
