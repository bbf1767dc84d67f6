// SPDX-License-Identifier: MIT
/*
 * Any bytes as the image of a module. Of an image that is taken a reader that believes its headers,
 * as a library may, reads nothing behind it.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <remote/wire/image.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool fine)
{
	if (!fine)
		abort();
}

/* .end: behind the image, or behind the entry of a fat binary */
struct image {
	const uint8_t *at, *end;
};

static void read_at(const struct image *i, uint64_t offset, void *to, uint64_t bytes)
{
	uint64_t there = i->end - i->at;

	must(offset <= there && bytes <= there - offset);
	if (to)
		memcpy(to, i->at + offset, bytes);
}

static void read_elf(const struct image *i)
{
	uint64_t n, k;
	Elf64_Ehdr h;
	Elf64_Shdr s;
	Elf64_Phdr p;

	read_at(i, 0, &h, sizeof(h));
	n = h.e_shnum;
	if (h.e_shoff && !n) {
		read_at(i, h.e_shoff, &s, sizeof(s));
		n = s.sh_size;
	}
	for (k = 0; k < n; k++) {
		read_at(i, h.e_shoff + k * h.e_shentsize, &s, sizeof(s));
		if (s.sh_type != SHT_NOBITS)
			read_at(i, s.sh_offset, NULL, s.sh_size);
	}
	for (k = 0; k < h.e_phnum; k++) {
		read_at(i, h.e_phoff + k * h.e_phentsize, &p, sizeof(p));
		read_at(i, p.p_offset, NULL, p.p_filesz);
	}
}

static bool begins_with(const struct image *i, const void *magic)
{
	return i->end - i->at >= 4 && !memcmp(i->at, magic, 4);
}

/* Of the same, what is left for a device is counted as it is stored, and is an image, too. */
static void fit_fat_binary(const struct image *i, unsigned int arch)
{
	size_t all = i->end - i->at, n = kvgpu_remote_image_fit(i->at, all, arch, NULL);
	uint8_t *copy = malloc(n);

	must(n && n <= all);
	if (n < all) {
		must(kvgpu_remote_image_fit(i->at, all, arch, copy) == n);
		must(kvgpu_remote_image_bytes(copy, n) == n);
	}
	free(copy);
}

static void read_fat_binary(const struct image *i)
{
	uint16_t header, kind;
	uint32_t entry_header, packed;
	uint64_t bytes, entry_bytes, flags, at;

	read_at(i, 6, &header, 2);
	read_at(i, 8, &bytes, 8);
	must(header >= 16 && header + bytes == (uint64_t)(i->end - i->at));
	for (at = header; at < header + bytes; at += entry_header + entry_bytes) {
		struct image inner;

		read_at(i, at, &kind, 2);
		read_at(i, at + 4, &entry_header, 4);
		read_at(i, at + 8, &entry_bytes, 8);
		read_at(i, at + 16, &packed, 4);
		read_at(i, at + 40, &flags, 8);
		read_at(i, at + 56, NULL, 8);
		must(entry_header >= 64 && packed <= entry_bytes);
		read_at(i, at + entry_header, NULL, entry_bytes);
		inner.at = i->at + at + entry_header;
		inner.end = inner.at + entry_bytes;
		if (!(flags & 0xa000) && begins_with(&inner, ELFMAG))
			read_elf(&inner);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* so that the sanitizer sees reads behind it */
	uint8_t *copy = malloc(size ? size : 1);
	size_t n;
	struct image i;

	memcpy(copy, data, size);
	n = kvgpu_remote_image_bytes(copy, size);
	must(n <= size);
	kvgpu_remote_image_may_print(copy, size);
	if (n) {
		/* the server counts what the client's side counted, but for the shortest texts */
		must(n < 4 || kvgpu_remote_image_bytes(copy, n) == n);
		i = (struct image){ copy, copy + n };
		if (begins_with(&i, ELFMAG))
			read_elf(&i);
		else if (begins_with(&i, "\x50\xed\x55\xba")) {
			read_fat_binary(&i);
			fit_fat_binary(&i, 35);
			fit_fat_binary(&i, 90);
		} else
			must(!copy[n - 1]);
	}
	free(copy);
	return 0;
}
