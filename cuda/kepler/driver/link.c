// SPDX-License-Identifier: MIT
/* cuLink*(). */
#include <stdlib.h>

#include "driver.h"

CUresult cuLinkCreate_v2(unsigned int n, CUjit_option *options, void **values, CUlinkState *state)
{
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	ctx_leave(ctx);
	return state ? link_make(n, options, values, state) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLinkAddData_v2(CUlinkState s, CUjitInputType type, void *data, size_t size,
			  const char *name, unsigned int n, CUjit_option *options, void **values)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!data || !size || (n && (!options || !values)))
		return CUDA_ERROR_INVALID_VALUE;
	return link_add(s, type, data, size);
}

CUresult cuLinkAddFile_v2(CUlinkState s, CUjitInputType type, const char *path, unsigned int n,
			  CUjit_option *options, void **values)
{
	uint8_t *data;
	size_t size;
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!path)
		return CUDA_ERROR_INVALID_VALUE;
	r = read_file(path, &data, &size);
	if (r)
		return r;
	r = cuLinkAddData_v2(s, type, data, size, path, n, options, values);
	free(data);
	return r;
}

CUresult cuLinkComplete(CUlinkState s, void **cubin, size_t *size)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	return cubin ? link_complete(s, cubin, size) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLinkDestroy(CUlinkState s)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	link_free(s);
	return CUDA_SUCCESS;
}
