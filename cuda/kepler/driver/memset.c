// SPDX-License-Identifier: MIT
/* cuMemset*(). A call without Async waits where the CPU sees the memory, too. */
#include "driver.h"

#define PITCH_MAX 2147483647u
#define WIDTH_MAX (1u << 28)

CUresult set_check(CUcontext ctx, const struct device_fill *f, size_t width, size_t height)
{
	struct range *range = range_find(ctx, f->dst);
	uint64_t span;

	if (__builtin_mul_overflow((uint64_t)(height - 1), f->pitch, &span) ||
	    width > UINT64_MAX / 4 ||
	    __builtin_add_overflow(span, (uint64_t)width * f->unit, &span) || !range ||
	    span > range->va + range->size - f->dst)
		return CUDA_ERROR_INVALID_VALUE;
	if (f->dst % f->unit ||
	    (height > 1 && (f->pitch % f->unit || f->pitch < width * f->unit ||
			    f->pitch > PITCH_MAX || width > WIDTH_MAX || height > PITCH_MAX)))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

CUresult set_lines(CUcontext ctx, CUstream s, struct device_fill f, size_t width, size_t height)
{
	uint64_t done;
	CUresult r;

	if (!width || !height)
		return CUDA_SUCCESS;
	r = set_check(ctx, &f, width, height);
	if (r)
		return r;
	f.lines = height;
	for (done = 0; done < width && !r;
	     done += WIDTH_MAX, f.dst += (uint64_t)WIDTH_MAX * f.unit) {
		f.width = width - done < WIDTH_MAX ? width - done : WIDTH_MAX;
		r = memory_fill(ctx, s, &f);
	}
	return r;
}

enum when { SYNC, ASYNC };

static CUresult set_memory(CUdeviceptr dst, size_t pitch, uint32_t value, uint32_t unit,
			   size_t width, size_t height, enum when when, CUstream stream)
{
	struct device_fill f = { .dst = dst, .pitch = pitch, .value = value, .unit = unit };
	struct range *range;
	struct moment m;
	CUcontext ctx;
	CUstream s;
	CUresult r = ctx_enter_work_at(stream, dst, &ctx, &s);

	if (r)
		return r;
	if (s->capture) {
		r = when == ASYNC ? capture_set(s, &f, width, height) : capture_refuse(s);
		ctx_leave(ctx);
		return r;
	}
	r = set_lines(ctx, s, f, width, height);
	range = range_find(ctx, dst);
	when = range && range->host ? when : ASYNC;
	m = s->last;
	ctx_leave(ctx);
	return r || when == ASYNC ? r : moment_wait(ctx, &m);
}

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)
#define ENTRIES(bits, type)                                                                        \
	CUresult cuMemsetD##bits##_v2(CUdeviceptr dst, type value, size_t n)                       \
	{                                                                                          \
		return set_memory(dst, 0, value, bits / 8, n, 1, SYNC, NULL);                      \
	}                                                                                          \
	CUresult cuMemsetD##bits##_v2_ptds(CUdeviceptr dst, type value, size_t n)                  \
	{                                                                                          \
		return set_memory(dst, 0, value, bits / 8, n, 1, SYNC, CU_STREAM_PER_THREAD);      \
	}                                                                                          \
	CUresult cuMemsetD##bits##Async(CUdeviceptr dst, type value, size_t n, CUstream stream)    \
	{                                                                                          \
		return set_memory(dst, 0, value, bits / 8, n, 1, ASYNC, stream);                   \
	}                                                                                          \
	CUresult cuMemsetD##bits##Async_ptsz(CUdeviceptr dst, type value, size_t n,                \
					     CUstream stream)                                      \
	{                                                                                          \
		return set_memory(dst, 0, value, bits / 8, n, 1, ASYNC, OWN(stream));              \
	}                                                                                          \
	CUresult cuMemsetD2D##bits##_v2(CUdeviceptr dst, size_t pitch, type value, size_t width,   \
					size_t height)                                             \
	{                                                                                          \
		return set_memory(dst, pitch, value, bits / 8, width, height, SYNC, NULL);         \
	}                                                                                          \
	CUresult cuMemsetD2D##bits##_v2_ptds(CUdeviceptr dst, size_t pitch, type value,            \
					     size_t width, size_t height)                          \
	{                                                                                          \
		return set_memory(dst, pitch, value, bits / 8, width, height, SYNC,                \
				  CU_STREAM_PER_THREAD);                                           \
	}                                                                                          \
	CUresult cuMemsetD2D##bits##Async(CUdeviceptr dst, size_t pitch, type value, size_t width, \
					  size_t height, CUstream stream)                          \
	{                                                                                          \
		return set_memory(dst, pitch, value, bits / 8, width, height, ASYNC, stream);      \
	}                                                                                          \
	CUresult cuMemsetD2D##bits##Async_ptsz(CUdeviceptr dst, size_t pitch, type value,          \
					       size_t width, size_t height, CUstream stream)       \
	{                                                                                          \
		return set_memory(dst, pitch, value, bits / 8, width, height, ASYNC, OWN(stream)); \
	}

ENTRIES(8, unsigned char)
ENTRIES(16, unsigned short)
ENTRIES(32, unsigned int)
