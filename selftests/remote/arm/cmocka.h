/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What unit tests of remote/ use of cmocka, for a CPU whose cmocka no package of this machine's
 * architecture has. A test that fails ends its program, with exit code 1. Output: TAP.
 */
#ifndef KVGPU_ARM_CMOCKA_H
#define KVGPU_ARM_CMOCKA_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
	const char *name;
	void (*run)(void **state);
	int (*setup_func)(void **state), (*teardown_func)(void **state);
	void *initial_state; /* NULL: the group's */
};

#define cmocka_unit_test(f)             \
	{                               \
#f, f, NULL, NULL, NULL \
	}
#define cmocka_unit_test_setup_teardown(f, begin, end) \
	{                                              \
#f, f, begin, end, NULL                \
	}
#define cmocka_run_group_tests(tests, begin, end) \
	_cmocka_run_group_tests("", tests, sizeof(tests) / sizeof((tests)[0]), begin, end)

__attribute__((noreturn, format(printf, 3, 4))) static inline void
fail_at(const char *file, int line, const char *fmt, ...)
{
	va_list va;

	printf("not ok - %s:%d: ", file, line);
	va_start(va, fmt);
	vprintf(fmt, va);
	va_end(va);
	puts("");
	fflush(stdout);
	_Exit(1);
}

#define print_message(...) printf(__VA_ARGS__)
/* of a test itself, not of what it calls */
#define skip()                                     \
	do {                                       \
		puts("# the next one is not run"); \
		return;                            \
	} while (0)
#define fail_msg(...) fail_at(__FILE__, __LINE__, __VA_ARGS__)
#define CHECKED(holds, text)                                     \
	do {                                                     \
		if (!(holds))                                    \
			fail_at(__FILE__, __LINE__, "%s", text); \
	} while (0)

#define assert_true(c)		     CHECKED(c, #c)
#define assert_false(c)		     CHECKED(!(c), "not " #c)
#define assert_null(p)		     CHECKED(!(p), #p " is NULL")
#define assert_non_null(p)	     CHECKED(p, #p " is not NULL")
#define assert_ptr_equal(a, b)	     CHECKED((const void *)(a) == (const void *)(b), #a " is " #b)
#define assert_string_equal(a, b)    CHECKED(!strcmp(a, b), #a " equals " #b)
#define assert_memory_equal(a, b, n) CHECKED(!memcmp(a, b, n), #a " equals " #b)
#define assert_in_range(v, from, to)                                                  \
	CHECKED((uint64_t)(v) >= (uint64_t)(from) && (uint64_t)(v) <= (uint64_t)(to), \
		#v " is in range")
#define assert_int_not_equal(a, b) CHECKED((uint64_t)(a) != (uint64_t)(b), #a " is not " #b)
#define assert_int_equal(a, b)                                                       \
	do {                                                                         \
		uint64_t a_is = (uint64_t)(a), b_is = (uint64_t)(b);                 \
		if (a_is != b_is)                                                    \
			fail_at(__FILE__, __LINE__, "%s is %#llx, not %#llx", #a,    \
				(unsigned long long)a_is, (unsigned long long)b_is); \
	} while (0)

static inline int _cmocka_run_group_tests(const char *of, const struct CMUnitTest *tests, size_t n,
					  int (*begin)(void **state), int (*end)(void **state))
{
	void *group = NULL, *state;
	size_t i;

	printf("1..%zu\n", n);
	assert_true(!begin || !begin(&group));
	for (i = 0; i < n; i++) {
		state = tests[i].initial_state ? tests[i].initial_state : group;
		assert_true(!tests[i].setup_func || !tests[i].setup_func(&state));
		tests[i].run(&state);
		assert_true(!tests[i].teardown_func || !tests[i].teardown_func(&state));
		printf("ok %zu - %s\n", i + 1, tests[i].name);
		fflush(stdout);
	}
	assert_true(!end || !end(&group));
	return 0;
}

#endif
