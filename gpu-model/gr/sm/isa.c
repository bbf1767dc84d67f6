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

#define NR_ISA	(sizeof(isas) / sizeof(isas[0]))

static bool present(const char *name)
{
#if defined(__x86_64__) && !defined(__clang__)
	if (!strcmp(name, "avx2"))
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
		       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
	if (!strcmp(name, "avx512"))
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
		       __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("fma") &&
		       __builtin_cpu_supports("bmi2");
#endif
	return !strcmp(name, "base");
}

static _Atomic(const struct isa *) chosen;

static const struct isa *current(void)
{
	const struct isa *isa = atomic_load(&chosen);

	for (unsigned int i = NR_ISA; !isa && i--; ) {
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
