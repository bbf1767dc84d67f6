// SPDX-License-Identifier: MIT
/* Shared by the readers of a cubin: its symbols by number, names, and error messages. */
#include "cubin.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum image_error cubin_fail(struct cubin *c, enum image_error err, const char *fmt, ...)
{
	va_list va;

	va_start(va, fmt);
	vsnprintf(c->im->reason, sizeof(c->im->reason), fmt, va);
	va_end(va);
	return err;
}

enum image_error cubin_pay(struct cubin *c, uint64_t bytes)
{
	if (bytes > c->budget)
		return cubin_fail(c, IMAGE_INVALID,
				  "its tables are too large for an image of so few bytes");
	c->budget -= bytes;
	return IMAGE_OK;
}

bool cubin_symbol(const struct cubin *c, uint32_t i, Elf64_Sym *out)
{
	if (i >= c->nr_sym)
		return false;
	memcpy(out, (const uint8_t *)c->sym + (size_t)i * sizeof(*out), sizeof(*out));
	return true;
}

const char *cubin_symbol_name(const struct cubin *c, const Elf64_Sym *s)
{
	return s->st_name < c->str_size ? c->str + s->st_name : "";
}

const char *cubin_suffix(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) ? NULL : name + n;
}

uint32_t cubin_find_kernel(const struct cubin *c, const char *name)
{
	uint32_t low = 0, high = c->im->nr_kernels, middle;
	int order;

	while (low < high) {
		middle = low + (high - low) / 2;
		order = strcmp(c->im->kernels[c->kernel_by_name[middle]].name, name);
		if (!order)
			return c->kernel_by_name[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return IMAGE_NONE;
}
