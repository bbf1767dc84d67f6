// SPDX-License-Identifier: MIT
/* Names and texts of errors, and what CUDA calls those of images. */
#include "jit.h"

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
