// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue meta data: decoding, and SKED's checks. Names of the errors are nouveau's (gf100.c
 * gk104_sked_error); limits are those of compute capability 3.5 (CUDA C programming guide, table of
 * technical specifications) and of cla1c0qmd.h. Where no source says which error an illegal value
 * raises, the model takes the nearest of those names.
 */
#include "qmd.h"

#include <gk110/gr.h>

#define MAX_THREADS_PER_CTA 1024
#define MAX_DIM_XY	    1024
#define MAX_DIM_Z	    64
#define WARP		    32
#define MAX_REGISTERS	    255
#define SM_REGISTERS	    65536
#define REGISTER_UNIT	    256
#define MAX_CBUF_SIZE	    0x10000
#define MAX_LOCAL_SIZE	    (512 * 1024)
#define PROGRAM_ALIGN	    0x40

static uint32_t extract(const uint32_t *words, unsigned int high, unsigned int low)
{
	unsigned int width = high - low + 1;
	uint64_t v = words[low / 32];

	if (low % 32 + width > 32)
		v |= (uint64_t)words[low / 32 + 1] << 32;
	v >>= low % 32;
	return width == 32 ? (uint32_t)v : (uint32_t)v & ((1u << width) - 1);
}

void qmd_decode(const uint32_t words[QMD_WORDS], struct qmd *q)
{
#define DECODE(name, high, low) q->name = extract(words, high, low);
#define DECODE_ARRAY(name, high, low, stride, n) \
	for (unsigned int i = 0; i < (n); i++)   \
		q->name[i] = extract(words, (high) + i * (stride), (low) + i * (stride));
	QMD_FIELDS(DECODE)
	QMD_ARRAYS(DECODE_ARRAY)
#undef DECODE
#undef DECODE_ARRAY
}

static uint64_t threads(const struct qmd *q)
{
	return (uint64_t)q->cta_thread_dimension0 * q->cta_thread_dimension1 *
	       q->cta_thread_dimension2;
}

static uint32_t shared_limit(const struct qmd *q)
{
	switch (q->l1_configuration) {
	case QMD_L1_16KB:
		return 16 << 10;
	case QMD_L1_32KB:
		return 32 << 10;
	case QMD_L1_48KB:
		return 48 << 10;
	default:
		return 0;
	}
}

static uint32_t check_shape(const struct qmd *q)
{
	uint32_t err = 0;

	if (!q->cta_thread_dimension0 || !q->cta_thread_dimension1 || !q->cta_thread_dimension2)
		err |= GR_SKED_CTA_DIMENSION_ZERO;
	if (q->cta_thread_dimension0 > MAX_DIM_XY || q->cta_thread_dimension1 > MAX_DIM_XY ||
	    q->cta_thread_dimension2 > MAX_DIM_Z || threads(q) > MAX_THREADS_PER_CTA)
		err |= GR_SKED_TOTAL_THREADS;
	if (q->cta_raster_width_resume > q->cta_raster_width ||
	    q->cta_raster_height_resume > q->cta_raster_height ||
	    q->cta_raster_depth_resume > q->cta_raster_depth)
		err |= GR_SKED_CTA_RESUME;
	return err;
}

static uint32_t check_resources(const struct qmd *q)
{
	uint64_t per_warp = ((uint64_t)q->register_count * WARP + REGISTER_UNIT - 1) /
			    REGISTER_UNIT * REGISTER_UNIT;
	uint32_t err = 0;

	if (q->register_count > MAX_REGISTERS)
		err |= GR_SKED_REGISTER_COUNT;
	if (threads(q) <= MAX_THREADS_PER_CTA && per_warp * qmd_warps_per_cta(q) > SM_REGISTERS)
		err |= GR_SKED_TOTAL_REGISTERS;
	if (!shared_limit(q))
		err |= GR_SKED_SHARED_CONFIG;
	else if (q->shared_memory_size > shared_limit(q))
		err |= q->shared_memory_size > 48 << 10 ? GR_SKED_SHARED_MEMORY_SIZE :
							  GR_SKED_SHARED_CONFIG;
	if (q->shader_local_memory_low_size > MAX_LOCAL_SIZE)
		err |= GR_SKED_LOCAL_MEMORY_SIZE_POS;
	if (q->shader_local_memory_high_size > MAX_LOCAL_SIZE)
		err |= GR_SKED_LOCAL_MEMORY_SIZE_NEG;
	if (q->program_offset % PROGRAM_ALIGN)
		err |= GR_SKED_PROGRAM_OFFSET;
	for (unsigned int i = 0; i < QMD_NR_CBUF; i++) {
		if (q->constant_buffer_valid[i] && q->constant_buffer_size[i] > MAX_CBUF_SIZE)
			err |= GR_SKED_CONSTANT_BUFFER_SIZE;
	}
	return err;
}

uint32_t qmd_check(const struct qmd *q)
{
	return check_shape(q) | check_resources(q);
}

uint64_t qmd_warps_per_cta(const struct qmd *q)
{
	return (threads(q) + WARP - 1) / WARP;
}

uint64_t qmd_first_warp(const struct qmd *q)
{
	uint64_t line = (uint64_t)q->cta_raster_depth_resume * q->cta_raster_height +
			q->cta_raster_height_resume,
		 n;

	if (__builtin_mul_overflow(line, (uint64_t)q->cta_raster_width, &n) ||
	    __builtin_add_overflow(n, (uint64_t)q->cta_raster_width_resume, &n) ||
	    __builtin_mul_overflow(n, qmd_warps_per_cta(q), &n))
		return UINT64_MAX;
	return n;
}

uint64_t qmd_warps(const struct qmd *q)
{
	uint64_t n;

	/* 32 by 16 bits: no overflow */
	n = (uint64_t)q->cta_raster_width * q->cta_raster_height;
	if (__builtin_mul_overflow(n, (uint64_t)q->cta_raster_depth, &n) ||
	    __builtin_mul_overflow(n, qmd_warps_per_cta(q), &n))
		return UINT64_MAX;
	return n;
}
