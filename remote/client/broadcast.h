/* SPDX-License-Identifier: MIT */
/*
 * One buffer to many GPUs, which CUDA has no call for. Exported by the libcuda.so.1 of remote/: a
 * program that is to run elsewhere, too, looks it up by dlsym(), and does without where it is not.
 */
#ifndef KVGPU_REMOTE_CLIENT_BROADCAST_H
#define KVGPU_REMOTE_CLIENT_BROADCAST_H

#include <cuda/driver/api.h>

/*
 * Copy @bytes at @src, in the program's memory or any device's, to each of the @n buffers @dst of
 * any devices (@n: 256 at most): the same as @n times cuMemcpy(), also its errors. After an error
 * it is not known which of the buffers have the bytes. Where all devices are behind proxies of one
 * MPI job, each on its own, and all their buffers are allocated memory, the bytes leave the
 * program's machine once at most, unless a stream captures, an arena has no room, or proxies can't
 * reach each other.
 */
API CUresult kvgpuMemcpyBroadcast(const CUdeviceptr *dst, unsigned int n, CUdeviceptr src,
				  size_t bytes);

#endif
