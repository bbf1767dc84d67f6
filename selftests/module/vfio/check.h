/* SPDX-License-Identifier: GPL-2.0-only */
/* Many small checks make one line of TAP. Checks that fail are told in lines before it. */
#ifndef KVGPU_VFIO_CHECK_H
#define KVGPU_VFIO_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void checks_begin(void);
void check_at(const char *file, int line, const char *what, bool ok);
void checks_end(const char *name);

bool all_bytes(const uint8_t *p, size_t len, uint8_t v);

/*
 * An address at which nothing is mapped. It is volatile, or the compiler would warn of what the
 * test tries.
 */
extern void *volatile nowhere;

#define CHECK(x) check_at(__FILE__, __LINE__, #x, (x))
/* @x is a call that must be refused with errno @e. */
#define CHECK_ERRNO(x, e) \
	check_at(__FILE__, __LINE__, #x " refused with " #e, (x) == -1 && errno == (e))

#endif
