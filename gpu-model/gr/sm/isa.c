// SPDX-License-Identifier: GPL-2.0-only
/* Choice of the vector unit that executes the lanes. Any thread, without a lock. */
#include <string.h>

#include "exec.h"

static const struct isa {
	const char *name;
	lane_table table;
} isas[] = {
	{ "base", lane_op_base },
#if defined(__x86_64__) && !defined(__clang__)
	{ "avx2", lane_op_avx2 },
	{ "avx512", lane_op_avx512 },
#endif
};

#define NR_ISA (sizeof(isas) / sizeof(isas[0]))

#if defined(__x86_64__) && !defined(__clang__)
/*
 * Ask for all that the pragma of isa_avx2.c names, and of isa_avx512.c. A processor may have AVX2
 * without LZCNT, and computes something else then, without a trap.
 */
static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2") &&
	       __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
	       __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("f16c");
}

static bool has_avx512(void)
{
	return has_avx2() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
}
#endif

static bool present(const char *name)
{
#if defined(__x86_64__) && !defined(__clang__)
	if (!strcmp(name, "avx2"))
		return has_avx2();
	if (!strcmp(name, "avx512"))
		return has_avx512();
#endif
	return !strcmp(name, "base");
}

static _Atomic(const struct isa *) chosen;

static const struct isa *current(void)
{
	const struct isa *isa = atomic_load(&chosen);

	for (unsigned int i = NR_ISA; !isa && i--;) {
		if (present(isas[i].name))
			isa = &isas[i];
	}
	atomic_store(&chosen, isa);
	return isa;
}

bool lane_isa_select(const char *name)
{
	for (unsigned int i = 0; i < NR_ISA; i++) {
		if (!strcmp(isas[i].name, name) && present(name)) {
			atomic_store(&chosen, &isas[i]);
			return true;
		}
	}
	return false;
}

op_fn lane_op(const struct sm_insn *in)
{
	return current()->table(in);
}
