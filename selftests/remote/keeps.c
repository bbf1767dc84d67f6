// SPDX-License-Identifier: MIT
/*
 * A libcuda.so.1 for kvgpu-remoted, on the one with the GPU in the process. In the folder where
 * NVIDIA's driver keeps compiled PTX, and in a file as the driver makes them, it counts the calls
 * of cuInit() by processes of the client.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cuda/api/api.h>

CUresult cuInit(unsigned int flags)
{
	const char *folder = getenv("CUDA_CACHE_PATH");
	char path[200], before[8] = "", now[8];
	int fd, n;

	if (folder) {
		snprintf(path, sizeof(path), "%s/0/b/159bd483a3acc9", folder);
		fd = open(path, O_RDWR | O_CREAT, 0666);
		n = fd >= 0 && read(fd, before, sizeof(before) - 1) >= 0 ?
			    snprintf(now, sizeof(now), "%d\n", (atoi(before) + 1) % 100) :
			    0;
		if (fd < 0 || pwrite(fd, now, n, 0) != n)
			perror(path);
	}
	return ((typeof(cuInit) *)dlsym(RTLD_NEXT, "cuInit"))(flags);
}
