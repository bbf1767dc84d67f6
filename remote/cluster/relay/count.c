// SPDX-License-Identifier: MIT
/*
 * The GPUs of this machine as the library shows them, a line each, which kvgpu-run reads
 * (../run/gpus.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/server/server.h>

#include "forker.h"
#include "registry.h"
#include "say.h"

/* free memory can be asked for only in a context; 0: not known */
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

static void print_one(const struct library *l, const char *host, int i, struct registry_gpu *gpu)
{
	char name[256] = "?", *text = gpu->uuid;
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
	for (k = 0; k < sizeof(uuid.bytes); k++)
		sprintf(text + 2 * k, "%02x", (uint8_t)uuid.bytes[k]);
	printf("gpu %s %u %zu %zu %s %s\n", host, gpu->device, total, free_of(l, dev), text, name);
}

static void print_users(const char *host, struct registry_gpu *gpus, unsigned int nr)
{
	unsigned int i;

	registry_print(host, gpus, nr);
	for (i = 0; i < nr; i++)
		if (gpus[i].entries > REGISTRY_MOST)
			relay_say(
				"GPU %u: %u runs say that they use it, and %u of them were asked: somebody may make such names (grep kvgpu-run /proc/net/unix)",
				gpus[i].device, gpus[i].entries, REGISTRY_MOST);
}

/* Load the library, and return how many devices it has. Without any this ends the process. */
static int load_here(struct library *l, const char *path)
{
	const char *why;
	int n = 0, r;

	setenv("KVGPU_REMOTE", "none", 1);
	if (!library_load(l, path, &why)) {
		relay_say_no_library(path, why);
		_exit(1);
	}
	r = l->cuInit(0);
	if (r || l->cuDeviceGetCount(&n)) {
		relay_say(
			"%s: cuInit() gives error %d: is there a GPU here that this user may open?",
			path, r);
		_exit(1);
	}
	return n;
}

/* Print all devices of the library; or, if @as is not negative, the first alone, as number @as. */
static void count_here(const char *path, const char *host, int as, bool users)
	__attribute__((noreturn));
static void count_here(const char *path, const char *host, int as, bool users)
{
	struct registry_gpu *gpus;
	struct library l;
	int n = load_here(&l, path), i;

	n = as < 0 ? n : n > 0;
	gpus = calloc(n + 1, sizeof(*gpus));
	if (!gpus)
		_exit(1);
	for (i = 0; i < n; i++) {
		gpus[i].device = as < 0 ? i : as;
		print_one(&l, host, i, &gpus[i]);
	}
	if (users)
		print_users(host, gpus, n);
	fflush(stdout);
	/* threads of the library may still run */
	_exit(0);
}

/* In a step of Slurm's: count each GPU as its proxy will see it, in a process of its own. */
static int count_list(const char *path, const char *host, const char *list, bool users)
{
	int n = *list ? 1 : 0, i, status;
	pid_t pid;

	for (i = 0; list[i]; i++)
		n += list[i] == ',';
	for (i = 0; i < n; i++) {
		fflush(NULL);
		pid = fork();
		if (!pid) {
			forker_choose(i);
			count_here(path, host, i, users);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}

bool count_has(const char *path, unsigned int device)
{
	struct library l;
	int status, n;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		n = load_here(&l, path);
		if ((unsigned int)n <= device)
			relay_say(
				"this machine has %d GPU%s, and --hosts says that it has more: correct the number behind its name, "
				"or leave it out",
				n, n == 1 ? "" : "s");
		_exit((unsigned int)n <= device);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

int count_run(const char *path, bool users)
{
	const char *node = getenv("SLURMD_NODENAME"), *list = getenv("CUDA_VISIBLE_DEVICES"),
		   *shards = getenv("SLURM_SHARDS_ON_NODE");
	char host[64] = "";

	if (node && getenv("SLURM_STEP_ID")) {
		if (shards)
			printf("shards %s %s\n", node, shards);
		return count_list(path, node, list ? list : "", users);
	}
	gethostname(host, sizeof(host) - 1);
	count_here(path, host, -1, users);
}
