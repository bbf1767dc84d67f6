// SPDX-License-Identifier: MIT
/* The connection to the server, made by cuInit(). */
#include <stdarg.h>
#include <stdio.h>

#include "client.h"
#include "refused.h"

enum { API_VERSION = 11080 };	/* of the entry points that there are: remote/api.def */

struct kvgpu_remote_channel *channel;

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static bool ready, forked;	/* atomic */
static int devices, version = API_VERSION;

void client_say(const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "libcuda (remote): %s\n", line);
}

CUresult client_refuse(const char *name, bool *told)
{
	if (!__atomic_exchange_n(told, true, __ATOMIC_RELAXED))
		client_say("%s() is not supported", name);
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult client_ready(void)
{
	if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE) || __atomic_load_n(&forked, __ATOMIC_RELAXED))
		return CUDA_ERROR_NOT_INITIALIZED;
	return kvgpu_remote_is_gone(channel) ? CUDA_ERROR_SYSTEM_NOT_READY : CUDA_SUCCESS;
}

int client_version(void)
{
	return version;
}

/* the child has none of the threads, and the server is the parent's: nothing may go out, and nothing is held open */
static void in_child(void)
{
	if (!__atomic_exchange_n(&forked, true, __ATOMIC_RELAXED))
		kvgpu_remote_forked(channel);
}

static CUresult ask_for_devices(void)
{
	struct call c = { .op = OP_init };
	CUresult r = call_ask(&c, sizeof(struct a_init));
	const struct a_init *a = (const struct a_init *)c.answer;

	if (r)
		return r;
	devices = a->devices;
	version = a->version < API_VERSION ? (int)a->version : API_VERSION;
	return devices ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

static CUresult start(void)
{
	static const char *address;
	const char *folder, *why;
	CUresult r;

	if (!channel) {
		address = find_server(&folder);
		if (!address)
			return CUDA_ERROR_NO_DEVICE;
		if (folder)
			kvgpu_remote_tls_folder(folder);
		if (kvgpu_remote_connect(address, KVGPU_REMOTE_VERSION, client_happened, NULL, &channel, &why)) {
			client_say("%s: %s", address, why);
			return CUDA_ERROR_SYSTEM_NOT_READY;
		}
		arena_init();
		pthread_atfork(NULL, NULL, in_child);
	}
	r = ask_for_devices();
	if (r == CUDA_ERROR_SYSTEM_NOT_READY)
		client_say("%s: the server ended the connection. Its log says why (there: journalctl -u kvgpu-remoted): it may "
			   "have no libcuda.so.1, or not let this client in", address);
	if (!r)
		__atomic_store_n(&ready, true, __ATOMIC_RELEASE);
	return r;
}

CUresult cuInit(unsigned int flags)
{
	CUresult r = CUDA_SUCCESS;

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (__atomic_load_n(&forked, __ATOMIC_RELAXED))
		return CUDA_ERROR_NOT_INITIALIZED;
	pthread_mutex_lock(&init_lock);
	if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
		r = start();
	pthread_mutex_unlock(&init_lock);
	return r;
}

CUresult cuDriverGetVersion(int *out)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = version;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	CUresult r = client_ready();

	if (r)
		return r;
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = devices;
	return CUDA_SUCCESS;
}

/* the vendor's private tables: as in cuda/driver/init.c */
CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
	static bool told;

	if (table)
		*table = NULL;
	if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		client_say("this program contains the vendor's static CUDA runtime, or uses a library of the vendor that "
			   "wants private tables of its driver; link it with \"nvcc -cudart shared\"");
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuProfilerStart(void)
{
	return client_ready();
}

CUresult cuProfilerStop(void)
{
	return client_ready();
}
