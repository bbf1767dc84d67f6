/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The firmware file (include/kvgpu/firmware.h) as the driver sees it once it has been checked:
 * sections by id and their register-list entries. Pure: no kernel service is used, so the same
 * source is tested and fuzzed in user space.
 */
#ifndef KVGPU_HW_FWFILE_H
#define KVGPU_HW_FWFILE_H

#include <linux/types.h>

#include "kvgpu/firmware.h"

struct fwfile_section {
	const u8 *data;		/* into the file; it has to outlive this */
	u32 size;
};

struct fwfile {
	struct fwfile_section section[KVGPU_FW_MAX_SECTIONS];	/* by id */
	char origin[sizeof(((struct kvgpu_fw_header *)0)->origin)];
};

/* one entry of a register list: @data to @addr, @addr + @pitch, ... @count times */
struct fwfile_entry {
	u32 type, addr, count, pitch;
	u32 data;
};

/*
 * Checks everything that using the file relies on: format, checksum, that every section is there
 * once, and that no list entry reaches out of the unit its section is for. 0, or -EINVAL with the
 * reason in @why.
 */
int fwfile_parse(struct fwfile *f, const void *data, size_t size, const char **why);

/* microcode; @i < fwfile_words() */
u32 fwfile_words(const struct fwfile *f, enum kvgpu_fw_section_id id);
u32 fwfile_word(const struct fwfile *f, enum kvgpu_fw_section_id id, u32 i);

/* register lists; @i < fwfile_entries() */
u32 fwfile_entries(const struct fwfile *f, enum kvgpu_fw_section_id id);
struct fwfile_entry fwfile_entry(const struct fwfile *f, enum kvgpu_fw_section_id id, u32 i);

#endif
