// SPDX-License-Identifier: MIT
/* Devices: how many there are, and their properties. */
#include <string.h>

#include "runtime.h"

cudaError_t cudaGetDeviceCount(int *count)
{
	cudaError_t e;

	if (!count)
		return set_last_error(cudaErrorInvalidValue);
	*count = 0;
	e = use_driver();
	return set_last_error(e ? e : from_driver(cuDeviceGetCount(count)));
}

static cudaError_t properties(struct cudaDeviceProp *prop, int device)
{
	int value;
	CUresult r;

	memset(prop, 0, sizeof(*prop));
	r = cuDeviceGetName(prop->name, sizeof(prop->name), device);
	if (!r)
		r = cuDeviceGetUuid(&prop->uuid, device);
	if (!r)
		r = cuDeviceTotalMem_v2(&prop->totalGlobalMem, device);
#define PROP(member, attribute)                                      \
	if (!r)                                                      \
		r = cuDeviceGetAttribute(&value, attribute, device); \
	if (!r)                                                      \
		prop->member = value;
#include "properties.inc"
	return from_driver(r);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
	cudaError_t e = prop ? check_device(device) : cudaErrorInvalidValue;

	return set_last_error(e ? e : properties(prop, device));
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	cudaError_t e = value ? check_device(device) : cudaErrorInvalidValue;

	return set_last_error(e ? e :
				  from_driver(cuDeviceGetAttribute(
					  value, (CUdevice_attribute)attribute, device)));
}

/* A member of @want that is 0 (or -1 for the version) is no wish. */
static unsigned int likeness(const struct cudaDeviceProp *have, const struct cudaDeviceProp *want)
{
	unsigned int n = 0;

	n += want->major > 0 && (have->major > want->major ||
				 (have->major == want->major && have->minor >= want->minor));
	n += want->totalGlobalMem && have->totalGlobalMem >= want->totalGlobalMem;
	n += want->name[0] && !strncmp(have->name, want->name, sizeof(have->name));
	n += want->multiProcessorCount > 0 &&
	     have->multiProcessorCount >= want->multiProcessorCount;
	n += want->sharedMemPerBlock && have->sharedMemPerBlock >= want->sharedMemPerBlock;
	return n;
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *want)
{
	unsigned int most = 0, like;
	struct cudaDeviceProp have;
	int i, n = 0;
	cudaError_t e = device && want ? cudaGetDeviceCount(&n) : cudaErrorInvalidValue;

	for (i = 0; i < n && !e; i++) {
		e = properties(&have, i);
		like = e ? 0 : likeness(&have, want);
		if (!e && (!i || like > most)) {
			*device = i;
			most = like;
		}
	}
	return set_last_error(e);
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
	cudaError_t e = device && id ? use_driver() : cudaErrorInvalidValue;

	return set_last_error(e ? e : from_driver(cuDeviceGetByPCIBusId(device, id)));
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int len, int device)
{
	cudaError_t e = id && len > 0 ? check_device(device) : cudaErrorInvalidValue;

	return set_last_error(e ? e : from_driver(cuDeviceGetPCIBusId(id, len, device)));
}

/* --------------------------------------------- other devices: none reaches another one's memory */

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	cudaError_t e = can ? check_device(device) : cudaErrorInvalidValue;

	if (!e)
		e = check_device(peer);
	return set_last_error(e ? e : from_driver(cuDeviceCanAccessPeer(can, device, peer)));
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
	cudaError_t e = flags ? cudaErrorInvalidValue : check_device(peer);

	return set_last_error(e ? e : cudaErrorPeerAccessUnsupported);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
	cudaError_t e = check_device(peer);

	return set_last_error(e ? e : cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int src,
				      int dst)
{
	cudaError_t e = value ? check_device(src) : cudaErrorInvalidValue;

	if (!e)
		e = check_device(dst);
	if (!e && src == dst)
		e = cudaErrorInvalidDevice;
	if (!e && (attribute < cudaDevP2PAttrPerformanceRank ||
		   attribute > cudaDevP2PAttrCudaArrayAccessSupported))
		e = cudaErrorInvalidValue;
	if (!e)
		*value = 0;
	return set_last_error(e);
}

/* ------------------------------------------------------------------ software */

cudaError_t cudaDriverGetVersion(int *version)
{
	return set_last_error(version ? from_driver(cuDriverGetVersion(version)) :
					cudaErrorInvalidValue);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	if (!version)
		return set_last_error(cudaErrorInvalidValue);
	*version = RUNTIME_VERSION;
	return cudaSuccess;
}

/* the driver's, as NVIDIA's gives them; cuBLAS's first interface asks */
cudaError_t cudaGetExportTable(const void **table, const CUuuid *id)
{
	return set_last_error(from_driver(cuGetExportTable(table, id)));
}

/*
 * @flags: cudaEnableDefault, ...LegacyStream, ...PerThreadDefaultStream; the default is @usual. A
 * driver refuses a version above its own.
 */
static cudaError_t entry_point(const char *symbol, void **function, unsigned long long flags,
			       unsigned long long usual)
{
	cudaError_t e = symbol && *symbol && function && flags <= 2 ? use_driver() :
								      cudaErrorInvalidValue;
	int version;

	if (!e)
		e = from_driver(cuDriverGetVersion(&version));
	if (e)
		return e;
	return from_driver(cuGetProcAddress(symbol, function,
					    version < RUNTIME_VERSION ? version : RUNTIME_VERSION,
					    flags ? flags : usual));
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags)
{
	return set_last_error(
		entry_point(symbol, function, flags, CU_GET_PROC_ADDRESS_LEGACY_STREAM));
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **function,
					 unsigned long long flags)
{
	return set_last_error(entry_point(symbol, function, flags,
					  CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM));
}

cudaError_t cudaProfilerStart(void)
{
	return set_last_error(use_context());
}

cudaError_t cudaProfilerStop(void)
{
	return set_last_error(use_context());
}
