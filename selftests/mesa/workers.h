/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of a compiler, one after the other in a process of their own, since its assertions end it;
 * after a test that fails the next one gets a new process, and with it a new channel.
 */
#ifndef KVGPU_SELFTESTS_WORKERS_H
#define KVGPU_SELFTESTS_WORKERS_H

#include "verdict.h"

enum { MAX_TESTS = 64 };

struct test {
	const char *name;
	/*
	 * why stock Mesa fails here, and what its failure says then (the test, the process or the
	 * kernel's log): any other failure is one
	 */
	const char *xfail, *sign;
	/* for run() */
	const void *what;
};

struct suite {
	unsigned int nr;
	struct test tests[MAX_TESTS];
	/* in each new process: takes the device and says its name; false if there is none */
	bool (*open)(char *name, size_t size);
	void (*run)(unsigned int i, struct verdict *v);
};

/* [--device NAME] [TEST...]: the names, which end with NULL; *@device if there is one */
char **names_of_tests(char **argv, const char **device);
/* adds it if it is among @names, which end with NULL, or if there are none */
void add_test(struct suite *s, const struct test *t, char **names);
/* runs all of them and prints TAP; returns the exit code */
int run_suite(const struct suite *s);

#endif
