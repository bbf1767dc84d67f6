/* SPDX-License-Identifier: GPL-2.0-only */
/* Making a firmware file from nouveau.ko, and checking one. kvgpu/firmware.h has its layout. */
#ifndef KVGPU_FIRMWARE_EXTRACT_H
#define KVGPU_FIRMWARE_EXTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "module.h"

struct image {
	uint8_t *data;
	size_t size;
};

/*
 * Builds the firmware file. The caller frees @out->data. false after a message on stderr; then
 * *@out is empty.
 */
bool extract_gk110(struct module *m, struct image *out);

/*
 * Checks header, checksum and section table of a firmware file and, with @list, prints its
 * sections. false after a message. The kernel module checks more (hw/fwfile.c).
 */
bool image_check(const struct image *img, bool list);

#endif
