/* SPDX-License-Identifier: MIT */
/* Inside of kvgpu-aperture. */
#ifndef KVGPU_REMOTE_PMEM_H
#define KVGPU_REMOTE_PMEM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---------------------------------------------------- file.c: on the host; 0 or 1, and said why */

/* "64M", "1G": bytes, a multiple of 2 MiB that an aperture fits in; 0: it is none, and said why */
uint64_t file_size(const char *text);
/*
 * How many programs a file of @bytes is for. @text: as many; NULL: 4, or less if each had less than
 * 32 MiB. 0: and said why
 */
uint32_t file_places(const char *text, uint64_t bytes);
/* A new file of @bytes with its labels. One that is there stays as it is: that is an error. */
int file_make(const char *path, uint64_t bytes, uint32_t places);
/* libvirt's <memory> for it */
int file_xml(const char *path, FILE *to);

/* ------------------------------------------------------------------ nd.c: in a VM */

/* Where the kernel shows its devices: "/sys", and for tests another. */
struct nd {
	const char *sys, *dev;
	bool (*load_modules)(void);
};
/*
 * @disk ("pmem0"): its namespace is taken from the disk's driver and given to that of device-DAX
 * devices, with what describes its pages in the VM's memory. Writes 4 KiB near the beginning of the
 * memory, for the kernel's own use (its info block). 0; or 1, said why, and the disk is there
 * again. A disk that is mounted or otherwise in use is left alone. Needs root.
 */
int nd_up(const struct nd *nd, const char *disk);

/* ------------------------------------------------------------------ look.c */

/*
 * whether the device ("/dev/pmem0", "/dev/dax0.0") is an aperture; *why of a device that can't be
 * looked at, else NULL
 */
bool look_is_aperture(const char *device, const char **why);
/*
 * The memory type of what begins at @address, by what is in debugfs' pat_memtype_list; false: it is
 * not in there.
 */
bool look_memory_type(FILE *list, uint64_t address, char *to, size_t size);
/* A line for each aperture of this VM. How many. */
unsigned int look_list(const struct nd *nd, FILE *to);

#endif
