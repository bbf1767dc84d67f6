// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a relocatable ELF object as far as kernel modules go: data of named objects, and where a
 * pointer inside such data points to. A module's pointers are zero in the file; relocations say
 * which symbol they will hold.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module.h"

#define MODULE_MAX (64u << 20)

struct module {
	uint8_t *image;
	size_t size;
	Elf *elf;
	Elf_Data *symtab;
	size_t nr_syms, strndx;
	char release[64];
};

static uint8_t *read_file(const char *path, size_t *size)
{
	struct stat st;
	uint8_t *buf = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;
	size_t got = 0;

	if (fd < 0 || fstat(fd, &st)) {
		fprintf(stderr, "kvgpu-firmware: can't open %s: %s\n", path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode) || st.st_size < 64 || st.st_size > MODULE_MAX) {
		fprintf(stderr, "kvgpu-firmware: %s is no kernel module (%lld bytes)\n", path,
			(long long)st.st_size);
		goto out;
	}
	buf = malloc(st.st_size);
	while (buf && got < (size_t)st.st_size && (n = read(fd, buf + got, st.st_size - got)) > 0)
		got += n;
	if (!buf || got != (size_t)st.st_size) {
		fprintf(stderr, "kvgpu-firmware: can't read %s: %s\n", path,
			n < 0 ? strerror(errno) : "cut short");
		free(buf);
		buf = NULL;
	}
	*size = got;
out:
	if (fd >= 0)
		close(fd);
	return buf;
}

/* replaces an .xz image by what is in it */
static uint8_t *unxz(const char *path, uint8_t *in, size_t *size)
{
	uint64_t limit = 256u << 20;
	size_t in_pos = 0, out_pos = 0;
	uint8_t *out = malloc(MODULE_MAX);
	lzma_ret ret = LZMA_MEM_ERROR;

	if (out)
		ret = lzma_stream_buffer_decode(&limit, 0, NULL, in, &in_pos, *size, out, &out_pos,
						MODULE_MAX);
	if (ret != LZMA_OK) {
		fprintf(stderr,
			"kvgpu-firmware: %s: the xz data is damaged or too large (liblzma error %d)\n",
			path, ret);
		free(out);
		out = NULL;
	}
	free(in);
	*size = out_pos;
	return out;
}

static const char *section_name(struct module *m, const GElf_Shdr *sh)
{
	size_t shstrndx;

	if (elf_getshdrstrndx(m->elf, &shstrndx))
		return NULL;
	return elf_strptr(m->elf, shstrndx, sh->sh_name);
}

/* .modinfo holds key=value strings, each NUL-terminated, but for the last in a damaged file */
static void read_release(struct module *m, Elf_Scn *scn)
{
	static const char key[] = "vermagic=";
	Elf_Data *d = elf_getdata(scn, NULL);
	const char *p = d ? d->d_buf : NULL, *end = p ? p + d->d_size : NULL;

	while (p && p < end) {
		size_t len = strnlen(p, end - p);

		if (len > sizeof(key) - 1 && !memcmp(p, key, sizeof(key) - 1)) {
			const char *value = p + sizeof(key) - 1;
			const char *space = memchr(value, ' ', len - (sizeof(key) - 1));

			snprintf(m->release, sizeof(m->release), "%.*s",
				 (int)((space ? space : p + len) - value), value);
			return;
		}
		p += len + 1;
	}
}

static bool scan_sections(struct module *m, const char *path)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(m->elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &sh))
			continue;
		name = section_name(m, &sh);
		if (sh.sh_type == SHT_SYMTAB && sh.sh_entsize) {
			m->symtab = elf_getdata(scn, NULL);
			m->nr_syms = sh.sh_size / sh.sh_entsize;
			m->strndx = sh.sh_link;
		} else if (name && !strcmp(name, ".modinfo")) {
			read_release(m, scn);
		}
	}
	if (!m->symtab) {
		fprintf(stderr,
			"kvgpu-firmware: %s has no symbol table (stripped?): take the distribution's own file\n",
			path);
		return false;
	}
	return true;
}

static bool is_module(struct module *m, const char *path)
{
	GElf_Ehdr eh;

	if (!m->elf || elf_kind(m->elf) != ELF_K_ELF || !gelf_getehdr(m->elf, &eh) ||
	    eh.e_type != ET_REL || eh.e_machine != EM_X86_64) {
		fprintf(stderr, "kvgpu-firmware: %s is no x86-64 kernel module\n", path);
		return false;
	}
	return true;
}

struct module *module_open(const char *path)
{
	static const uint8_t xz_magic[] = { 0xfd, '7', 'z', 'X', 'Z', 0 };
	struct module *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	elf_version(EV_CURRENT);
	m->image = read_file(path, &m->size);
	if (m->image && !memcmp(m->image, xz_magic, sizeof(xz_magic)))
		m->image = unxz(path, m->image, &m->size);
	if (!m->image)
		goto fail;
	m->elf = elf_memory((char *)m->image, m->size);
	if (!is_module(m, path) || !scan_sections(m, path))
		goto fail;
	return m;
fail:
	module_close(m);
	return NULL;
}

void module_close(struct module *m)
{
	if (!m)
		return;
	if (m->elf)
		elf_end(m->elf);
	free(m->image);
	free(m);
}

const char *module_release(struct module *m)
{
	return m->release;
}

/* fills *@out from a symbol table entry; false when it has no data of its size in the file */
static bool symbol_data(struct module *m, const GElf_Sym *sym, const char *name, struct symbol *out)
{
	Elf_Scn *scn = elf_getscn(m->elf, sym->st_shndx);
	Elf_Data *d = scn ? elf_getdata(scn, NULL) : NULL;

	if (!d || !d->d_buf || sym->st_value > d->d_size ||
	    sym->st_size > d->d_size - sym->st_value)
		return false;
	*out = (struct symbol){
		.name = name,
		.shndx = sym->st_shndx,
		.offset = sym->st_value,
		.size = sym->st_size,
		.data = (const uint8_t *)d->d_buf + sym->st_value,
	};
	return true;
}

bool module_symbol(struct module *m, const char *name, struct symbol *out)
{
	GElf_Sym sym;
	size_t i;

	for (i = 0; i < m->nr_syms; i++) {
		const char *s;

		if (!gelf_getsym(m->symtab, i, &sym) || GELF_ST_TYPE(sym.st_info) != STT_OBJECT)
			continue;
		s = elf_strptr(m->elf, m->strndx, sym.st_name);
		if (!s || strcmp(s, name))
			continue;
		if (symbol_data(m, &sym, s, out))
			return true;
		break;
	}
	fprintf(stderr,
		"kvgpu-firmware: this nouveau.ko has no object %s: its shape is not one that this tool knows\n",
		name);
	return false;
}

/*
 * the object symbol that starts at @offset of section @shndx: relocations may name the section
 * instead of the symbol
 */
static bool symbol_at(struct module *m, size_t shndx, uint64_t offset, struct symbol *out)
{
	GElf_Sym sym;
	size_t i;

	for (i = 0; i < m->nr_syms; i++) {
		if (!gelf_getsym(m->symtab, i, &sym) || GELF_ST_TYPE(sym.st_info) != STT_OBJECT)
			continue;
		if (sym.st_shndx == shndx && sym.st_value == offset && sym.st_size)
			return symbol_data(m, &sym, elf_strptr(m->elf, m->strndx, sym.st_name),
					   out);
	}
	return false;
}

static int resolve(struct module *m, const struct symbol *from, const GElf_Rela *rela,
		   struct symbol *out)
{
	GElf_Sym sym;

	if (GELF_R_TYPE(rela->r_info) == R_X86_64_64 &&
	    gelf_getsym(m->symtab, GELF_R_SYM(rela->r_info), &sym) &&
	    symbol_at(m, sym.st_shndx, sym.st_value + rela->r_addend, out))
		return 1;
	fprintf(stderr, "kvgpu-firmware: a pointer in %s leads to no object in this file\n",
		from->name);
	return -1;
}

int module_pointer(struct module *m, const struct symbol *sym, uint64_t offset, struct symbol *out)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Rela rela;
	size_t i;

	while ((scn = elf_nextscn(m->elf, scn))) {
		Elf_Data *d;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA || sh.sh_info != sym->shndx ||
		    !sh.sh_entsize)
			continue;
		d = elf_getdata(scn, NULL);
		for (i = 0; d && i < sh.sh_size / sh.sh_entsize; i++)
			if (gelf_getrela(d, i, &rela) && rela.r_offset == sym->offset + offset)
				return resolve(m, sym, &rela, out);
	}
	return 0;
}
