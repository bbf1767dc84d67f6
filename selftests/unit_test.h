/* SPDX-License-Identifier: MIT */
/*
 * What a unit test on cmocka begins with. TEST(name) { ... } is a test. The program runs its tests
 * in the order in which they stand. Its last line is TEST_MAIN(begin, end): what runs before and
 * after each test, or NULL. A test of TEST_WITH() has a begin and an end of its own. TEST_AGAIN()
 * runs a test once more, with others.
 */
#ifndef KVGPU_SELFTESTS_UNIT_TEST_H
#define KVGPU_SELFTESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { UNIT_TESTS_MOST = 128 };

static struct CMUnitTest unit_tests[UNIT_TESTS_MOST];
static int unit_test_lines[UNIT_TESTS_MOST];
static size_t nr_unit_tests;

/* Constructors come in any order. */
static inline void unit_test_add(int line, struct CMUnitTest test)
{
	size_t i;

	if (nr_unit_tests == UNIT_TESTS_MOST)
		abort();
	for (i = nr_unit_tests++; i && unit_test_lines[i - 1] > line; i--) {
		unit_tests[i] = unit_tests[i - 1];
		unit_test_lines[i] = unit_test_lines[i - 1];
	}
	unit_tests[i] = test;
	unit_test_lines[i] = line;
}

/* stands for what TEST_MAIN() has */
static inline int unit_test_default(void **state)
{
	return 0;
}

/* @begin and @end: of each test; @all_begin and @all_end: of the program */
static inline int unit_tests_run(int (*begin)(void **state), int (*end)(void **state),
				 int (*all_begin)(void **state), int (*all_end)(void **state))
{
	size_t i;

	for (i = 0; i < nr_unit_tests; i++)
		if (unit_tests[i].setup_func == unit_test_default) {
			unit_tests[i].setup_func = begin;
			unit_tests[i].teardown_func = end;
		}
	return _cmocka_run_group_tests("tests", unit_tests, nr_unit_tests, all_begin, all_end);
}

#define UNIT_TEST_ADD(id, label, name, begin, end)                                             \
	__attribute__((constructor)) static void id(void)                                      \
	{                                                                                      \
		unit_test_add(__LINE__, (struct CMUnitTest){ label, name, begin, end, NULL }); \
	}

#define TEST_WITH(name, begin, end)                              \
	static void name(void **state);                          \
	UNIT_TEST_ADD(name##_is_a_test, #name, name, begin, end) \
	static void name(void **state)

#define TEST_AGAIN(name, how, begin, end) \
	UNIT_TEST_ADD(name##_##begin, #name ", " how, name, begin, end)

#define TEST(name) TEST_WITH(name, unit_test_default, unit_test_default)

#define TEST_MAIN(begin, end)                                  \
	int main(void)                                         \
	{                                                      \
		return unit_tests_run(begin, end, NULL, NULL); \
	}

#endif
