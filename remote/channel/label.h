/* SPDX-License-Identifier: MIT */
/*
 * The label that marks the file of a shmem region, and the memory that VMs see of it. It lies in
 * two places. At the beginning of the file: a VM sees it while the memory is a disk to the VM
 * (/dev/pmem0). And in the first page of the shared part, which is what a VM sees of a device-DAX
 * device (/dev/dax0.0). Little endian.
 */
#ifndef KVGPU_REMOTE_LABEL_H
#define KVGPU_REMOTE_LABEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SHMEM_LABEL_BYTES = 64,
	/* the second label, in the first page of the shared part */
	SHMEM_LABEL_AT = 4096 - SHMEM_LABEL_BYTES,
	/*
	 * where the shared part begins: a device-DAX device begins there in the VM (Linux,
	 * drivers/nvdimm/pfn_devs.c: 8 KiB, rounded up to the device's alignment)
	 */
	SHMEM_LABEL_DATA = 2 << 20,
	SHMEM_ENDPOINTS = 64, /* endpoints of a shmem region at most */
};

struct shmem_label {
	char magic[16];
	uint32_t version, zero;
	uint64_t data; /* where the shared part begins in the file */
	uint64_t bytes; /* of the whole file */
	/* so many programs at once; each has an equal piece of the shared part */
	uint32_t endpoints;
	uint8_t rest[20];
};

/* the label of a file of @bytes; pure */
struct shmem_label shmem_label_make(uint64_t bytes, uint32_t endpoints);
/* Copy SHMEM_LABEL_BYTES to *l. True: they are a label of a known version. Pure. */
bool shmem_label_read(const void *from, struct shmem_label *l);

#endif
