// SPDX-License-Identifier: MIT
/* From nvmlInit() to nvmlShutdown(): the GPUs, the lock, errors. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../api/text.h"
#include "inside.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* under the lock */
static bool expects_forks;
static int cancel; /* the state of the thread that has the lock, from before */
unsigned int nvml_count;
struct nvml_gpu nvml_gpus[GPUS_MAX];
/* nvmlInit() less nvmlShutdown(); written under the lock, atomic */
static unsigned int inits;

/* No thread is in libcuda's objects meanwhile, so the child inherits their locks open. */
static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
	nvml_count = inits = 0;
	pthread_mutex_unlock(&lock);
}

nvmlReturn_t nvml_error(CUresult r)
{
	switch ((int)r) {
	case CUDA_SUCCESS:
		return NVML_SUCCESS;
	case CUDA_ERROR_NOT_SUPPORTED:
	case CUDA_ERROR_INVALID_VALUE:
		return NVML_ERROR_NOT_SUPPORTED;
	case CUDA_ERROR_NO_DEVICE:
		return NVML_ERROR_DRIVER_NOT_LOADED;
	case CUDA_ERROR_SYSTEM_NOT_READY:
		return NVML_ERROR_GPU_IS_LOST;
	case CUDA_ERROR_OUT_OF_MEMORY:
		return NVML_ERROR_MEMORY;
	default:
		return NVML_ERROR_UNKNOWN;
	}
}

static CUresult read_gpu(struct nvml_gpu *gpu, CUdevice dev)
{
	const unsigned char *u;
	char id[32] = "";
	CUuuid uuid;
	CUresult r;

	memset(gpu, 0, sizeof(*gpu));
	gpu->dev = dev;
	r = cuDeviceGetName(gpu->name, sizeof(gpu->name), dev);
	if (!r)
		r = cuDeviceGetUuid(&uuid, dev);
	if (!r)
		r = cuDeviceGetPCIBusId(id, sizeof(id), dev);
	if (!r)
		r = cuDeviceComputeCapability(&gpu->major, &gpu->minor, dev);
	if (r)
		return r;
	text_clean(gpu->name, sizeof(gpu->name));
	u = (const unsigned char *)uuid.bytes;
	snprintf(gpu->uuid, sizeof(gpu->uuid),
		 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
		 u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13],
		 u[14], u[15]);
	return sscanf(id, "%x:%x:%x", &gpu->domain, &gpu->bus, &gpu->slot) == 3 ?
		       CUDA_SUCCESS :
		       CUDA_ERROR_UNKNOWN;
}

static nvmlReturn_t start(void)
{
	int count = 0, i;
	CUresult r;

	if (!expects_forks && pthread_atfork(before_fork, in_parent, in_child))
		return NVML_ERROR_MEMORY;
	expects_forks = true;
	r = kvgpu_usage_init();
	/* the server can't be reached, and standard error says why */
	if (r == CUDA_ERROR_SYSTEM_NOT_READY)
		return NVML_ERROR_DRIVER_NOT_LOADED;
	if (!r)
		r = cuDeviceGetCount(&count);
	count = count < GPUS_MAX ? count : GPUS_MAX;
	for (i = 0; i < count && !r; i++)
		r = read_gpu(&nvml_gpus[i], i);
	nvml_count = r ? 0 : count;
	return nvml_error(r);
}

/* Take the lock until nvml_leave(). The thread can't be cancelled then. */
static void lock_calls(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	pthread_mutex_lock(&lock);
	cancel = before;
}

nvmlReturn_t nvmlInitWithFlags(unsigned int flags)
{
	nvmlReturn_t r = NVML_SUCCESS;

	if (flags & ~(unsigned int)(NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH))
		return NVML_ERROR_INVALID_ARGUMENT;
	lock_calls();
	if (!inits)
		r = start();
	if (r == NVML_ERROR_DRIVER_NOT_LOADED && flags & NVML_INIT_FLAG_NO_GPUS)
		r = NVML_SUCCESS;
	if (!r)
		__atomic_store_n(&inits, inits + 1, __ATOMIC_RELAXED);
	return nvml_leave(r);
}

nvmlReturn_t nvmlInit(void)
{
	return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlInit_v2(void)
{
	return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlShutdown(void)
{
	nvmlReturn_t r = nvml_enter();

	if (r)
		return r;
	__atomic_store_n(&inits, inits - 1, __ATOMIC_RELAXED);
	return nvml_leave(NVML_SUCCESS);
}

nvmlReturn_t nvml_enter(void)
{
	lock_calls();
	return inits ? NVML_SUCCESS : nvml_leave(NVML_ERROR_UNINITIALIZED);
}

nvmlReturn_t nvml_leave(nvmlReturn_t r)
{
	int before = cancel;

	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(before, NULL);
	return r;
}

struct nvml_gpu *nvml_gpu(nvmlDevice_t device)
{
	unsigned int i;

	for (i = 0; i < nvml_count; i++)
		if (device == &nvml_gpus[i])
			return device;
	return NULL;
}

const char *nvmlErrorString(nvmlReturn_t result)
{
	static const struct {
		nvmlReturn_t r;
		const char *text;
	} texts[] = {
		{ NVML_SUCCESS, "Success" },
		{ NVML_ERROR_UNINITIALIZED, "Uninitialized" },
		{ NVML_ERROR_INVALID_ARGUMENT, "Invalid Argument" },
		{ NVML_ERROR_NOT_SUPPORTED, "Not Supported" },
		{ NVML_ERROR_NO_PERMISSION, "Insufficient Permissions" },
		{ NVML_ERROR_NOT_FOUND, "Not Found" },
		{ NVML_ERROR_INSUFFICIENT_SIZE, "Insufficient Size" },
		{ NVML_ERROR_DRIVER_NOT_LOADED, "Driver Not Loaded" },
		{ NVML_ERROR_TIMEOUT, "Timeout" },
		{ NVML_ERROR_LIBRARY_NOT_FOUND, "Library Not Found" },
		{ NVML_ERROR_FUNCTION_NOT_FOUND, "Function Not Found" },
		{ NVML_ERROR_GPU_IS_LOST, "GPU is lost" },
		{ NVML_ERROR_MEMORY, "Insufficient Memory" },
		{ NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "Argument version mismatch" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].r == result)
			return texts[i].text;
	return "Unknown Error";
}
