/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Test results as TAP lines on standard output. A known bug of somebody else's has two accepted
 * outcomes: "not ok ... # XFAIL bug" where it is there, "ok ... # GONE bug" where it is mended.
 * Neither is a failure.
 */
#ifndef KVGPU_SELFTESTS_TAP_H
#define KVGPU_SELFTESTS_TAP_H

#include <stdbool.h>

void tap_result(bool ok, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void tap_skip(const char *name, const char *reason);
/*
 * @gone: the test passed; false if it failed with the sign by which this bug is known. Any other
 * failure is one for tap_result(). @bug: whose bug it is, and what it does.
 */
void tap_known_bug(bool gone, const char *name, const char *bug);
/* a line of explanation */
void tap_diag(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool tap_all_ok(void);
/* prints the plan; the program's exit code */
int tap_finish(void);

#endif
