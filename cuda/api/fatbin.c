// SPDX-License-Identifier: MIT
/* Fat binaries: finds the best entry for this GPU. */
#include "fatbin.h"

#include <stdlib.h>
#include <string.h>

#include "lz4.h"

#define WRAPPER_MAGIC  0x466243b1
#define FATBIN_MAGIC   0xba55ed50
#define FATBIN_VERSION 1

struct wrapper { /* in .nvFatBinSegment */
	uint32_t magic, version;
	const void *data;
	const void *prelinked;
};

struct container {
	uint32_t magic;
	uint16_t version, header_size;
	uint64_t size;
};

struct entry {
	uint16_t kind, version;
	uint32_t header_size;
	uint64_t size; /* of the payload, with padding */
	uint32_t packed_size;
	uint32_t unknown;
	uint16_t minor, major;
	uint32_t arch;
	uint64_t name;
	uint64_t flags;
	uint64_t zero;
	uint64_t unpacked_size;
};

enum { KIND_PTX = 1, KIND_ELF = 2, FLAG_LZ4 = 0x2000, FLAG_OTHER_PACKING = 0x8000 };
#define MAX_UNPACKED (1u << 30)
#define ARCH	     35

/* The greatest version up to 3.5 is best; PTX from 2.0 on can be compiled. */
static bool better(uint32_t arch, uint32_t than)
{
	return arch <= ARCH && arch >= 20 && arch > than;
}

static bool cubin_runs(uint32_t arch)
{
	return arch == 30 || arch == 32 || arch == 35;
}

static enum image_error unpack(const struct entry *e, const uint8_t *payload, bool text,
			       uint8_t **out, size_t *size)
{
	size_t plain = e->flags & FLAG_LZ4 ? e->unpacked_size : e->size;
	uint8_t *buf;

	if (e->flags & FLAG_OTHER_PACKING && !(e->flags & FLAG_LZ4))
		return IMAGE_UNSUPPORTED;
	if (!plain || plain > MAX_UNPACKED)
		return IMAGE_INVALID;
	buf = malloc(plain + 1);
	if (!buf)
		return IMAGE_NO_MEMORY;
	if (!(e->flags & FLAG_LZ4)) {
		memcpy(buf, payload, plain);
	} else if (e->packed_size > e->size || plain / LZ4_MOST > e->packed_size ||
		   !lz4_unpack(payload, e->packed_size, buf, plain)) {
		free(buf);
		return IMAGE_INVALID;
	}
	buf[plain] = 0;
	*out = buf;
	*size = text ? strlen((char *)buf) : plain;
	return IMAGE_OK;
}

static enum image_error take_entry(struct image_pick *out, const struct entry *cubin,
				   const uint8_t *cubin_at, const struct entry *ptx,
				   const uint8_t *ptx_at)
{
	enum image_error err = IMAGE_NO_BINARY;

	if (cubin) {
		err = unpack(cubin, cubin_at, false, &out->owned, &out->size);
		out->cubin = out->owned;
		out->packed = cubin->size;
	} else if (ptx) {
		err = unpack(ptx, ptx_at, true, (uint8_t **)&out->ptx_owned, &out->ptx_size);
		out->ptx = out->ptx_owned;
		err = err ? err : IMAGE_ONLY_PTX;
	}
	return err;
}

static enum image_error walk(const uint8_t *at, uint64_t left, struct image_pick *out)
{
	const uint8_t *cubin_at = NULL, *ptx_at = NULL;
	struct entry e, cubin, ptx;

	cubin.arch = ptx.arch = 0;
	while (left) {
		if (left < sizeof(e))
			return IMAGE_INVALID;
		memcpy(&e, at, sizeof(e));
		if (e.header_size < sizeof(e) || e.header_size > left ||
		    e.size > left - e.header_size)
			return IMAGE_INVALID;
		if (e.kind == KIND_ELF && cubin_runs(e.arch) && better(e.arch, cubin.arch)) {
			cubin = e;
			cubin_at = at + e.header_size;
		} else if (e.kind == KIND_PTX && better(e.arch, ptx.arch)) {
			ptx = e;
			ptx_at = at + e.header_size;
		} else if (e.kind == KIND_PTX && e.arch > 35 &&
			   (!out->later_ptx || e.arch < out->later_ptx)) {
			out->later_ptx = e.arch;
		}
		at += e.header_size + e.size;
		left -= e.header_size + e.size;
	}
	return take_entry(out, cubin_at ? &cubin : NULL, cubin_at, ptx_at ? &ptx : NULL, ptx_at);
}

/* by the cubin's own tables; 0: damaged, or beyond @limit */
static size_t elf_size(const uint8_t *p, size_t limit)
{
	uint64_t shoff, phoff, end;
	uint16_t shentsize, shnum, phentsize, phnum;

	if (limit < 64)
		return 0;
	memcpy(&phoff, p + 32, 8);
	memcpy(&shoff, p + 40, 8);
	memcpy(&phentsize, p + 54, 2);
	memcpy(&phnum, p + 56, 2);
	memcpy(&shentsize, p + 58, 2);
	memcpy(&shnum, p + 60, 2);
	if (shoff > MAX_UNPACKED || phoff > MAX_UNPACKED)
		return 0;
	end = shoff + (uint64_t)shentsize * shnum;
	if (phnum && phoff + (uint64_t)phentsize * phnum > end)
		end = phoff + (uint64_t)phentsize * phnum;
	return end < 64 || end > limit ? 0 : end;
}

static bool looks_like_ptx(const char *text, size_t limit)
{
	size_t i;

	for (i = 0; i + 8 < limit && text[i]; i++) {
		if (!strncmp(text + i, ".version", 8))
			return true;
		/* comments and blank lines may come before .version */
		if (i > 4096)
			break;
	}
	return false;
}

static enum image_error pick_text(const char *text, size_t limit, struct image_pick *out)
{
	size_t n = limit == SIZE_MAX ? strlen(text) : strnlen(text, limit);

	out->ptx_owned = malloc(n + 1);
	if (!out->ptx_owned)
		return IMAGE_NO_MEMORY;
	memcpy(out->ptx_owned, text, n);
	out->ptx_owned[n] = 0;
	out->ptx = out->ptx_owned;
	out->ptx_size = n;
	return IMAGE_ONLY_PTX;
}

/* the image that nvcc's wrapper at @data points to, or NULL; else @data */
static const void *unwrap(const void *data)
{
	struct wrapper w;

	memcpy(&w, data, 4);
	if (w.magic != WRAPPER_MAGIC)
		return data;
	memcpy(&w, data, sizeof(w));
	return w.data;
}

const void *image_whole(const void *data, size_t limit, size_t *bytes, bool *fat)
{
	struct container c;

	if (limit == SIZE_MAX)
		data = unwrap(data);
	if (!data || limit < sizeof(c))
		return NULL;
	memcpy(&c, data, sizeof(c));
	*fat = c.magic == FATBIN_MAGIC;
	*bytes = 0;
	if (*fat && c.header_size >= sizeof(c) && c.size <= MAX_UNPACKED)
		*bytes = c.header_size + c.size;
	else if (!memcmp(data, "\177ELF", 4))
		*bytes = elf_size(data, limit);
	else if (!*fat && looks_like_ptx(data, limit))
		*bytes = limit == SIZE_MAX ? strlen(data) + 1 : strnlen(data, limit - 1) + 1;
	return *bytes && *bytes <= limit ? data : NULL;
}

enum image_error image_pick(const void *data, size_t limit, struct image_pick *out)
{
	struct container c;

	memset(out, 0, sizeof(*out));
	if (limit == SIZE_MAX)
		data = unwrap(data);
	if (!data || limit < 4)
		return IMAGE_INVALID;
	if (!memcmp(data, "\177ELF", 4)) {
		out->cubin = data;
		out->size = out->packed = elf_size(data, limit);
		return out->size ? IMAGE_OK : IMAGE_INVALID;
	}
	memcpy(&c.magic, data, 4);
	if (c.magic != FATBIN_MAGIC)
		return looks_like_ptx(data, limit) ? pick_text(data, limit, out) : IMAGE_INVALID;
	if (limit < sizeof(c))
		return IMAGE_INVALID;
	memcpy(&c, data, sizeof(c));
	if (c.version != FATBIN_VERSION || c.header_size < sizeof(c) || c.header_size > limit ||
	    c.size > limit - c.header_size)
		return IMAGE_INVALID;
	out->empty = !c.size;
	return walk((const uint8_t *)data + c.header_size, c.size, out);
}

void image_pick_free(struct image_pick *p)
{
	free(p->owned);
	free(p->ptx_owned);
	memset(p, 0, sizeof(*p));
}
