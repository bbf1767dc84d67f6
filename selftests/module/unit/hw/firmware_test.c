// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's parser of the firmware file: it reads a good file as it was written, refuses damage
 * with a reason, and notices changed bytes. If KVGPU_FW names a file made by kvgpu-firmware, that
 * file is read as well.
 */
#include <linux/crc32.h>
#include <linux/errno.h>
#include <selftests/unit_test.h>
#include <stdio.h>

#include "fwbuild.h"
#include "hw/fwfile.h"

static const char *refuse(const struct fwbuild *b)
{
	struct fwfile f;
	const char *why = NULL;

	assert_int_equal(hw_fwfile_parse(&f, b->data, b->size, &why), -EINVAL);
	assert_non_null(why);
	assert_null(f.section[KVGPU_FW_FECS_CODE].data);
	return why;
}

/*
 * crc32_le() of the tests is the usual CRC-32, which the tool takes from zlib: it gives the
 * published check value.
 */
TEST(checksum_is_the_usual_one)
{
	assert_int_equal(~crc32_le(~0u, "123456789", 9), 0xcbf43926);
}

TEST(reads_what_was_written)
{
	struct fwbuild b;
	struct fwfile f;
	struct fwfile_entry e;
	const char *why;

	fwbuild_make(&b);
	assert_int_equal(hw_fwfile_parse(&f, b.data, b.size, &why), 0);
	assert_null(why);
	assert_string_equal(f.origin, "a test");
	assert_int_equal(hw_fwfile_words(&f, KVGPU_FW_FECS_CODE), 70);
	assert_int_equal(hw_fwfile_word(&f, KVGPU_FW_FECS_CODE, 69), KVGPU_FW_FECS_CODE << 24 | 69);
	assert_int_equal(hw_fwfile_entries(&f, KVGPU_FW_CTX_MTHD), 2);
	e = hw_fwfile_entry(&f, KVGPU_FW_CTX_MTHD, 1);
	assert_int_equal(e.type, 0x902d);
	assert_int_equal(e.addr, 0x200);
	assert_int_equal(e.count, 1);
	assert_int_equal(e.pitch, 4);
	assert_int_equal(e.data, 0xcf);
}

/* ------------------------------------------------------------------ damage */

static void bad_magic(struct fwbuild *b)
{
	fwbuild_header(b)->magic ^= 1;
}
static void bad_version(struct fwbuild *b)
{
	fwbuild_header(b)->version++;
}
static void bad_chip(struct fwbuild *b)
{
	fwbuild_header(b)->chipset = 0x0e4;
}
static void bad_sections(struct fwbuild *b)
{
	fwbuild_header(b)->nr_sections = KVGPU_FW_MAX_SECTIONS + 1;
}
static void many_sections(struct fwbuild *b)
{
	fwbuild_header(b)->nr_sections = ~0u;
}
static void fewer_sections(struct fwbuild *b)
{
	fwbuild_header(b)->nr_sections--;
}
static void unknown_section(struct fwbuild *b)
{
	fwbuild_section(b, KVGPU_FW_CTX_PPC)->id = 31;
}
static void wild_section(struct fwbuild *b)
{
	fwbuild_section(b, KVGPU_FW_CTX_PPC)->id = 0xffffff16;
}
static void double_section(struct fwbuild *b)
{
	fwbuild_section(b, KVGPU_FW_CTX_GPC_1)->id = KVGPU_FW_CTX_GPC_0;
}
static void section_in_header(struct fwbuild *b)
{
	fwbuild_section(b, KVGPU_FW_FECS_CODE)->offset = 0;
}
static void section_odd(struct fwbuild *b)
{
	fwbuild_section(b, KVGPU_FW_FECS_CODE)->offset += 4;
}
static void section_behind(struct fwbuild *b)
{
	fwbuild_section(b, KVGPU_FW_FECS_CODE)->offset = 0xfffffff8;
}
static void section_long(struct fwbuild *b)
{
	fwbuild_section(b, KVGPU_FW_FECS_CODE)->size = b->size;
}
static void section_huge(struct fwbuild *b)
{
	fwbuild_section(b, KVGPU_FW_FECS_CODE)->size = 0xfffffffc;
}
static void section_empty(struct fwbuild *b)
{
	fwbuild_section(b, KVGPU_FW_FECS_CODE)->size = 0;
}
static void code_odd(struct fwbuild *b)
{
	fwbuild_section(b, KVGPU_FW_FECS_CODE)->size--;
}
static void data_large(struct fwbuild *b)
{
	fwbuild_section(b, KVGPU_FW_GPCCS_DATA)->size = 8196;
	b->size = FWBUILD_MAX;
}
static void list_cut(struct fwbuild *b)
{
	fwbuild_section(b, KVGPU_FW_CTX_HUB)->size -= 4;
}
static void no_count(struct fwbuild *b)
{
	fwbuild_entry(b, KVGPU_FW_CTX_HUB, 0)->count = 0;
}
static void wild_count(struct fwbuild *b)
{
	fwbuild_entry(b, KVGPU_FW_CTX_HUB, 0)->count = ~0u;
}
static void low_address(struct fwbuild *b)
{
	fwbuild_entry(b, KVGPU_FW_CTX_HUB, 0)->addr = 0x200;
}
static void high_address(struct fwbuild *b)
{
	fwbuild_entry(b, KVGPU_FW_GR_MMIO, 0)->addr = 0x800000;
}
static void unaligned(struct fwbuild *b)
{
	fwbuild_entry(b, KVGPU_FW_CTX_TPC, 0)->addr++;
}
static void runs_out(struct fwbuild *b)
{
	fwbuild_entry(b, KVGPU_FW_CTX_TPC, 0)->count = 0x200;
}
static void runs_around(struct fwbuild *b)
{
	fwbuild_entry(b, KVGPU_FW_CTX_TPC, 0)->count = 2;
	fwbuild_entry(b, KVGPU_FW_CTX_TPC, 0)->pitch = 0xfffffffc;
}
static void no_pitch(struct fwbuild *b)
{
	fwbuild_entry(b, KVGPU_FW_CTX_HUB, 0)->pitch = 0;
}
static void odd_pitch(struct fwbuild *b)
{
	fwbuild_entry(b, KVGPU_FW_CTX_HUB, 0)->pitch = 2;
}
static void wide_data(struct fwbuild *b)
{
	fwbuild_entry(b, KVGPU_FW_CTX_ICMD, 0)->data = 1ull << 32;
}
static void wrong_type(struct fwbuild *b)
{
	fwbuild_entry(b, KVGPU_FW_CTX_HUB, 0)->type = 1;
}
static void wild_class(struct fwbuild *b)
{
	fwbuild_entry(b, KVGPU_FW_CTX_MTHD, 0)->type = 0x1a197;
}
static void method_behind(struct fwbuild *b)
{
	fwbuild_entry(b, KVGPU_FW_CTX_MTHD, 0)->addr = 0x4000;
}
static void too_long(struct fwbuild *b)
{
	fwbuild_entry(b, KVGPU_FW_CTX_ICMD, 0)->count = 8000;
	fwbuild_entry(b, KVGPU_FW_CTX_ICMD, 1)->count = 8000;
}

static const struct {
	const char *name, *want;
	void (*damage)(struct fwbuild *b);
} cases[] = {
	{ "magic", "wrong signature", bad_magic },
	{ "version", "another version of the format", bad_version },
	{ "chip", "made for another chip", bad_chip },
	{ "one section too many", "too many sections", bad_sections },
	{ "wild section count", "too many sections", many_sections },
	{ "a section fewer", "a section is missing", fewer_sections },
	{ "unknown section", "a section of unknown kind", unknown_section },
	{ "section id whose low bits are good", "a section of unknown kind", wild_section },
	{ "section twice", "a section twice", double_section },
	{ "section over the header", "a section outside of the file", section_in_header },
	{ "section at an odd offset", "a section outside of the file", section_odd },
	{ "section behind the file", "a section outside of the file", section_behind },
	{ "section longer than the file", "a section outside of the file", section_long },
	{ "section whose end wraps", "a section outside of the file", section_huge },
	{ "empty section", "a section outside of the file", section_empty },
	{ "odd microcode", "microcode of odd size", code_odd },
	{ "too much microcode", "microcode of odd size", data_large },
	{ "cut list", "a list that ends in the middle of an entry", list_cut },
	{ "count 0", "a list entry that writes nothing or too much", no_count },
	{ "wild count", "a list entry that writes nothing or too much", wild_count },
	{ "PMC in a hub list", "a list entry outside of its unit", low_address },
	{ "channel table in a GR list", "a list entry outside of its unit", high_address },
	{ "unaligned register", "a list entry of odd pitch", unaligned },
	{ "entry that runs out", "a list entry that runs out of its unit", runs_out },
	{ "pitch that wraps", "a list entry that runs out of its unit", runs_around },
	{ "no pitch", "a list entry of odd pitch", no_pitch },
	{ "odd pitch", "a list entry of odd pitch", odd_pitch },
	{ "64 bits of data", "a list entry with more than 32 bits of data", wide_data },
	{ "type in a register list", "a list entry of unknown type", wrong_type },
	{ "class of 17 bits", "a list entry of unknown type", wild_class },
	{ "method behind the last", "a list entry outside of its unit", method_behind },
	{ "list too long", "a list that is too long", too_long },
};

TEST(damage_is_named)
{
	struct fwbuild b;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fwbuild_make(&b);
		cases[i].damage(&b);
		fwbuild_seal(&b);
		if (strcmp(refuse(&b), cases[i].want))
			fail_msg("%s: refused as \"%s\", not as \"%s\"", cases[i].name, refuse(&b),
				 cases[i].want);
	}
}

TEST(every_cut_is_refused)
{
	struct fwbuild b;
	size_t size;

	fwbuild_make(&b);
	size = b.size;
	for (b.size = 0; b.size < size; b.size++)
		refuse(&b);
	/* longer than the header says, with a checksum that is right for the longer file */
	b.size = size + 4;
	fwbuild_seal(&b);
	((struct kvgpu_fw_header *)b.data)->file_size = size;
	assert_string_equal(refuse(&b), "cut short or padded");
}

/*
 * Only the origin text may change without the file's content changing, so all other bytes are
 * tried.
 */
TEST(every_changed_byte_is_refused)
{
	struct fwbuild b;
	size_t i;

	fwbuild_make(&b);
	for (i = 0; i < b.size; i++) {
		if (i >= offsetof(struct kvgpu_fw_header, origin) &&
		    i < sizeof(struct kvgpu_fw_header))
			continue;
		b.data[i] ^= 0x10;
		refuse(&b);
		b.data[i] ^= 0x10;
	}
}

TEST(origin_without_end)
{
	struct fwbuild b;
	struct fwfile f;
	const char *why;

	fwbuild_make(&b);
	memset(fwbuild_header(&b)->origin, 'x', sizeof(fwbuild_header(&b)->origin));
	fwbuild_seal(&b);
	assert_int_equal(hw_fwfile_parse(&f, b.data, b.size, &why), 0);
	assert_int_equal(strlen(f.origin), sizeof(f.origin) - 1);
}

/* ------------------------------------------------------------------ a real file */

static void real_file(void **state)
{
	static u8 data[KVGPU_FW_MAX_SIZE + 1];
	const char *path = getenv("KVGPU_FW"), *why;
	struct fwfile f;
	size_t size, i;
	FILE *in;

	in = fopen(path, "rb");
	assert_non_null(in);
	size = fread(data, 1, sizeof(data), in);
	fclose(in);
	if (hw_fwfile_parse(&f, data, size, &why))
		fail_msg("%s", why);
	assert_true(hw_fwfile_words(&f, KVGPU_FW_FECS_CODE) > 256);
	assert_true(hw_fwfile_entries(&f, KVGPU_FW_CTX_MTHD) > 100);
	for (i = 0; i < size; i += 97) {
		if (i >= offsetof(struct kvgpu_fw_header, origin) &&
		    i < sizeof(struct kvgpu_fw_header))
			continue;
		data[i] ^= 1;
		assert_int_equal(hw_fwfile_parse(&f, data, size, &why), -EINVAL);
		data[i] ^= 1;
	}
}

int main(void)
{
	const struct CMUnitTest with_file[] = { cmocka_unit_test(real_file) };
	int failed = unit_tests_run(NULL, NULL, NULL, NULL);

	if (getenv("KVGPU_FW"))
		failed += cmocka_run_group_tests(with_file, NULL, NULL);
	return failed;
}
