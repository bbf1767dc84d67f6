// SPDX-License-Identifier: MIT
/* Frames: bounds of reads and writes, lengths of images, frames as text. */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <elf.h>

#include <remote/wire/builds.h>
#include <remote/wire/cursor.h>
#include <remote/wire/dump.h>
#include <remote/wire/image.h>
#include <remote/wire/table.h>

#include "ops.h" /* made by remote/api.py */

TEST(reading)
{
	uint64_t words[4] = { 1, 2, 3, 4 }, got = 0;
	struct kvgpu_remote_cursor in = { (uint8_t *)words, sizeof(words) };

	assert_true(kvgpu_remote_take(&in, &got, 3)); /* three bytes take 8: padding */
	assert_int_equal(got, 1);
	assert_int_equal(in.left, 24);
	assert_ptr_equal(kvgpu_remote_take_bytes(&in, 16), words + 1);
	assert_null(kvgpu_remote_take_bytes(&in, 9));
	assert_null(kvgpu_remote_take_bytes(&in, UINT64_MAX));
	assert_null(kvgpu_remote_take_bytes(&in, UINT64_MAX - 6));
	assert_int_equal(in.left, 8);
	assert_non_null(kvgpu_remote_take_bytes(&in, 8));
	assert_non_null(kvgpu_remote_take_bytes(&in, 0));
	assert_false(kvgpu_remote_take(&in, &got, 1));
}

TEST(strings)
{
	static const struct {
		const char *bytes;
		uint64_t n;
		bool fine;
	} cases[] = {
		{ "name\0\0\0", 5, true },	{ "name\0\0\0", 4, false },
		{ "na\0e\0\0\0", 5, false },	{ "\0\0\0\0\0\0\0", 1, true },
		{ "\0\0\0\0\0\0\0", 0, false }, { "name\0\0\0", 9, false },
		{ "12345678", 8, false },
	};
	uint64_t word;
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kvgpu_remote_cursor in = { (uint8_t *)&word, sizeof(word) };

		memcpy(&word, cases[i].bytes, 8);
		assert_int_equal(!!kvgpu_remote_take_string(&in, cases[i].n), cases[i].fine);
	}
}

TEST(writing)
{
	uint64_t room[3];
	struct kvgpu_remote_reply out = { .at = (uint8_t *)room, .room = sizeof(room) };

	memset(room, 0xff, sizeof(room));
	assert_true(kvgpu_remote_put_bytes(&out, "abc", 3));
	assert_int_equal(room[0], 0x636261);
	assert_ptr_equal(kvgpu_remote_put(&out, 9), room + 1);
	assert_true(room[1] == 0 && room[2] == 0);
	assert_null(kvgpu_remote_put(&out, 1));
	assert_non_null(kvgpu_remote_put(&out, 0));
	assert_null(kvgpu_remote_put(&out, SIZE_MAX));
	assert_true(kvgpu_remote_in_arena(0, 0, 0));
	assert_true(kvgpu_remote_in_arena(8, 8, 16));
	assert_false(kvgpu_remote_in_arena(9, 8, 16));
	assert_false(kvgpu_remote_in_arena(UINT64_MAX, 2, 16));
	assert_false(kvgpu_remote_in_arena(2, UINT64_MAX, 16));
}

/* a fat binary of a cubin and PTX, as in files of nvcc */
struct fat_entry {
	uint16_t kind, version;
	uint32_t header;
	uint64_t bytes;
	uint32_t packed, options;
	uint16_t minor, major;
	uint32_t arch, name[2];
	uint64_t flags, zero, unpacked;
	union {
		char text[72];
		struct {
			Elf64_Ehdr h;
			uint64_t more;
		} elf;
	};
};
struct fat {
	uint32_t magic;
	uint16_t version, header;
	uint64_t bytes;
	struct fat_entry entry[2];
};
static_assert(sizeof(struct fat) == 16 + 2 * (64 + 72), "as in files");

static struct fat a_fat_binary(void)
{
	struct fat fat = { .magic = 0xba55ed50u,
			   .version = 1,
			   .header = 16,
			   .bytes = sizeof(fat.entry),
			   .entry = { { .kind = 2, .version = 0x101, .header = 64, .flags = 0x11 },
				      { .kind = 1,
					.version = 0x101,
					.header = 64,
					.flags = 0x11,
					.text = "silent" } } };
	unsigned int i;

	for (i = 0; i < 2; i++)
		fat.entry[i].bytes = sizeof(fat.entry[i].text);
	memcpy(fat.entry[0].elf.h.e_ident, ELFMAG, SELFMAG);
	fat.entry[0].elf.h.e_ident[EI_CLASS] = ELFCLASS64;
	return fat;
}

static size_t bytes_of_fat(const struct fat *fat)
{
	return kvgpu_remote_image_bytes(fat, sizeof(*fat));
}

/* Whoever reads an entry finds its header and its payload within the container. */
TEST(entries_of_fat_binaries)
{
	static const uint32_t headers[] = { 0, 63, 64 + 72 + 1, 1000, UINT32_MAX };
	static const uint64_t bytes[] = { 71,	     73, 1ull << 28, 1ull << 40, UINT64_MAX - 63,
					  UINT64_MAX };
	struct fat fat = a_fat_binary();
	unsigned int i, k;

	assert_int_equal(bytes_of_fat(&fat), sizeof(fat));
	assert_int_equal(kvgpu_remote_image_bytes(&fat, SIZE_MAX), sizeof(fat));
	assert_int_equal(kvgpu_remote_image_bytes(&fat, sizeof(fat) - 1), 0);
	for (k = 0; k < 2; k++) {
		for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
			fat.entry[k].header = headers[i];
			assert_int_equal(bytes_of_fat(&fat), 0);
		}
		fat.entry[k].header = 64;
		for (i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
			fat.entry[k].bytes = bytes[i];
			assert_int_equal(bytes_of_fat(&fat), 0);
		}
		fat.entry[k].bytes = 72;
		fat.entry[k].packed = 73;
		assert_int_equal(bytes_of_fat(&fat), 0);
		fat.entry[k].packed = 72;
		assert_int_equal(bytes_of_fat(&fat), sizeof(fat));
		fat.entry[k].packed = 0;
	}
	/* options or a name make a header longer */
	fat.entry[1].header = 80;
	fat.entry[1].bytes = 56;
	assert_int_equal(bytes_of_fat(&fat), sizeof(fat));
	fat = a_fat_binary();
	fat.bytes -= 64 + 72;
	assert_int_equal(bytes_of_fat(&fat), sizeof(fat) - 64 - 72);
	fat.bytes += 63; /* no header of an entry */
	assert_int_equal(bytes_of_fat(&fat), 0);
	fat = a_fat_binary();
	fat.header = 15;
	assert_int_equal(bytes_of_fat(&fat), 0);
}

/* A cubin in a fat binary is seen if it is not packed. */
TEST(cubins_of_fat_binaries)
{
	struct fat fat = a_fat_binary();
	Elf64_Ehdr *h = &fat.entry[0].elf.h;

	h->e_shoff = 16;
	h->e_shnum = 1;
	h->e_shentsize = sizeof(Elf64_Shdr);
	assert_int_equal(bytes_of_fat(&fat), 0); /* 72 bytes have no room for it */
	h->e_shoff = 72;
	assert_int_equal(bytes_of_fat(&fat), 0);
	fat.entry[0].flags |= 0x2000;
	assert_int_equal(bytes_of_fat(&fat), sizeof(fat));
	fat.entry[0].flags ^= 0x2000;
	h->e_shoff = 72;
	h->e_shnum = 0;
	assert_int_equal(bytes_of_fat(&fat), 0);
	h->e_shoff = 0;
	assert_int_equal(bytes_of_fat(&fat), sizeof(fat));
}

/* Where there are too many sections for the ELF header, section 0 has their number. */
TEST(number_in_section_0)
{
	struct {
		Elf64_Ehdr h;
		Elf64_Shdr s[2];
		uint8_t data[8];
	} elf;

	memset(&elf, 0, sizeof(elf));
	memcpy(elf.h.e_ident, ELFMAG, SELFMAG);
	elf.h.e_ident[EI_CLASS] = ELFCLASS64;
	elf.h.e_shoff = offsetof(typeof(elf), s);
	elf.h.e_shentsize = sizeof(Elf64_Shdr);
	elf.s[0].sh_size = 2;
	elf.s[1].sh_type = SHT_PROGBITS;
	elf.s[1].sh_offset = offsetof(typeof(elf), data);
	elf.s[1].sh_size = 8;
	assert_int_equal(kvgpu_remote_image_bytes(&elf, sizeof(elf)), sizeof(elf));
	elf.s[1].sh_size = 9;
	assert_int_equal(kvgpu_remote_image_bytes(&elf, sizeof(elf)), 0);
	elf.s[1].sh_size = 8;
	elf.h.e_shentsize = 0;
	assert_int_equal(kvgpu_remote_image_bytes(&elf, sizeof(elf)), 0);
	elf.h.e_shentsize = sizeof(Elf64_Shdr);
	elf.s[0].sh_size = 4;
	assert_int_equal(kvgpu_remote_image_bytes(&elf, sizeof(elf)), 0);
	elf.s[0].sh_size = 1ull << 58; /* times 64 it is 0 */
	assert_int_equal(kvgpu_remote_image_bytes(&elf, sizeof(elf)), 0);
	elf.s[0].sh_size = 0;
	assert_int_equal(kvgpu_remote_image_bytes(&elf, sizeof(elf)),
			 offsetof(typeof(elf), s) + sizeof(elf.s[0]));
	elf.h.e_shoff = 0;
	assert_int_equal(kvgpu_remote_image_bytes(&elf, sizeof(elf)), sizeof(elf.h));
	elf.h.e_phnum = PN_XNUM;
	elf.h.e_phentsize = sizeof(Elf64_Phdr);
	assert_int_equal(kvgpu_remote_image_bytes(&elf, SIZE_MAX), 0);
}

TEST(images)
{
	static const char ptx[] = ".version 7.8\n.target sm_35\n";
	struct fat fat = a_fat_binary();
	struct {
		uint32_t magic, version;
		const void *data;
	} wrapper = { 0x466243b1u, 1, &fat };
	struct {
		Elf64_Ehdr h;
		Elf64_Shdr s[2];
		uint8_t data[10];
	} elf;

	assert_int_equal(kvgpu_remote_image_bytes(ptx, SIZE_MAX), sizeof(ptx));
	assert_int_equal(kvgpu_remote_image_bytes(ptx, sizeof(ptx)), sizeof(ptx));
	assert_int_equal(kvgpu_remote_image_bytes(ptx, sizeof(ptx) - 1), 0);
	fat.bytes = UINT64_MAX;
	assert_int_equal(kvgpu_remote_image_bytes(&fat, SIZE_MAX), 0);
	/* a client's pointer is never followed */
	assert_int_equal(kvgpu_remote_image_bytes(&wrapper, sizeof(wrapper)), 0);
	assert_ptr_equal(kvgpu_remote_image_unwrap(&wrapper), &fat);
	assert_ptr_equal(kvgpu_remote_image_unwrap(ptx), ptx);

	memset(&elf, 0, sizeof(elf));
	memcpy(elf.h.e_ident, ELFMAG, SELFMAG);
	elf.h.e_ident[EI_CLASS] = ELFCLASS64;
	elf.h.e_shoff = offsetof(typeof(elf), s);
	elf.h.e_shnum = 2;
	elf.h.e_shentsize = sizeof(Elf64_Shdr);
	elf.s[1].sh_type = SHT_PROGBITS;
	elf.s[1].sh_offset = offsetof(typeof(elf), data);
	elf.s[1].sh_size = 10;
	assert_int_equal(kvgpu_remote_image_bytes(&elf, SIZE_MAX),
			 offsetof(typeof(elf), data) + 10);
	assert_int_equal(kvgpu_remote_image_bytes(&elf, offsetof(typeof(elf), data) + 9), 0);
	assert_int_equal(kvgpu_remote_image_bytes(&elf, sizeof(elf.h)), 0);
	elf.s[1].sh_size = UINT64_MAX;
	assert_int_equal(kvgpu_remote_image_bytes(&elf, SIZE_MAX), 0);
	elf.h.e_shoff = UINT64_MAX - 8;
	assert_int_equal(kvgpu_remote_image_bytes(&elf, sizeof(elf)), 0);
}

/* Whether kernels of an image may print: what is not seen to be silent may. */
TEST(images_that_print)
{
	static const char silent[] = ".version 7.8\n.target sm_35\n",
			  prints[] = ".version 7.8\n.extern .func (.param .b32 r) vprintf\n",
			  asserts[] = ".version 7.8\n.extern .func __assertfail\n";
	struct fat fat = a_fat_binary();
	char elf[64] = ELFMAG;

	assert_false(kvgpu_remote_image_may_print(silent, sizeof(silent)));
	assert_true(kvgpu_remote_image_may_print(silent, sizeof(silent) - 1)); /* not all of it */
	assert_true(kvgpu_remote_image_may_print(prints, sizeof(prints)));
	assert_true(kvgpu_remote_image_may_print(asserts, sizeof(asserts)));
	assert_true(kvgpu_remote_image_may_print(silent, 3));
	assert_true(kvgpu_remote_image_may_print("\1\2\3\4", 5));
	assert_false(kvgpu_remote_image_may_print(elf, sizeof(elf)));
	memcpy(elf + 50, "vprintf", 8);
	assert_true(kvgpu_remote_image_may_print(elf, sizeof(elf)));

	assert_false(kvgpu_remote_image_may_print(&fat, sizeof(fat)));
	assert_true(kvgpu_remote_image_may_print(&fat, sizeof(fat) - 1));
	memcpy(fat.entry[1].text, "vprintf", 8);
	assert_true(kvgpu_remote_image_may_print(&fat, sizeof(fat)));
	memset(fat.entry[1].text, 0, 8);
	fat.entry[1].flags |= 0x2000; /* packed by LZ4 */
	assert_true(kvgpu_remote_image_may_print(&fat, sizeof(fat)));
	fat.entry[1].flags = 0x8011; /* otherwise */
	assert_true(kvgpu_remote_image_may_print(&fat, sizeof(fat)));
	fat.entry[1].flags = 0;
	fat.entry[1].packed = 4;
	assert_true(kvgpu_remote_image_may_print(&fat, sizeof(fat)));
	fat.entry[1].packed = 0;
	fat.entry[1].kind = 8;
	assert_true(kvgpu_remote_image_may_print(&fat, sizeof(fat)));
	fat.entry[1].kind = 1;
	fat.entry[1].bytes = UINT64_MAX - 40;
	assert_true(kvgpu_remote_image_may_print(&fat, sizeof(fat)));
	fat.entry[1].bytes = 72;
	fat.entry[0].header = 0;
	assert_true(kvgpu_remote_image_may_print(&fat, sizeof(fat)));
	fat.entry[0].header = 1000;
	assert_true(kvgpu_remote_image_may_print(&fat, sizeof(fat)));
	fat.entry[0].header = 64;
	assert_false(kvgpu_remote_image_may_print(&fat, sizeof(fat)));
}

TEST(as_text)
{
	struct q_cuMemsetD32_v2 q = { .dst = 0x1234, .n = 16, .value = 7 };
	struct kvgpu_remote_head h = {
		.seq = 5, .op = OP_cuMemsetD32_v2, .completion = 0, .bytes = sizeof(q)
	};
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	kvgpu_remote_dump(f, &h, &q);
	h.bytes = 8;
	kvgpu_remote_dump(f, &h, &q);
	fclose(f);
	assert_non_null(
		strstr(text, "5 cuMemsetD32_v2 box 0, 24 bytes: dst=0x1234 n=0x10 value=0x7\n"));
	assert_non_null(strstr(text, "too short, 24 are its fixed part"));
	free(text);
	assert_string_equal(kvgpu_remote_op_name(OP_launch), "launch");
	assert_string_equal(kvgpu_remote_op_name(KVGPU_REMOTE_OPS), "?");
	assert_string_equal(kvgpu_remote_op_name(0), "?");
}

/* what remote/README.md says of a version: 'K', three numbers of the release, a hash */
TEST(builds_are_told_apart)
{
	const struct kvgpu_remote_build old = { 0x4b00040011223344, 0 },
					later = { 0x4b00050155667788, 0x99aabbcc00000000 },
					oldest = { 0x1234567811223344, 0 };
	char text[BUILDS_TEXT];

	assert_true(builds_speak(old.version, oldest.version));
	assert_false(builds_speak(old.version, later.version));
	assert_string_equal(
		builds_apart(&old, &later, text),
		"client 0.4 (protocol 11223344), server 0.5.1 (protocol 55667788-99aabbcc): update the client");
	assert_non_null(strstr(builds_apart(&later, &old, text), ": update the server"));
	assert_non_null(strstr(builds_apart(&old, &old, text), ": install one build on both"));
	assert_string_equal(
		builds_apart(&oldest, &old, text),
		"client older (protocol 11223344), server 0.4 (protocol 11223344): update the client");
}

/* the peer's entries have another order, one is not here, and one of ours is not there */
TEST(tables_are_matched)
{
	static uint64_t hashes[KVGPU_REMOTE_TABLE_MAX];
	static uint16_t own[KVGPU_REMOTE_TABLE_MAX];
	const unsigned int n = table_hashes(hashes);
	unsigned int i;
	uint64_t first = hashes[0];

	assert_int_equal(n, KVGPU_REMOTE_OPS - KVGPU_REMOTE_FIRST_OP);
	assert_true(table_match(hashes, n, own));
	assert_true(table_match(hashes, n - 1, own));
	for (i = 0; i + 1 < n; i++)
		hashes[i] = hashes[i + 1];
	hashes[n - 1] = first + 1;
	assert_false(table_match(hashes, n, own));
	for (i = 0; i + 1 < n; i++)
		assert_int_equal(own[i], KVGPU_REMOTE_FIRST_OP + i + 1);
	assert_int_equal(own[n - 1], 0);
	for (i = 0; i < KVGPU_REMOTE_TABLE_MAX; i++)
		hashes[i] = first;
	assert_false(table_match(hashes, KVGPU_REMOTE_TABLE_MAX, own));
	assert_int_equal(own[KVGPU_REMOTE_TABLE_MAX - 1], KVGPU_REMOTE_FIRST_OP);
}

TEST_MAIN(NULL, NULL)
