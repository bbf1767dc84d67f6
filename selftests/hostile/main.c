// SPDX-License-Identifier: GPL-2.0-only
/* Arguments: NAME [SEED [OPS]], from the boot loader's command line. One test a start. */
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

int main(int argc, char **argv)
{
	/* the first argument is the file's own name with some loaders, and not with others */
	const char *name = NULL;
	static struct hostile h;
	unsigned int i;
	int a;

	for (a = 0; a < argc && !name; a++)
		for (i = 0; i < NR_TESTS && !name; i++)
			if (!strcmp(argv[a], tests[i].name))
				name = tests[i].name;
	if (!name) {
		report(false, "no such test; the name goes on the command line");
		return report_summary();
	}
	rng_init(&h.rng, a < argc ? number(argv[a]) : 1);
	h.ops = a + 1 < argc ? number(argv[a + 1]) : DEFAULT_OPS;
	if (!hostile_open(&h)) {
		report(false, "a GPU of vendor 10de with its BARs below 4 GiB");
		return report_summary();
	}
	for (i = 0; strcmp(tests[i].name, name); i++)
		;
	tests[i].run(&h);
	return report_summary();
}
