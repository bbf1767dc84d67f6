// SPDX-License-Identifier: MIT
/*
 * Calls of later CUDAs that other entry points are enough for, so two libcuda share this file.
 * No share of the GPU can be set aside for a context, and none is shared with graphics (CIG); there
 * are no green contexts.
 */
#include "libraries.h"

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

enum { ANY_ATTRIBUTE = 1, EXEC_AFFINITY_SM_COUNT = 0 };

CUresult cuDeviceGetExecAffinitySupport(int *value, CUexecAffinityType type, CUdevice dev)
{
	int any;
	CUresult r = cuDeviceGetAttribute(&any, ANY_ATTRIBUTE, dev);

	if (r)
		return r;
	if (!value || type != EXEC_AFFINITY_SM_COUNT)
		return CUDA_ERROR_INVALID_VALUE;
	*value = 0;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetExecAffinity(CUexecAffinityParam *affinity, CUexecAffinityType type)
{
	CUdevice dev;
	CUresult r = cuCtxGetDevice(&dev);

	if (r)
		return r;
	return affinity && type == EXEC_AFFINITY_SM_COUNT ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY :
							    CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCtxCreate_v3(CUcontext *ctx, CUexecAffinityParam *params, int n, unsigned int flags,
			CUdevice dev)
{
	return n ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : cuCtxCreate_v2(ctx, flags, dev);
}

CUresult cuCtxCreate_v4(CUcontext *ctx, CUctxCreateParams *params, unsigned int flags, CUdevice dev)
{
	if (params && params->cigParams)
		return CUDA_ERROR_NOT_SUPPORTED;
	return cuCtxCreate_v3(ctx, NULL, params ? params->numExecAffinityParams : 0, flags, dev);
}

/*
 * Make @ctx current; NULL: another one stays. Programs of before CUDA 13 that prefer NAME_v2 to any
 * NAME, as numba's ctypes do, pass no context. So where the driver is one of then, which has no
 * such entry points, what is no context is none.
 */
static CUresult context_push(CUcontext ctx, bool *pushed)
{
	CUresult r = ctx ? cuCtxPushCurrent_v2(ctx) : CUDA_SUCCESS;
	int version;

	*pushed = ctx && !r;
	if (r == CUDA_ERROR_INVALID_CONTEXT && !cuDriverGetVersion(&version) && version < 13000)
		r = CUDA_SUCCESS;
	return r;
}

CUresult cuCtxGetDevice_v2(CUdevice *dev, CUcontext ctx)
{
	bool pushed;
	CUresult r = context_push(ctx, &pushed);

	if (r)
		return r;
	r = cuCtxGetDevice(dev);
	if (pushed)
		cuCtxPopCurrent_v2(NULL);
	return r;
}

CUresult cuCtxSynchronize_v2(CUcontext ctx)
{
	bool pushed;
	CUresult r = context_push(ctx, &pushed);

	if (r)
		return r;
	r = cuCtxSynchronize();
	if (pushed)
		cuCtxPopCurrent_v2(NULL);
	return r;
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
	return cuEventElapsedTime(ms, start, end);
}

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *ctx, CUgreenCtx *green)
{
	CUresult r = cuStreamGetCtx(stream, ctx);

	if (!r && green)
		*green = NULL;
	return r;
}

CUresult cuStreamGetCtx_v2_ptsz(CUstream stream, CUcontext *ctx, CUgreenCtx *green)
{
	return cuStreamGetCtx_v2(OWN(stream), ctx, green);
}
