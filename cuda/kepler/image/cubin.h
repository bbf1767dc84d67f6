/* SPDX-License-Identifier: MIT */
/* Shared by the files of the cubin reader. */
#ifndef KVGPU_CUDA_CUBIN_H
#define KVGPU_CUDA_CUBIN_H

#include "../syscalls/syscalls.h"
#include "image.h"

#include <elf.h>

/* NVIDIA's own ELF constants */
enum {
	SHT_CUDA_INFO = 0x70000000,
	CUBIN_MACHINE = 190,
	STO_CUDA_MANAGED = 0x4, /* in st_other: a __managed__ variable */
	STO_CUDA_ENTRY = 0x10, /* in st_other: a kernel, not a function */
	STT_CUDA_TEXTURE = 10,
	STT_CUDA_SURFACE = 12,
	FUNCTION_ALIGN = 256,
};
#define SHF_CUDA_BARRIERS_SHIFT 20
#define SHF_CUDA_BARRIERS_MASK	0x1f

/* what the driver's functions take that a section's code calls, and which they are */
struct cubin_callee {
	uint32_t regs, stack, crs, syscalls;
};

struct cubin_section {
	const char *name;
	uint32_t type, info, link;
	uint64_t flags, size, align;
	const uint8_t *data; /* NULL: nothing in the file */
	uint64_t entsize;
	bool placed; /* the section lies at .offset in .space */
	enum image_space space;
	uint32_t offset;
	uint32_t kernel; /* whose bank 0 it is, or IMAGE_NONE */
	bool has_kernel; /* code: a kernel begins in it */
	struct cubin_callee callee;
	const char *missing; /* code: a function that it calls and that is not here, or NULL */
};

struct cubin {
	struct image *im;
	uint64_t budget; /* bytes that its tables may still take */
	struct cubin_section *sec;
	uint32_t nr_sec;
	uint32_t *by_name, *kernel_by_name; /* sections from 1 on, and kernels: sorted */
	const Elf64_Sym *sym; /* may be misaligned: use cubin_symbol() */
	uint32_t nr_sym;
	const char *str;
	size_t str_size;
	uint32_t *kernel_of_sym, *ref_of_sym; /* index by symbol, or IMAGE_NONE */
	/* valid where image.syscalls says so */
	uint32_t syscall_at[NR_SYSCALLS];
};

/* reader.c */
enum image_error cubin_fail(struct cubin *c, enum image_error err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool cubin_symbol(const struct cubin *c, uint32_t i, Elf64_Sym *out);
/* "" for a symbol without a name */
const char *cubin_symbol_name(const struct cubin *c, const Elf64_Sym *s);
/* takes @bytes from the budget; an error: it has not so many */
enum image_error cubin_pay(struct cubin *c, uint64_t bytes);
/* the kernel's number, or IMAGE_NONE; needs .kernel_by_name */
uint32_t cubin_find_kernel(const struct cubin *c, const char *name);
/* "after" of ".text.after" for the prefix ".text."; NULL: another prefix */
const char *cubin_suffix(const char *name, const char *prefix);

/* info.c: reads .nv.info and .nv.info.NAME. Needs the kernels with their names and bank 0. */
enum image_error cubin_info(struct cubin *c);
/*
 * reloc.c: makes fixes from .rel and .rela, and appends the driver's functions that are called to
 * image.code. Call after cubin_info(): it raises the kernels' .regs, which cubin_info() sets.
 */
enum image_error cubin_relocations(struct cubin *c);

#endif
