// SPDX-License-Identifier: MIT
/*
 * PROGRAM: its environment, its end. It is a child in the same process group, with the same
 * standard descriptors.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

static char *addresses(const struct run *r)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	unsigned int i;

	if (!f)
		return NULL;
	for (i = 0; i < r->nr_places; i++)
		fprintf(f, "%sunix:%s/%u", i ? " " : "", r->folder, i);
	return fclose(f) ? NULL : text;
}

static void become(const struct run *r, pid_t parent) __attribute__((noreturn));
static void become(const struct run *r, pid_t parent)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	char *remote = addresses(r), *paths = NULL;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_OWN);
	/* the proxies have it obeyed; what is left are this program's devices, from 0 on */
	unsetenv("CUDA_VISIBLE_DEVICES");
	if (!remote || setenv("KVGPU_REMOTE", remote, 1))
		_exit(EXIT_OWN);
	if (*r->client && (asprintf(&paths, "%s%s%s", r->client, path && *path ? ":" : "",
				    path ? path : "") < 0 ||
			   setenv("LD_LIBRARY_PATH", paths, 1)))
		_exit(EXIT_OWN);
	wait_give_back();
	execvp(r->o.program[0], r->o.program);
	report_error("%s: %s", r->o.program[0], strerror(errno));
	_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN);
}

int program_look(const struct run *r)
{
	const char *name = r->o.program[0], *paths = getenv("PATH") ?: "/bin:/usr/bin", *end;
	const bool in_path = !strchr(name, '/');
	char path[PATH_MAX];
	int e = ENOENT;

	if (!in_path)
		e = access(name, X_OK) ? errno : 0;
	for (; in_path && e && paths; paths = *end ? end + 1 : NULL) {
		end = strchrnul(paths, ':');
		/* an empty item is this folder */
		snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - paths), paths,
			 end == paths ? "" : "/", name);
		if (!access(path, X_OK))
			e = 0;
		else if (errno == EACCES)
			e = EACCES;
	}
	if (e)
		report_error("%s: %s", name, strerror(e));
	return !e ? 0 : e == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}

bool program_run(struct run *r)
{
	pid_t self = getpid(), pid;

	wait_once(r, 0); /* a signal may have come since the last broker was ready */
	if (r->interrupted) {
		report_error("it was ended before PROGRAM began");
		return false;
	}
	fflush(NULL);
	pid = fork();
	if (!pid)
		become(r, self);
	if (pid < 0) {
		report_error("%s: %s", r->o.program[0], strerror(errno));
		return false;
	}
	r->program = pid;
	while (!r->program_ended)
		wait_once(r, -1);
	return true;
}

void program_pass_on(const struct run *r)
{
	struct rlimit none = { 0, 0 };

	if (WIFSIGNALED(r->status)) {
		/* PROGRAM has written its core, if any */
		setrlimit(RLIMIT_CORE, &none);
		signal(WTERMSIG(r->status), SIG_DFL);
		wait_give_back();
		raise(WTERMSIG(r->status));
		_exit(128 + WTERMSIG(r->status));
	}
	_exit(WEXITSTATUS(r->status));
}
