/* SPDX-License-Identifier: GPL-2.0-only */
/* What became of one test. */
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
	const char *name;
	bool skipped;
	uint64_t checked, wrong;
	char text[VERDICT_TEXT];
};

/* [--device NAME] [TEST...]: the names, then NULL */
char **names_of_tests(char **argv, const char **device);
/* @name is among @names, or these are none */
bool is_wanted(const char *name, char **names);
/* prints it as a result in TAP */
void verdict_print(const struct verdict *v);
/* prints the test as failed, and ends the process */
void verdict_die(struct verdict *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
void verdict_skip(struct verdict *v, const char *why);

/* @n elements of @size bytes */
void verdict_equal(struct verdict *v, const char *what, const void *got, const void *want, size_t n,
		   size_t size);
/* within @ulps units of the last place, or @absolute */
void verdict_near(struct verdict *v, const char *what, float got, double want, double ulps,
		  double absolute);
void verdict_true(struct verdict *v, bool ok, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
