/* SPDX-License-Identifier: GPL-2.0-only */
/* What is taken out of nouveau.ko, and how it is laid out in the firmware file. */
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

/* Builds the firmware file. false after a message on stderr; then *@out is empty. */
bool extract_gk110(struct module *m, struct image *out);

/*
 * Checks a firmware file as the kernel module does and, with @list, prints its contents. false
 * after a message.
 */
bool image_check(const struct image *img, bool list);

#endif
