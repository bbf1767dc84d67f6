// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvgpu-tenants: the command line, and the setups of "bench". Runs as root in a server with
 * kvgpu.ko. measure() makes the vGPUs and a process for each, and removes both again; a run that is
 * interrupted leaves the vGPUs. A setup that can't be measured is left out: measure() prints why,
 * and the exit code does not change. Exit code 1: a test failed, data were wrong, or no card was
 * found; 2: usage, or the JSON file can't be written. "mute" makes copy engines hang that wait
 * for an acknowledge, for selftests/system/guest/hang_steps.sh.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"
#include "tests.h"

#define STREAMS(n) .nr = n, .role = { 0 }
/*
 * The aims are parts, for windows of two and of three looks (spans). ONE_TURN is for eight tenants
 * of weights 1:2:4: one turn of the smallest is a large part of its time in a short window.
 */
#define ONE_PERCENT .aim = { 0.01, 0.01 }
#define ONE_TURN    .aim = { 0.014, 0.01 }

static const struct setup setups[] = {
	{ .name = "one", STREAMS(1) },
	{ .name = "two equal", STREAMS(2), ONE_PERCENT },
	{ .name = "four equal", STREAMS(4), ONE_PERCENT },
	{ .name = "eight equal", STREAMS(8), ONE_PERCENT },
	{ .name = "three 1:2:4", STREAMS(3), .weight = { 100, 200, 400 }, ONE_PERCENT },
	{ .name = "eight 1:2:4",
	  STREAMS(8),
	  .weight = { 100, 200, 400, 100, 200, 400, 100, 200 },
	  ONE_TURN },
	{ .name = "greedy neighbour", .nr = 2, .role = { ROLE_STREAM, ROLE_GREEDY }, ONE_PERCENT },
	{ .name = "two, three greedy",
	  .nr = 5,
	  .role = { ROLE_STREAM, ROLE_STREAM, ROLE_GREEDY, ROLE_GREEDY, ROLE_GREEDY },
	  ONE_PERCENT },
	{ .name = "two beside one that parks",
	  .nr = 3,
	  .role = { ROLE_STREAM, ROLE_STREAM, ROLE_SLEEPER },
	  ONE_PERCENT },
	{ .name = "two beside resets",
	  .nr = 3,
	  .role = { ROLE_STREAM, ROLE_STREAM, ROLE_RESETTER },
	  ONE_PERCENT },
	{ .name = "mix",
	  .nr = 8,
	  .weight = { 100, 200, 400 },
	  ONE_TURN,
	  .role = { ROLE_STREAM, ROLE_STREAM, ROLE_STREAM, ROLE_GREEDY, ROLE_SLEEPER, ROLE_WAITER,
		    ROLE_RESETTER, ROLE_FAULTER } },
	{ .name = "two beside hangs",
	  .nr = 3,
	  .role = { ROLE_STREAM, ROLE_STREAM, ROLE_HANGER },
	  ONE_PERCENT },
	{ .name = "cap 20", STREAMS(2), .cap = { 20 } },
	{ .name = "cap 30 alone", STREAMS(1), .cap = { 30 } },
	{ .name = "equal share, two of four",
	  .nr = 4,
	  .policy = "equal-share",
	  .role = { ROLE_STREAM, ROLE_STREAM, ROLE_WAITER, ROLE_WAITER },
	  ONE_PERCENT },
	{ .name = "fixed share, two", STREAMS(2), .policy = "fixed-share", ONE_PERCENT },
	{ .name = "latency beside greedy", .nr = 2, .role = { ROLE_LATENCY, ROLE_GREEDY } },
	{ .name = "latency alone", .nr = 1, .role = { ROLE_LATENCY } },
	{ .name = "latency beside making", .nr = 1, .role = { ROLE_LATENCY }, .churn = 7 },
	{ .name = "stream beside making", STREAMS(1), .churn = 7 },
	{ .name = "waiter beside stream", .nr = 2, .role = { ROLE_WAITER, ROLE_STREAM } },
	{ .name = "faulter beside stream", .nr = 2, .role = { ROLE_FAULTER, ROLE_STREAM } },
};

enum { NR_SETUPS = sizeof(setups) / sizeof(setups[0]) };

static void usage(FILE *f)
{
	unsigned int i;

	fprintf(f,
		"usage: kvgpu-tenants test | mute SECONDS | clock | bench [options] [SETUP...]\n"
		"Runs as root beside kvgpu.ko: makes vGPUs, and processes that use them as guests would.\n"
		"test: TAP, exit code 1 if a test fails. bench: measures, prints a table.\n"
		"mute: for so long the copy engines tell nobody that they wait; wants a kernel with iomem=relaxed.\n"
		"clock: for each byte of standard input prints CLOCK_MONOTONIC, ns.\n"
		"  --looks N     how many looks (default 12, at most %u); windows are two and three looks long\n"
		"  --seconds S   from one look to the next (default 1)\n"
		"  --json FILE   the same for programs\n"
		"  --card ADDRESS  which card, as 0000:01:00.0; else one that kvgpu has\n\nsetups (default: all):\n",
		MAX_LOOKS);
	for (i = 0; i < NR_SETUPS; i++)
		fprintf(f, "  %s\n", setups[i].name);
}

/* Whether each of these names is that of a setup. Print the first one that is not. */
static bool are_setups(char **argv, int argc)
{
	unsigned int i;

	for (; argc; argv++, argc--) {
		for (i = 0; i < NR_SETUPS && strcmp(setups[i].name, *argv); i++)
			;
		if (i == NR_SETUPS) {
			fprintf(stderr,
				"kvgpu-tenants: there is no setup '%s'; --help lists them\n",
				*argv);
			return false;
		}
	}
	return true;
}

static bool selected(const char *name, char **argv, int argc)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!strcmp(name, argv[i]))
			return true;
	return !argc;
}

static int bench(int argc, char **argv, unsigned int looks, double seconds, const char *json)
{
	FILE *f = json ? fopen(json, "w") : NULL;
	unsigned int i, written = 0;
	static struct result r;
	int bad = 0;

	if (json && !f) {
		fprintf(stderr, "kvgpu-tenants: the JSON file can't be written\n");
		return 2;
	}
	if (f)
		fprintf(f, "[\n");
	for (i = 0; i < NR_SETUPS; i++) {
		if (!selected(setups[i].name, argv, argc))
			continue;
		if (!measure(&setups[i], looks, seconds, &r))
			continue;
		print_result(&setups[i], seconds, &r);
		if (f)
			print_json(f, &setups[i], seconds, &r, written++ == 0);
		bad |= r.bad != 0;
	}
	if (f) {
		fprintf(f, "\n]\n");
		fclose(f);
	}
	return bad;
}

static int mute(unsigned int seconds)
{
	if (mute_engines(seconds))
		return 0;
	fprintf(stderr,
		"kvgpu-tenants: the card's registers can't be mapped: boot with iomem=relaxed\n");
	return 1;
}

/* For a reader of two clocks: disturbed.py. */
static int tell_clock(void)
{
	char c;

	while (read(0, &c, 1) == 1)
		printf("%llu\n", (unsigned long long)now_ns());
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "looks", required_argument, NULL, 'l' },
		{ "seconds", required_argument, NULL, 's' },
		{ "json", required_argument, NULL, 'j' },
		{ "card", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	unsigned int looks = 12;
	const char *json = NULL, *address = NULL;
	double seconds = 1;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'l':
			looks = atoi(optarg);
			break;
		case 's':
			seconds = atof(optarg);
			break;
		case 'j':
			json = optarg;
			break;
		case 'c':
			address = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			return 2;
		}
	}
	if (optind == argc || looks < spans[SPANS - 1] || looks > MAX_LOOKS || seconds < 0.1) {
		usage(stderr);
		return 2;
	}
	if (!strcmp(argv[optind], "bench") && !are_setups(argv + optind + 1, argc - optind - 1))
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(argv[optind], "clock") && optind + 1 == argc)
		return tell_clock();
	find_card(address);
	if (!strcmp(argv[optind], "test") && optind + 1 == argc)
		return run_tests();
	if (!strcmp(argv[optind], "mute") && optind + 2 == argc)
		return mute(atoi(argv[optind + 1]));
	if (!strcmp(argv[optind], "bench"))
		return bench(argc - optind - 1, argv + optind + 1, looks, seconds, json);
	usage(stderr);
	return 2;
}
