/* SPDX-License-Identifier: MIT */
/*
 * What marks a file, and the memory that VMs have of it, as an aperture: nobody's data is taken for
 * one. It lies in two places: at the beginning of the file, which a VM sees as long as the memory
 * is a disk to it (/dev/pmem0), and in the first page of what is shared, which is all that a VM
 * sees of a device-DAX device (/dev/dax0.0). Between the two the kernel of each VM keeps what it
 * needs for that device. Little endian, and the same for all versions of kvgpu.
 */
#ifndef KVGPU_REMOTE_LABEL_H
#define KVGPU_REMOTE_LABEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
	APERTURE_LABEL_BYTES = 64,
	/*
	 * of the second one, in the first page of what is shared: behind all of struct attach_page
	 */
	APERTURE_LABEL_AT = 4096 - APERTURE_LABEL_BYTES,
	/*
	 * where what is shared begins: a device-DAX device whose pages are described in the VM's
	 * own memory begins there (Linux, drivers/nvdimm/pfn_devs.c: 8 KiB, rounded up to the
	 * device's alignment, of 2 MiB)
	 */
	APERTURE_LABEL_DATA = 2 << 20,
	APERTURE_PLACES = 64,	/* at most */
};

struct aperture_label {
	char magic[16];
	uint32_t version, zero;
	uint64_t data;		/* where what is shared begins in the file */
	uint64_t bytes;		/* of the whole file */
	/* so many programs at once; each has an equal part of what is shared */
	uint32_t places;
	uint8_t rest[20];
};

/* of a file of @bytes; pure */
struct aperture_label aperture_label_make(uint64_t bytes, uint32_t places);
/*
 * whether these APERTURE_LABEL_BYTES are one, of a version that is known, whose numbers fit
 * together; copied to *l. Pure
 */
bool aperture_label_read(const void *from, struct aperture_label *l);

#endif
