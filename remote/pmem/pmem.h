/* SPDX-License-Identifier: MIT */
/* Internal header of kvgpu-aperture. */
#ifndef KVGPU_REMOTE_PMEM_H
#define KVGPU_REMOTE_PMEM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

void report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ----------------------------------------------------- file.c: on the host; an error is printed */

/*
 * Read a size such as "64M" or "1G": a multiple of 2 MiB that a shmem region fits in, at most 1
 * TiB.
 * 0: an error.
 */
uint64_t file_size(const char *text);
/*
 * How many programs a file of @bytes is for: as @text says; NULL: a default for that size. 0: an
 * error.
 */
uint32_t file_endpoints(const char *text, uint64_t bytes);
/*
 * Make a file of @bytes with its labels, and its folder if that is not there: 0 or 1. A file that
 * is just like that stays; any other one is an error, as is a folder that others than root, and the
 * user of this process, may write.
 */
int file_make(const char *path, uint64_t bytes, uint32_t endpoints);
/* Print libvirt's <memory> for a file that others can't write or exchange: 0 or 1. */
int file_xml(const char *path, FILE *to);

/* ------------------------------------------------------------------ nd.c: in a VM */

/*
 * Where the kernel shows its devices: "/sys" and "/dev"; tests have other folders. nd_up() calls
 * .load_modules before it changes anything; false: the reason was printed.
 */
struct nd {
	const char *sys, *dev;
	bool (*load_modules)(void);
};
/*
 * Take the namespace of @disk ("pmem0") from the disk's driver, and give it to the driver of
 * device-DAX devices, with the struct pages in the VM's memory. The kernel writes its info block
 * near the beginning of the memory. 0; or 1, the reason was printed, and the disk is there again,
 * unless that failed, too. A disk that is mounted, or that another program has for itself alone, is
 * left alone. Needs root.
 *
 * nd_up() does not look for the label. Call probe_has_label() first: a disk without a label would
 * lose data.
 */
int nd_up(const struct nd *nd, const char *disk);

/*
 * ------------------------------------------------------------------ probe.c: in a VM; reads only
 */

/*
 * Whether the device ("/dev/pmem0", "/dev/dax0.0") is a shmem region. *why: the reason if the
 * device can't be looked at, else NULL.
 */
bool probe_has_label(const char *device, const char **why);
/*
 * The memory type of what begins at @address, as @list (debugfs' pat_memtype_list) says; false: it
 * is not in there.
 */
bool probe_memory_type(FILE *list, uint64_t address, char *to, size_t size);
/* Print a line for each shmem region of this VM. Return how many there are. */
unsigned int probe_list(const struct nd *nd, FILE *to);

#endif
