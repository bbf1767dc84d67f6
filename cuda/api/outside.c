// SPDX-License-Identifier: MIT
/*
 * What programs call. A thread that pthread_cancel() asks to end (deferred, the default) ends its
 * call first: else it would end in a system call, with locks locked and half a frame sent. The
 * program's functions that a call runs by itself can't be cancelled either. Also part of
 * remote/client's libcuda.so.1. Unit tests are compiled without KVGPU_INSIDE, and call inside.
 */
#ifdef KVGPU_INSIDE
#undef KVGPU_INSIDE

#include <pthread.h>

#include "export/export.h"

#define OUTSIDE(name, parameters, arguments)                             \
	CUresult inside_##name parameters;                               \
	CUresult name parameters                                         \
	{                                                                \
		CUresult r;                                              \
		int before;                                              \
                                                                         \
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before); \
		r = inside_##name arguments;                             \
		pthread_setcancelstate(before, NULL);                    \
		return r;                                                \
	}
#include <outside.inc>
OUTSIDE(export_primary, (CUcontext * ctx, CUdevice dev), (ctx, dev))

#endif
