/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small firmware file with every section, for tests that must run without a distribution's copy
 * of nouveau. The harness (selftests/module/harness) and hw/firmware_fuzz link it, too.
 */
#ifndef KVGPU_TEST_FWBUILD_H
#define KVGPU_TEST_FWBUILD_H

#include <linux/types.h>

#include "kvgpu/firmware.h"

#define FWBUILD_MAX 16384

struct fwbuild {
	u8 data[FWBUILD_MAX] __attribute__((aligned(8)));
	size_t size;
};

void fwbuild_make(struct fwbuild *b);
void fwbuild_seal(struct fwbuild *b); /* sets size and checksum in the header after a change */

struct kvgpu_fw_header *fwbuild_header(struct fwbuild *b);
struct kvgpu_fw_section *fwbuild_section(struct fwbuild *b, u32 id);
struct kvgpu_fw_init *fwbuild_entry(struct fwbuild *b, u32 id, u32 i);
u32 *fwbuild_words(struct fwbuild *b, u32 id);

#endif
