/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes libc's place for libcflat.h, attacks/bare/port.h and client/pattern.c (-Iharness, no libc).
 * harness/main.c has the functions; the compiler calls some of them by itself. kvgpu-canary, and a
 * build with kvm-unit-tests, do not use this folder.
 */
#ifndef KVGPU_HOSTILE_STRING_H
#define KVGPU_HOSTILE_STRING_H

#include <stddef.h>

void *memcpy(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
int strcmp(const char *a, const char *b);
size_t strlen(const char *s);

#endif
