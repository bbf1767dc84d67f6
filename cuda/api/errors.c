// SPDX-License-Identifier: MIT
/*
 * Names and texts of errors. Translates errors of device/ and image/ to CUDA's. It is also part of
 * remote/client's libcuda.so.1, so it calls nothing else of this folder.
 */
#include "../kepler/driver/driver.h"

static const struct {
	CUresult number;
	const char *name, *text;
} errors[] = {
#define ERROR(name, number, text) { name, #name, text },
#include "errors.inc"
};

static int find(CUresult error)
{
	unsigned int i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == error)
			return i;
	return -1;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
	int i = find(error);

	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	*name = i < 0 ? NULL : errors[i].name;
	return i < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
	int i = find(error);

	if (!text)
		return CUDA_ERROR_INVALID_VALUE;
	*text = i < 0 ? NULL : errors[i].text;
	return i < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

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

/* DEVICE_LOST counts as an illegal address; stick() asks error_of_end() for the cause. */
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

CUresult error_of_image(enum image_error e)
{
	switch (e) {
	case IMAGE_OK:
		return CUDA_SUCCESS;
	case IMAGE_NO_BINARY:
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	case IMAGE_ONLY_PTX:
		return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
	case IMAGE_UNSUPPORTED:
		return CUDA_ERROR_NOT_SUPPORTED;
	case IMAGE_NO_MEMORY:
		return CUDA_ERROR_OUT_OF_MEMORY;
	case IMAGE_INVALID:
		break;
	}
	return CUDA_ERROR_INVALID_IMAGE;
}
