/* SPDX-License-Identifier: MIT */
/* How long what an array is made of is. */
#ifndef KVGPU_REMOTE_WIRE_FORMAT_H
#define KVGPU_REMOTE_WIRE_FORMAT_H

#include <cuda/api/types.h>

/* bytes of one channel; 0: a format that is not known here */
static inline unsigned int kvgpu_remote_channel_bytes(CUarray_format format)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	default:
		return 0;
	}
}

#endif
