// SPDX-License-Identifier: MIT
/* Devices. The facts about a device are fetched at the first question about it, and kept. */
#include <stdio.h>
#include <stdlib.h>

#include <cuda/api/usage.h>

#include "client.h"

enum { NR_ATTRIBUTES = sizeof(((struct a_facts *)0)->attribute) / sizeof(uint32_t) };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held to write facts[] */
/* by the numbers of device_at[]; atomic; never freed */
static struct a_facts *facts[DEVICES_MAX];

/* clear the attributes that this client does not support */
static void leave_out(const struct peer *p, struct a_facts *f)
{
	static const int none[] = { 88 /* PAGEABLE_MEMORY_ACCESS */,
				    89 /* CONCURRENT_MANAGED_ACCESS */,
				    90 /* COMPUTE_PREEMPTION */,
				    91 /* CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM */,
				    96 /* COOPERATIVE_MULTI_DEVICE_LAUNCH */,
				    100 /* PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES */,
				    101 /* DIRECT_MANAGED_MEM_ACCESS_FROM_HOST */,
				    103 /* HANDLE_TYPE_POSIX_FILE_DESCRIPTOR */,
				    104 /* HANDLE_TYPE_WIN32_HANDLE */,
				    105 /* HANDLE_TYPE_WIN32_KMT_HANDLE */,
				    110 /* GPU_DIRECT_RDMA_WITH_CUDA_VMM */,
				    112 /* SPARSE_CUDA_ARRAY */,
				    114 /* TIMELINE_SEMAPHORE_INTEROP */,
				    116 /* GPU_DIRECT_RDMA */,
				    117 /* GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS */,
				    118 /* GPU_DIRECT_RDMA_WRITES_ORDERING */,
				    119 /* MEMPOOL_SUPPORTED_HANDLE_TYPES */,
				    121 /* DEFERRED_MAPPING_CUDA_ARRAY */,
				    124 /* DMA_BUF */,
				    128 /* HANDLE_TYPE_FABRIC */,
				    130 /* NUMA_CONFIG */,
				    131 /* NUMA_ID, a number of the server's Linux */,
				    132 /* MULTICAST */,
				    134 /* HOST_NUMA_ID, as NUMA_ID */,
				    135 /* D3D12_CIG */,
				    136 /* MEM_DECOMPRESS_ALGORITHM_MASK */,
				    137 /* MEM_DECOMPRESS_MAXIMUM_LENGTH */,
				    138 /* VULKAN_CIG */,
				    141 /* HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT */,
				    142 /* HOST_NUMA_MEMORY_POOLS */,
				    143 /* HOST_NUMA_MULTINODE_IPC */,
				    144 /* HOST_MEMORY_POOLS */,
				    145 /* HOST_VIRTUAL_MEMORY_MANAGEMENT */,
				    146 /* HOST_ALLOC_DMA_BUF */ };
	unsigned int i;

	/* attribute 91: the library sees registered memory, as the arena, at its own address */
	if (!f->attribute[91] ||
	    (!kvgpu_remote_is_shared(p->channel) && !__atomic_load_n(&p->same, __ATOMIC_ACQUIRE)))
		f->attribute[19 /* CAN_MAP_HOST_MEMORY */] = 0;
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		f->attribute[none[i]] = 0;
}

static struct a_facts *fetch_facts(int number, CUresult *r)
{
	struct q_facts q = { 0 };
	struct call c = { .op = OP_facts, .fixed = &q, .bytes = sizeof(q) };
	struct a_facts *f;

	c.to.peer = peer_of_number(number, &q.dev);
	*r = call_sync(&c, sizeof(*f));
	f = *r ? NULL : malloc(sizeof(*f));
	if (!f) {
		*r = *r ? *r : CUDA_ERROR_OUT_OF_MEMORY;
		return NULL;
	}
	memcpy(f, c.answer, sizeof(*f));
	f->name[sizeof(f->name) - 1] = 0;
	f->bus_id[sizeof(f->bus_id) - 1] = 0;
	leave_out(c.to.peer, f);
	return f;
}

const struct a_facts *device_known(CUdevice dev)
{
	if (dev < 0 || dev >= DEVICES_MAX)
		return NULL;
	return __atomic_load_n(&facts[device_at[dev]], __ATOMIC_ACQUIRE);
}

/* @number: as in device_at[] */
static const struct a_facts *facts_of(int number, CUresult *r)
{
	struct a_facts *f = __atomic_load_n(&facts[number], __ATOMIC_ACQUIRE);

	if (f)
		return f;
	f = fetch_facts(number, r);
	if (!f)
		return NULL;
	pthread_mutex_lock(&lock);
	if (facts[number]) {
		free(f);
		f = facts[number];
	} else {
		__atomic_store_n(&facts[number], f, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return f;
}

const struct a_facts *device_facts(CUdevice dev, CUresult *r)
{
	int n;

	*r = cuDeviceGetCount(&n);
	if (!*r && (dev < 0 || dev >= n || dev >= DEVICES_MAX))
		*r = CUDA_ERROR_INVALID_DEVICE;
	return *r ? NULL : facts_of(device_at[dev], r);
}

int device_attribute(CUdevice dev, int attribute)
{
	CUresult r;
	const struct a_facts *f = device_facts(dev, &r);

	return f && attribute > 0 && attribute < NR_ATTRIBUTES ? (int)f->attribute[attribute] : 0;
}

CUresult cuDeviceGetCount(int *count)
{
	CUresult r = client_ready();

	if (r)
		return r;
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = all_devices;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	int n;
	CUresult r = cuDeviceGetCount(&n);

	if (r)
		return r;
	if (ordinal < 0 || ordinal >= n)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	CUresult r;
	const struct a_facts *f = device_facts(dev, &r);

	if (!f)
		return r;
	if (!name || len <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(name, len, "%s", (const char *)f->name);
	return CUDA_SUCCESS;
}

/* How many devices before that one have this UUID: several servers may offer the same GPU. */
static uint64_t same_before(int number, const uint8_t *uuid, CUresult *r)
{
	const struct a_facts *f;
	uint64_t same = 0;
	int i;

	for (i = 0; i < number && several && !*r; i++) {
		f = facts_of(i, r);
		same += f && !memcmp(f->uuid, uuid, sizeof(f->uuid));
	}
	return same;
}

/*
 * The first device of a GPU has the GPU's UUID, a further one a UUID that is computed from it:
 * programs take devices with one UUID for one device.
 */
CUresult device_uuid(int number, CUuuid *uuid)
{
	/* 2^64 / golden ratio */
	const uint64_t SPREAD = 0x9e3779b97f4a7c15;
	uint64_t same, half;
	CUresult r = CUDA_SUCCESS;
	const struct a_facts *f = facts_of(number, &r);

	if (!f)
		return r;
	same = same_before(number, f->uuid, &r);
	if (r)
		return r;
	memcpy(uuid->bytes, f->uuid, sizeof(f->uuid));
	memcpy(&half, uuid->bytes + sizeof(half), sizeof(half));
	half ^= same * SPREAD;
	memcpy(uuid->bytes + sizeof(half), &half, sizeof(half));
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	CUresult r;

	if (!device_facts(dev, &r))
		return r;
	return uuid ? device_uuid(device_at[dev], uuid) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	return cuDeviceGetUuid(uuid, dev);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	CUresult r;
	const struct a_facts *f = device_facts(dev, &r);

	if (!f)
		return r;
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	*bytes = f->total;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice dev)
{
	CUresult r;
	const struct a_facts *f = device_facts(dev, &r);

	if (!f)
		return r;
	if (!value || (int)attribute <= 0 || (int)attribute >= NR_ATTRIBUTES ||
	    !f->attribute_known[attribute])
		return CUDA_ERROR_INVALID_VALUE;
	*value = f->attribute[attribute];
	return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
	enum { MAJOR = 75, MINOR = 76 };
	CUresult r;
	const struct a_facts *f = device_facts(dev, &r);

	if (!f)
		return r;
	if (!major || !minor)
		return CUDA_ERROR_INVALID_VALUE;
	*major = f->attribute[MAJOR];
	*minor = f->attribute[MINOR];
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice dev)
{
	enum { ID_BYTES = 13 };
	CUresult r;
	const struct a_facts *f = device_facts(dev, &r);

	if (!f)
		return r;
	if (!id || len < ID_BYTES)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(id, len, "%s", (const char *)f->bus_id);
	return CUDA_SUCCESS;
}

CUresult kvgpu_device_usage(CUdevice dev, struct kvgpu_usage *out)
{
	struct q_usage q = { 0 };
	struct call c = { .op = OP_usage, .fixed = &q, .bytes = sizeof(q) };
	const struct a_usage *a;
	unsigned int i;
	CUresult r;

	if (!device_facts(dev, &r))
		return r;
	c.to.peer = peer_of_number(device_at[dev], &q.dev);
	r = call_sync(&c, sizeof(*a));
	if (r)
		return r;
	a = (const struct a_usage *)c.answer;
	memset(out, 0, sizeof(*out));
	out->total = a->total;
	out->used = a->used < a->total ? a->used : a->total;
	for (i = 0; i < a->programs && i < USAGE_PROCESSES; i++)
		out->process[i] = (struct kvgpu_usage_process){ a->bytes[i], a->pid[i] };
	out->nr_processes = i;
	out->link = (struct pcie_link){ a->generation, a->width };
	return CUDA_SUCCESS;
}
