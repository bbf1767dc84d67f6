/* SPDX-License-Identifier: MIT */
/*
 * The private tables of the driver, which cuGetExportTable() gives NVIDIA's runtimes: what a
 * libcuda.so.1 that is linked with this folder has to do for them. Each function may be called by
 * any thread that holds no lock.
 */
#ifndef KVGPU_CUDA_EXPORT_H
#define KVGPU_CUDA_EXPORT_H

#include "../api.h"

/* The table whose slot EXPORT_PRIMARY tells a primary context: export_primary() below. */
#define EXPORT_CONTEXTS "\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9"
enum { EXPORT_PRIMARY = 2 };

/*
 * The library's own: the handle of the device's primary context, which is neither retained nor
 * activated. cuDevicePrimaryCtxRetain() gives the same one.
 */
CUresult export_primary(CUcontext *ctx, CUdevice dev) INSIDE(export_primary);

/*
 * storage.c: the library calls this when @ctx has ended or was reset. It calls destructors of the
 * runtimes, which may call the library.
 */
void export_context_ended(CUcontext ctx);

/*
 * tools.c: for cuInit(): if a tool has started this program, or debugs it, that would watch the
 * GPU's work, print once that it will see none.
 */
void export_tools_look(void);

#endif
