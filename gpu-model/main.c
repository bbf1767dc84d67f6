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
#define DEFAULT_BOARD "k20m"
#define BOARDS	      "k20m, k20c, k20x, k40m, k40c or flat" /* those of root/board.c */

enum exit_code {
	EXIT_OK = 0,
	EXIT_START = 1,
	EXIT_USAGE = 2, /* the command line is wrong */
	EXIT_RUN = 3,
};

static const char help_text[] =
	"Usage: gk110-model --socket PATH [OPTION]...\n"
	"A GK110 GPU (a Tesla K20 or K40) as a process, for QEMU's vfio-user-pci device.\n"
	"\n"
	"  --socket PATH         where QEMU connects (vfio-user). Needed\n"
	"  --plugin-socket PATH  where the helper inside QEMU connects (QEMU: -plugin\n"
	"                        gk110-barmap.so,socket=PATH). With it, BAR pages are mapped\n"
	"                        into the guest; without it, every access is a message\n"
	"  --stats-socket PATH   answers each connection with the statistics as JSON\n"
	"  --board NAME          " BOARDS " (a K20m whose\n"
	"                        engines are all on one runlist, as on no card); default: " DEFAULT_BOARD
	"\n"
	"  --seed N              another die of that board: which units are off, the order of\n"
	"                        its device table, the size of contexts. 0 (default): none drawn\n"
	"  --board-file FILE     registers that a card showed, as JSON: correct the board by them\n"
	"  --vram SIZE           video memory, a multiple of 5M, of a board with 6 memory\n"
	"                        partitions of 6M (default: the board's); K, M, G are\n"
	"                        powers of 1024. Memory is used as the guest touches it\n"
	"  --vbios FILE          image of the card's ROM (default: that of the board\n"
	"                        beside the program, as k20m.rom)\n"
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
	OPT_BOARD,
	OPT_SEED,
	OPT_BOARD_FILE,
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
	{ "board", required_argument, NULL, OPT_BOARD },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "board-file", required_argument, NULL, OPT_BOARD_FILE },
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
	uint64_t seed;
	const char *board_file;
	bool done;
};

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
	case OPT_BOARD:
		if (!board_find(arg, &a->cfg.board))
			return usage("--board %s: it is " BOARDS, arg);
		return 0;
	case OPT_SEED:
		if (parse_scaled(arg, 1000, &a->seed) || a->seed > UINT_MAX)
			return usage("--seed %s: give a number", arg);
		return 0;
	case OPT_BOARD_FILE:
		a->board_file = arg;
		return 0;
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

/* The ROM of the board, beside the program. */
static const char *default_vbios(const char *board)
{
	static char path[PATH_MAX + sizeof(((struct gk110_board *)0)->name) + sizeof(".rom")];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
	char *slash;

	path[n < 0 ? 0 : n] = 0;
	slash = strrchr(path, '/');
	sprintf(slash ? slash + 1 : path, "%s.rom", board);
	return path;
}

/* Make the board that was asked for: first its die is drawn, then what a file says is set. */
static int make_board(struct arguments *a)
{
	if (a->seed)
		board_draw(&a->cfg.board, a->seed);
	if (a->board_file && board_correct(&a->cfg.board, a->board_file))
		return -EINVAL;
	if (!a->cfg.vram_size)
		a->cfg.vram_size = a->cfg.board.vram_size;
	return 0;
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
	struct arguments a = { 0 };

	board_find(DEFAULT_BOARD, &a.cfg.board);
	if (parse_arguments(&a, argc, argv))
		return EXIT_USAGE;
	if (a.done)
		return EXIT_OK;
	if (!a.cfg.vbios_path)
		a.cfg.vbios_path = default_vbios(a.cfg.board.name);
	if (make_board(&a))
		return EXIT_USAGE;
	return run(&a);
}
