// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvgpu-client: options, and the table of subtests. Each subtest opens the GPU and closes it again.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "tap.h"

/* 'all' runs all but the last NR_MEASUREMENTS. */
static const struct {
	const char *name;
	void (*run)(const struct client_options *o);
	const char *what;
} subtests[] = {
	{ "copy", test_copy, "random copies between VRAM and system memory, every byte checked" },
	{ "tiled", test_tiled, "block-linear copies against a layout computed on the CPU" },
	{ "sync", test_sync, "semaphores between channels, chains, time stamps" },
	{ "sleep", test_sleep, "waits that sleep in the kernel until an interrupt" },
	{ "channels", test_channels, "64 channels at once, each with a verified stream" },
	{ "groups", test_groups, "what the stock interface says about channel groups" },
	{ "cycles", test_cycles, "channels created and destroyed, and what they leave behind" },
	{ "fault", test_fault, "MMU faults kill their channel and nothing else" },
	{ "classes", test_classes, "objects of the graphics engine's classes" },
	{ "inline", test_inline, "uploads through the pushbuffer" },
	{ "compute", test_compute, "launches of an empty shader, seen by their releases" },
	{ "switch", test_switch, "contexts of the graphics engine survive each other" },
	{ "exec", test_exec, "the VM_BIND and EXEC interface" },
	{ "stress", test_stress, "several processes, one killed" },
	/* measurements: not part of 'all' */
	{ "steady", test_steady, "many small copies, watched in memory" },
	{ "wakeups", test_wakeups, "waits that sleep, one interrupt after the other" },
	{ "mapcost", test_mapcost, "buffers mapped, used once, unmapped" },
	{ "bandwidth", test_bandwidth, "medians of copies" },
	{ "busy", test_busy, "keeps a copy engine at work for --seconds" },
	{ "latency", test_latency, "one small copy every 10 ms, timed" },
	/* these want another user of the GPU beside them (hang.c) */
	{ "endless", test_endless, "a kernel that never ends: its channel is killed" },
	{ "halt", test_halt, "copies that halt their engine: each channel is killed" },
	{ "acquire", test_acquire, "a channel that waits for --seconds goes on then" },
};

enum {
	NR_SUBTESTS = sizeof(subtests) / sizeof(subtests[0]),
	NR_MEASUREMENTS = 9,
	NR_OF_ALL = NR_SUBTESTS - NR_MEASUREMENTS
};

static void usage(FILE *f)
{
	unsigned int i;

	fprintf(f,
		"usage: kvgpu-client [options] SUBTEST... | kvgpu-client [options] bench ROWS...\n"
		"Drives a GK110 through stock libdrm_nouveau and checks what comes back. Prints TAP; exit code 0 if all is\n"
		"well, 1 if something failed, 2 for a wrong command line. 'all' runs everything but the last nine.\n\n"
		"  --device NODE    render node (default: the first one of nouveau)\n"
		"  --seed N         seed of everything random (default 1)\n"
		"  --bytes N[KMG]   volume of 'copy' (default 1G, quick 128M)\n"
		"  --seconds N      of 'busy', 'latency', 'acquire', 'copy': for so long, and not by volume\n"
		"  --until FILE     or until that file is there ('busy', 'latency', 'acquire')\n"
		"  --quick          fewer rounds\n"
		"  --runlists N     one or several: of the copy engines, if the channel table can't be read\n"
		"  --self-test      copy, tiled: expect one wrong byte and fail if it isn't noticed\n"
		"  --marks          say '# mark' around what is measured and wait for a line of input there\n\nsubtests:\n");
	for (i = 0; i < NR_SUBTESTS; i++)
		fprintf(f, "  %-10s %s\n", subtests[i].name, subtests[i].what);
}

static uint64_t parse_number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	switch (*end) {
	case 'G':
		n <<= 10; /* fall through */
	case 'M':
		n <<= 10; /* fall through */
	case 'K':
		n <<= 10;
		end++;
		break;
	}
	if (end == text || *end) {
		fprintf(stderr, "kvgpu-client: '%s' is not a number\n", text);
		exit(2);
	}
	return n;
}

static void parse_options(int argc, char **argv, struct client_options *o)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "device", required_argument, NULL, 'd' },
		{ "seed", required_argument, NULL, 's' },
		{ "bytes", required_argument, NULL, 'b' },
		{ "quick", no_argument, NULL, 'q' },
		{ "runlists", required_argument, NULL, 'l' },
		{ "self-test", no_argument, NULL, 't' },
		{ "marks", no_argument, NULL, 'm' },
		{ "seconds", required_argument, NULL, 'S' },
		{ "until", required_argument, NULL, 'u' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (c) {
		case 'h':
			usage(stdout);
			exit(0);
		case 'd':
			o->node = optarg;
			break;
		case 's':
			o->seed = parse_number(optarg);
			break;
		case 'b':
			o->bytes = parse_number(optarg);
			break;
		case 'u':
			o->until = optarg;
			break;
		case 'S':
			o->seconds = parse_number(optarg);
			break;
		case 'q':
			o->quick = true;
			break;
		case 't':
			o->self_test = true;
			break;
		case 'm':
			o->marks = true;
			break;
		case 'l':
			if (strcmp(optarg, "one") && strcmp(optarg, "several")) {
				fprintf(stderr, "kvgpu-client: --runlists is one or several\n");
				exit(2);
			}
			o->runlists = !strcmp(optarg, "one") ? 1 : 2;
			break;
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (!o->bytes)
		o->bytes = o->quick ? 128ull << 20 : 1ull << 30;
}

static int find_subtest(const char *name)
{
	int i;

	for (i = 0; i < NR_SUBTESTS; i++)
		if (!strcmp(name, subtests[i].name))
			return i;
	return -1;
}

int main(int argc, char **argv)
{
	struct client_options o = { .seed = 1 };
	int i, j;

	parse_options(argc, argv, &o);
	if (optind == argc) {
		usage(stderr);
		return 2;
	}
	if (!strcmp(argv[optind], "bench"))
		return client_bench(&o, argv + optind + 1, argc - optind - 1);
	for (i = optind; i < argc; i++) {
		if (find_subtest(argv[i]) < 0 && strcmp(argv[i], "all")) {
			fprintf(stderr, "kvgpu-client: no subtest '%s'\n", argv[i]);
			return 2;
		}
	}
	for (i = optind; i < argc; i++) {
		for (j = 0; j < NR_SUBTESTS; j++)
			if (!strcmp(argv[i], subtests[j].name) ||
			    (!strcmp(argv[i], "all") && j < NR_OF_ALL))
				subtests[j].run(&o);
	}
	return tap_finish();
}
