// SPDX-License-Identifier: GPL-2.0-only
/*
 * gk110-model: the command line, and start and end of the parts in their order. Runs on the main
 * thread, without a lock. The server is created before any thread is started, as it blocks signals;
 * it is destroyed after the device was stopped, and before the device is destroyed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model.h"
#include "vfio/vfio.h"

#define MODEL_VERSION "1.0"
#define DEFAULT_VRAM  (5ull << 30)
#define DEFAULT_ROM   "k20m.rom"

enum exit_code {
	EXIT_OK = 0,
	EXIT_START = 1,
	EXIT_USAGE = 2, /* the command line is wrong */
	EXIT_RUN = 3,
};

static const char help_text[] =
	"Usage: gk110-model --socket PATH [OPTION]...\n"
	"A GK110 GPU (Tesla K20m) as a process, for QEMU's vfio-user-pci device.\n"
	"\n"
	"  --socket PATH         where QEMU connects (vfio-user). Needed\n"
	"  --plugin-socket PATH  where the helper inside QEMU connects (QEMU: -plugin\n"
	"                        gk110-barmap.so,socket=PATH). With it, BAR pages are mapped\n"
	"                        into the guest; without it, every access is a message\n"
	"  --stats-socket PATH   answers each connection with the statistics as JSON\n"
	"  --vram SIZE           video memory, a multiple of 5M (default 5G); K, M, G are\n"
	"                        powers of 1024. Memory is used as the guest touches it\n"
	"  --vbios FILE          image of the card's ROM (default: k20m.rom beside the program)\n"
	"  --layout flat|card    engines on one runlist (default), on which stock drivers have no\n"
	"                        hanging waits, or on runlists as the card has them\n"
	"  --ce-rate RATE        bytes per second of each copy engine; K, M, G are powers of\n"
	"                        1000; 0 (default): as fast as the machine\n"
	"  --gr-rate RATE        warp instructions per second of the whole GPU; as above\n"
	"  --unposted            the card is as after power-on, with no boot script of its VBIOS\n"
	"                        run: most units are off, also after each reset\n"
	"  --defect NAME         what is wrong with the card: dead-bus, no-rom, power, fecs, preempt\n"
	"                        (each takes 0.3 s), runlist (none is taken)\n"
	"  --verbose             say more about what the guest does\n"
	"  --help, --version\n"
	"\n"
	"Says \"ready\" on standard output when it listens. SIGTERM and SIGINT end it, SIGUSR1\n"
	"writes the statistics to standard error. Exit status: 0 ended by a signal, 1 it could\n"
	"not start, 2 wrong command line, 3 it had to give up.\n";

static int usage(const char *fmt, const char *arg)
{
	fputs("gk110-model: ", stderr);
	fprintf(stderr, fmt, arg);
	fputs("\nTry gk110-model --help.\n", stderr);
	return -EINVAL;
}

/* Return 0 or -EINVAL. */
static int parse_scaled(const char *text, uint64_t base, uint64_t *val)
{
	static const char units[] = "KMGT";
	const char *unit;
	uint64_t scale = 1;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*val = strtoull(text, &end, 10);
	if (errno)
		return -EINVAL;
	if (*end) {
		unit = strchr(units, *end & ~0x20);
		if (!unit || !*unit || end[1])
			return -EINVAL;
		for (; unit >= units; unit--)
			scale *= base;
	}
	return __builtin_mul_overflow(*val, scale, val) ? -EINVAL : 0;
}

enum {
	OPT_SOCKET = 256,
	OPT_PLUGIN,
	OPT_STATS,
	OPT_VRAM,
	OPT_VBIOS,
	OPT_LAYOUT,
	OPT_CE_RATE,
	OPT_GR_RATE,
	OPT_VERBOSE,
	OPT_UNPOSTED,
	OPT_DEFECT,
	OPT_HELP,
	OPT_VERSION
};

static const struct option options[] = {
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "plugin-socket", required_argument, NULL, OPT_PLUGIN },
	{ "stats-socket", required_argument, NULL, OPT_STATS },
	{ "vram", required_argument, NULL, OPT_VRAM },
	{ "vbios", required_argument, NULL, OPT_VBIOS },
	{ "layout", required_argument, NULL, OPT_LAYOUT },
	{ "ce-rate", required_argument, NULL, OPT_CE_RATE },
	{ "gr-rate", required_argument, NULL, OPT_GR_RATE },
	{ "verbose", no_argument, NULL, OPT_VERBOSE },
	{ "unposted", no_argument, NULL, OPT_UNPOSTED },
	{ "defect", required_argument, NULL, OPT_DEFECT },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ 0 },
};

struct arguments {
	struct vfio_options vfio;
	struct gk110_config cfg;
	bool done;
};

static int parse_layout(const char *text, enum gk110_layout *layout)
{
	if (!strcmp(text, "flat"))
		*layout = GK110_LAYOUT_FLAT;
	else if (!strcmp(text, "card"))
		*layout = GK110_LAYOUT_CARD;
	else
		return usage("--layout %s: it is flat or card", text);
	return 0;
}

static int parse_option(struct arguments *a, int opt, const char *arg)
{
	switch (opt) {
	case OPT_SOCKET:
		a->vfio.socket = arg;
		return *arg ? 0 : usage("--socket needs a path%s", "");
	case OPT_PLUGIN:
		a->vfio.plugin_socket = arg;
		return *arg ? 0 : usage("--plugin-socket needs a path%s", "");
	case OPT_STATS:
		a->vfio.stats_socket = arg;
		return *arg ? 0 : usage("--stats-socket needs a path%s", "");
	case OPT_VRAM:
		if (parse_scaled(arg, 1024, &a->cfg.vram_size))
			return usage(
				"--vram %s: give a number with K, M, G or nothing behind it, as in 5G",
				arg);
		return 0;
	case OPT_VBIOS:
		a->cfg.vbios_path = arg;
		return 0;
	case OPT_LAYOUT:
		return parse_layout(arg, &a->cfg.layout);
	case OPT_CE_RATE:
		if (parse_scaled(arg, 1000, &a->cfg.ce_bytes_per_s))
			return usage("--ce-rate %s: give bytes per second, as in 500M", arg);
		return 0;
	case OPT_GR_RATE:
		if (parse_scaled(arg, 1000, &a->cfg.gr_warps_per_s))
			return usage("--gr-rate %s: give warp instructions per second, as in 20M",
				     arg);
		return 0;
	case OPT_VERBOSE:
		a->cfg.verbose = true;
		return 0;
	case OPT_UNPOSTED:
		a->cfg.unposted = true;
		return 0;
	case OPT_DEFECT:
		a->cfg.defect = arg;
		return 0;
	case OPT_HELP:
		fputs(help_text, stdout);
		a->done = true;
		return 0;
	case OPT_VERSION:
		puts("gk110-model " MODEL_VERSION);
		a->done = true;
		return 0;
	default:
		fputs("Try gk110-model --help.\n", stderr);
		return -EINVAL;
	}
}

static int check_arguments(const struct arguments *a)
{
	const char *path[] = { a->vfio.socket, a->vfio.plugin_socket, a->vfio.stats_socket };
	unsigned int i, j;

	if (!a->vfio.socket)
		return usage(
			"--socket PATH is missing: it is where QEMU's vfio-user-pci connects%s",
			"");
	for (i = 0; i < 3; i++)
		for (j = i + 1; j < 3; j++)
			if (path[i] && path[j] && !strcmp(path[i], path[j]))
				return usage(
					"%s is given for two sockets: each needs a path of its own",
					path[i]);
	return 0;
}

static int parse_arguments(struct arguments *a, int argc, char **argv)
{
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		ret = parse_option(a, opt, optarg);
		if (ret || a->done)
			return ret;
	}
	if (optind < argc)
		return usage("unexpected argument '%s': options only", argv[optind]);
	return check_arguments(a);
}

static const char *default_vbios(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof(DEFAULT_ROM));
	char *slash;

	if (n < 0)
		return DEFAULT_ROM;
	path[n] = 0;
	slash = strrchr(path, '/');
	strcpy(slash ? slash + 1 : path, DEFAULT_ROM);
	return path;
}

static int run(const struct arguments *a)
{
	struct vfio_server *s;
	struct gk110 *g;
	int ret;

	s = vfio_server_create(&a->vfio);
	if (!s)
		return EXIT_START;
	g = gk110_create(&a->cfg, &vfio_bus_ops, s);
	if (!g || gk110_start(g)) {
		vfio_server_destroy(s);
		gk110_destroy(g);
		return EXIT_START;
	}
	ret = vfio_server_run(s, g);
	gk110_stop(g);
	vfio_server_destroy(s);
	gk110_destroy(g);
	return ret ? EXIT_RUN : EXIT_OK;
}

int main(int argc, char **argv)
{
	struct arguments a = { .cfg = { .vram_size = DEFAULT_VRAM } };

	if (parse_arguments(&a, argc, argv))
		return EXIT_USAGE;
	if (a.done)
		return EXIT_OK;
	if (!a.cfg.vbios_path)
		a.cfg.vbios_path = default_vbios();
	return run(&a);
}
