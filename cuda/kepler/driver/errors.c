// SPDX-License-Identifier: MIT
/* What CUDA calls errors of the device. */
#include "driver.h"

CUresult error_of_end(CUcontext ctx, CUresult otherwise)
{
	static const CUresult errors_of[] = {
		[CAUSE_ADDRESS] = CUDA_ERROR_ILLEGAL_ADDRESS,
		[CAUSE_MISALIGNED] = CUDA_ERROR_MISALIGNED_ADDRESS,
		[CAUSE_SPACE] = CUDA_ERROR_INVALID_ADDRESS_SPACE,
		[CAUSE_INSTRUCTION] = CUDA_ERROR_ILLEGAL_INSTRUCTION,
		[CAUSE_PC] = CUDA_ERROR_INVALID_PC,
		[CAUSE_STACK] = CUDA_ERROR_HARDWARE_STACK_ERROR,
		[CAUSE_TIMEOUT] = CUDA_ERROR_LAUNCH_TIMEOUT,
	};
	enum device_cause cause = ctx->device->ops->cause ? ctx->device->ops->cause(ctx->device) :
							    CAUSE_UNKNOWN;

	return cause == CAUSE_UNKNOWN ? otherwise : errors_of[cause];
}

/* DEVICE_LOST counts as an illegal address; ctx_set_sticky() asks error_of_end() for the cause. */
CUresult error_of(enum device_status s)
{
	switch (s) {
	case DEVICE_OK:
		return CUDA_SUCCESS;
	case DEVICE_BUSY:
		return CUDA_ERROR_NOT_READY;
	case DEVICE_NONE:
		return CUDA_ERROR_DEVICE_UNAVAILABLE;
	case DEVICE_NO_MEMORY:
		return CUDA_ERROR_OUT_OF_MEMORY;
	case DEVICE_LOST:
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	case DEVICE_TRAPPED:
		return CUDA_ERROR_LAUNCH_FAILED;
	case DEVICE_FAILED:
		break;
	}
	return CUDA_ERROR_UNKNOWN;
}
