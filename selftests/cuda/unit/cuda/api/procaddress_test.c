// SPDX-License-Identifier: GPL-2.0-only
/* cuGetProcAddress() of both libraries, beside what NVIDIA's driver gives. */
#include <selftests/unit_test.h>
#include <stdbool.h>
#include <stdio.h>

#include <cuda/api/api.h>

enum { DRIVER_VERSION = 13000, LEGACY = 1, OWN = 2 };

struct fact {
	const char *name;
	int version;
	void *symbol;
};

static const struct fact legacy[] = {
#define GIVES(name, version, symbol) { #name, version, (void *)symbol },
#define OWN_STREAM(name, version, symbol)
#include "driver_580.inc"
};

#undef GIVES
#undef OWN_STREAM
static const struct fact own[] = {
#define GIVES(name, version, symbol)
#define OWN_STREAM(name, version, symbol) { #name, version, (void *)symbol },
#include "driver_580.inc"
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

CUresult cuDriverGetVersion(int *version)
{
	*version = DRIVER_VERSION;
	return CUDA_SUCCESS;
}

/* Returns whether the driver knows @name in these facts; *@symbol is what it gives, or NULL. */
static bool seen(const struct fact *facts, unsigned int n, const char *name, int version,
		 void **symbol)
{
	bool known = false;
	int best = 0;
	unsigned int i;

	*symbol = NULL;
	for (i = 0; i < n; i++) {
		if (strcmp(facts[i].name, name))
			continue;
		known = true;
		if (facts[i].version > version || facts[i].version < best)
			continue;
		best = facts[i].version;
		*symbol = facts[i].symbol;
	}
	return known;
}

static void check(const char *name, int version, unsigned int flag, void *expected)
{
	CUdriverProcAddressQueryResult status = 77;
	void *p = &status, *p2 = &status;
	CUresult r = cuGetProcAddress(name, &p, version, flag);
	CUresult r2 = cuGetProcAddress_v2(name, &p2, version, flag, &status);

	if (p == expected && p2 == expected &&
	    r == (expected ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND) && !r2 &&
	    status == (expected ? CU_GET_PROC_ADDRESS_SUCCESS :
				  CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT))
		return;
	print_error("%s, version %d, flag %u: results %d and %d, status %d, %s\n", name, version,
		    flag, r, r2, status,
		    p == expected && p2 == expected ? "the right symbol" : "another symbol");
	fail();
}

/* Each name, at each version in which any name changes, and one before. */
TEST(each_version)
{
	static int versions[2 * (COUNT(legacy) + COUNT(own))];
	unsigned int n = 0, i, j;
	void *symbol, *own_symbol;

	for (i = 0; i < COUNT(legacy) + COUNT(own); i++) {
		int v = i < COUNT(legacy) ? legacy[i].version : own[i - COUNT(legacy)].version;

		for (j = 0; j < n && versions[j] != v; j++)
			;
		if (j < n)
			continue;
		versions[n++] = v;
		versions[n++] = v - 1;
	}
	for (i = 0; i < COUNT(legacy); i++) {
		const char *name = legacy[i].name;

		if (i && !strcmp(name, legacy[i - 1].name))
			continue;
		for (j = 0; j < n; j++) {
			seen(legacy, COUNT(legacy), name, versions[j], &symbol);
			check(name, versions[j], 0, symbol);
			check(name, versions[j], LEGACY, symbol);
			if (seen(own, COUNT(own), name, versions[j], &own_symbol))
				symbol = own_symbol;
			check(name, versions[j], OWN, symbol);
		}
	}
}

TEST(no_such_name)
{
	static const char *const names[] = { "cuNothing", "", "cuMemAllo" };
	CUdriverProcAddressQueryResult status;
	unsigned int i;
	void *p;

	for (i = 0; i < COUNT(names); i++) {
		p = &i;
		status = CU_GET_PROC_ADDRESS_SUCCESS;
		assert_int_equal(cuGetProcAddress_v2(names[i], &p, 11080, 0, &status),
				 CUDA_SUCCESS);
		assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
		assert_null(p);
		p = &i;
		assert_int_equal(cuGetProcAddress_v2(names[i], &p, 0, 0, NULL), CUDA_SUCCESS);
		assert_null(p);
		/* runtimes of CUDA 12 begin with the empty name */
		assert_int_equal(cuGetProcAddress(names[i], &p, 0, 0),
				 *names[i] ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS);
	}
}

TEST(wrong_arguments)
{
	void *p;

	assert_int_equal(cuGetProcAddress("cuInit", &p, DRIVER_VERSION + 1, 0),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuGetProcAddress_v2("cuInit", &p, DRIVER_VERSION + 1, 0, NULL),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuGetProcAddress("cuInit", &p, 11080, 3), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuGetProcAddress("cuInit", &p, 11080, 4), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuGetProcAddress(NULL, &p, 11080, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuGetProcAddress("cuInit", NULL, 11080, 0), CUDA_ERROR_INVALID_VALUE);
}

/* Fills @said, which has room for @bytes, with what three questions for @version say. */
static void hear(int version, char *said, size_t bytes)
{
	FILE *record = fmemopen(said, bytes, "w"), *before = stderr;
	int i;
	void *p;

	assert_non_null(record);
	stderr = record;
	for (i = 0; i < 3; i++)
		assert_int_equal(cuGetProcAddress_v2("cuInit", &p, version, 0, NULL),
				 CUDA_ERROR_INVALID_VALUE);
	stderr = before;
	fclose(record);
}

/* A runtime of the driver's own major version gets along with it. */
TEST(later_cuda_is_told_once)
{
	char said[512] = "", *end;

	hear(DRIVER_VERSION + 20, said, sizeof(said));
	assert_string_equal(said, "");
	hear(14000, said, sizeof(said));
	assert_non_null(strstr(said, "is of CUDA 14, and the driver here of CUDA 13.0"));
	assert_non_null(strstr(said, "error 35"));
	end = strchr(said, '\n');
	assert_non_null(end);
	assert_string_equal(end, "\n");
}

TEST_MAIN(NULL, NULL)
