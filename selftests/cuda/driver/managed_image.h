/* SPDX-License-Identifier: GPL-2.0-only */
/* The stored code with `counter` as a __managed__ variable. */
#ifndef KVGPU_SELFTESTS_CUDA_MANAGED_IMAGE_H
#define KVGPU_SELFTESTS_CUDA_MANAGED_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* @elf: a whole cubin, which is changed. False: it has no such variable. */
static inline bool make_counter_managed(uint8_t *elf)
{
	enum { MANAGED = 4 }; /* in st_other, as nvcc sets it */
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)elf;
	const Elf64_Shdr *section = (const Elf64_Shdr *)(elf + head->e_shoff);
	const char *names;
	Elf64_Sym *s;
	unsigned int i;

	for (i = 0; i < head->e_shnum && section[i].sh_type != SHT_SYMTAB; i++)
		;
	if (i == head->e_shnum)
		return false;
	names = (const char *)elf + section[section[i].sh_link].sh_offset;
	s = (Elf64_Sym *)(elf + section[i].sh_offset);
	for (i = section[i].sh_size / sizeof(*s); i && strcmp(names + s->st_name, "counter"); i--)
		s++;
	if (i)
		s->st_other |= MANAGED;
	return i;
}

#endif
