/* SPDX-License-Identifier: MIT */
/*
 * The label that marks the file of an aperture, and the memory that VMs see of it. It lies in two
 * places. At the beginning of the file: a VM sees it while the memory is a disk to the VM
 * (/dev/pmem0). And in the first page of the shared part, which is what a VM sees of a device-DAX
 * device (/dev/dax0.0). Little endian.
 */
#ifndef KVGPU_REMOTE_LABEL_H
#define KVGPU_REMOTE_LABEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
	APERTURE_LABEL_BYTES = 64,
	/* the second label, in the first page of the shared part */
	APERTURE_LABEL_AT = 4096 - APERTURE_LABEL_BYTES,
	/*
	 * where the shared part begins: a device-DAX device begins there in the VM (Linux,
	 * drivers/nvdimm/pfn_devs.c: 8 KiB, rounded up to the device's alignment)
	 */
	APERTURE_LABEL_DATA = 2 << 20,
	APERTURE_PLACES = 64,	/* places of an aperture at most */
};

struct aperture_label {
	char magic[16];
	uint32_t version, zero;
	uint64_t data;		/* where the shared part begins in the file */
	uint64_t bytes;		/* of the whole file */
	/* so many programs at once; each has an equal piece of the shared part */
	uint32_t places;
	uint8_t rest[20];
};

/* the label of a file of @bytes; pure */
struct aperture_label aperture_label_make(uint64_t bytes, uint32_t places);
/* Copy APERTURE_LABEL_BYTES to *l. True: they are a label of a known version. Pure. */
bool aperture_label_read(const void *from, struct aperture_label *l);

#endif
