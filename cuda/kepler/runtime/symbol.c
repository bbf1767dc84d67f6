// SPDX-License-Identifier: MIT
/* Variables of device code, named by addresses on the host. */
#include "runtime.h"

cudaError_t cudaGetSymbolAddress(void **ptr, const void *symbol)
{
	CUdeviceptr p;
	cudaError_t e = ptr ? find_variable(symbol, &p, NULL) : cudaErrorInvalidValue;

	if (!e)
		*ptr = (void *)(uintptr_t)p;
	return set_last_error(e);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
	return set_last_error(size ? find_variable(symbol, NULL, size) : cudaErrorInvalidValue);
}

cudaError_t part_of_symbol(const void *symbol, size_t n, size_t offset, enum cudaMemcpyKind kind,
			   enum cudaMemcpyKind way, void **at)
{
	CUdeviceptr p;
	size_t size;
	cudaError_t e = find_variable(symbol, &p, &size);

	if (!e && (offset > size || n > size - offset))
		e = cudaErrorInvalidValue;
	if (!e && kind != way && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
		e = cudaErrorInvalidMemcpyDirection;
	if (!e)
		*at = (void *)(uintptr_t)(p + offset);
	return e;
}

static cudaError_t to_symbol(const void *symbol, const void *src, size_t n, size_t offset,
			     enum cudaMemcpyKind kind, struct when w)
{
	void *at;
	cudaError_t e = part_of_symbol(symbol, n, offset, kind, cudaMemcpyHostToDevice, &at);

	return e ? e : copy_linear(at, src, n, kind, w);
}

static cudaError_t from_symbol(void *dst, const void *symbol, size_t n, size_t offset,
			       enum cudaMemcpyKind kind, struct when w)
{
	void *at;
	cudaError_t e = part_of_symbol(symbol, n, offset, kind, cudaMemcpyDeviceToHost, &at);

	return e ? e : copy_linear(dst, at, n, kind, w);
}

SYNC_FORMS(cudaMemcpyToSymbol, to_symbol,
	   (const void *symbol, const void *src, size_t n, size_t offset, enum cudaMemcpyKind kind),
	   symbol, src, n, offset, kind)
SYNC_FORMS(cudaMemcpyFromSymbol, from_symbol,
	   (void *dst, const void *symbol, size_t n, size_t offset, enum cudaMemcpyKind kind), dst,
	   symbol, n, offset, kind)
ASYNC_FORMS(cudaMemcpyToSymbolAsync, to_symbol,
	    (const void *symbol, const void *src, size_t n, size_t offset, enum cudaMemcpyKind kind,
	     cudaStream_t stream),
	    symbol, src, n, offset, kind)
ASYNC_FORMS(cudaMemcpyFromSymbolAsync, from_symbol,
	    (void *dst, const void *symbol, size_t n, size_t offset, enum cudaMemcpyKind kind,
	     cudaStream_t stream),
	    dst, symbol, n, offset, kind)
