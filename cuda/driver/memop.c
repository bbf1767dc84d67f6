// SPDX-License-Identifier: MIT
/*
 * Words in memory that streams write and wait for. Not offered: kernels of all streams share a
 * channel, so a waiting stream would hold up the one that it waits for.
 */
#include "driver.h"

static CUresult refuse(void)
{
	CUcontext ctx;
	CUresult r = enter(&ctx);

	if (r)
		return r;
	leave(ctx);
	return CUDA_ERROR_NOT_SUPPORTED;
}

#define ONE(name, type)                                                                \
	CUresult name(CUstream stream, CUdeviceptr at, type value, unsigned int flags) \
	{                                                                              \
		return refuse();                                                       \
	}
#define MANY(name)                                                                    \
	CUresult name(CUstream stream, unsigned int n, CUstreamBatchMemOpParams *ops, \
		      unsigned int flags)                                             \
	{                                                                             \
		return refuse();                                                      \
	}
#define FORMS(name, type) \
	ONE(name, type) ONE(name##_ptsz, type) ONE(name##_v2, type) ONE(name##_v2_ptsz, type)

FORMS(cuStreamWaitValue32, cuuint32_t)
FORMS(cuStreamWaitValue64, cuuint64_t)
FORMS(cuStreamWriteValue32, cuuint32_t)
FORMS(cuStreamWriteValue64, cuuint64_t)
MANY(cuStreamBatchMemOp)
MANY(cuStreamBatchMemOp_ptsz)
MANY(cuStreamBatchMemOp_v2)
MANY(cuStreamBatchMemOp_v2_ptsz)
