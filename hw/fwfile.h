/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The firmware file (include/kvgpu/firmware.h) after its check: sections by id, and the entries of
 * register lists. Pure: it uses no kernel service, so that tests and fuzzers compile the same
 * source in user space.
 */
#ifndef KVGPU_HW_FWFILE_H
#define KVGPU_HW_FWFILE_H

#include <linux/types.h>

#include "kvgpu/firmware.h"

struct fwfile_section {
	const u8 *data;		/* points into the file, which has to outlive it */
	u32 size;
};

struct fwfile {
	/* indexed by enum kvgpu_fw_section_id */
	struct fwfile_section section[KVGPU_FW_MAX_SECTIONS];
	char origin[sizeof(((struct kvgpu_fw_header *)0)->origin)];
};

/*
 * An entry of a register list: write @data to @count registers from @addr on, @pitch bytes apart.
 */
struct fwfile_entry {
	u32 type, addr, count, pitch;
	u32 data;
};

/**
 * hw_fwfile_parse() - check a firmware file and find its sections
 * @f: result; all zero after an error
 * @data: the file, which has to outlive @f
 * @size: bytes of @data
 * @why: reason of an error, for the log
 *
 * Checks format and checksum, that every section is there once, and that no list entry reaches out
 * of its section's unit.
 *
 * Return: 0 or -EINVAL.
 */
int hw_fwfile_parse(struct fwfile *f, const void *data, size_t size, const char **why);

/* microcode; @i < hw_fwfile_words() */
u32 hw_fwfile_words(const struct fwfile *f, enum kvgpu_fw_section_id id);
u32 hw_fwfile_word(const struct fwfile *f, enum kvgpu_fw_section_id id, u32 i);

/* register lists; @i < hw_fwfile_entries() */
u32 hw_fwfile_entries(const struct fwfile *f, enum kvgpu_fw_section_id id);
struct fwfile_entry hw_fwfile_entry(const struct fwfile *f, enum kvgpu_fw_section_id id, u32 i);

#endif
