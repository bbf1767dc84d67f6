// SPDX-License-Identifier: MIT
/*
 * kvgpu-relay: the program that kvgpu-run has started for each rank, by srun, mpirun, or without
 * MPI by itself (../local). What tells jobs apart is a secret under srun, which comes by the
 * environment. Else it is a number on the command line, which other users see: it keeps nobody out.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cuda/api/process.h>
#include <remote/channel/memory.h>
#include <remote/cluster/run/options.h>

#include "daemon.h"
#include "ranks.h"
#include "relay.h"

#ifdef KVGPU_CLUSTER_LOCAL
#include <remote/cluster/local/launch.h>
#endif

enum {
	DEFAULT_STAGING = 1 << 20,
	DEFAULT_SLOTS = 4,
	DEFAULT_SPIN_US = 200,
	DEFAULT_PATIENCE_S = 30,
	LATE_S = 5
};
/* how late a pause may end: Open MPI looks again and again in MPI_Init() and MPI_Finalize() */
enum { SLACK_START_NS = 2000000, SLACK_NS = 1000 };
#define DEFAULT_ARENA (256ull << 20)

static bool read_secret(struct settings *s)
{
	const char *text = s->number ? s->number : getenv("KVGPU_CLUSTER_SECRET");
	unsigned int i;

	if (!text || strlen(text) != 2 * SECRET_BYTES)
		return false;
	for (i = 0; i < SECRET_BYTES; i++)
		if (sscanf(text + 2 * i, "%2hhx", &s->secret[i]) != 1)
			return false;
	unsetenv("KVGPU_CLUSTER_SECRET");
	return true;
}

/* clang-format off */
static bool read_options(int argc, char **argv, struct settings *s)
{
	static const struct option options[] = {
		{ "staging", 1, NULL, 's' }, { "slots", 1, NULL, 'n' }, { "eager", 1, NULL, 'e' },
			{ "spin", 1, NULL, 'u' },
		{ "patience", 1, NULL, 'p' }, { "arena", 1, NULL, 'a' }, { "library", 1, NULL,
			'l' }, { "folder", 1, NULL, 'f' },
		{ "first", 1, NULL, 'i' }, { "device", 1, NULL, 'd' },
		{ "memory", 1, NULL, 'm' }, { "gpu", 1, NULL, 'g' }, { "label", 1, NULL, 'b' },
		{ "counts", 0, NULL, 'c' }, { "step", 0, NULL, 't' },
		{ "number", 1, NULL, 'k' }, { "users", 0, NULL, 'q' },
		{ "whole", 0, NULL, 'w' }, { "start", 1, NULL, 'r' }, { 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0)
		switch (c) {
		case 's': s->staging = strtoull(optarg, NULL, 0); break;
		case 'n': s->slots = strtoul(optarg, NULL, 0); break;
		case 'e': s->eager = strtoull(optarg, NULL, 0); break;
		case 'u': s->spin_us = strtoul(optarg, NULL, 0); break;
		case 'p': s->patience_s = strtoul(optarg, NULL, 0); break;
		case 'a': s->arena = strtoull(optarg, NULL, 0); break;
		case 'l': s->library = optarg; break;
		case 'f': s->folder = optarg; break;
		case 'i': s->first = strtoul(optarg, NULL, 0); break;
		case 'c': s->counts = true; break;
		case 'w': s->whole = true; break;
		case 't': s->step = true; break;
		case 'q': s->users = true; break;
		case 'k': s->number = optarg; break;
		case 'm': s->memory = strtoull(optarg, NULL, 0); break;
		case 'g': s->gpu = optarg; break;
		case 'b': s->label = optarg; break;
		case 'r': s->start_s = strtoul(optarg, NULL, 0); break;
		case 'd': s->device = strtoul(optarg, NULL, 0); break;
		default: return false;
		}
	return s->staging >= KVGPU_REMOTE_RELAYED_MIN && s->staging <= KVGPU_REMOTE_RELAYED_MAX &&
	       s->slots >= 2 && s->slots <= SLOTS_MAX &&
	       (s->eager <= EAGER_MAX || s->eager == EAGER_MEASURED) && s->patience_s;
}
/* clang-format on */

/*
 * Whether a rank that is through may leave without MPI_Finalize(). In a step of Slurm's, that call
 * of MPICH 4.0 over UCX now and then does not return, and Slurm does not mind its absence.
 */
static bool may_leave(const struct settings *s)
{
#ifdef MPICH_VERSION
	return s->step;
#else
	return false;
#endif
}

static void end_with_parent(void)
{
	pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

/* without a name pieces go through the broker */
static void name_job(struct settings *s)
{
	if (getrandom(&s->job, sizeof(s->job), 0) != sizeof(s->job))
		s->job = 0;
}

/*
 * If the command line has the commands of all ranks, become this rank's own, so that ps tells ranks
 * apart; without MPI, start all of them. True: it has one command alone. False: an error.
 */
static bool become_rank(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "ranks"))
		return true;
#ifdef KVGPU_CLUSTER_LOCAL
	exit(launch_ranks(argc, argv));
#endif
	if (ranks_pick(getenv("OMPI_COMM_WORLD_RANK"), &argc, &argv))
		execv(argv[0], argv);
	relay_say("mpirun has started a rank that kvgpu-run did not ask for");
	return false;
}

int main(int argc, char **argv)
{
	struct settings s = { DEFAULT_STAGING,		 DEFAULT_SLOTS,	     EAGER_MEASURED,
			      DEFAULT_SPIN_US,		 DEFAULT_PATIENCE_S, DEFAULT_ARENA,
			      .library = "libcuda.so.1", .gpu = "-",	     .label = "-:-",
			      .start_s = START_S };
	int forker = -1, r;
	bool proxy, has = true;

	process_begin();
	memory_unlimited();
	if (!become_rank(argc, argv) || argc < 2 || !read_options(argc - 1, argv + 1, &s))
		return 2;
	proxy = !strcmp(argv[1], "proxy");
	if (!strcmp(argv[1], "count"))
		return count_run(s.library, s.users);
	if (!read_secret(&s)) {
		relay_say("this program is started by kvgpu-run");
		return 2;
	}
	if (proxy) {
		end_with_parent();
		daemon_note();
		has = strcmp(s.gpu, "-") || count_has(s.library, s.device);
		forker = forker_begin(&(struct forker_gpu){ s.library, s.arena, s.device, s.memory,
							    s.gpu, s.label });
		if (forker < 0)
			return 1;
	}
	prctl(PR_SET_TIMERSLACK, SLACK_START_NS);
	/* kvgpu-run itself gives up earlier, and ends the ranks that it reaches */
	if (proxy)
		daemon_limit(s.start_s + LATE_S, !s.step);
	if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
		return 1;
	if (proxy)
		daemon_begun();
	/* now the broker, or an mpirun, sees the end */
	if (!has)
		_exit(1);
	prctl(PR_SET_TIMERSLACK, SLACK_NS);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
	if (!proxy && s.ranks > 2)
		name_job(&s);
	r = proxy ? proxy_run(&s, forker) : broker_run(&s, s.ranks);
	/* MPI_Finalize() would wait for the other ranks; mpirun ends them when this one fails */
	if (r || may_leave(&s))
		_exit(r);
	prctl(PR_SET_TIMERSLACK, SLACK_START_NS);
	MPI_Finalize();
	return 0;
}
