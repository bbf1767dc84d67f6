// SPDX-License-Identifier: MIT
/*
 * The ELF of a cubin: checks sections and puts them into code, data and constants; lists kernels,
 * variables and references.
 */
#include "cubin.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FILE       (256u << 20)
#define MAX_SPACE      (1u << 30)
#define CONST_BANK_MAX 65536
/* far above what nvcc makes: some 500 bytes of tables for a kernel of 200 packed bytes */
#define BUDGET_LEAST  (1u << 20)
#define BUDGET_A_BYTE 64

/* ------------------------------------------------------------------ headers */

static enum image_error read_header(struct cubin *c, Elf64_Ehdr *h)
{
	struct image *im = c->im;
	static const unsigned char ident[] = { 0x7f,	   'E',		'L',	   'F',
					       ELFCLASS64, ELFDATA2LSB, EV_CURRENT };

	if (im->file_size < sizeof(*h) || memcmp(im->file, ident, sizeof(ident)))
		return cubin_fail(c, IMAGE_INVALID, "not a 64-bit ELF file");
	memcpy(h, im->file, sizeof(*h));
	if (h->e_machine != CUBIN_MACHINE)
		return cubin_fail(c, IMAGE_INVALID,
				  "an ELF file, but not for an NVIDIA GPU (machine %u)",
				  h->e_machine);
	im->arch = h->e_flags & 0xff;
	if (im->arch != 35 && im->arch != 30 && im->arch != 32)
		return cubin_fail(c, IMAGE_NO_BINARY,
				  "made for sm_%u; this GPU is sm_35: compile with -arch=sm_35",
				  im->arch);
	if (h->e_type != ET_EXEC && h->e_type != ET_REL)
		return cubin_fail(c, IMAGE_INVALID, "not code for a GPU (type %u)", h->e_type);
	if (h->e_shentsize != sizeof(Elf64_Shdr) || !h->e_shnum || h->e_shoff > im->file_size ||
	    (im->file_size - h->e_shoff) / sizeof(Elf64_Shdr) < h->e_shnum ||
	    h->e_shstrndx >= h->e_shnum)
		return cubin_fail(c, IMAGE_INVALID, "its section table lies outside of the file");
	return IMAGE_OK;
}

/* NULL: the string does not end inside of the table */
static const char *string_at(const struct cubin_section *t, uint64_t at)
{
	return t->data && at < t->size && memchr(t->data + at, 0, t->size - at) ?
		       (const char *)t->data + at :
		       NULL;
}

static int compare_sections(const void *a, const void *b, void *cubin)
{
	const struct cubin *c = cubin;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	int order = strcmp(c->sec[i].name, c->sec[k].name);

	return order ? order : i < k ? -1 : 1;
}

static enum image_error sort_sections(struct cubin *c)
{
	uint32_t i;

	c->by_name = malloc(c->nr_sec * sizeof(*c->by_name));
	if (!c->by_name)
		return IMAGE_NO_MEMORY;
	for (i = 1; i < c->nr_sec; i++)
		c->by_name[i - 1] = i;
	qsort_r(c->by_name, c->nr_sec - 1, sizeof(*c->by_name), compare_sections, c);
	return IMAGE_OK;
}

static enum image_error read_sections(struct cubin *c, const Elf64_Ehdr *h)
{
	struct image *im = c->im;
	enum image_error err;
	Elf64_Shdr s;
	uint32_t i;

	c->sec = calloc(h->e_shnum, sizeof(*c->sec));
	if (!c->sec)
		return IMAGE_NO_MEMORY;
	c->nr_sec = h->e_shnum;
	err = cubin_pay(c, c->nr_sec * (sizeof(*c->sec) + sizeof(*c->by_name)));
	if (err)
		return err;
	for (i = 0; i < c->nr_sec; i++) {
		struct cubin_section *sec = &c->sec[i];

		memcpy(&s, im->file + h->e_shoff + i * sizeof(s), sizeof(s));
		sec->type = s.sh_type;
		sec->flags = s.sh_flags;
		sec->info = s.sh_info;
		sec->link = s.sh_link;
		sec->size = s.sh_size;
		sec->align = s.sh_addralign;
		sec->entsize = s.sh_entsize;
		sec->kernel = IMAGE_NONE;
		if (s.sh_type == SHT_NOBITS || s.sh_type == SHT_NULL)
			continue;
		if (s.sh_offset > im->file_size || s.sh_size > im->file_size - s.sh_offset)
			return cubin_fail(c, IMAGE_INVALID, "section %u lies outside of the file",
					  i);
		sec->data = im->file + s.sh_offset;
	}
	for (i = 0; i < c->nr_sec; i++) {
		memcpy(&s, im->file + h->e_shoff + i * sizeof(s), sizeof(s));
		c->sec[i].name = i ? string_at(&c->sec[h->e_shstrndx], s.sh_name) : "";
		if (!c->sec[i].name)
			return cubin_fail(c, IMAGE_INVALID, "section %u has no name", i);
		err = cubin_pay(c, strlen(c->sec[i].name));
		if (err)
			return err;
	}
	return sort_sections(c);
}

static enum image_error read_symbols(struct cubin *c)
{
	uint32_t i;

	for (i = 0; i < c->nr_sec; i++) {
		const struct cubin_section *s = &c->sec[i], *str;

		if (s->type != SHT_SYMTAB)
			continue;
		if (c->sym || s->link >= c->nr_sec || !s->data ||
		    s->size / sizeof(Elf64_Sym) > UINT32_MAX)
			return cubin_fail(c, IMAGE_INVALID, "its symbol table is damaged");
		str = &c->sec[s->link];
		if (!str->data || !str->size || str->data[str->size - 1])
			return cubin_fail(c, IMAGE_INVALID, "the names of its symbols are damaged");
		c->sym = (const Elf64_Sym *)s->data;
		c->nr_sym = s->size / sizeof(Elf64_Sym);
		c->str = (const char *)str->data;
		c->str_size = str->size;
	}
	return c->sym ? IMAGE_OK : cubin_fail(c, IMAGE_INVALID, "it has no symbols");
}

/* ------------------------------------------------------------------ spaces */

static bool put_section(uint32_t *size, struct cubin_section *s, enum image_space space,
			uint64_t align, uint64_t max)
{
	uint64_t at;

	if (!align)
		align = 1;
	if (align & (align - 1) || align > 65536 || s->size > max)
		return false;
	at = (*size + align - 1) & ~(align - 1);
	if (at + s->size > max)
		return false;
	s->placed = true;
	s->space = space;
	s->offset = at;
	*size = at + s->size;
	return true;
}

static bool place_one(struct cubin *c, struct cubin_section *s)
{
	struct image *im = c->im;

	if (cubin_suffix(s->name, ".text."))
		return s->data && s->size % 8 == 0 &&
		       put_section(&im->code_size, s, IMAGE_CODE, FUNCTION_ALIGN, MAX_SPACE) &&
		       !cubin_pay(c, FUNCTION_ALIGN);
	if (!strcmp(s->name, ".nv.constant3"))
		return s->data && !im->const3_size &&
		       put_section(&im->const3_size, s, IMAGE_CONST3, 1, CONST_BANK_MAX);
	if (!strcmp(s->name, ".nv.global.init"))
		return s->data && !im->data_init &&
		       put_section(&im->data_size, s, IMAGE_DATA, 256, MAX_SPACE) &&
		       (im->data_init = im->data_size, true);
	return true;
}

static enum image_error place_sections(struct cubin *c)
{
	struct image *im = c->im;
	uint32_t i;

	for (i = 1; i < c->nr_sec; i++)
		if (!place_one(c, &c->sec[i]))
			return cubin_fail(c, IMAGE_INVALID, "section %s can't be loaded",
					  c->sec[i].name);
	for (i = 1; i < c->nr_sec; i++) /* variables that are 0 come last */
		if (!strcmp(c->sec[i].name, ".nv.global") &&
		    (c->sec[i].data ||
		     !put_section(&im->data_size, &c->sec[i], IMAGE_DATA, 256, MAX_SPACE)))
			return cubin_fail(
				c, IMAGE_INVALID,
				"its variables are too big, or not zero where they should be");
	im->code = calloc(1, im->code_size + 1);
	im->data = calloc(1, im->data_init + 1);
	im->const3 = calloc(1, im->const3_size + 1);
	if (!im->code || !im->data || !im->const3)
		return IMAGE_NO_MEMORY;
	for (i = 1; i < c->nr_sec; i++) {
		const struct cubin_section *s = &c->sec[i];
		uint8_t *to = s->space == IMAGE_CODE ? im->code :
			      s->space == IMAGE_DATA ? im->data :
						       im->const3;

		if (s->placed && s->data)
			memcpy(to + s->offset, s->data, s->size);
	}
	return IMAGE_OK;
}

/* --------------------------------------------------------------- kernels, variables, references */

/* the first of the sections that have this name, or NULL */
static struct cubin_section *section_of(struct cubin *c, const char *prefix, const char *name)
{
	uint32_t low = 0, high = c->nr_sec - 1, middle;
	const size_t n = strlen(prefix);
	const char *its;
	int order;

	while (low < high) {
		middle = low + (high - low) / 2;
		its = c->sec[c->by_name[middle]].name;
		order = strncmp(its, prefix, n);
		if ((order ? order : strcmp(its + n, name)) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	its = low < c->nr_sec - 1 ? cubin_suffix(c->sec[c->by_name[low]].name, prefix) : NULL;
	return its && !strcmp(its, name) ? &c->sec[c->by_name[low]] : NULL;
}

static int compare_kernels(const void *a, const void *b, void *cubin)
{
	const struct image_kernel *kernels = ((const struct cubin *)cubin)->im->kernels;

	return strcmp(kernels[*(const uint32_t *)a].name, kernels[*(const uint32_t *)b].name);
}

/* nvcc gives each kernel a name and sections of its own: no two kernels may share them */
static enum image_error sort_kernels(struct cubin *c)
{
	const uint32_t n = c->im->nr_kernels;
	uint32_t i;

	c->kernel_by_name = malloc((n + 1) * sizeof(*c->kernel_by_name));
	if (!c->kernel_by_name)
		return IMAGE_NO_MEMORY;
	for (i = 0; i < n; i++)
		c->kernel_by_name[i] = i;
	qsort_r(c->kernel_by_name, n, sizeof(*c->kernel_by_name), compare_kernels, c);
	for (i = 1; i < n; i++)
		if (!compare_kernels(&c->kernel_by_name[i - 1], &c->kernel_by_name[i], c))
			return cubin_fail(c, IMAGE_INVALID, "two kernels have the name %s",
					  c->im->kernels[c->kernel_by_name[i]].name);
	return IMAGE_OK;
}

/*
 * Instructions come in bundles, each behind a word of control. The GPU begins at that word; symbols
 * of NVIDIA's own assembler are at the first instruction.
 */
enum { BUNDLE = 64, CONTROL = 8 };

static enum image_error add_kernel(struct cubin *c, uint32_t sym, const Elf64_Sym *s)
{
	struct image *im = c->im;
	struct image_kernel *k = &im->kernels[im->nr_kernels];
	struct cubin_section *text = &c->sec[s->st_shndx], *bank;
	const struct cubin_section *extra;
	uint64_t begin;

	if (!text->placed || text->space != IMAGE_CODE || s->st_value > text->size)
		return cubin_fail(c, IMAGE_INVALID, "kernel %s has no code",
				  cubin_symbol_name(c, s));
	k->name = cubin_symbol_name(c, s);
	text->has_kernel = true;
	begin = s->st_value % BUNDLE == CONTROL ? s->st_value - CONTROL : s->st_value;
	k->code = text->offset + begin;
	k->code_size = text->size - begin;
	k->regs = text->info >> 24;
	k->barriers = text->flags >> SHF_CUDA_BARRIERS_SHIFT & SHF_CUDA_BARRIERS_MASK;
	extra = section_of(c, ".nv.shared.", k->name);
	k->shared = extra && extra->size < CONST_BANK_MAX ? extra->size : 0;
	extra = section_of(c, ".nv.local.", k->name);
	k->local = extra && extra->size < MAX_SPACE ? extra->size : 0;
	bank = section_of(c, ".nv.constant0.", k->name);
	if (bank && (!bank->data || bank->size > CONST_BANK_MAX))
		return cubin_fail(c, IMAGE_INVALID, "kernel %s: bank 0 of its constants is damaged",
				  k->name);
	if (bank) {
		bank->kernel = im->nr_kernels;
		k->const0 = bank->data;
		k->const0_size = bank->size;
	}
	extra = section_of(c, ".nv.constant2.", k->name);
	if (extra && (!extra->data || extra->size > CONST_BANK_MAX))
		return cubin_fail(c, IMAGE_INVALID, "kernel %s: bank 2 of its constants is damaged",
				  k->name);
	if (extra) {
		k->const2 = extra->data;
		k->const2_size = extra->size;
	}
	c->kernel_of_sym[sym] = im->nr_kernels++;
	return IMAGE_OK;
}

static enum image_error add_global(struct cubin *c, const Elf64_Sym *s)
{
	struct image *im = c->im;
	const struct cubin_section *sec = &c->sec[s->st_shndx];
	struct image_global *g = &im->globals[im->nr_globals];

	if (!sec->placed || sec->space == IMAGE_CODE)
		return IMAGE_OK;
	if (s->st_value > sec->size || s->st_size > sec->size - s->st_value)
		return cubin_fail(c, IMAGE_INVALID, "variable %s lies outside of its section",
				  cubin_symbol_name(c, s));
	g->name = cubin_symbol_name(c, s);
	g->space = sec->space;
	g->offset = sec->offset + s->st_value;
	g->size = s->st_size;
	im->managed |= sec->space == IMAGE_DATA && s->st_other & STO_CUDA_MANAGED;
	im->nr_globals++;
	return IMAGE_OK;
}

enum name_kind { NAME_NONE, NAME_KERNEL, NAME_GLOBAL, NAME_REF };

static enum name_kind kind_of(const struct cubin *c, const Elf64_Sym *s)
{
	const uint8_t type = ELF64_ST_TYPE(s->st_info);

	if (type == STT_CUDA_TEXTURE || type == STT_CUDA_SURFACE)
		return NAME_REF;
	if (s->st_shndx == SHN_UNDEF || s->st_shndx >= c->nr_sec)
		return NAME_NONE;
	if (type == STT_FUNC && s->st_other & STO_CUDA_ENTRY)
		return NAME_KERNEL;
	return type == STT_OBJECT ? NAME_GLOBAL : NAME_NONE;
}

/* tables with as many entries as there are names of each kind */
static enum image_error make_tables(struct cubin *c)
{
	uint64_t n[NAME_REF + 1] = { 0 }, bytes = 2 * sizeof(uint32_t) * (uint64_t)c->nr_sym;
	struct image *im = c->im;
	enum name_kind kind;
	Elf64_Sym s;
	uint32_t i;

	for (i = 0; i < c->nr_sym; i++) {
		cubin_symbol(c, i, &s);
		kind = kind_of(c, &s);
		n[kind]++;
		if (kind == NAME_KERNEL)
			bytes += strlen(cubin_symbol_name(c, &s)) + sizeof(*c->kernel_by_name);
		if (bytes > c->budget)
			break;
	}
	bytes += n[NAME_KERNEL] * sizeof(*im->kernels) + n[NAME_GLOBAL] * sizeof(*im->globals) +
		 n[NAME_REF] * sizeof(*im->refs);
	if (cubin_pay(c, bytes))
		return IMAGE_INVALID;
	im->kernels = calloc(n[NAME_KERNEL] + 1, sizeof(*im->kernels));
	im->globals = calloc(n[NAME_GLOBAL] + 1, sizeof(*im->globals));
	im->refs = calloc(n[NAME_REF] + 1, sizeof(*im->refs));
	c->kernel_of_sym = malloc((c->nr_sym + 1ull) * sizeof(uint32_t));
	c->ref_of_sym = malloc((c->nr_sym + 1ull) * sizeof(uint32_t));
	return im->kernels && im->globals && im->refs && c->kernel_of_sym && c->ref_of_sym ?
		       IMAGE_OK :
		       IMAGE_NO_MEMORY;
}

static enum image_error read_names(struct cubin *c)
{
	enum image_error err = make_tables(c);
	struct image *im = c->im;
	Elf64_Sym s;
	uint32_t i;

	for (i = 0; i < c->nr_sym && !err; i++) {
		c->kernel_of_sym[i] = c->ref_of_sym[i] = IMAGE_NONE;
		cubin_symbol(c, i, &s);
		switch (kind_of(c, &s)) {
		case NAME_KERNEL:
			err = add_kernel(c, i, &s);
			break;
		case NAME_GLOBAL:
			err = add_global(c, &s);
			break;
		case NAME_REF:
			im->refs[im->nr_refs].name = cubin_symbol_name(c, &s);
			im->refs[im->nr_refs].surface = ELF64_ST_TYPE(s.st_info) ==
							STT_CUDA_SURFACE;
			c->ref_of_sym[i] = im->nr_refs++;
			break;
		case NAME_NONE:
			break;
		}
	}
	return err ? err : sort_kernels(c);
}

/* ------------------------------------------------------------------ the whole */

/*
 * Some of cuBLAS's kernels are in files that were not linked. Such a file can be loaded if its code
 * is that of kernels, whose relocations all lead to what is there.
 */
static enum image_error check_unlinked(struct cubin *c, enum image_error err)
{
	uint32_t i;

	for (i = 1; i < c->nr_sec && !err; i++)
		if (c->sec[i].placed && c->sec[i].space == IMAGE_CODE &&
		    (!c->sec[i].has_kernel || c->sec[i].missing))
			err = IMAGE_UNSUPPORTED;
	return !err || err == IMAGE_NO_MEMORY ?
		       err :
		       cubin_fail(
			       c, IMAGE_UNSUPPORTED,
			       "relocatable device code that was not linked: use nvcc without -dc, or nvlink");
}

static enum image_error load(struct cubin *c)
{
	Elf64_Ehdr h = { 0 };
	enum image_error err = read_header(c, &h);

	if (!err)
		err = read_sections(c, &h);
	if (!err)
		err = read_symbols(c);
	if (!err)
		err = place_sections(c);
	if (!err)
		err = read_names(c);
	if (!err)
		err = cubin_info(c);
	if (!err)
		err = cubin_relocations(c);
	return h.e_type == ET_REL ? check_unlinked(c, err) : err;
}

enum image_error image_load(struct image *im, const void *cubin, size_t size, size_t packed)
{
	struct cubin c = { .im = im, .budget = BUDGET_LEAST + (uint64_t)packed * BUDGET_A_BYTE };
	enum image_error err;

	memset(im, 0, sizeof(*im));
	if (size > MAX_FILE)
		return cubin_fail(&c, IMAGE_INVALID, "%zu bytes are too much for a cubin", size);
	im->file = malloc(size + 1);
	if (!im->file)
		return IMAGE_NO_MEMORY;
	memcpy(im->file, cubin, size);
	im->file[size] = 0;
	im->file_size = size;
	err = load(&c);
	free(c.sec);
	free(c.by_name);
	free(c.kernel_by_name);
	free(c.kernel_of_sym);
	free(c.ref_of_sym);
	if (err) {
		char reason[sizeof(im->reason)];

		memcpy(reason, im->reason, sizeof(reason));
		image_free(im);
		memcpy(im->reason, reason, sizeof(reason));
	}
	return err;
}

void image_free(struct image *im)
{
	uint32_t i;

	for (i = 0; im->kernels && i < im->nr_kernels; i++)
		free(im->kernels[i].params);
	free(im->kernels);
	free(im->globals);
	free(im->refs);
	free(im->fixes);
	free(im->code);
	free(im->data);
	free(im->const3);
	free(im->file);
	memset(im, 0, sizeof(*im));
}

const struct image_kernel *image_find_kernel(const struct image *im, const char *name)
{
	uint32_t i;

	for (i = 0; i < im->nr_kernels; i++)
		if (!strcmp(im->kernels[i].name, name))
			return &im->kernels[i];
	return NULL;
}

const struct image_global *image_find_global(const struct image *im, const char *name)
{
	uint32_t i;

	for (i = 0; i < im->nr_globals; i++)
		if (!strcmp(im->globals[i].name, name))
			return &im->globals[i];
	return NULL;
}
