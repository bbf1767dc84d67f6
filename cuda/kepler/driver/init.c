// SPDX-License-Identifier: MIT
/* The GPUs of this machine, which cuInit() finds. */
#include "../../api/forked.h"
#include "../../api/process.h"
#include "../../api/usage.h"
#include "../../api/visible.h"
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRIVER_VERSION = 11080 }; /* the last CUDA that knows Kepler */

pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
/*
 * The GPUs that the process sees; .gpu: the backend's number. cuInit() fills this in, and `moves`,
 * with `table` held, and sets `ready` if there is a device; from then on they are read without a
 * lock.
 */
static struct {
	struct device_facts facts;
	unsigned int gpu;
} devices[MAX_DEVICES];
static unsigned int nr_devices;
static bool moves, ready;

/* FNV-1a, 32 bits */
uint32_t machine_word(const char *path)
{
	FILE *f = own_file(fopen(path, "re"), "r");
	uint32_t hash = 2166136261u;
	unsigned int n = 0;
	int c;

	if (!f)
		return 0;
	while ((c = getc(f)) != EOF && c != '\n' && n++ < 64)
		hash = (hash ^ (uint32_t)c) * 16777619u;
	fclose(f);
	return n ? hash : 0;
}

/* nouveau knows no serial number: take the machine and the place on the bus. */
void uuid_of(const struct device_facts *f, CUuuid *uuid)
{
	uint32_t words[] = { 0x6b766770, f->pci_id, f->domain ^ f->machine, f->bus << 8 | f->slot };

	memcpy(uuid->bytes, words, sizeof(uuid->bytes));
}

static void find_devices(const char *visible)
{
	struct device_facts all[MAX_DEVICES];
	CUuuid uuid[MAX_DEVICES];
	unsigned int gpus[MAX_DEVICES], n = backend->count(), nr = 0, i;
	uint32_t machine = machine_word("/etc/machine-id");

	for (i = 0; i < n && i < MAX_DEVICES; i++)
		if (backend->describe(i, &all[i]) == DEVICE_OK)
			nr = i + 1;
	for (i = 0; i < nr; i++) {
		all[i].machine = machine;
		uuid_of(&all[i], &uuid[i]);
	}
	nr_devices = visible_devices(visible, uuid, nr, gpus);
	for (i = 0; i < nr_devices; i++) {
		devices[i].facts = all[gpus[i]];
		devices[i].gpu = gpus[i];
	}
}

static CUresult init(const char *visible)
{
	const char *wanted = getenv("KVGPU_CHECKPOINT");

	if (!driver_ready())
		return CUDA_SUCCESS;
	pthread_mutex_lock(&table);
	if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) {
		find_devices(visible);
		moves = wanted && !strcmp(wanted, "1");
		__atomic_store_n(&ready, nr_devices > 0, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&table);
	return __atomic_load_n(&ready, __ATOMIC_ACQUIRE) ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult cuInit(unsigned int flags)
{
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (forked_is_child())
		return CUDA_ERROR_NOT_INITIALIZED;
	forked_expect();
	return init(getenv("CUDA_VISIBLE_DEVICES"));
}

CUresult kvgpu_usage_init(void)
{
	return init(NULL);
}

CUresult driver_ready(void)
{
	return __atomic_load_n(&ready, __ATOMIC_ACQUIRE) && !forked_is_child() ?
		       CUDA_SUCCESS :
		       CUDA_ERROR_NOT_INITIALIZED;
}

const struct device_facts *driver_device(CUdevice dev)
{
	return dev >= 0 && (unsigned int)dev < nr_devices ? &devices[dev].facts : NULL;
}

unsigned int driver_gpu(CUdevice dev)
{
	return devices[dev].gpu;
}

bool driver_moves(void)
{
	return moves;
}

unsigned int driver_count(void)
{
	return nr_devices;
}

CUresult cuDriverGetVersion(int *version)
{
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = DRIVER_VERSION;
	return CUDA_SUCCESS;
}

/*
 * Its name tells kvgpu-remoted that a copy may be made though work before it in its stream ended
 * with an error, such as a kernel's exception. Only a question tells of that.
 */
const char kvgpu_streams_go_on = 1;

CUresult cuProfilerStart(void)
{
	return driver_ready();
}

CUresult cuProfilerStop(void)
{
	return driver_ready();
}
