// SPDX-License-Identifier: GPL-2.0-only
/*
 * main() of hostile.flat, with the table of all tests. Arguments: NAME... [SEED [OPS]], from the
 * boot loader's command line. Each test but the first begins with a reset of the GPU. After each of
 * several tests the guest says "DONE: NAME". Then it waits for a character at its serial port
 * before the next test, so that the server can be checked for what the last test did.
 *
 * The tests use libcflat.h, attacks/bare/ and client/pattern.h, and no floating point. A new test
 * also goes into README.md, and into "all" of run.sh.
 */
#include "hostile.h"

static const struct {
	const char *name;
	void (*run)(struct hostile *h);
} tests[] = {
	{ "window", hostile_window },
	{ "window-host", hostile_window_host },
	{ "tables", hostile_tables },
	{ "directories", hostile_directories },
	{ "instances", hostile_instances },
	{ "bars", hostile_bars },
	{ "physical", hostile_physical },
	{ "userd", hostile_userd },
	{ "remap", hostile_remap },
	{ "stale", hostile_stale },
	{ "registers", hostile_registers },
	{ "switches", hostile_switches },
	{ "runlists", hostile_runlists },
	{ "doorbells", hostile_doorbells },
	{ "random-tables", hostile_random_tables },
	{ "blocks", hostile_blocks },
	{ "invalidates", hostile_invalidates },
	{ "rings", hostile_rings },
	{ "acquire", hostile_acquire },
	{ "endless", hostile_endless },
	{ "methods", hostile_methods },
	{ "faults", hostile_faults },
	{ "context", hostile_context },
	{ "victim", victim },
};

enum { NR_TESTS = sizeof(tests) / sizeof(tests[0]), DEFAULT_OPS = 2000 };

static uint64_t number(const char *text)
{
	uint64_t v = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		v = v * 10 + *text - '0';
	return v;
}

static bool is_number(const char *text)
{
	return *text >= '0' && *text <= '9';
}

static unsigned int find_test(const char *name)
{
	unsigned int i;

	for (i = 0; i < NR_TESTS && strcmp(tests[i].name, name); i++)
		;
	return i;
}

static void run_test(unsigned int test, uint64_t seed, unsigned long ops)
{
	static struct hostile h;

	memset(&h, 0, sizeof(h));
	rng_init(&h.rng, seed);
	h.ops = ops;
	if (hostile_open(&h))
		tests[test].run(&h);
	else
		report(false, "a GPU of vendor 10de with its BARs below 4 GiB");
}

int main(int argc, char **argv)
{
	unsigned int names[NR_TESTS], nr = 0, i;
	unsigned long ops = DEFAULT_OPS;
	uint64_t seed = 1;
	int a;

	/* with some loaders the first argument is the file's own name, with others it is not */
	for (a = 0; a < argc && !is_number(argv[a]); a++) {
		i = find_test(argv[a]);
		if (i < NR_TESTS && nr < NR_TESTS)
			names[nr++] = i;
		else if (a)
			report(false, "there is no test '%s'", argv[a]);
	}
	if (a < argc)
		seed = number(argv[a]);
	if (a + 1 < argc)
		ops = number(argv[a + 1]);
	if (!nr)
		report(false, "no such test; the name goes on the command line");
	for (i = 0; i < nr; i++) {
		if (i && !hostile_reset())
			report(false, "the GPU can be reset");
		run_test(names[i], seed, ops);
		if (nr > 1)
			printf("DONE: %s\n", tests[names[i]].name);
		while (i + 1 < nr && !told_to_go_on())
			;
	}
	return report_summary();
}
