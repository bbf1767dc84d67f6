// SPDX-License-Identifier: MIT
/*
 * The installed parts of kvgpu-run, and what starts the proxies: kvgpu-relay-local, which needs no
 * MPI, if all GPUs are of this machine; srun; or mpirun. The relay has to be of the same kind as
 * mpirun.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

static const char *const kind_names[] = { "auto", "local", "openmpi", "mpich" };

/* find the file @name beside this program, or in ../lib/kvgpu-run */
static bool find_part(const char *name, char *path, size_t size)
{
	static const char *const places[] = { "", "../lib/kvgpu-run/" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	unsigned int i;
	char *slash;

	self[n > 0 ? n : 0] = 0;
	slash = strrchr(self, '/');
	for (i = 0; slash && i < 2; i++)
		if (snprintf(path, size, "%.*s/%s%s", (int)(slash - self), self, places[i], name) <
			    (int)size &&
		    !access(path, R_OK))
			return true;
	return false;
}

int read_lines(const struct run *r, const struct command *c, void (*line)(void *ctx, char *text),
	       void *ctx)
{
	char *text = NULL;
	int pipes[2], status;
	size_t size = 0;
	FILE *f;
	pid_t pid;

	if (pipe(pipes)) {
		report_error("%s: %s", c->word[0], strerror(errno));
		return -1;
	}
	pid = fork();
	if (!pid) {
		wait_clear(pipes[1]);
		job_environment(r);
		execvp(c->word[0], c->word);
		_exit(EXIT_NOT_FOUND);
	}
	close(pipes[1]);
	f = fdopen(pipes[0], "r");
	while (pid > 0 && f && getline(&text, &size, f) > 0)
		line(ctx, text);
	free(text);
	if (f)
		fclose(f);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	if (WIFSIGNALED(status))
		report_error("%s was killed by signal %d", c->word[0], WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct version {
	enum mpi_kind kind;
	unsigned int major;
};

/* "mpirun (Open MPI) 4.1.4", "mpirun.openmpi (OpenRTE) 4.1.4", or several lines with "HYDRA" */
static void look_for_version(void *ctx, char *text)
{
	struct version *v = ctx;

	if (strstr(text, "Open MPI") || strstr(text, "OpenRTE")) {
		v->kind = MPI_KIND_OPENMPI;
		if (strchr(text, ')'))
			sscanf(strchr(text, ')') + 1, "%u", &v->major);
	}
	if (strstr(text, "HYDRA"))
		v->kind = MPI_KIND_MPICH;
}

static struct version version_of(const struct run *r, const char *mpirun)
{
	struct command c = { .word = { (char *)(uintptr_t)mpirun, (char *)(uintptr_t) "--version" },
			     .n = 2 };
	struct version v = { .kind = MPI_KIND_AUTO };

	read_lines(r, &c, look_for_version, &v);
	return v;
}

static bool find_mpirun(struct run *r)
{
	static const char *const names[] = { "mpirun", "mpirun.openmpi", "mpirun.mpich",
					     "mpiexec.hydra", NULL };
	const char *const one[] = { r->o.mpirun, NULL }, *const *name = r->o.mpirun ? one : names;
	struct version v;

	for (; *name; name++) {
		v = version_of(r, *name);
		if (v.kind == MPI_KIND_AUTO || (r->o.mpi != MPI_KIND_AUTO && r->o.mpi != v.kind))
			continue;
		r->mpirun = *name;
		r->mpi_major = v.major;
		r->o.mpi = v.kind;
		return true;
	}
	report_error(
		"there is no mpirun%s%s in the path: install openmpi-bin or mpich, or name it by --mpirun",
		r->o.mpi ? " of " : "", r->o.mpi ? kind_names[r->o.mpi] : "");
	return false;
}

/* Open MPI's mpirun refuses root, later and with much text */
static bool may_be_root(const struct run *r)
{
	const char *one = getenv("OMPI_ALLOW_RUN_AS_ROOT"),
		   *two = getenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM");

	if (geteuid() || r->o.mpi != MPI_KIND_OPENMPI || r->o.allow_root || (one && two))
		return true;
	report_error(
		"Open MPI's mpirun does not run as root. Run this as another user; or, where root is meant (a container), "
		"give --allow-run-as-root, or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
	return false;
}

static bool find_client(struct run *r)
{
	char library[PATH_MAX];

	if (r->o.client) {
		snprintf(r->client, sizeof(r->client), "%s", r->o.client);
	} else if (find_part("libcuda.so.1", library, sizeof(library))) {
		*strrchr(library, '/') = 0;
		strcpy(r->client, library);
	}
	if (!strpbrk(r->client, ":;"))
		return true;
	report_error(
		"the folder of PROGRAM's libcuda.so.1, %s, has a colon or a semicolon, by which LD_LIBRARY_PATH separates folders: "
		"name one without by --client, such as a symbolic link to it",
		r->client);
	return false;
}

bool find_launcher(struct run *r)
{
	const char *job = getenv("SLURM_JOB_ID"), *node = getenv("SLURMD_NODENAME");

	if (r->o.launcher == LAUNCHER_MPIRUN ||
	    (r->o.launcher == LAUNCHER_AUTO && (!job || r->o.mpi == MPI_KIND_LOCAL)))
		return true;
	if (r->o.mpi == MPI_KIND_LOCAL) {
		report_error(
			"srun starts proxies with an MPI, so --mpi local does not go with --launcher srun");
		return false;
	}
	if (job && node) {
		r->node = node;
		return true;
	}
	report_error(
		job ? "this shell belongs to Slurm's job, but is on no node of it: run srun --overlap --pty kvgpu-run ... (or sbatch), "
		      "or give --launcher mpirun to use other machines" :
		      "srun wants an allocation: run this by sbatch or salloc, or give --launcher mpirun");
	return false;
}

/* srun needs no mpirun: unless --mpi names an MPI, take the first whose relay is installed */
static bool find_mpi_of_relay(struct run *r)
{
	char name[64], path[PATH_MAX];
	int kind;

	for (kind = MPI_KIND_OPENMPI; r->o.mpi == MPI_KIND_AUTO && kind <= MPI_KIND_MPICH; kind++) {
		snprintf(name, sizeof(name), "kvgpu-relay-%s", kind_names[kind]);
		if (find_part(name, path, sizeof(path)))
			r->o.mpi = kind;
	}
	return true;
}

/* what mpirun and its daemons listen at asks nobody who they are */
static bool may_trust(const struct run *r)
{
	if (!r->o.trust_network)
		report_error(
			"with mpirun every local user of each machine and every peer of the network can run programs as you. Run this "
			"in a Slurm allocation (sbatch, salloc), whose srun lets nobody else in; or say by --trust-network that all "
			"of them are trusted");
	return r->o.trust_network;
}

static bool is_local(const struct run *r)
{
	unsigned int i;

	for (i = 0; i < r->nr_hosts && r->hosts[i].local; i++)
		;
	return i == r->nr_hosts;
}

/* set .o.mpi, and .mpirun if there is one */
static bool find_carrier(struct run *r)
{
	if (r->node)
		return find_mpi_of_relay(r);
	if (r->o.mpi == MPI_KIND_AUTO && is_local(r))
		r->o.mpi = MPI_KIND_LOCAL;
	if (r->o.mpi != MPI_KIND_LOCAL)
		return may_trust(r) && find_mpirun(r) && may_be_root(r);
	if (!is_local(r))
		report_error(
			"--mpi local is for GPUs of this machine, and --hosts names another one");
	return is_local(r);
}

bool find_all(struct run *r)
{
	char name[64];

	if (!find_carrier(r) || !find_client(r))
		return false;
	snprintf(name, sizeof(name), "kvgpu-relay-%s", kind_names[r->o.mpi]);
	if (find_part(name, r->relay, sizeof(r->relay)))
		return true;
	report_error(
		"%s is not beside kvgpu-run, nor in ../lib/kvgpu-run: this installation has no part for that",
		name);
	return false;
}
