/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks a firmware file (include/kvgpu/firmware.h), and then gives access to its sections by their
 * ids, and to the entries of its register lists. Compiles in user space, too, for tests and
 * fuzzers.
 */
#ifndef KVGPU_HW_FWFILE_H
#define KVGPU_HW_FWFILE_H

#include <linux/types.h>

#include "kvgpu/firmware.h"

struct fwfile_section {
	/* points into the file's data, which must stay in memory while struct fwfile is used */
	const u8 *data;
	u32 size;
};

struct fwfile {
	/* indexed by enum kvgpu_fw_section_id; .data is NULL at an index that is not an id */
	struct fwfile_section section[KVGPU_FW_MAX_SECTIONS];
	char origin[sizeof(((struct kvgpu_fw_header *)0)->origin)];
};

/*
 * An entry of a register list: write .data to .count registers from offset .addr in BAR0 on, .pitch
 * bytes apart. In the list of bundles (pieces of the engine's state, written through GR_ICMD),
 * .addr is the address of a bundle, and .pitch is in such addresses. In the list of methods, .addr
 * is the offset of a method, and .pitch is in bytes. .type is the class of a method; 0 in other
 * lists.
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
 * @why: set to the reason of an error, for the log, or to NULL
 *
 * Checks the format and the checksum, that each section is there exactly once, and that each entry
 * of a register list writes only registers of the unit to which its section belongs.
 *
 * Return: 0 or -EINVAL.
 */
int hw_fwfile_parse(struct fwfile *f, const void *data, size_t size, const char **why);

/* Puts the lists of a GK110B in the place of those of a GK110. */
void hw_fwfile_gk110b(struct fwfile *f);

/*
 * hw_fwfile_words() returns the number of 32-bit words of a section of microcode. hw_fwfile_word()
 * returns word @i, which must be below that number.
 */
u32 hw_fwfile_words(const struct fwfile *f, enum kvgpu_fw_section_id id);
u32 hw_fwfile_word(const struct fwfile *f, enum kvgpu_fw_section_id id, u32 i);

/*
 * hw_fwfile_entries() returns the number of entries of a register list. hw_fwfile_entry() returns
 * entry @i, which must be below that number.
 */
u32 hw_fwfile_entries(const struct fwfile *f, enum kvgpu_fw_section_id id);
struct fwfile_entry hw_fwfile_entry(const struct fwfile *f, enum kvgpu_fw_section_id id, u32 i);

#endif
