// SPDX-License-Identifier: GPL-2.0-only
/* Files of nvcc, some with damage at many places. */
#define _GNU_SOURCE /* memmem() */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <elf.h>
#include <lz4.h>

#include "cuda/kepler/image/image.h"

struct file {
	uint8_t *data;
	size_t size;
};

static struct file read_file(const char *name)
{
	char path[256];
	struct file f;
	FILE *in;

	snprintf(path, sizeof(path), "selftests/cuda/unit/cuda/kepler/image/data/%s", name);
	in = fopen(path, "rb");
	assert_non_null(in);
	fseek(in, 0, SEEK_END);
	f.size = ftell(in);
	rewind(in);
	f.data = malloc(f.size);
	assert_int_equal(fread(f.data, 1, f.size, in), f.size);
	fclose(in);
	return f;
}

static void check_gather(const struct image *im)
{
	const struct image_kernel *k = image_find_kernel(im, "gather");

	assert_non_null(k);
	assert_int_equal(k->regs, 10);
	assert_int_equal(k->shared, 128);
	assert_int_equal(k->barriers, 1);
	assert_int_equal(k->param_base, 0x140);
	assert_int_equal(k->param_size, 20);
	assert_int_equal(k->nr_params, 3);
	assert_int_equal(k->params[1].offset, 8);
	assert_int_equal(k->params[1].size, 8);
	assert_int_equal(k->params[2].offset, 16);
	assert_int_equal(k->params[2].size, 4);
	assert_int_equal(k->code % 256, 0);
	assert_int_equal(k->code_size, 0x240);
	assert_int_equal(k->max_threads, 0);
}

static void check_bounded(const struct image *im)
{
	static const struct image_param want[] = { { 0, 8 }, { 8, 1 }, { 16, 8 }, { 24, 2 } };
	const struct image_kernel *k = image_find_kernel(im, "bounded");
	unsigned int i;

	assert_non_null(k);
	assert_int_equal(k->max_threads, 128);
	assert_int_equal(k->stack, 256);
	assert_false(k->stack_unknown);
	assert_int_equal(k->crs, 16);
	assert_int_equal(k->nr_params, 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(k->params[i].offset, want[i].offset);
		assert_int_equal(k->params[i].size, want[i].size);
	}
}

static void check_globals(const struct image *im)
{
	const struct image_global *g = image_find_global(im, "table");
	uint32_t first;

	assert_non_null(g);
	assert_int_equal(g->space, IMAGE_DATA);
	assert_int_equal(g->size, 16);
	memcpy(&first, im->data + g->offset, 4);
	assert_int_equal(first, 11);
	g = image_find_global(im, "steps");
	assert_non_null(g);
	assert_int_equal(g->space, IMAGE_CONST3);
	memcpy(&first, im->const3 + g->offset + 8, 4);
	assert_int_equal(first, 3);
	g = image_find_global(im, "counter");
	assert_non_null(g);
	assert_true(g->offset >= im->data_init);
	assert_int_equal(im->nr_refs, 1);
	assert_string_equal(im->refs[0].name, "reference");
	assert_null(image_find_global(im, "gather"));
	assert_null(image_find_kernel(im, "helper"));
}

TEST(cubin_is_read)
{
	struct file f = read_file("sm_35.cubin");
	struct image im;

	assert_int_equal(image_load(&im, f.data, f.size, f.size), IMAGE_OK);
	assert_int_equal(im.arch, 35);
	assert_int_equal(im.nr_kernels, 2);
	check_gather(&im);
	check_bounded(&im);
	check_globals(&im);
	image_free(&im);
	free(f.data);
}

static void no_word_of_bank0(void *ctx, uint32_t kernel, uint32_t offset, uint32_t word)
{
	fail();
}

/* The constant of a MOV32I: bits 23 to 54. */
static uint32_t immediate(const uint8_t *code, uint32_t at)
{
	uint64_t insn;

	memcpy(&insn, code + at, 8);
	return insn >> 23;
}

TEST(addresses_are_placed)
{
	static const uint64_t base[3] = { 0x1122330000, 0xab12345600, 0 };
	struct file f = read_file("sm_35.cubin");
	const struct image_global *g;
	unsigned int i, low = 0, high = 0;
	uint64_t pointer;
	struct image im;

	assert_int_equal(image_load(&im, f.data, f.size, f.size), IMAGE_OK);
	image_place(&im, base, no_word_of_bank0, NULL);
	g = image_find_global(&im, "pointer_to_table");
	memcpy(&pointer, im.data + g->offset, 8);
	assert_int_equal(pointer, base[IMAGE_DATA] + image_find_global(&im, "table")->offset);
	for (i = 0; i < im.nr_fixes; i++) {
		const struct image_fix *x = &im.fixes[i];

		if (x->kind != IMAGE_FIX_ADDRESS || x->space != IMAGE_CODE)
			continue;
		assert_int_equal(immediate(im.code, x->offset),
				 (uint32_t)((base[1] + x->target) >> x->shift));
		low += !x->shift;
		high += x->shift == 32;
	}
	assert_int_equal(low, 3);
	assert_int_equal(high, 3);
	image_free(&im);
	free(f.data);
}

TEST(the_right_one_is_picked)
{
	struct file f = read_file("packed.fatbin"), plain = read_file("sm_35.cubin");
	struct image_pick p;

	assert_int_equal(image_pick(f.data, f.size, &p), IMAGE_OK);
	assert_int_equal(p.size, plain.size);
	assert_memory_equal(p.cubin, plain.data, p.size);
	assert_null(p.ptx);
	image_pick_free(&p);
	free(f.data);
	free(plain.data);
}

TEST(ptx_alone_says_so)
{
	static const char text[] = "//\n.version 7.8\n.target sm_35\n";
	struct file f = read_file("only_ptx.fatbin");
	struct image_pick p;

	assert_int_equal(image_pick(f.data, f.size, &p), IMAGE_ONLY_PTX);
	assert_int_equal(strlen(p.ptx), p.ptx_size);
	assert_non_null(strstr(p.ptx, ".target sm_35"));
	image_pick_free(&p);
	assert_int_equal(image_pick(text, sizeof(text) - 1, &p), IMAGE_ONLY_PTX);
	assert_string_equal(p.ptx, text);
	image_pick_free(&p);
	assert_int_equal(image_pick("nothing of the kind at all", 26, &p), IMAGE_INVALID);
	image_pick_free(&p);
	free(f.data);
}

/* nvcc without -arch: the program has PTX, but for compute_52 */
TEST(ptx_for_later_chips)
{
	enum { ARCH_AT = 16 + 28 }; /* in the first entry, behind the container's header */
	struct file f = read_file("only_ptx.fatbin");
	struct image_pick p;
	uint32_t arch;

	memcpy(&arch, f.data + ARCH_AT, sizeof(arch));
	assert_int_equal(arch, 35);
	arch = 52;
	memcpy(f.data + ARCH_AT, &arch, sizeof(arch));
	assert_int_equal(image_pick(f.data, f.size, &p), IMAGE_NO_BINARY);
	assert_int_equal(p.later_ptx, 52);
	image_pick_free(&p);
	free(f.data);
}

TEST(unlinked_code_is_refused)
{
	struct file f = read_file("relocatable.cubin");
	struct image im;

	assert_int_equal(image_load(&im, f.data, f.size, f.size), IMAGE_UNSUPPORTED);
	assert_non_null(strstr(im.reason, "-dc"));
	free(f.data);
}

/* Some files of cuBLAS are like that, and its symbols are behind the first word of control. */
TEST(unlinked_code_that_is_complete)
{
	static const uint64_t value_and_size[] = { 0, 0x80 };
	struct file f = read_file("alone.cubin");
	uint8_t *symbol = memmem(f.data, f.size, value_and_size, sizeof(value_and_size));
	unsigned int begin;
	struct image im;

	assert_non_null(symbol);
	for (begin = 0; begin <= 8; begin += 8) {
		*symbol = begin;
		assert_int_equal(image_load(&im, f.data, f.size, f.size), IMAGE_OK);
		assert_int_equal(im.nr_kernels, 1);
		assert_string_equal(im.kernels[0].name, "alone");
		assert_int_equal(im.kernels[0].nr_params, 2);
		assert_int_equal(im.kernels[0].code % 64, 0);
		assert_int_equal(im.kernels[0].code_size, 0x80);
		image_free(&im);
	}
	free(f.data);
}

/*
 * A kernel that calls what no driver of ours has is marked, however it calls it; the others of its
 * file are not. Without the attribute that names a kernel's functions, its own calls do.
 */
TEST(functions_that_are_not_here)
{
	struct file f = read_file("calls_driver.cubin");
	struct image im;
	uint32_t *at;

	assert_int_equal(image_load(&im, f.data, f.size, f.size), IMAGE_OK);
	assert_int_equal(im.nr_kernels, 4);
	assert_null(image_find_kernel(&im, "plain")->missing);
	assert_null(image_find_kernel(&im, "has_all")->missing);
	assert_non_null(strstr(image_find_kernel(&im, "asks")->missing, "runtime"));
	assert_non_null(strstr(image_find_kernel(&im, "asks_by_a_function")->missing, "runtime"));
	image_free(&im);
	for (at = (uint32_t *)f.data; (uint8_t *)(at + 1) <= f.data + f.size; at++)
		if ((*at & 0xffff) == 0x0f04)
			*at |= 0xff00;
	assert_int_equal(image_load(&im, f.data, f.size, f.size), IMAGE_OK);
	assert_null(image_find_kernel(&im, "plain")->missing);
	assert_string_equal(image_find_kernel(&im, "asks")->missing, "cnpGetLimit");
	image_free(&im);
	free(f.data);
}

TEST(other_chips_are_refused)
{
	struct file f = read_file("sm_35.cubin");
	struct image im;

	f.data[48] = 60; /* the architecture in e_flags */
	assert_int_equal(image_load(&im, f.data, f.size, f.size), IMAGE_NO_BINARY);
	assert_non_null(strstr(im.reason, "sm_60"));
	free(f.data);
}

/* ------------------------------------------------------------------ what .nv.info must not say */

/* where words follow the head of an attribute: @a, and @b if it is >= 0; there is one such place */
static uint32_t *attribute(const struct file *f, uint32_t head, uint32_t a, int64_t b)
{
	const uint32_t want[] = { head, a, b };
	size_t bytes = b < 0 ? 8 : 12;
	uint8_t *at = memmem(f->data, f->size, want, bytes);

	assert_non_null(at);
	assert_null(memmem(at + 1, f->data + f->size - at - 1, want, bytes));
	assert_int_equal((at - f->data) % 4, 0);
	return (uint32_t *)at;
}

/* with *word changed the cubin can't be loaded, and the reason says @why */
static void refused(const struct file *f, uint32_t *word, uint32_t value, const char *why)
{
	uint32_t old = *word;
	struct image im;

	*word = value;
	assert_int_equal(image_load(&im, f->data, f->size, f->size), IMAGE_INVALID);
	assert_non_null(strstr(im.reason, why));
	*word = old;
	assert_int_equal(image_load(&im, f->data, f->size, f->size), IMAGE_OK);
	image_free(&im);
}

/* heads of attributes, as words: format, name, size */
enum {
	PARAM_CBANK = 0x80a04,
	FRAME_SIZE = 0x81104,
	MIN_STACK = 0x81204,
	KPARAM = 0xc1704,
	PARAM_SIZE = 0x1903,
	CRS_STACK = 0x41e04,
	REGCOUNT = 0x82f04,
	UNKNOWN_HALF = 0x7f03,
};

/*
 * A graph's node has memory for as many bytes as the kernel has, and pointers to each parameter: no
 * parameter may lie behind them. The last one of "bounded" is a short, at byte 24 of 26.
 */
TEST(parameters_lie_within)
{
	struct file f = read_file("sm_35.cubin");
	uint32_t *last = attribute(&f, KPARAM, 0, 3 | 24 << 16);
	uint32_t *bank = attribute(&f, PARAM_CBANK, 11, 0x140 | 26 << 16), *size = bank + 3;
	static const char why[] = "parameter 3 lies behind";

	assert_int_equal(*size, PARAM_SIZE | 26 << 16);
	refused(&f, last + 2, 3 | 25 << 16, why);
	refused(&f, last + 2, 3 | 4000 << 16, why);
	refused(&f, last + 3, (last[3] & 0x3ffff) | 3 << 18, why);
	refused(&f, last + 3, (last[3] & 0x3ffff) | 4072 << 18, why);
	refused(&f, size, PARAM_SIZE | 25 << 16, why);
	*size = UNKNOWN_HALF;
	refused(&f, bank + 2, 0x140 | 25 << 16, why);
	free(f.data);
}

/*
 * Registers are divided by, and stacks are added up and multiplied by the threads of a warp, in 32
 * bits: no more than a GPU of 3.5 has is taken.
 */
TEST(resources_are_a_gpus)
{
	struct file f = read_file("sm_35.cubin");
	uint32_t *regs = attribute(&f, REGCOUNT, 16, 13), *crs = attribute(&f, CRS_STACK, 16, -1);
	uint32_t *stacks[] = { attribute(&f, MIN_STACK, 16, 256),
			       attribute(&f, FRAME_SIZE, 16, 256) };
	struct image im;
	unsigned int i;

	refused(&f, regs + 2, 256, "registers");
	refused(&f, regs + 2, 0x08000000, "registers");
	for (i = 0; i < 2; i++) {
		refused(&f, stacks[i] + 2, (512 << 10) + 1, "stack");
		refused(&f, stacks[i] + 2, UINT32_MAX - 1, "stack");
	}
	refused(&f, crs + 1, (1 << 20) + 1, "stack");
	refused(&f, crs + 1, UINT32_MAX - 1, "stack");
	regs[2] = 255;
	stacks[0][2] = stacks[1][2] = 512 << 10;
	crs[1] = 1 << 20;
	assert_int_equal(image_load(&im, f.data, f.size, f.size), IMAGE_OK);
	assert_int_equal(image_find_kernel(&im, "bounded")->stack, 512 << 10);
	image_free(&im);
	/* nvcc does not know how deep calls go */
	crs[1] = UINT32_MAX;
	assert_int_equal(image_load(&im, f.data, f.size, f.size), IMAGE_OK);
	assert_int_equal(image_find_kernel(&im, "bounded")->crs, 4096);
	image_free(&im);
	free(f.data);
}

/* ------------------------------------------------------------------ images that cost too much */

/*
 * A cubin with @nr kernels and @more empty sections. Each kernel has a name of its own, its code,
 * and one parameter, whose number is @ordinal; with @one_name they share all of that. As LZ4 makes
 * it, in a fat binary of one entry.
 */
struct bomb {
	uint32_t nr, more, ordinal;
	bool one_name;
};

/* numbers of a cubin and of a fat binary: cuda/kepler/image */
enum { CUBIN = 190, CUDA_INFO = 0x70000000, ENTRY = 0x10, INFO_BYTES = 16, NAME_BYTES = 32 };

static struct file cubin_of(const struct bomb *b)
{
	static const char *const prefix[] = { ".text.", ".nv.info.", ".nv.constant0." };
	const uint32_t own = b->one_name ? 1 : b->nr, nr_sec = 4 + 3 * own + b->more;
	const size_t names = 64 + 3 * (size_t)own * NAME_BYTES, info = 64 + names, syms = info + 32;
	const size_t table = syms + b->nr * sizeof(Elf64_Sym);
	struct file f = { .size = table + nr_sec * sizeof(Elf64_Shdr) };
	Elf64_Ehdr head = { .e_ident = "\177ELF\2\1\1",
			    .e_type = ET_EXEC,
			    .e_machine = CUBIN,
			    .e_shoff = table,
			    .e_flags = 35,
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = nr_sec,
			    .e_shstrndx = 1 };
	Elf64_Shdr *s = calloc(nr_sec, sizeof(*s));
	uint32_t i, k, value[] = { 0x0c1704, 0, b->ordinal, 0 };
	char *text;

	f.data = calloc(1, f.size);
	text = (char *)f.data + 64;
	memcpy(f.data, &head, sizeof(head));
	memcpy(f.data + info, value, sizeof(value));
	s[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = 64, .sh_size = names };
	s[2] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
			     .sh_offset = syms,
			     .sh_link = 1,
			     .sh_size = b->nr * sizeof(Elf64_Sym) };
	s[3] = (Elf64_Shdr){ .sh_type = SHT_NULL };
	for (i = 0; i < 3 * own; i++) {
		k = 64 + i * NAME_BYTES;
		snprintf(text + k, NAME_BYTES, "%sk%u", prefix[i % 3], i / 3);
		s[4 + i] = (Elf64_Shdr){ .sh_name = k,
					 .sh_offset = info,
					 .sh_size = INFO_BYTES,
					 .sh_type = i % 3 == 1 ? CUDA_INFO : SHT_PROGBITS };
	}
	for (i = 0; i < b->nr; i++) {
		k = b->one_name ? 0 : i;
		Elf64_Sym sym = { .st_name = 64 + 3 * k * NAME_BYTES + strlen(prefix[0]),
				  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				  .st_other = ENTRY,
				  .st_shndx = 4 + 3 * k };

		memcpy(f.data + syms + i * sizeof(sym), &sym, sizeof(sym));
	}
	memcpy(f.data + table, s, nr_sec * sizeof(*s));
	free(s);
	return f;
}

static struct file packed(struct file cubin)
{
	const int most = LZ4_compressBound(cubin.size);
	struct {
		uint32_t magic;
		uint16_t version, header;
		uint64_t bytes;
		uint16_t kind, entry_version;
		uint32_t entry_header;
		uint64_t size;
		uint32_t packed, unknown;
		uint16_t minor, major;
		uint32_t arch;
		uint64_t name, flags, zero, unpacked;
	} head = { 0xba55ed50,
		   1,
		   16,
		   .kind = 2,
		   .entry_version = 0x101,
		   .entry_header = 64,
		   .arch = 35,
		   .flags = 0x2000,
		   .unpacked = cubin.size };
	struct file f = { .data = calloc(1, sizeof(head) + most) };

	head.packed = LZ4_compress_default((char *)cubin.data, (char *)f.data + sizeof(head),
					   cubin.size, most);
	head.size = head.packed;
	head.bytes = 64 + head.size;
	memcpy(f.data, &head, sizeof(head));
	f.size = sizeof(head) + head.packed;
	free(cubin.data);
	return f;
}

/* what an image takes of memory is bounded by the bytes that it came as, however it is made */
TEST(cost_is_in_proportion)
{
	static const struct {
		struct bomb bomb;
		enum image_error want;
		const char *why;
	} cases[] = {
		{ { .nr = 1 }, IMAGE_OK, NULL },
		{ { .nr = 100, .ordinal = 3 }, IMAGE_OK, NULL },
		{ { .nr = 1000, .one_name = true }, IMAGE_INVALID, "have the name k0" },
		{ { .nr = 150000, .one_name = true }, IMAGE_INVALID, "tables are too large" },
		{ { .nr = 1, .ordinal = 4095 }, IMAGE_OK, NULL },
		{ { .nr = 2000, .ordinal = 4095 }, IMAGE_INVALID, "tables are too large" },
		{ { .nr = 1, .more = 65000 }, IMAGE_INVALID, "tables are too large" },
	};
	struct image_pick p;
	struct image im;
	struct file f;
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		f = packed(cubin_of(&cases[i].bomb));
		assert_int_equal(image_pick(f.data, f.size, &p), IMAGE_OK);
		assert_int_equal(image_load(&im, p.cubin, p.size, p.packed), cases[i].want);
		if (cases[i].why)
			assert_non_null(strstr(im.reason, cases[i].why));
		image_free(&im);
		image_pick_free(&p);
		free(f.data);
	}
}

/* LZ4 makes 255 bytes of one at most: more is refused before it is made room for */
TEST(no_room_for_impossible_bytes)
{
	struct file f = packed(cubin_of(&(struct bomb){ .nr = 1 }));
	const uint64_t gib = 1 << 30;
	struct image_pick p;

	memcpy(f.data + 16 + 56, &gib, sizeof(gib));
	assert_int_equal(image_pick(f.data, f.size, &p), IMAGE_INVALID);
	image_pick_free(&p);
	free(f.data);
}

/* ------------------------------------------------------------------ damage */

static void try_both(const uint8_t *data, size_t size)
{
	/* so that the sanitizer sees reads behind the end */
	uint8_t *copy = malloc(size ? size : 1);
	struct image_pick p;
	struct image im;

	memcpy(copy, data, size);
	if (image_pick(copy, size, &p) == IMAGE_OK &&
	    image_load(&im, p.cubin, p.size, p.packed) == IMAGE_OK) {
		assert_true(im.nr_kernels <= 65536);
		image_free(&im);
	}
	image_pick_free(&p);
	free(copy);
}

/* Cut off, and with single bytes changed in three ways. */
TEST(damage_does_no_harm)
{
	static const char *const names[] = { "sm_35.cubin", "packed.fatbin" };
	unsigned int i, way;
	size_t at;

	for (i = 0; i < 2; i++) {
		struct file f = read_file(names[i]);

		for (at = 0; at < f.size; at += at < 1024 ? 1 : 13)
			try_both(f.data, at);
		for (at = 0; at < f.size; at += at < 2048 || f.size - at < 2048 ? 1 : 7)
			for (way = 0; way < 3; way++) {
				uint8_t old = f.data[at];

				f.data[at] = way == 0 ? 0xff : way == 1 ? old ^ 1 : old ^ 0x80;
				try_both(f.data, f.size);
				f.data[at] = old;
			}
		free(f.data);
	}
}

TEST_MAIN(NULL, NULL)
