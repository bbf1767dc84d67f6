/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Test results as TAP lines on standard output. A test that is expected to fail prints "not ok ...
 * # XFAIL reason"; when it passes after all, that is a failure.
 */
#ifndef KVGPU_SELFTESTS_TAP_H
#define KVGPU_SELFTESTS_TAP_H

#include <stdbool.h>

void tap_result(bool ok, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void tap_skip(const char *name, const char *reason);
/* @failed: whether what was expected to fail did fail */
void tap_xfail(bool failed, const char *name, const char *reason);
/* a line of explanation */
void tap_diag(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool tap_all_ok(void);
/* prints the plan; the program's exit code */
int tap_finish(void);

#endif
