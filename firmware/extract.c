// SPDX-License-Identifier: GPL-2.0-only
/*
 * nouveau keeps its data for GK110 and GK110B in objects with stable names: four arrays of
 * microcode words, and register lists in two levels (nvkm/engine/gr/gf100.h): a pack is an array of
 * {pointer to list, type} ended by a NULL pointer; a list is an array of {u32 addr, u8 count, u32
 * pitch, data} ended by count 0. The data word has 32 bits in older kernels and 64 bits in newer
 * ones, so an entry has 16 or 24 bytes. Of these the size that fits all lists is taken. One thread;
 * reads and writes memory.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "extract.h"
#include "kvgpu/firmware.h"

struct source {
	uint32_t id;
	const char *symbol;
	bool pack;
	size_t min, max;
};

static const struct source sources[] = {
	{ KVGPU_FW_FECS_CODE, "gk110_grhub_code", false, 1024, 32768 },
	{ KVGPU_FW_FECS_DATA, "gk110_grhub_data", false, 256, 8192 },
	{ KVGPU_FW_GPCCS_CODE, "gk110_grgpc_code", false, 512, 32768 },
	{ KVGPU_FW_GPCCS_DATA, "gk110_grgpc_data", false, 64, 8192 },
	{ KVGPU_FW_GR_MMIO, "gk110_gr_pack_mmio", true, 50, 2000 },
	{ KVGPU_FW_CTX_HUB, "gk110_grctx_pack_hub", true, 20, 1000 },
	{ KVGPU_FW_CTX_GPC_0, "gk110_grctx_pack_gpc_0", true, 5, 500 },
	{ KVGPU_FW_CTX_GPC_1, "gk110_grctx_pack_gpc_1", true, 2, 500 },
	{ KVGPU_FW_CTX_ZCULL, "gf100_grctx_pack_zcull", true, 1, 500 },
	{ KVGPU_FW_CTX_TPC, "gk110_grctx_pack_tpc", true, 5, 500 },
	{ KVGPU_FW_CTX_PPC, "gk110_grctx_pack_ppc", true, 2, 500 },
	{ KVGPU_FW_CTX_ICMD, "gk110_grctx_pack_icmd", true, 50, 2000 },
	{ KVGPU_FW_CTX_MTHD, "gk110_grctx_pack_mthd", true, 50, 2000 },
	{ KVGPU_FW_GR_MMIO_B, "gk110b_gr_pack_mmio", true, 50, 2000 },
	{ KVGPU_FW_CTX_TPC_B, "gk110b_grctx_pack_tpc", true, 5, 500 },
};
#define NR_SOURCES (sizeof(sources) / sizeof(sources[0]))

struct builder {
	struct image img;
	size_t cap;
	bool failed;
};

static void put(struct builder *b, const void *data, size_t len)
{
	if (b->failed || b->img.size + len > KVGPU_FW_MAX_SIZE) {
		b->failed = true;
		return;
	}
	if (b->img.size + len > b->cap) {
		uint8_t *p = realloc(b->img.data, b->cap = 2 * (b->img.size + len));

		if (!p) {
			b->failed = true;
			return;
		}
		b->img.data = p;
	}
	memcpy(b->img.data + b->img.size, data, len);
	b->img.size += len;
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return le32toh(v);
}

static uint64_t entry_data(const uint8_t *e, size_t stride)
{
	uint64_t v;

	if (stride == 16)
		return get32(e + 12);
	memcpy(&v, e + 16, 8);
	return le64toh(v);
}

/* true when @list is whole entries of @stride bytes and exactly its last one ends it */
static bool list_fits(const struct symbol *list, size_t stride)
{
	size_t n = list->size / stride, i;

	if (!n || list->size % stride)
		return false;
	for (i = 0; i < n; i++) {
		const uint8_t *e = list->data + i * stride;

		if ((e[4] == 0) != (i == n - 1) || e[5] || e[6] || e[7])
			return false;
	}
	return true;
}

/* Calls @fn for each list of a pack. False when the pack is not sound, or @fn gave false. */
static bool for_each_list(struct module *m, const struct source *s,
			  bool (*fn)(void *arg, const struct symbol *list, uint32_t type),
			  void *arg)
{
	struct symbol pack, list;
	size_t off;
	int ret;

	if (!module_symbol(m, s->symbol, &pack))
		return false;
	for (off = 0; off + 16 <= pack.size; off += 16) {
		ret = module_pointer(m, &pack, off, &list);
		if (ret < 0)
			return false;
		if (!ret)
			return true;
		if (!fn(arg, &list, get32(pack.data + off + 8)))
			return false;
	}
	fprintf(stderr,
		"kvgpu-firmware: %s does not end: its shape is not one that this tool knows\n",
		s->symbol);
	return false;
}

static bool stride_fits(void *arg, const struct symbol *list, uint32_t type)
{
	return list_fits(list, *(size_t *)arg);
}

/* 16 or 24, or 0 when neither holds for all lists */
static size_t find_stride(struct module *m)
{
	static const size_t strides[] = { 24, 16 };
	size_t i, s, stride;

	for (i = 0; i < 2; i++) {
		stride = strides[i];
		for (s = 0; s < NR_SOURCES; s++)
			if (sources[s].pack && !for_each_list(m, &sources[s], stride_fits, &stride))
				break;
		if (s == NR_SOURCES)
			return stride;
	}
	fprintf(stderr,
		"kvgpu-firmware: the register lists of this nouveau.ko have entries of a size that this tool does not know\n");
	return 0;
}

struct pack_arg {
	struct builder *b;
	size_t stride, entries;
};

static bool put_list(void *arg, const struct symbol *list, uint32_t type)
{
	struct pack_arg *p = arg;
	size_t i, n = list->size / p->stride - 1;

	for (i = 0; i < n; i++) {
		const uint8_t *e = list->data + i * p->stride;
		struct kvgpu_fw_init init = {
			.type = htole32(type),
			.addr = htole32(get32(e)),
			.count = htole32(e[4]),
			.pitch = htole32(get32(e + 8)),
			.data = htole64(entry_data(e, p->stride)),
		};

		put(p->b, &init, sizeof(init));
	}
	p->entries += n;
	return true;
}

static bool put_section(struct module *m, struct builder *b, const struct source *s, size_t stride)
{
	struct pack_arg arg = { .b = b, .stride = stride };
	struct symbol sym;
	size_t got;

	if (s->pack) {
		if (!for_each_list(m, s, put_list, &arg))
			return false;
		got = arg.entries;
	} else {
		if (!module_symbol(m, s->symbol, &sym))
			return false;
		put(b, sym.data, sym.size);
		got = sym.size % 4 ? 0 : sym.size;
	}
	if (got < s->min || got > s->max) {
		fprintf(stderr,
			"kvgpu-firmware: %s has %zu %s, expected %zu to %zu: its shape is not one that this tool knows\n",
			s->symbol, got, s->pack ? "entries" : "bytes", s->min, s->max);
		return false;
	}
	return true;
}

static void finish(struct module *m, struct builder *b, struct kvgpu_fw_section *table)
{
	struct kvgpu_fw_header h = {
		.magic = htole64(KVGPU_FW_MAGIC),
		.version = htole32(KVGPU_FW_VERSION),
		.header_size = htole32(sizeof(h)),
		.file_size = htole32(b->img.size),
		.nr_sections = htole32(NR_SOURCES),
		.chipset = htole32(0x0f0),
	};

	snprintf(h.origin, sizeof(h.origin), "%s", module_release(m));
	memcpy(b->img.data + sizeof(h), table, NR_SOURCES * sizeof(*table));
	h.crc32 = htole32(crc32(0, b->img.data + sizeof(h), b->img.size - sizeof(h)));
	memcpy(b->img.data, &h, sizeof(h));
}

bool extract_gk110(struct module *m, struct image *out)
{
	static const uint8_t zeros[sizeof(struct kvgpu_fw_header) +
				   NR_SOURCES * sizeof(struct kvgpu_fw_section)];
	struct kvgpu_fw_section table[NR_SOURCES];
	struct builder b = { .img = { NULL, 0 } };
	size_t i, stride = find_stride(m);
	bool ok = stride;

	put(&b, zeros, sizeof(zeros));
	for (i = 0; ok && i < NR_SOURCES; i++) {
		put(&b, zeros, -b.img.size & 7);
		table[i] = (struct kvgpu_fw_section){ .id = htole32(sources[i].id),
						      .offset = htole32(b.img.size) };
		ok = put_section(m, &b, &sources[i], stride);
		table[i].size = htole32(b.img.size - le32toh(table[i].offset));
	}
	if (ok && !b.failed) {
		finish(m, &b, table);
		*out = b.img;
		return true;
	}
	if (b.failed)
		fprintf(stderr, "kvgpu-firmware: the result would have more than %u bytes\n",
			KVGPU_FW_MAX_SIZE);
	free(b.img.data);
	*out = (struct image){ NULL, 0 };
	return false;
}
