// SPDX-License-Identifier: GPL-2.0-only
/* fwbuild.h has the contracts. */
#include <linux/crc32.h>
#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "fwbuild.h"

struct part {
	u32 id;
	/* number of words of microcode; 0: the part is a register list */
	u32 words;
	struct kvgpu_fw_init list[3]; /* the register list */
};

#define ENTRY(a, c, p, d)                                            \
	{                                                            \
		.addr = (a), .count = (c), .pitch = (p), .data = (d) \
	}

/* Each address is one that its list may have. The values mean nothing. */
static const struct part parts[] = {
	{ KVGPU_FW_FECS_CODE, 70, {} }, /* not a multiple of the falcon's page size */
	{ KVGPU_FW_FECS_DATA, 0xc1, {} },
	{ KVGPU_FW_GPCCS_CODE, 64, {} },
	{ KVGPU_FW_GPCCS_DATA, 27, {} },
	{ KVGPU_FW_GR_MMIO, 0, { ENTRY(0x400080, 1, 4, 0x11), ENTRY(0x405908, 1, 4, 0) } },
	{ KVGPU_FW_CTX_HUB,
	  0,
	  { ENTRY(0x404004, 40, 4, 1), ENTRY(0x4064c0, 1, 4, 0x802000f0),
	    ENTRY(0x405800, 1, 4, 0x0f8000bf) } },
	{ KVGPU_FW_CTX_GPC_0, 0, { ENTRY(0x418380, 2, 4, 0x16) } },
	{ KVGPU_FW_CTX_GPC_1, 0, { ENTRY(0x418c6c, 1, 4, 0) } },
	{ KVGPU_FW_CTX_ZCULL, 0, { ENTRY(0x418a00, 3, 4, 0) } },
	{ KVGPU_FW_CTX_TPC, 0, { ENTRY(0x419848, 1, 4, 0), ENTRY(0x419eb0, 1, 4, 0x440) } },
	{ KVGPU_FW_CTX_PPC, 0, { ENTRY(0x41be24, 1, 4, 6) } },
	{ KVGPU_FW_CTX_ICMD,
	  0,
	  { ENTRY(0x38, 3, 1, 7), ENTRY(0x40, 1, 1, 7), ENTRY(0x1e100, 1, 1, 1) } },
	{ KVGPU_FW_CTX_MTHD, 0, { { 0xa197, 0x800, 8, 0x40, 0 }, { 0x902d, 0x200, 1, 4, 0xcf } } },
	{ KVGPU_FW_GR_MMIO_B, 0, { ENTRY(0x400080, 1, 4, 0x1b), ENTRY(0x405908, 1, 4, 0) } },
	{ KVGPU_FW_CTX_TPC_B, 0, { ENTRY(0x419848, 1, 4, 0), ENTRY(0x419eb0, 1, 4, 0x44b) } },
};
#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

static u32 part_entries(const struct part *p)
{
	u32 n = 0;

	while (n < 3 && p->list[n].count)
		n++;
	return n;
}

struct kvgpu_fw_header *fwbuild_header(struct fwbuild *b)
{
	return (struct kvgpu_fw_header *)b->data;
}

struct kvgpu_fw_section *fwbuild_section(struct fwbuild *b, u32 id)
{
	struct kvgpu_fw_section *s =
		(struct kvgpu_fw_section *)(b->data + sizeof(struct kvgpu_fw_header));
	u32 i;

	for (i = 0; i < NR_PARTS; i++)
		if (s[i].id == id)
			return &s[i];
	assert(!"no such section");
	return NULL;
}

u32 *fwbuild_words(struct fwbuild *b, u32 id)
{
	return (u32 *)(b->data + fwbuild_section(b, id)->offset);
}

struct kvgpu_fw_init *fwbuild_entry(struct fwbuild *b, u32 id, u32 i)
{
	return (struct kvgpu_fw_init *)(b->data + fwbuild_section(b, id)->offset) + i;
}

void fwbuild_seal(struct fwbuild *b)
{
	struct kvgpu_fw_header *h = fwbuild_header(b);

	h->file_size = b->size;
	h->crc32 = ~crc32_le(~0u, b->data + sizeof(*h), b->size - sizeof(*h));
}

/*
 * The microcode's own register lists are empty, but for one word in FECS's list, the last one of
 * its data.
 */
static void write_lists(struct fwbuild *b)
{
	u32 *fecs = fwbuild_words(b, KVGPU_FW_FECS_DATA),
	    *gpccs = fwbuild_words(b, KVGPU_FW_GPCCS_DATA);
	u32 i;

	fecs[0] = 0x300;
	fecs[1] = 0x304;
	fecs[0xc0] = 0x0417e91c;
	for (i = 0; i < 4; i++)
		gpccs[i] = 0x6c;
}

void fwbuild_make(struct fwbuild *b)
{
	struct kvgpu_fw_header *h = fwbuild_header(b);
	struct kvgpu_fw_section *s = (struct kvgpu_fw_section *)(h + 1);
	u32 i, k;

	memset(b, 0, sizeof(*b));
	*h = (struct kvgpu_fw_header){ .magic = KVGPU_FW_MAGIC,
				       .version = KVGPU_FW_VERSION,
				       .header_size = sizeof(*h),
				       .nr_sections = NR_PARTS,
				       .chipset = 0x0f0 };
	snprintf(h->origin, sizeof(h->origin), "a test");
	b->size = sizeof(*h) + NR_PARTS * sizeof(*s);
	for (i = 0; i < NR_PARTS; i++) {
		b->size = (b->size + 7) & ~7ul;
		s[i].id = parts[i].id;
		s[i].offset = b->size;
		s[i].size =
			parts[i].words * 4 + part_entries(&parts[i]) * sizeof(struct kvgpu_fw_init);
		for (k = 0; k < parts[i].words; k++)
			((u32 *)(b->data + b->size))[k] = parts[i].id << 24 | k;
		memcpy(b->data + b->size + parts[i].words * 4, parts[i].list,
		       s[i].size - parts[i].words * 4);
		b->size += s[i].size;
		assert(b->size <= FWBUILD_MAX);
	}
	write_lists(b);
	fwbuild_seal(b);
}
