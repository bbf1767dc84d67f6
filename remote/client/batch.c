// SPDX-License-Identifier: MIT
/* Several linear copies by one call: as many calls of cuMemcpyAsync(). */
#include "client.h"

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

enum { ORDER_STREAM = 1, ORDER_DURING_CALL, ORDER_ANY };

static bool attributes_fine(const CUmemcpyAttributes *attrs, const size_t *at, size_t n,
			    size_t count)
{
	size_t i;

	if (!attrs || !at || !n || n > count || at[0] || at[n - 1] >= count)
		return false;
	for (i = 0; i < n; i++)
		if (attrs[i].srcAccessOrder < ORDER_STREAM || attrs[i].srcAccessOrder > ORDER_ANY ||
		    (i && at[i] <= at[i - 1]))
			return false;
	return true;
}

/* whether copy @i reads pinned memory, later than its call, which the program does not allow */
static bool reads_too_late(CUdeviceptr src, const CUmemcpyAttributes *attrs, const size_t *at,
			   size_t n, size_t i)
{
	struct host_range found;
	size_t j = 0;

	while (j + 1 < n && at[j + 1] <= i)
		j++;
	return attrs[j].srcAccessOrder == ORDER_DURING_CALL &&
	       host_find((const void *)(uintptr_t)src, &found);
}

CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
			    CUmemcpyAttributes *attrs, size_t *at, size_t nr_attrs, size_t *failed,
			    CUstream stream)
{
	bool waits = false;
	size_t i;
	CUresult r = CUDA_SUCCESS;

	if (failed)
		*failed = SIZE_MAX;
	if (!dsts || !srcs || !sizes || !stream || stream == CU_STREAM_LEGACY ||
	    !attributes_fine(attrs, at, nr_attrs, count))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count && !r; i++) {
		waits |= reads_too_late(srcs[i], attrs, at, nr_attrs, i);
		r = cuMemcpyAsync(dsts[i], srcs[i], sizes[i], stream);
	}
	if (r && failed)
		*failed = i - 1;
	return r || !waits ? r : cuStreamSynchronize(stream);
}

CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
				 CUmemcpyAttributes *attrs, size_t *at, size_t nr_attrs,
				 size_t *failed, CUstream stream)
{
	return cuMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, at, nr_attrs, failed,
				  OWN(stream));
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
			       CUmemcpyAttributes *attrs, size_t *at, size_t nr_attrs,
			       CUstream stream)
{
	return cuMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, at, nr_attrs, NULL, stream);
}

CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
				    size_t count, CUmemcpyAttributes *attrs, size_t *at,
				    size_t nr_attrs, CUstream stream)
{
	return cuMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, at, nr_attrs, NULL, OWN(stream));
}
