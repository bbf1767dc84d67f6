// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vector unit is taken if the processor has all that its file is compiled for: the names in the
 * pragma of isa_avx2.c or isa_avx512.c. If one of them is missing it is not taken.
 */
#include <selftests/unit_test.h>
#include <stdbool.h>

static bool cpu_has(const char *unit);

#define __builtin_cpu_supports(unit) cpu_has(unit)
#include "gpu-model/gr/sm/isa.c"

#define MOST 32 /* names in a pragma */

__asm__(".section .rodata\n"
	"avx2_text: .incbin \"gpu-model/gr/sm/isa_avx2.c\"\n.byte 0\n"
	"avx512_text: .incbin \"gpu-model/gr/sm/isa_avx512.c\"\n.byte 0\n"
	".text\n");
extern const char avx2_text[], avx512_text[];

/* what the processor has: these names but @missing */
static char names[MOST][32];
static unsigned int nr_names, missing;

static bool cpu_has(const char *unit)
{
	for (unsigned int i = 0; i < nr_names; i++)
		if (!strcmp(names[i], unit))
			return i != missing;
	return false;
}

op_fn lane_op_base(const struct sm_insn *in)
{
	return NULL;
}

op_fn lane_op_avx2(const struct sm_insn *in)
{
	return NULL;
}

op_fn lane_op_avx512(const struct sm_insn *in)
{
	return NULL;
}

/* Take the names out of @text's pragma, but for options such as prefer-vector-width=512. */
static void take_names(const char *text)
{
	static const char begin[] = "\n#pragma GCC target(\"";
	const char *p = strstr(text, begin);
	size_t n;

	assert_non_null(p);
	nr_names = 0;
	for (p += strlen(begin); *p != '"'; p += n + (p[n] == ',')) {
		n = strcspn(p, ",\"\n");
		assert_true(n && n < sizeof(names[0]) && (p[n] == ',' || p[n] == '"'));
		if (memchr(p, '=', n))
			continue;
		assert_true(nr_names < MOST);
		memcpy(names[nr_names], p, n);
		names[nr_names++][n] = 0;
	}
	assert_true(nr_names);
}

static void check_unit(const char *name, const char *text)
{
	take_names(text);
	missing = MOST;
	assert_true(lane_isa_select(name));
	for (missing = 0; missing < nr_names; missing++)
		if (lane_isa_select(name))
			fail_msg("%s is taken by a processor without %s", name, names[missing]);
}

TEST(needs_all_that_the_pragma_names)
{
#ifdef __x86_64__
	check_unit("avx2", avx2_text);
	check_unit("avx512", avx512_text);
#else
	skip();
#endif
}

TEST_MAIN(NULL, NULL)
