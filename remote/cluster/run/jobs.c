// SPDX-License-Identifier: MIT
/*
 * The jobs of proxies: started, waited for, ended. Each has a process group of its own, so that a
 * terminal's signals don't reach it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "children.h"
#include "run.h"
#include "step.h"

enum { ORDERLY_MS = 5000, TERM_MS = 3000, KILLED_MS = 2000, ORPHAN_MS = 20, CHILDREN_MAX = 1024 };

/* a job's processes have it in their environment, with the name of the folder */
static const char mark[] = "KVGPU_CLUSTER_FOLDER";

extern char **environ;

void job_environment(const struct run *r)
{
	bool inside = getenv("OMPI_COMM_WORLD_SIZE");
	char name[256], folder[sizeof(r->folder) + 16], **e = environ;

	while (*e) {
		if ((r->o.mpi == MPI_KIND_LOCAL || command_is_named(*e)) &&
		    !command_is_foreign(*e, inside) && !(r->node && step_is_foreign(*e))) {
			e++;
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(*e, "="), *e);
		if (unsetenv(name))
			e++;
		else
			e = environ;
	}
	if (*r->folder)
		setenv(mark, r->folder, 1);
	if (*r->secret && r->node)
		setenv("KVGPU_CLUSTER_SECRET", r->secret, 1);
	/*
	 * MPI's temporary files are removed with the folder. Each job has a folder of its own
	 * there, as two mpiruns of Open MPI that make or remove a common one at once fail.
	 */
	if (*r->folder && !r->node) {
		snprintf(folder, sizeof(folder), "%s/job%u", r->folder, r->nr_jobs);
		mkdir(folder, 0700);
		setenv("TMPDIR", folder, 1);
	}
}

static void become(const struct run *r, const struct command *c) __attribute__((noreturn));
static void become(const struct run *r, const struct command *c)
{
	setpgid(0, 0);
	wait_clear(STDERR_FILENO);
	job_environment(r);
	if (r->node)
		setenv("SLURM_HOSTFILE", r->hostfile, 1);
	execvp(c->word[0], c->word);
	report_error("%s: %s", c->word[0], strerror(errno));
	_exit(EXIT_NOT_FOUND);
}

static bool write_file(const char *path, char *text)
{
	FILE *f = text ? fopen(path, "we") : NULL;
	bool fine = f && fputs(text, f) >= 0;

	if (f && fclose(f))
		fine = false;
	free(text);
	return fine;
}

/* srun reads from files which node and which command each rank has */
static bool step_command(struct run *r, const struct job *j, struct command *c)
{
	char programs[sizeof(r->folder) + 32];

	snprintf(r->hostfile, sizeof(r->hostfile), "%s/hosts%u", r->folder, r->nr_jobs);
	snprintf(programs, sizeof(programs), "%s/programs%u", r->folder, r->nr_jobs);
	return write_file(r->hostfile, step_hosts(j)) && write_file(programs, step_programs(j)) &&
	       step_job(j, programs, c);
}

static bool begin_one(struct run *r, unsigned int first, unsigned int n)
{
	struct job j = { .o = &r->o,
			 .mpirun = r->mpirun,
			 .relay = r->relay,
			 .folder = r->folder,
			 .mpi_major = r->mpi_major,
			 .hosts = r->hosts,
			 .places = r->places + first,
			 .nr_places = n,
			 .first = first,
			 .node = r->node,
			 .binds = r->binds,
			 .label = r->label,
			 .number = r->node ? NULL : r->secret,
			 .here = *r->here ? r->here : NULL };
	struct running *job = &r->jobs[r->nr_jobs];
	struct command c = { .n = 0 };
	bool fine = r->node ? step_command(r, &j, &c) : command_job(&j, &c);

	job->fd = -1;
	job->pid = fine ? fork() : -1;
	if (!job->pid)
		become(r, &c);
	command_free(&c);
	if (job->pid < 0) {
		report_error(
			"the proxies: %s",
			fine ? strerror(errno) :
			r->node ?
			       "a path has a blank, a quote, a backslash, % or #: --launcher mpirun takes it" :
			       "the command line is too long");
		job->pid = 0;
		return false;
	}
	setpgid(job->pid, job->pid);
	r->nr_jobs++;
	return true;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static unsigned int living(const struct run *r)
{
	unsigned int i, n = 0;

	for (i = 0; i < r->nr_jobs; i++)
		n += r->jobs[i].pid > 0;
	return n;
}

bool jobs_begin(struct run *r)
{
	uint64_t until = now_ms() + r->o.start_s * 1000, now;
	unsigned int i;

	/* processes that mpirun leaves become this process's children */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (i = 0; i < (r->o.each ? r->nr_places : 1); i++)
		if (!begin_one(r, i, r->o.each ? 1 : r->nr_places))
			return false;
	while (r->ready < r->nr_jobs) {
		now = now_ms();
		if (living(r) < r->nr_jobs || r->interrupted || now >= until) {
			r->silent = true;
			report_error(
				r->interrupted ?
					"it was ended before the proxies were there" :
				now >= until ?
					"the proxies are not there in time: --start says how long that may be" :
					"the job has ended before the proxies were there; what it said is above");
			return false;
		}
		wait_once(r, until - now);
	}
	return true;
}

static bool gone_within(struct run *r, uint64_t ms)
{
	uint64_t until = now_ms() + ms, now;

	while (living(r) && (now = now_ms()) < until)
		wait_once(r, until - now);
	return !living(r);
}

static void signal_all(struct run *r, int signal)
{
	unsigned int i;

	for (i = 0; i < r->nr_jobs; i++)
		if (r->jobs[i].pid > 0)
			kill(signal == SIGKILL ? -r->jobs[i].pid : r->jobs[i].pid, signal);
}

static bool is_marked(const struct run *r, pid_t pid)
{
	char path[64], *text = NULL;
	size_t size = 0, n = strlen(mark);
	bool has = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	f = fopen(path, "re");
	while (f && !has && getdelim(&text, &size, 0, f) > 0)
		has = !strncmp(text, mark, n) && text[n] == '=' && !strcmp(text + n + 1, r->folder);
	free(text);
	if (f)
		fclose(f);
	return has;
}

static bool kill_orphans(const struct run *r)
{
	pid_t child[CHILDREN_MAX];
	unsigned int i, n = children_of(getpid(), child, CHILDREN_MAX);
	bool some = false;

	for (i = 0; i < n; i++)
		if (is_marked(r, child[i])) {
			kill(child[i], SIGKILL);
			some = true;
		}
	return some;
}

/*
 * mpirun may leave processes, such as an ssh to a machine out of reach. They are this process's
 * children then (jobs_begin()).
 */
static void end_orphans(struct run *r)
{
	uint64_t until = now_ms() + KILLED_MS;

	while (kill_orphans(r) && now_ms() < until)
		wait_once(r, ORPHAN_MS);
}

static void end_orderly(struct run *r)
{
	unsigned int i;

	r->silent = true;
	for (i = 0; i < r->nr_jobs; i++)
		if (r->jobs[i].fd >= 0) {
			send(r->jobs[i].fd, "end\n", 4, MSG_NOSIGNAL);
			shutdown(r->jobs[i].fd, SHUT_WR);
		}
	/* a job that was never ready has no broker that could pass the end on */
	if (r->ready == r->nr_jobs && gone_within(r, ORDERLY_MS))
		return;
	signal_all(r, SIGTERM);
	if (gone_within(r, TERM_MS))
		return;
	signal_all(r, SIGKILL);
	gone_within(r, KILLED_MS);
}

void jobs_end(struct run *r)
{
	end_orderly(r);
	end_orphans(r);
}
