// SPDX-License-Identifier: MIT
/* The GPUs of this machine as the library shows them, a line each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <remote/server/server.h>

#include "nursery.h"

/* free memory can be asked for only in a context; 0: no context can be made */
static size_t free_of(const struct library *l, CUdevice dev)
{
	size_t left = 0, total = 0;
	CUcontext ctx;

	if (!l->cuDevicePrimaryCtxRetain || !l->cuMemGetInfo_v2 ||
	    l->cuDevicePrimaryCtxRetain(&ctx, dev))
		return 0;
	if (!l->cuCtxSetCurrent(ctx))
		l->cuMemGetInfo_v2(&left, &total);
	l->cuDevicePrimaryCtxRelease_v2(dev);
	return left;
}

static void print_one(const struct library *l, const char *host, int i)
{
	char name[256] = "?";
	CUuuid uuid = { { 0 } };
	size_t total = 0;
	unsigned int k;
	CUdevice dev;

	if (l->cuDeviceGet(&dev, i))
		return;
	l->cuDeviceGetName(name, sizeof(name), dev);
	l->cuDeviceTotalMem_v2(&total, dev);
	if (l->cuDeviceGetUuid)
		l->cuDeviceGetUuid(&uuid, dev);
	printf("gpu %s %d %zu %zu ", host, i, total, free_of(l, dev));
	for (k = 0; k < sizeof(uuid.bytes); k++)
		printf("%02x", (uint8_t)uuid.bytes[k]);
	printf(" %s\n", name);
}

int count_run(const char *path)
{
	char host[64] = "";
	struct library l;
	const char *why;
	int n = 0, i;

	gethostname(host, sizeof(host) - 1);
	setenv("KVGPU_REMOTE", "none", 1);
	if (!library_load(&l, path, &why)) {
		nursery_say("%s: %s", path, why);
		return 1;
	}
	i = l.cuInit(0);
	if (i || l.cuDeviceGetCount(&n)) {
		nursery_say("%s: cuInit() gives error %d: is there a GPU in %s?", path, i, host);
		return 1;
	}
	for (i = 0; i < n; i++)
		print_one(&l, host, i);
	fflush(stdout);
	/* a library's own threads may outlive exit() */
	_exit(0);
}
