// SPDX-License-Identifier: GPL-2.0-only
/* kvgpu-vfio: the command line, and the table of tests. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "tests.h"

static const struct {
	const char *name;
	void (*run)(struct device *d, const struct options *o);
	const char *what;
} tests[] = {
	{ "info", test_info, "what the device says of itself; malformed questions" },
	{ "config", test_config, "configuration space: what may change, function level reset" },
	{ "registers", test_registers, "BAR0: widths, alignment, ends, bad pointers" },
	{ "rom", test_rom, "the VBIOS: mapped, by accesses, after a reset" },
	{ "flushes", test_flushes, "flushes that a mapped page asks for" },
	{ "plain", test_plain, "registers that are memory: mapped, by accesses, after a reset" },
	{ "mmu", test_mmu, "the MMU's registers: mapped at times, by accesses, as a buffer" },
	{ "windows", test_windows,
	  "BAR1, BAR3 and PRAMIN: mapped and by accesses, across zaps, forks and partial unmaps" },
	{ "maps", test_maps, "what may be mapped and what not" },
	{ "irqs", test_irqs,
	  "INTx, MSI and REQ; masks; eventfds of all kinds; malformed requests" },
	{ "copies", test_copies, "not hostile: a guest of our own copies with a copy engine" },
	{ "unmap", test_unmap, "memory is unmapped under running copies (S2)" },
	{ "reuse", test_reuse,
	  "memory comes and goes by the same addresses, with other pages behind them" },
	{ "foreign", test_foreign,
	  "tables that point outside; physical copies; forged pointers (S1, S4)" },
	{ "contexts", test_contexts, "graphics without a context, with forged contexts (S3)" },
	{ "reenable", test_reenable,
	  "a running channel is enabled again with another directory in its block (S1, S2)" },
	{ "relist", test_relist,
	  "the same by runlists, and groups of channels that are listed before they are bound" },
	{ "outlive", test_outlive,
	  "mappings of doorbells that are moved, forked and cut, and outlive the right to them (S4)" },
	{ "nonstall", test_nonstall, "a storm of interrupts that nobody's name is on (S5)" },
	{ "retries", test_retries,
	  "unmaps under a vGPU that pins again while another one keeps the core waiting (S6)" },
	{ "storm", test_storm, "random calls from four threads" },
	{ "failnth", test_failnth,
	  "each allocation of each call fails once; wants a kernel with fault injection, not of 'all'" },
};

static const char apart[] = "failnth"; /* not part of 'all' */

enum { NR_TESTS = sizeof(tests) / sizeof(tests[0]) };

static void usage(FILE *f)
{
	unsigned int i;

	fprintf(f,
		"usage: kvgpu-vfio [--seconds N] [--seed N] [--card SYSFS-FOLDER] [--second UUID] [--container FILE] UUID\n"
		"       NAME...|all|hold\n"
		"A hostile VMM and guest for one vGPU of kvgpu. Prints TAP; exit code 0 if all is well, 1 if not, 2 for a wrong\n"
		"command line. 'hold' keeps the device until it is asked to let go. FILE: /dev/vfio/vfio, or /dev/iommu.\n\n");
	for (i = 0; i < NR_TESTS; i++)
		fprintf(f, "  %-10s %s\n", tests[i].name, tests[i].what);
}

static bool known(const char *word)
{
	unsigned int i;

	for (i = 0; i < NR_TESTS; i++)
		if (!strcmp(word, tests[i].name))
			return true;
	return !strcmp(word, "all") || !strcmp(word, "hold");
}

static void run(const char *uuid, const char *word, const struct options *o)
{
	struct device d;
	unsigned int i;

	for (i = 0; i < NR_TESTS; i++) {
		if (strcmp(word, tests[i].name) &&
		    (strcmp(word, "all") || !strcmp(tests[i].name, apart)))
			continue;
		device_open(&d, uuid);
		tests[i].run(&d, o);
		device_close(&d);
	}
	if (!strcmp(word, "hold")) {
		device_open(&d, uuid);
		hold(&d);
		device_close(&d);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "seconds", required_argument, NULL, 's' },
						 { "seed", required_argument, NULL, 'r' },
						 { "card", required_argument, NULL, 'c' },
						 { "second", required_argument, NULL, '2' },
						 { "container", required_argument, NULL, 'f' },
						 { "help", no_argument, NULL, 'h' },
						 {} };
	struct options o = { .seconds = 5, .seed = 1 };
	int opt, i;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 's':
			o.seconds = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			o.seed = strtoul(optarg, NULL, 0);
			break;
		case 'c':
			o.card = optarg;
			break;
		case '2':
			o.second = optarg;
			break;
		case 'f':
			device_container(optarg);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	for (i = optind + 1; i < argc; i++) {
		if (!known(argv[i])) {
			fprintf(stderr, "kvgpu-vfio: no test '%s'\n", argv[i]);
			return 2;
		}
	}
	if (argc - optind < 2) {
		usage(stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = optind + 1; i < argc; i++)
		run(argv[optind], argv[i], &o);
	if (!strcmp(argv[optind + 1], "hold"))
		return 0;
	return tap_finish();
}
