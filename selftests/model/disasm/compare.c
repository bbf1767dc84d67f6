// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder against nvdisasm: the same text, or both refuse.
 *
 *   compare NVDISASM --cubin FILE...            every instruction of compiled programs; one TAP
 *                                               line a file
 *   compare NVDISASM --random COUNT SEED        COUNT words of each form in the decoder's tables,
 *                                               and a quarter as many of each 12-bit opcode; one
 *                                               TAP line a mnemonic
 *   compare NVDISASM --table COUNT SEED         prints the table of unit/gpu-model/gr/sm:
 *                                               from such words the ones that show something which
 *                                               none before it showed, and some refused ones
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gr/sm/encoding.h"
#include "gr/sm/print.h"
#include "oracle.h"

#define MAX_SHOWN 8

struct score {
	unsigned long equal, refused, bad;
};

static int tests, failures;
static uint64_t seed;

static uint64_t random64(void)
{
	/* splitmix64 */
	uint64_t z = seed += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* the same but for blanks */
static bool same_text(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, " \t");
		b += strspn(b, " \t");
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

/* word i, on which nvdisasm has spoken */
static void compare_word(const struct program *p, size_t i, struct score *s, const char *what)
{
	char ours[256];
	struct sm_insn in;
	bool legal = sm_decode(p->word[i], i * 8, &in);
	bool theirs = !p->refused[i] && !oracle_doubts(p->text[i]);

	if (!legal && !theirs) {
		s->refused++;
		return;
	}
	ours[0] = '\0';
	if (legal)
		sm_print(&in, i * 8, ours, sizeof(ours));
	if (legal && theirs && same_text(ours, p->text[i])) {
		s->equal++;
		return;
	}
	if (s->bad++ < MAX_SHOWN)
		printf("# %s %016llx\n#   nvdisasm  %s\n#   decoder   %s\n", what,
		       (unsigned long long)p->word[i], p->refused[i] ? "(refused)" : p->text[i],
		       legal ? ours : "(refused)");
}

static void report(const struct score *s, const char *what)
{
	bool ok = !s->bad && s->equal + s->refused > 0;

	printf("%sok %d - %s: %lu equal, %lu refused by both, %lu differ\n", ok ? "" : "not ",
	       ++tests, what, s->equal, s->refused, s->bad);
	failures += !ok;
}

/* ---------------------------------------------------------------- compiled programs */

static char *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	char *data = NULL;
	long end;

	if (!f)
		return NULL;
	if (fseek(f, 0, SEEK_END) == 0 && (end = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0) {
		data = malloc(end + 1);
		if (data && fread(data, 1, end, f) != (size_t)end) {
			free(data);
			data = NULL;
		}
		*size = end;
	}
	fclose(f);
	return data;
}

/* code sections; false: no ELF file of 64 bits */
static bool append_elf(struct program *p, const char *data, size_t size)
{
	const Elf64_Ehdr *header = (const void *)data;
	const Elf64_Shdr *section;
	unsigned int i;

	if (size < sizeof(*header) || memcmp(data, ELFMAG, SELFMAG) ||
	    data[EI_CLASS] != ELFCLASS64 || header->e_shoff > size ||
	    size - header->e_shoff < header->e_shnum * sizeof(*section))
		return false;
	section = (const void *)(data + header->e_shoff);
	for (i = 0; i < header->e_shnum; i++)
		if (section[i].sh_type == SHT_PROGBITS && section[i].sh_flags & SHF_EXECINSTR &&
		    section[i].sh_offset <= size &&
		    section[i].sh_size <= size - section[i].sh_offset)
			program_append(p, data + section[i].sh_offset, section[i].sh_size);
	return true;
}

static void compare_cubin(const char *nvdisasm, const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct program p = { 0 };
	struct score s = { 0 };
	size_t size = 0, i;
	char *data = read_file(path, &size);
	bool is_elf = data && append_elf(&p, data, size);

	if (is_elf && p.words && oracle_run(nvdisasm, &p))
		for (i = 0; i < p.words; i++)
			if (i % GROUP)
				compare_word(&p, i, &s, name);
	if (is_elf && !p.words)
		printf("ok %d - %s # SKIP no code\n", ++tests, name);
	else
		report(&s, name);
	program_free(&p);
	free(data);
}

/* ---------------------------------------------------------------- generated words */

/* few bits are set where a word that looks like one instruction means another (LDG, RED, ISUB) */
static uint64_t few_bits(void)
{
	static const unsigned int registers[] = { 2, 10, 23, 42 };
	uint64_t v = 7ull << 18, dice = random64();
	unsigned int i;

	for (i = 0; i < (dice & 7); i++)
		v |= 1ull << (random64() & 63);
	for (i = 0; i < 4; i++)
		if (dice >> (8 + i) & 1)
			v |= 0xffull << registers[i];
	if (dice >> 16 & 1)
		v |= (dice & 2 ? 3ull : 15ull) << 34;
	return v;
}

/* many bits, few bits, and numbers of a meaning of their own: RZ, R0, PT */
static uint64_t random_fill(void)
{
	static const unsigned int registers[] = { 2, 10, 23, 42 }, preds[] = { 42, 48, 51, 32, 14 };
	uint64_t v = random64(), dice = random64();
	unsigned int i;

	if ((dice & 7) == 7)
		return few_bits();
	if (dice & 1)
		v &= random64() & random64();
	else if (dice & 2)
		v |= random64();
	for (i = 0; i < 4; i++) {
		if ((dice >> (8 + 5 * i) & 31) == 0)
			v |= 0xffull << registers[i];
		if ((dice >> (8 + 5 * i) & 31) == 1)
			v &= ~(0xffull << registers[i]);
	}
	for (i = 0; i < 5; i++)
		if ((dice >> (32 + 4 * i) & 15) == 0)
			v |= 7ull << preds[i];
	if (dice >> 60 & 1)
		v = (v & ~(0xfull << 18)) | 7ull << 18;
	return v;
}

static uint64_t in_form(uint64_t match, uint64_t mask)
{
	return match | (random_fill() & ~mask);
}

static void add_rows(struct program *p, const struct sm_row *row, unsigned int count)
{
	unsigned int i;

	for (; row->op != SM_ILLEGAL; row++)
		for (i = 0; i < count; i++)
			program_add(p, in_form(row->match, row->mask));
}

static void add_alu_rows(struct program *p, unsigned int count)
{
	const struct sm_alu_row *row;
	uint64_t code, mask;
	unsigned int i, source;

	for (row = sm_alu_rows; row->op != SM_ILLEGAL; row++) {
		for (source = 1; source < 4; source++)
			for (i = 0; i < count; i++)
				program_add(p, in_form((uint64_t)source << 62 |
							       (uint64_t)row->code << 54 | 2,
						       3ull << 62 | (uint64_t)row->mask << 54 | 3));
		code = (uint64_t)(row->code >> 5) << 60 | (uint64_t)(row->code & 31) << 54;
		mask = (uint64_t)(row->mask >> 5) << 60 | (uint64_t)(row->mask & 31) << 54;
		for (i = 0; i < count; i++)
			program_add(p, in_form(1ull << 63 | code | 1, 1ull << 63 | mask | 3));
	}
}

/* each class and upper ten bits, also unknown ones */
static void add_opcodes(struct program *p, unsigned int count)
{
	unsigned int top, class, i;

	for (class = 0; class < 4; class ++)
		for (top = 0; top < 1024; top++)
			for (i = 0; i < count; i++) {
				/*
				 * a control word out of its place is no instruction, and nvdisasm
				 * stops at it
				 */
				if (class == 0 && top >= 0x20 && top < 0x40)
					continue;
				program_add(p, in_form((uint64_t)top << 54 | class,
						       0x3ffull << 54 | 3));
			}
}

/* small integers, floats around the places where their text changes */
static void add_numbers(struct program *p, unsigned int count)
{
	static const uint64_t bases[] = { 0x4000000000000010ull, 0x2000000000000002ull,
					  0x7400000000000002ull, 0x4000000000000001ull };
	unsigned int i, k;
	uint64_t number;

	for (k = 0; k < sizeof(bases) / sizeof(bases[0]); k++)
		for (i = 0; i < count; i++) {
			number = i & 1 ? (uint32_t)random64() & 0x0fffffff :
					 (uint32_t)random64() >> (random64() & 31);
			if (i & 1)
				number += 0x40000000 + (uint32_t)(random64() & 0x80000000);
			program_add(p, bases[k] | 7ull << 18 | number << 23);
		}
}

static void generate(struct program *p, unsigned int count)
{
	add_alu_rows(p, count);
	add_rows(p, sm_memory_rows, count);
	add_rows(p, sm_other_rows, count);
	add_rows(p, sm_control_rows, count);
	add_rows(p, sm_texture_rows, count);
	add_rows(p, sm_video_rows, count);
	add_opcodes(p, count / 4 + 1);
	add_numbers(p, count * 4);
}

static void compare_random(const char *nvdisasm, unsigned int count)
{
	static struct score scores[SM_OP_COUNT];
	struct program p = { 0 };
	struct sm_insn in;
	size_t i;

	generate(&p, count);
	if (!oracle_run(nvdisasm, &p)) {
		report(&scores[0], "random");
		return;
	}
	for (i = 0; i < p.words; i++) {
		if (i % GROUP == 0)
			continue;
		sm_decode(p.word[i], i * 8, &in);
		compare_word(&p, i, &scores[in.op], sm_op_name(in.op));
	}
	for (i = 0; i < SM_OP_COUNT; i++)
		if (i != SM_SCHED)
			report(&scores[i], sm_op_name(i));
	program_free(&p);
}

/* ---------------------------------------------------------------- the table */

#define MAX_SEEN 20000
static char *seen[MAX_SEEN];
static unsigned int seen_count;

static bool is_new(const char *feature)
{
	unsigned int i;

	for (i = 0; i < seen_count; i++)
		if (!strcmp(seen[i], feature))
			return false;
	if (seen_count < MAX_SEEN)
		seen[seen_count++] = strdup(feature);
	return true;
}

/* Whether the text shows a mnemonic, a modifier of it or a kind of operand for the first time. */
static bool shows_something(const char *text)
{
	static const char *const marks[] = { "-",   "~",    "!",   "|",	 "c[0x", "[R", "[0x",
					     "+0x", "+-0x", " 0x", "RZ", "PT",	 ".CC" };
	char copy[256], feature[300], *word, *mnemonic, *save;
	bool new;
	size_t i;

	text = text[0] == '@' ? strchr(text, ' ') + 1 : text;
	snprintf(copy, sizeof(copy), "%s%s", oracle_doubts(text) ? "?" : "", text);
	copy[strcspn(copy, " ")] = '\0';
	mnemonic = strtok_r(copy, ".", &save);
	new = is_new(mnemonic);
	while ((word = strtok_r(NULL, ".", &save))) {
		snprintf(feature, sizeof(feature), "%s.%s", mnemonic, word);
		new |= is_new(feature);
	}
	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		snprintf(feature, sizeof(feature), "%s %s", mnemonic, marks[i]);
		new |= strstr(text, marks[i]) && is_new(feature);
	}
	return new;
}

static bool print_table(const char *nvdisasm, unsigned int count)
{
	struct program p = { 0 };
	unsigned int refused = 0;
	size_t i;

	generate(&p, count);
	if (!oracle_run(nvdisasm, &p))
		return false;
	printf("/* SPDX-License-Identifier: GPL-2.0-only */\n"
	       "/* word, address, text: written by selftests/model/disasm/compare --table, which see */\n");
	for (i = 0; i < p.words; i++) {
		if (i % GROUP == 0)
			continue;
		if (p.refused[i] ? refused++ % (count * 40) != 0 : !shows_something(p.text[i]))
			continue;
		if (p.refused[i] || oracle_doubts(p.text[i]))
			printf("{ 0x%016llx, 0x%zx, NULL },\n", (unsigned long long)p.word[i],
			       i * 8);
		else
			printf("{ 0x%016llx, 0x%zx, \"%s\" },\n", (unsigned long long)p.word[i],
			       i * 8, p.text[i]);
	}
	program_free(&p);
	return true;
}

int main(int argc, char **argv)
{
	int i;

	if (argc >= 4 && !strcmp(argv[2], "--cubin")) {
		printf("1..%d\n", argc - 3);
		for (i = 3; i < argc; i++)
			compare_cubin(argv[1], argv[i]);
		return failures ? 1 : 0;
	}
	if (argc == 5) {
		seed = strtoull(argv[4], NULL, 0);
		if (!strcmp(argv[2], "--random")) {
			printf("1..%d\n", SM_OP_COUNT - 1);
			compare_random(argv[1], strtoul(argv[3], NULL, 0));
			return failures ? 1 : 0;
		}
		if (!strcmp(argv[2], "--table"))
			return print_table(argv[1], strtoul(argv[3], NULL, 0)) ? 0 : 1;
	}
	fprintf(stderr,
		"usage: compare NVDISASM --cubin FILE... | --random COUNT SEED | --table COUNT SEED\n");
	return 2;
}
