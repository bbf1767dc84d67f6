// SPDX-License-Identifier: MIT
#include "image.h"

#include <elf.h>
#include <string.h>

#define WRAPPER_MAGIC 0x466243b1u
#define FATBIN_MAGIC  0xba55ed50u

/* an entry of a fat binary */
enum { KIND_PTX = 1, KIND_ELF = 2, PACKED = 0x2000 | 0x8000 };

struct wrapper {
	uint32_t magic, version;
	const void *data;
};

/* the format: cuda/api/fatbin.c */
struct container {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes; /* bytes behind the header */
};

struct entry {
	uint16_t kind, version;
	uint32_t header_bytes; /* this struct, and options or a name behind it */
	uint64_t bytes; /* behind the header */
	uint32_t packed_bytes, unknown[2], arch; /* .arch: 35 is of compute capability 3.5 */
	uint64_t name, flags, zero, unpacked_bytes;
};

const void *kvgpu_remote_image_unwrap(const void *data)
{
	struct wrapper w;

	memcpy(&w.magic, data, sizeof(w.magic));
	if (w.magic != WRAPPER_MAGIC)
		return data;
	memcpy(&w, data, sizeof(w));
	return w.data;
}

/* the larger of @end and @at + @n; 0: it is too large, or @end is 0 */
static uint64_t further(uint64_t end, uint64_t at, uint64_t n)
{
	uint64_t to;

	if (!end || __builtin_add_overflow(at, n, &to) || to > SIZE_MAX / 2)
		return 0;
	return to > end ? to : end;
}

/*
 * How many sections there are. Section 0 has a number that is too large for the ELF header; false:
 * there is none, or the same is said of segments, of which no cubin has as many.
 */
static bool count_sections(const uint8_t *data, size_t limit, const Elf64_Ehdr *h, uint64_t *n)
{
	Elf64_Shdr first;

	*n = h->e_shnum;
	if (h->e_shoff && !h->e_shnum) {
		if (h->e_shoff > limit || limit - h->e_shoff < sizeof(first))
			return false;
		memcpy(&first, data + h->e_shoff, sizeof(first));
		*n = first.sh_size ? first.sh_size : 1;
	}
	return *n <= SIZE_MAX / 2 / sizeof(first) && h->e_phnum != PN_XNUM;
}

static size_t elf_bytes(const uint8_t *data, size_t limit)
{
	uint64_t end = sizeof(Elf64_Ehdr), sections, tables, i;
	Elf64_Ehdr h;
	Elf64_Shdr s;
	Elf64_Phdr p;

	if (limit < sizeof(h))
		return 0;
	memcpy(&h, data, sizeof(h));
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || !count_sections(data, limit, &h, &sections) ||
	    (sections && h.e_shentsize != sizeof(s)) || (h.e_phnum && h.e_phentsize != sizeof(p)))
		return 0;
	end = further(end, h.e_shoff, sections * sizeof(s));
	end = further(end, h.e_phoff, (uint64_t)h.e_phnum * sizeof(p));
	tables = end;
	if (!tables || tables > limit)
		return 0;
	for (i = 0; i < sections; i++) {
		memcpy(&s, data + h.e_shoff + i * sizeof(s), sizeof(s));
		if (s.sh_type != SHT_NOBITS)
			end = further(end, s.sh_offset, s.sh_size);
	}
	for (i = 0; i < h.e_phnum; i++) {
		memcpy(&p, data + h.e_phoff + i * sizeof(p), sizeof(p));
		end = further(end, p.p_offset, p.p_filesz);
	}
	return end <= limit ? end : 0;
}

/* Read the entry at *@at, and move *@at behind it. False: not all of it is in front of @end. */
static bool take_entry(const uint8_t *data, uint64_t end, uint64_t *at, struct entry *e)
{
	uint64_t left = end - *at;

	if (left < sizeof(*e))
		return false;
	memcpy(e, data + *at, sizeof(*e));
	if (e->header_bytes < sizeof(*e) || e->header_bytes > left ||
	    e->bytes > left - e->header_bytes || e->packed_bytes > e->bytes)
		return false;
	*at += e->header_bytes + e->bytes;
	return true;
}

/* whether a cubin that is an entry's payload as it is lies within the payload */
static bool holds_its_cubin(const uint8_t *payload, const struct entry *e)
{
	return e->flags & PACKED || e->bytes < SELFMAG || memcmp(payload, ELFMAG, SELFMAG) ||
	       elf_bytes(payload, e->bytes);
}

static size_t fatbin_bytes(const uint8_t *data, size_t limit)
{
	struct container c;
	struct entry e;
	uint64_t end, at;

	if (limit < sizeof(c))
		return 0;
	memcpy(&c, data, sizeof(c));
	end = further(1, c.header_bytes, c.bytes);
	if (c.header_bytes < sizeof(c) || end > limit)
		return 0;
	for (at = c.header_bytes; at < end;)
		if (!take_entry(data, end, &at, &e) || !holds_its_cubin(data + at - e.bytes, &e))
			return 0;
	return end;
}

static size_t text_bytes(const uint8_t *data, size_t limit)
{
	const uint8_t *end;

	if (!limit || (*data < ' ' && *data != '\t' && *data != '\n' && *data != '\r') ||
	    *data >= 0x7f)
		return 0;
	if (limit == SIZE_MAX)
		return strlen((const char *)data) + 1;
	end = memchr(data, 0, limit);
	return end ? end - data + 1 : 0;
}

size_t kvgpu_remote_image_bytes(const void *data, size_t limit)
{
	uint32_t magic;

	if (limit < sizeof(magic))
		return 0;
	memcpy(&magic, data, sizeof(magic));
	if (magic == WRAPPER_MAGIC)
		return 0;
	if (!memcmp(&magic, ELFMAG, SELFMAG))
		return elf_bytes(data, limit);
	if (magic == FATBIN_MAGIC)
		return fatbin_bytes(data, limit);
	return text_bytes(data, limit);
}

bool kvgpu_remote_image_is_fat(const void *data, size_t bytes)
{
	return bytes >= sizeof(uint32_t) &&
	       !memcmp(data, &(uint32_t){ FATBIN_MAGIC }, sizeof(uint32_t));
}

/*
 * Whether no driver takes the entry's code on a device of @arch. A cubin is for devices of its
 * major version and its minor one or a later one; PTX is for its version and later ones (CUDA C++
 * Programming Guide, "Compute Capability" and "Application Compatibility"). From 10.0 on devices
 * have been renamed, and numbers above 200 are not known: their code counts as needed.
 */
static bool is_of_no_use(const struct entry *e, unsigned int arch)
{
	if (e->arch >= 200)
		return false;
	if (e->kind == KIND_ELF)
		return (e->arch < 100 || arch < 100) &&
		       (e->arch / 10 != arch / 10 || e->arch > arch);
	return e->kind == KIND_PTX && e->arch > arch;
}

size_t kvgpu_remote_image_fit(const void *data, size_t bytes, unsigned int arch, void *to)
{
	const uint8_t *from = data;
	uint64_t at, begin, n;
	bool code = false;
	struct container c;
	struct entry e;

	memcpy(&c, data, sizeof(c));
	n = c.header_bytes;
	for (at = n; at < bytes;) {
		begin = at;
		if (!take_entry(from, bytes, &at, &e))
			return bytes;
		if (is_of_no_use(&e, arch))
			continue;
		code = code || e.kind == KIND_ELF || e.kind == KIND_PTX;
		if (to)
			memcpy((uint8_t *)to + n, from + begin, at - begin);
		n += at - begin;
	}
	if (!code)
		return bytes;
	if (to) {
		memcpy(to, data, c.header_bytes);
		c.bytes = n - c.header_bytes;
		memcpy(to, &c, sizeof(c));
	}
	return n;
}

/* the functions of the driver that a kernel calls to print, and for an assert */
static bool names_printer(const uint8_t *data, size_t bytes)
{
	static const char print[] = "vprintf", assertion[] = "__assert";

	return memmem(data, bytes, print, sizeof(print) - 1) ||
	       memmem(data, bytes, assertion, sizeof(assertion) - 1);
}

/* whether all entries of a fat binary are cubins or PTX as they are */
static bool is_plain(const uint8_t *data, size_t bytes)
{
	struct container c;
	struct entry e;
	uint64_t at;

	if (bytes < sizeof(c))
		return false;
	memcpy(&c, data, sizeof(c));
	if (c.header_bytes < sizeof(c) || c.header_bytes > bytes ||
	    c.bytes != bytes - c.header_bytes)
		return false;
	for (at = c.header_bytes; at < bytes;)
		if (!take_entry(data, bytes, &at, &e) ||
		    (e.kind != KIND_PTX && e.kind != KIND_ELF) || e.flags & PACKED ||
		    e.packed_bytes)
			return false;
	return true;
}

bool kvgpu_remote_image_may_print(const void *data, size_t bytes)
{
	uint32_t magic;

	if (bytes < sizeof(magic))
		return true;
	memcpy(&magic, data, sizeof(magic));
	if (magic == FATBIN_MAGIC ? !is_plain(data, bytes) :
				    memcmp(&magic, ELFMAG, SELFMAG) && !text_bytes(data, bytes))
		return true;
	return names_printer(data, bytes);
}
