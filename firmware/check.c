// SPDX-License-Identifier: GPL-2.0-only
/* Checks a firmware file: header, checksum, section table. */
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "extract.h"
#include "kvgpu/firmware.h"

static const char *section_text(uint32_t id)
{
	switch (id) {
	case KVGPU_FW_FECS_CODE:
		return "FECS code";
	case KVGPU_FW_FECS_DATA:
		return "FECS data";
	case KVGPU_FW_GPCCS_CODE:
		return "GPCCS code";
	case KVGPU_FW_GPCCS_DATA:
		return "GPCCS data";
	case KVGPU_FW_GR_MMIO:
		return "GR registers";
	case KVGPU_FW_CTX_HUB:
		return "context: hub";
	case KVGPU_FW_CTX_GPC_0:
		return "context: GPC, first part";
	case KVGPU_FW_CTX_GPC_1:
		return "context: GPC, second part";
	case KVGPU_FW_CTX_ZCULL:
		return "context: zcull";
	case KVGPU_FW_CTX_TPC:
		return "context: TPC";
	case KVGPU_FW_CTX_PPC:
		return "context: PPC";
	case KVGPU_FW_CTX_ICMD:
		return "context: internal commands";
	case KVGPU_FW_CTX_MTHD:
		return "context: class methods";
	case KVGPU_FW_GR_MMIO_B:
		return "GR registers of GK110B";
	case KVGPU_FW_CTX_TPC_B:
		return "context: TPC of GK110B";
	default:
		return NULL;
	}
}

static bool bad(const char *why)
{
	fprintf(stderr,
		"kvgpu-firmware: not a usable firmware file: %s; write it again with kvgpu-firmware\n",
		why);
	return false;
}

static bool header_ok(const struct image *img, struct kvgpu_fw_header *h)
{
	if (img->size < sizeof(*h))
		return bad("shorter than its header");
	memcpy(h, img->data, sizeof(*h));
	if (le64toh(h->magic) != KVGPU_FW_MAGIC)
		return bad("wrong signature");
	if (le32toh(h->version) != KVGPU_FW_VERSION || le32toh(h->header_size) != sizeof(*h))
		return bad("another version of the format");
	if (le32toh(h->chipset) != 0x0f0)
		return bad("made for another chip");
	if (le32toh(h->file_size) != img->size)
		return bad("cut short or padded");
	if (crc32(0, img->data + sizeof(*h), img->size - sizeof(*h)) != le32toh(h->crc32))
		return bad("checksum does not match");
	if (le32toh(h->nr_sections) > KVGPU_FW_MAX_SECTIONS ||
	    sizeof(*h) + le32toh(h->nr_sections) * sizeof(struct kvgpu_fw_section) > img->size)
		return bad("too many sections");
	return true;
}

static bool section_ok(const struct image *img, const struct kvgpu_fw_section *s)
{
	uint32_t off = le32toh(s->offset), size = le32toh(s->size);
	uint32_t unit = le32toh(s->id) >= KVGPU_FW_GR_MMIO ? sizeof(struct kvgpu_fw_init) : 4;

	if (!section_text(le32toh(s->id)))
		return bad("a section of unknown kind");
	if (off > img->size || size > img->size - off || off % 8 || size % unit || !size)
		return bad("a section outside of the file or of odd size");
	return true;
}

/* The origin is a text of the image's maker, which the checksum does not cover. */
static void print_head(const struct image *img, struct kvgpu_fw_header *h)
{
	char *c;

	h->origin[sizeof(h->origin) - 1] = 0;
	for (c = h->origin; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			*c = '?';
	printf("GK110 firmware from nouveau of %s, %zu bytes, crc32 %08x\n", h->origin, img->size,
	       le32toh(h->crc32));
}

bool image_check(const struct image *img, bool list)
{
	struct kvgpu_fw_section s;
	struct kvgpu_fw_header h;
	uint32_t i;

	if (!header_ok(img, &h))
		return false;
	if (list)
		print_head(img, &h);
	for (i = 0; i < le32toh(h.nr_sections); i++) {
		memcpy(&s, img->data + sizeof(h) + i * sizeof(s), sizeof(s));
		if (!section_ok(img, &s))
			return false;
		if (list)
			printf("  %-28s %6u bytes\n", section_text(le32toh(s.id)), le32toh(s.size));
	}
	return true;
}
