/* SPDX-License-Identifier: GPL-2.0-only */
/* What became of one test, in memory that two processes share. */
#ifndef KVGPU_SELFTESTS_VERDICT_H
#define KVGPU_SELFTESTS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VERDICT_TEXT = 400 };

/*
 * right: something was checked, and nothing wrong; @text: the first wrong thing, or why it is
 * skipped
 */
struct verdict {
	bool done, skipped;
	uint64_t checked, wrong;
	char text[VERDICT_TEXT];
};

/* ends the test as failed, and its process */
void verdict_die(struct verdict *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
void verdict_skip(struct verdict *v, const char *why);

/* @n elements of @size bytes */
void verdict_equal(struct verdict *v, const char *what, const void *got, const void *want, size_t n,
		   size_t size);
/* within @ulps units of the last place, or @absolute; NaNs must be NaNs */
void verdict_near(struct verdict *v, const char *what, float got, double want, double ulps,
		  double absolute);
void verdict_true(struct verdict *v, bool ok, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
