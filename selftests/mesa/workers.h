/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of a compiler, one after the other in a process of their own, since its assertions end it;
 * after a failed test the next one gets a new process.
 */
#ifndef KVGPU_SELFTESTS_WORKERS_H
#define KVGPU_SELFTESTS_WORKERS_H

#include "verdict.h"

enum { MAX_TESTS = 64 };

struct test {
	const char *name;
	/*
	 * why stock Mesa fails here, and what the failure says (the test, the process or the
	 * kernel's log): any other is a failure
	 */
	const char *bug, *sign;
	/* for run() */
	const void *what;
};

struct suite {
	unsigned int nr;
	struct test tests[MAX_TESTS];
	/* in each new process; false: there is no device */
	bool (*open)(char *name, size_t size);
	void (*run)(unsigned int i, struct verdict *v);
};

/* [--device NAME] [TEST...]: the names, then NULL */
char **names_of_tests(char **argv, const char **device);
/* if it is among @names, or these are none */
void add_test(struct suite *s, const struct test *t, char **names);
/* prints TAP; returns the exit code */
int run_suite(const struct suite *s);

#endif
