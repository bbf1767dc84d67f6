/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests use of kvm-unit-tests' header of the same name, for builds without that tree:
 * results, text, exit.
 */
#ifndef KVGPU_HOSTILE_LIBCFLAT_H
#define KVGPU_HOSTILE_LIBCFLAT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Knows of printf's formats: %d %u %x %s %c %%; l, ll and z, width and a leading 0. */
int printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print "PASS: text" or "FAIL: text". Return @pass. */
bool report(bool pass, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void report_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void report_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Print "SUMMARY: n tests, m failures, k skipped". Return the value for main() to return. */
int report_summary(void);

/* End the machine by QEMU's isa-debug-exit device. QEMU's exit status is 2 * @code + 1. */
void exit(int code) __attribute__((noreturn));

#endif
