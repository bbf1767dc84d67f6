/* SPDX-License-Identifier: GPL-2.0-only */
/* A kernel module file, opened for reading the data behind its symbols. */
#ifndef KVGPU_FIRMWARE_MODULE_H
#define KVGPU_FIRMWARE_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module;

/* Opens @path, plain or .xz. NULL, after a message on stderr unless memory ran out. */
struct module *module_open(const char *path);
void module_close(struct module *m);

/* Value of "vermagic" up to the first space (the kernel release), "" when the module has none. */
const char *module_release(struct module *m);

/* .name and .data point into the module, and are valid until module_close(). */
struct symbol {
	const char *name;
	size_t shndx; /* section the symbol lives in */
	uint64_t offset; /* in the section */
	size_t size;
	const uint8_t *data; /* size bytes */
};

/* An object symbol with data in the file. false after a message on stderr. */
bool module_symbol(struct module *m, const char *name, struct symbol *out);

/*
 * The object that the pointer at @offset of @sym refers to, by the relocation there. 1 and *@out, 0
 * when there is no relocation (a NULL pointer), -1 after a message on stderr.
 */
int module_pointer(struct module *m, const struct symbol *sym, uint64_t offset, struct symbol *out);

#endif
