/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queue meta data (QMD) of compute class A1C0: a structure of 64 words in memory that describes a
 * grid, that is the threads of one launch of a program. Source: NVIDIA open-gpu-doc
 * classes/compute/cla1c0qmd.h (layouts 00.06 and 01.07).
 *
 * QMD_FIELD(name, high, low): a field has the bits @high to @low of the structure. The bits are
 * those of layout 01.07.
 *
 * QMD_ARRAY(name, high, low, stride, count): @count fields, @stride bits apart. The first has the
 * bits @high to @low.
 */
#ifndef KVGPU_GK110_QMD_H
#define KVGPU_GK110_QMD_H

#define QMD_WORDS		64
#define QMD_BYTES		256
#define QMD_NR_CBUF		8

#define QMD_FIELDS(QMD_FIELD)								\
	QMD_FIELD(outer_put, 30, 0)							\
	QMD_FIELD(outer_overflow, 31, 31)						\
	QMD_FIELD(outer_get, 62, 32)							\
	QMD_FIELD(outer_sticky_overflow, 63, 63)					\
	QMD_FIELD(inner_get, 94, 64)							\
	QMD_FIELD(inner_overflow, 95, 95)						\
	QMD_FIELD(inner_put, 126, 96)							\
	QMD_FIELD(inner_sticky_overflow, 127, 127)					\
	QMD_FIELD(dependent_qmd_pointer, 191, 160)					\
	QMD_FIELD(qmd_group_id, 197, 192)						\
	QMD_FIELD(is_queue, 200, 200)							\
	QMD_FIELD(add_to_head_of_qmd_group_linked_list, 201, 201)			\
	QMD_FIELD(semaphore_release_enable0, 202, 202)					\
	QMD_FIELD(semaphore_release_enable1, 203, 203)					\
	QMD_FIELD(require_scheduling_pcas, 204, 204)					\
	QMD_FIELD(dependent_qmd_schedule_enable, 205, 205)				\
	QMD_FIELD(dependent_qmd_type, 206, 206)						\
	QMD_FIELD(dependent_qmd_field_copy, 207, 207)					\
	QMD_FIELD(circular_queue_size, 248, 224)					\
	QMD_FIELD(invalidate_texture_header_cache, 250, 250)				\
	QMD_FIELD(invalidate_texture_sampler_cache, 251, 251)				\
	QMD_FIELD(invalidate_texture_data_cache, 252, 252)				\
	QMD_FIELD(invalidate_shader_data_cache, 253, 253)				\
	QMD_FIELD(invalidate_instruction_cache, 254, 254)				\
	QMD_FIELD(invalidate_shader_constant_cache, 255, 255)				\
	QMD_FIELD(program_offset, 287, 256)						\
	QMD_FIELD(circular_queue_addr_lower, 319, 288)					\
	QMD_FIELD(circular_queue_addr_upper, 327, 320)					\
	QMD_FIELD(circular_queue_entry_size, 351, 336)					\
	QMD_FIELD(cwd_reference_count_id, 357, 352)					\
	QMD_FIELD(cwd_reference_count_delta_minus_one, 365, 358)			\
	QMD_FIELD(release_membar_type, 366, 366)					\
	QMD_FIELD(cwd_reference_count_incr_enable, 367, 367)				\
	QMD_FIELD(cwd_membar_type, 369, 368)						\
	QMD_FIELD(sequentially_run_ctas, 370, 370)					\
	QMD_FIELD(cwd_reference_count_decr_enable, 371, 371)				\
	QMD_FIELD(throttled, 372, 372)							\
	QMD_FIELD(fp32_nan_behavior, 376, 376)						\
	QMD_FIELD(fp32_f2i_nan_behavior, 377, 377)					\
	QMD_FIELD(api_visible_call_limit, 378, 378)					\
	QMD_FIELD(shared_memory_bank_mapping, 379, 379)					\
	QMD_FIELD(sampler_index, 382, 382)						\
	QMD_FIELD(fp32_narrow_instruction, 383, 383)					\
	QMD_FIELD(cta_raster_width, 415, 384)						\
	QMD_FIELD(cta_raster_height, 431, 416)						\
	QMD_FIELD(cta_raster_depth, 447, 432)						\
	QMD_FIELD(cta_raster_width_resume, 479, 448)					\
	QMD_FIELD(cta_raster_height_resume, 495, 480)					\
	QMD_FIELD(cta_raster_depth_resume, 511, 496)					\
	QMD_FIELD(queue_entries_per_cta_minus_one, 518, 512)				\
	QMD_FIELD(coalesce_waiting_period, 529, 522)					\
	QMD_FIELD(shared_memory_size, 561, 544)						\
	QMD_FIELD(qmd_version, 579, 576)						\
	QMD_FIELD(qmd_major_version, 583, 580)						\
	QMD_FIELD(cta_thread_dimension0, 607, 592)					\
	QMD_FIELD(cta_thread_dimension1, 623, 608)					\
	QMD_FIELD(cta_thread_dimension2, 639, 624)					\
	QMD_FIELD(l1_configuration, 671, 669)						\
	QMD_FIELD(sm_disable_mask_lower, 703, 672)					\
	QMD_FIELD(sm_disable_mask_upper, 735, 704)					\
	QMD_FIELD(release0_address_lower, 767, 736)					\
	QMD_FIELD(release0_address_upper, 775, 768)					\
	QMD_FIELD(release0_reduction_op, 790, 788)					\
	QMD_FIELD(release0_reduction_format, 793, 792)					\
	QMD_FIELD(release0_reduction_enable, 794, 794)					\
	QMD_FIELD(release0_structure_size, 799, 799)					\
	QMD_FIELD(release0_payload, 831, 800)						\
	QMD_FIELD(release1_address_lower, 863, 832)					\
	QMD_FIELD(release1_address_upper, 871, 864)					\
	QMD_FIELD(release1_reduction_op, 886, 884)					\
	QMD_FIELD(release1_reduction_format, 889, 888)					\
	QMD_FIELD(release1_reduction_enable, 890, 890)					\
	QMD_FIELD(release1_structure_size, 895, 895)					\
	QMD_FIELD(release1_payload, 927, 896)						\
	QMD_FIELD(shader_local_memory_low_size, 1463, 1440)				\
	QMD_FIELD(barrier_count, 1471, 1467)						\
	QMD_FIELD(shader_local_memory_high_size, 1495, 1472)				\
	QMD_FIELD(register_count, 1503, 1496)						\
	QMD_FIELD(shader_local_memory_crs_size, 1527, 1504)				\
	QMD_FIELD(sass_version, 1535, 1528)						\
	QMD_FIELD(hw_only_inner_get, 1566, 1536)					\
	QMD_FIELD(hw_only_require_scheduling_pcas, 1567, 1567)				\
	QMD_FIELD(hw_only_inner_put, 1598, 1568)					\
	QMD_FIELD(hw_only_span_list_head_index, 1629, 1600)				\
	QMD_FIELD(hw_only_span_list_head_index_valid, 1631, 1631)			\
	QMD_FIELD(hw_only_sked_next_qmd_pointer, 1663, 1632)				\
	QMD_FIELD(debug_id_upper, 2015, 1984)						\
	QMD_FIELD(debug_id_lower, 2047, 2016)

#define QMD_ARRAYS(QMD_ARRAY)								\
	QMD_ARRAY(constant_buffer_valid, 640, 640, 1, QMD_NR_CBUF)			\
	QMD_ARRAY(constant_buffer_addr_lower, 959, 928, 64, QMD_NR_CBUF)		\
	QMD_ARRAY(constant_buffer_addr_upper, 967, 960, 64, QMD_NR_CBUF)		\
	QMD_ARRAY(constant_buffer_invalidate, 974, 974, 64, QMD_NR_CBUF)		\
	QMD_ARRAY(constant_buffer_size, 991, 975, 64, QMD_NR_CBUF)

/*
 * Values of l1_configuration, cwd_membar_type, dependent_qmd_type, releaseN_structure_size and
 * releaseN_reduction_format.
 */
#define QMD_L1_16KB		1
#define QMD_L1_32KB		2
#define QMD_L1_48KB		3
#define QMD_MEMBAR_NONE		0
#define QMD_MEMBAR_SYS		1
#define QMD_MEMBAR_GL		3
#define QMD_DEPENDENT_QUEUE	0
#define QMD_DEPENDENT_GRID	1
#define QMD_RELEASE_FOUR_WORDS	0
#define QMD_RELEASE_ONE_WORD	1
#define QMD_RED_FORMAT_U32	0
#define QMD_RED_FORMAT_S32	1

/*
 * Codes of reduction operations, the same in releaseN_reduction_op, in report semaphores
 * (M_REPORT_RED_OP of gk110/class.h) and in inline uploads (M_LAUNCH_DMA_RED_OP).
 */
#define RED_ADD			0
#define RED_MIN			1
#define RED_MAX			2
#define RED_INC			3
#define RED_DEC			4
#define RED_AND			5
#define RED_OR			6
#define RED_XOR			7

#endif
