// SPDX-License-Identifier: MIT
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <include/user/command_line.h>

const char run_usage[] =
	"usage: kvgpu-run [OPTION...] PROGRAM [ARGUMENT...]\n"
	"       kvgpu-run --list [OPTION...]\n"
	"  --gpus N|all         how many GPUs PROGRAM has as its devices 0, 1, ... (all)\n"
	"  --hosts HOST[:N],... where they are; N: how many a host has, which is else asked of it (this machine)\n"
	"  --mpi local|openmpi|mpich|auto   none, or whose mpirun starts the proxies (auto: none if all GPUs are of this machine)\n"
	"  --trust-network      mpirun may run: every local user of each machine and every peer of the network is trusted, as they can\n"
	"                       reach what it listens at, and run programs as this user; srun needs no such trust\n"
	"  --mpirun FILE        that mpirun\n"
	"  --allow-run-as-root  for Open MPI's mpirun, which refuses root\n"
	"  --library FILE       the libcuda.so.1 that has the GPUs (the one that the loader finds)\n"
	"  --client FOLDER|none the libcuda.so.1 for PROGRAM, put in front of LD_LIBRARY_PATH (the one installed with kvgpu-run)\n"
	"  --launcher auto|mpirun|srun   what starts the proxies (auto: srun in a Slurm allocation, else mpirun, for this machine none)\n"
	"  --place pack|spread  host by host, in their order, or on all in turn, those with the least work first (pack)\n"
	"  --memory BYTES       of each GPU: only GPUs with so much free are taken, and PROGRAM gets no more of them\n"
	"  --load N             only GPUs that N other runs of kvgpu-run have at most (any)\n"
	"  --wait S             wait so long for GPUs that fit (0: fail at once)\n"
	"  --share              more than one proxy for a GPU, where there are fewer than N\n"
	"  --jobs one|each      one MPI job, or one for each GPU: then one that dies takes no other with it (one)\n"
	"  --staging BYTES      copies are cut so, 64K to 2M (1M)   --slots N       messages under way, 2 to 16 (4)\n"
	"  --eager BYTES        inside of messages, to 64K (measured) --patience S  without a sign of life a proxy is gone (30)\n"
	"  --pipeline on|off    off: the steps of a copy follow each other; to compare (on)\n"
	"  --arena BYTES        for copies, a program (256M)        --spin US       looks without a pause after work (200)\n"
	"  --start S            the proxies have to be there within that time (60)\n"
	"  --counts             at the end, what the relays have counted\n"
	"  --list               the GPUs, and who uses them\n"
	"  --version, --help\n";

enum { KIB = 10, MIB = 20, GIB = 30 };

/* a number such as 64K, 1M or 3, within limits */
static bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *n)
{
	unsigned int shift = 0;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*n = strtoull(text, &end, 10);
	if (*end && strchr("kKmMgG", *end)) {
		shift = strchr("kK", *end) ? KIB : strchr("mM", *end) ? MIB : GIB;
		end++;
	}
	if (errno || *end || *n > UINT64_MAX >> shift)
		return false;
	*n <<= shift;
	return *n >= least && *n <= most;
}

static bool parse_word(const char *text, const char *const *words, int *which)
{
	for (*which = 0; words[*which]; ++*which)
		if (!strcmp(text, words[*which]))
			return true;
	return false;
}

static bool gpus(const char *text, struct run_options *o)
{
	uint64_t n = 0;

	if (strcmp(text, "all") && !parse_number(text, 1, DEVICES_MAX, &n))
		return false;
	o->gpus = n;
	return true;
}

enum {
	O_GPUS,
	O_HOSTS,
	O_MPI,
	O_MPIRUN,
	O_ROOT,
	O_TRUST,
	O_LIBRARY,
	O_CLIENT,
	O_SHARE,
	O_LAUNCHER,
	O_PLACE,
	O_MEMORY,
	O_LOAD,
	O_WAIT,
	O_COUNTS,
	O_JOBS,
	O_STAGING,
	O_SLOTS,
	O_EAGER,
	O_PATIENCE,
	O_ARENA,
	O_PIPELINE,
	O_SPIN,
	O_START,
	O_LIST,
	O_VERSION,
	O_HELP,
	O_END
};

/* clang-format off */
static bool take_option(int option, const char *text, struct run_options *o)
{
	static const char *const kinds[] = { "auto", "local", "openmpi", "mpich", NULL },
				 *const jobs[] = { "one", "each", NULL },
				 *const pipeline[] = { "on", "off", NULL },
				 *const launchers[] = { "auto", "mpirun", "srun", NULL },
				 *const ways[] = { "pack", "spread", NULL };
	bool fine = true;
	int which = 0;

	switch (option) {
	case O_GPUS: return gpus(text, o);
	case O_HOSTS: o->hosts = text; return *text;
	case O_MPI:
		fine = parse_word(text, kinds, &which);
		o->mpi = which;
		return fine;
	case O_MPIRUN: o->mpirun = text; return *text;
	case O_ROOT: o->allow_root = true; return true;
	case O_TRUST: o->trust_network = true; return true;
	case O_LIBRARY: o->library = text; return *text;
	case O_CLIENT: o->client = strcmp(text, "none") ? text : ""; return *text;
	case O_LAUNCHER:
		fine = parse_word(text, launchers, &which);
		o->launcher = which;
		return fine;
	case O_PLACE:
		fine = parse_word(text, ways, &which);
		o->spread = which;
		return fine;
	case O_MEMORY: return parse_number(text, 1 << MIB, 1ull << 50, &o->memory);
	case O_LOAD: return parse_number(text, 0, 1000, &o->load);
	case O_WAIT: return parse_number(text, 0, 86400, &o->wait_s);
	case O_SHARE: o->share = true; return true;
	case O_COUNTS: o->counts = true; return true;
	case O_JOBS:
		fine = parse_word(text, jobs, &which);
		o->each = which;
		return fine;
	case O_PIPELINE:
		fine = parse_word(text, pipeline, &which);
		o->whole = which;
		return fine;
	case O_STAGING: return parse_number(text, 64 << KIB, 2 << MIB, &o->staging);
	case O_SLOTS: return parse_number(text, 2, 16, &o->slots);
	case O_EAGER: return parse_number(text, 0, 64 << KIB, &o->eager);
	case O_PATIENCE: return parse_number(text, 1, 86400, &o->patience_s);
	case O_ARENA:
		return parse_number(text, 16 << MIB, 64ull << GIB, &o->arena) && !(o->arena % 4096);
	case O_SPIN: return parse_number(text, 0, 1000000, &o->spin_us);
	case O_START: return parse_number(text, 1, 3600, &o->start_s);
	case O_LIST: o->list = true; return true;
	default: return false;
	}
}
/* clang-format on */

/* in the order of the numbers; want: what a value is, NULL: the option has none */
static const struct {
	const char *name, *want;
} known[O_END] = {
	[O_GPUS] = { "gpus", "all or a number from 1 to 64" },
	[O_HOSTS] = { "hosts", "HOST[:N],..." },
	[O_MPI] = { "mpi", "auto, local, openmpi or mpich" },
	[O_MPIRUN] = { "mpirun", "a file" },
	[O_ROOT] = { "allow-run-as-root" },
	[O_TRUST] = { "trust-network" },
	[O_LIBRARY] = { "library", "a file" },
	[O_CLIENT] = { "client", "a folder, or none" },
	[O_SHARE] = { "share" },
	[O_LAUNCHER] = { "launcher", "auto, mpirun or srun" },
	[O_PLACE] = { "place", "pack or spread" },
	[O_MEMORY] = { "memory", "bytes from 1M on, such as 512M or 4G" },
	[O_LOAD] = { "load", "a number from 0 to 1000" },
	[O_WAIT] = { "wait", "seconds from 0 to 86400" },
	[O_COUNTS] = { "counts" },
	[O_JOBS] = { "jobs", "one or each" },
	[O_STAGING] = { "staging", "bytes from 64K to 2M" },
	[O_SLOTS] = { "slots", "a number from 2 to 16" },
	[O_EAGER] = { "eager", "bytes from 0 to 64K" },
	[O_PATIENCE] = { "patience", "seconds from 1 to 86400" },
	[O_ARENA] = { "arena", "bytes from 16M to 64G, a multiple of 4096" },
	[O_PIPELINE] = { "pipeline", "on or off" },
	[O_SPIN] = { "spin", "microseconds from 0 to 1000000" },
	[O_START] = { "start", "seconds from 1 to 3600" },
	[O_LIST] = { "list" },
	[O_VERSION] = { "version" },
	[O_HELP] = { "help" },
};
_Static_assert(DEVICES_MAX == 64, "--gpus tells this limit");
_Static_assert((int)O_END <= ':' && (int)OPTIONS_TEXT == (int)WRONG_TEXT,
	       "getopt's ':' and '?' are no option");

enum options_end options_read(int argc, char **argv, struct run_options *o, char why[OPTIONS_TEXT])
{
	struct option options[O_END + 1] = { 0 };
	int c;

	for (c = 0; c < O_END; c++)
		options[c] = (struct option){ known[c].name, known[c].want != NULL, NULL, c };
	*o = (struct run_options){ .library = "libcuda.so.1",
				   .start_s = START_S,
				   .load = UINT32_MAX,
				   .eager = UINT64_MAX,
				   .spin_us = UINT64_MAX };
	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:", options, NULL)) >= 0) {
		if (c == O_HELP || c == O_VERSION)
			return c == O_HELP ? OPTIONS_HELP : OPTIONS_VERSION;
		if (c == '?' || c == ':') {
			wrong_option(why, c, argv, options);
			return OPTIONS_WRONG;
		}
		if (!take_option(c, optarg, o)) {
			snprintf(why, OPTIONS_TEXT, "--%s is %s, not \"%.*s\"", known[c].name,
				 known[c].want, WORD_MAX, optarg);
			return OPTIONS_WRONG;
		}
	}
	o->program = optind < argc ? argv + optind : NULL;
	if (o->program || o->list)
		return OPTIONS_FINE;
	snprintf(why, OPTIONS_TEXT, "PROGRAM is missing");
	return OPTIONS_WRONG;
}
