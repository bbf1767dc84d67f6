/* SPDX-License-Identifier: MIT */
/* One buffer to many GPUs, which CUDA has no call for. Exported by the libcuda.so.1 of remote/. */
#ifndef KVGPU_REMOTE_CLIENT_BROADCAST_H
#define KVGPU_REMOTE_CLIENT_BROADCAST_H

#include <cuda/api/api.h>

/*
 * Copy @bytes at @src, in the program's memory or any device's, to each of the @n buffers @dst of
 * any devices (@n: 256 at most), as @n times cuMemcpy() would. After an error it is not
 * known which of the buffers have the bytes. Behind proxies of one MPI job the bytes go from proxy
 * to proxy where they can: docs/cluster.md.
 */
API CUresult kvgpuMemcpyBroadcast(const CUdeviceptr *dst, unsigned int n, CUdeviceptr src,
				  size_t bytes);

#endif
