// SPDX-License-Identifier: GPL-2.0-only
/*
 * The firmware file is data from the host's file system that ends up in privileged registers and in
 * microcode. A damaged or outdated file must give an error message and do no harm. So all entries
 * are checked before the first is written: an entry may name only registers of the unit to which
 * its section belongs. No I/O, no lock, any thread.
 */
#include <asm/byteorder.h>
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "gk110/grinit.h"
#include "gk110/gr.h"
#include "hw/fwfile.h"

#define CHIPSET	   0x0f0
#define MAX_WRITES 8192 /* most writes by one list */

/*
 * Limits of a section. .max: bytes of microcode. [.first, .end): registers, bundles or methods of a
 * list.
 */
struct rule {
	u8 id;
	/* addresses and pitches are multiples of .step; 0: the section is microcode */
	u8 step;
	u32 max;
	u32 first, end;
};

/*
 * ICMD_END: end of the addresses of bundles (pieces of the engine's state, written by GR_ICMD).
 * MTHD_END: end of the offsets of methods, in bytes.
 */
#define ICMD_END 0x20000
#define MTHD_END 0x4000

#define MICROCODE(i, m)               \
	{                             \
		.id = (i), .max = (m) \
	}
#define LIST(i, s, f, e)                                         \
	{                                                        \
		.id = (i), .step = (s), .first = (f), .end = (e) \
	}

static const struct rule rules[] = {
	MICROCODE(KVGPU_FW_FECS_CODE, 32768),
	MICROCODE(KVGPU_FW_FECS_DATA, 8192),
	MICROCODE(KVGPU_FW_GPCCS_CODE, 32768),
	MICROCODE(KVGPU_FW_GPCCS_DATA, 8192),
	LIST(KVGPU_FW_GR_MMIO, 4, GR_BASE, GR_GPCS(GPC_BCAST_END)),
	LIST(KVGPU_FW_CTX_HUB, 4, GR_BASE, GR_ROP(0, 0)),
	LIST(KVGPU_FW_CTX_GPC_0, 4, GR_GPCS(0), GR_GPCS(GPC_GPCCS)),
	LIST(KVGPU_FW_CTX_GPC_1, 4, GR_GPCS(0), GR_GPCS(GPC_GPCCS)),
	LIST(KVGPU_FW_CTX_ZCULL, 4, GR_GPCS(0), GR_GPCS(GPC_GPCCS)),
	LIST(KVGPU_FW_CTX_TPC, 4, GR_TPCS(0), GR_TPCS(GPC_TPC_STRIDE)),
	LIST(KVGPU_FW_CTX_PPC, 4, GR_PPCS(0), GR_PPCS(GPC_PPC_STRIDE)),
	LIST(KVGPU_FW_CTX_ICMD, 1, 0, ICMD_END),
	LIST(KVGPU_FW_CTX_MTHD, 4, 0, MTHD_END),
	LIST(KVGPU_FW_GR_MMIO_B, 4, GR_BASE, GR_GPCS(GPC_BCAST_END)),
	LIST(KVGPU_FW_CTX_TPC_B, 4, GR_TPCS(0), GR_TPCS(GPC_TPC_STRIDE)),
};

static const struct rule *find_rule(u32 id)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].id == id)
			return &rules[i];
	return NULL;
}

static const char *check_header(const struct kvgpu_fw_header *h, size_t size)
{
	if (le64_to_cpu(h->magic) != KVGPU_FW_MAGIC)
		return "wrong signature";
	if (le32_to_cpu(h->version) != KVGPU_FW_VERSION ||
	    le32_to_cpu(h->header_size) != sizeof(*h))
		return "another version of the format";
	if (le32_to_cpu(h->chipset) != CHIPSET)
		return "made for another chip";
	if (le32_to_cpu(h->file_size) != size)
		return "cut short or padded";
	if (le32_to_cpu(h->nr_sections) > KVGPU_FW_MAX_SECTIONS)
		return "too many sections";
	if (size < sizeof(*h) + le32_to_cpu(h->nr_sections) * sizeof(struct kvgpu_fw_section))
		return "section table cut short";
	return NULL;
}

static struct fwfile_entry fw_init_decode(const u8 *p, u64 *data)
{
	struct kvgpu_fw_init raw;

	memcpy(&raw, p, sizeof(raw));
	*data = le64_to_cpu(raw.data);
	return (struct fwfile_entry){
		.type = le32_to_cpu(raw.type),
		.addr = le32_to_cpu(raw.addr),
		.count = le32_to_cpu(raw.count),
		.pitch = le32_to_cpu(raw.pitch),
		.data = (u32)*data,
	};
}

static const char *check_entry(const struct rule *r, const struct fwfile_entry *e, u64 data)
{
	if (!e->count || e->count > MAX_WRITES)
		return "a list entry that writes nothing or too much";
	if (e->addr % r->step || e->pitch % r->step || (!e->pitch && e->count > 1))
		return "a list entry of odd pitch";
	if (e->addr < r->first || e->addr >= r->end)
		return "a list entry outside of its unit";
	if (e->count > 1 && e->pitch > (r->end - 1 - e->addr) / (e->count - 1))
		return "a list entry that runs out of its unit";
	if (data >> 32)
		return "a list entry with more than 32 bits of data";
	if (r->id == KVGPU_FW_CTX_MTHD ? e->type > 0xffff : e->type)
		return "a list entry of unknown type";
	return NULL;
}

static const char *check_list(const struct rule *r, const u8 *data, u32 size)
{
	const char *bad = NULL;
	u32 off, writes = 0;

	if (size % sizeof(struct kvgpu_fw_init))
		return "a list that ends in the middle of an entry";
	for (off = 0; off < size && !bad; off += sizeof(struct kvgpu_fw_init)) {
		u64 value;
		struct fwfile_entry e = fw_init_decode(data + off, &value);

		bad = check_entry(r, &e, value);
		writes += bad ? 0 : e.count;
		if (writes > MAX_WRITES)
			bad = "a list that is too long";
	}
	return bad;
}

/*
 * Checks the section that @table, a line of the section table, describes, and notes it in @f.
 * @first: least offset of its contents. Returns the reason of an error, or NULL.
 */
static const char *add_section(struct fwfile *f, const u8 *file, size_t size, const u8 *table,
			       u32 first)
{
	struct kvgpu_fw_section raw;
	const struct rule *r;
	u32 id, off, len;

	memcpy(&raw, table, sizeof(raw));
	id = le32_to_cpu(raw.id);
	off = le32_to_cpu(raw.offset);
	len = le32_to_cpu(raw.size);
	r = find_rule(id);
	if (!r)
		return "a section of unknown kind";
	if (f->section[id].data)
		return "a section twice";
	if (off < first || off % 8 || off > size || len > size - off || !len)
		return "a section outside of the file";
	f->section[id] = (struct fwfile_section){ .data = file + off, .size = len };
	if (r->step)
		return check_list(r, file + off, len);
	return len % 4 || len > r->max ? "microcode of odd size" : NULL;
}

static const char *fw_parse(struct fwfile *f, const u8 *file, size_t size)
{
	const char *bad = NULL;
	struct kvgpu_fw_header h;
	u32 i, nr;

	if (size < sizeof(h) || size > KVGPU_FW_MAX_SIZE)
		return "shorter than its header, or far too long";
	memcpy(&h, file, sizeof(h));
	bad = check_header(&h, size);
	if (bad)
		return bad;
	if ((crc32_le(~0u, file + sizeof(h), size - sizeof(h)) ^ ~0u) != le32_to_cpu(h.crc32))
		return "checksum does not match";
	nr = le32_to_cpu(h.nr_sections);
	for (i = 0; i < nr && !bad; i++)
		bad = add_section(f, file, size,
				  file + sizeof(h) + i * sizeof(struct kvgpu_fw_section),
				  sizeof(h) + nr * sizeof(struct kvgpu_fw_section));
	if (bad)
		return bad;
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (!f->section[rules[i].id].data)
			return "a section is missing";
	memcpy(f->origin, h.origin, sizeof(f->origin));
	f->origin[sizeof(f->origin) - 1] = 0;
	return NULL;
}

int hw_fwfile_parse(struct fwfile *f, const void *data, size_t size, const char **why)
{
	memset(f, 0, sizeof(*f));
	*why = fw_parse(f, data, size);
	if (!*why)
		return 0;
	memset(f, 0, sizeof(*f));
	return -EINVAL;
}

void hw_fwfile_gk110b(struct fwfile *f)
{
	f->section[KVGPU_FW_GR_MMIO] = f->section[KVGPU_FW_GR_MMIO_B];
	f->section[KVGPU_FW_CTX_TPC] = f->section[KVGPU_FW_CTX_TPC_B];
}

u32 hw_fwfile_words(const struct fwfile *f, enum kvgpu_fw_section_id id)
{
	return f->section[id].size / 4;
}

u32 hw_fwfile_word(const struct fwfile *f, enum kvgpu_fw_section_id id, u32 i)
{
	__le32 v;

	memcpy(&v, f->section[id].data + 4 * i, sizeof(v));
	return le32_to_cpu(v);
}

u32 hw_fwfile_entries(const struct fwfile *f, enum kvgpu_fw_section_id id)
{
	return f->section[id].size / sizeof(struct kvgpu_fw_init);
}

struct fwfile_entry hw_fwfile_entry(const struct fwfile *f, enum kvgpu_fw_section_id id, u32 i)
{
	u64 data;

	return fw_init_decode(f->section[id].data + i * sizeof(struct kvgpu_fw_init), &data);
}
