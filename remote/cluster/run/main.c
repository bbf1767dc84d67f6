// SPDX-License-Identifier: MIT
/* kvgpu-run: a program here, and all GPUs of a cluster as its devices. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "folder.h"
#include "run.h"

void complain(const char *format, ...)
{
	va_list args;

	fputs("kvgpu-run: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/* ------------------------------------------------------------------ finding the GPUs */

struct counted {
	struct host *host;
	bool print;
};

/* a line "gpu HOST INDEX TOTAL FREE UUID NAME" */
static void count_line(void *ctx, char *text)
{
	char host[65], uuid[33], name[257];
	struct counted *c = ctx;
	uint64_t total, left;
	int i;

	if (sscanf(text, "gpu %64s %d %lu %lu %32s %256[^\n]", host, &i, &total, &left, uuid,
		   name) != 6)
		return;
	c->host->gpus++;
	if (c->print)
		printf("%-20s %3d  %-32s %7lu %7lu  %s\n", c->host->name, i, name, total >> 20,
		       left >> 20, uuid);
}

static bool count_host(struct run *r, struct host *h, bool print)
{
	struct job j = { .o = &r->o, .mpirun = r->mpirun, .relay = r->relay, .hosts = r->hosts };
	struct counted counted = { h, print };
	struct command c = { .n = 0 };
	int status = -1;

	h->gpus = 0;
	if (command_count(&j, h, &c))
		status = read_lines(r, &c, count_line, &counted);
	command_free(&c);
	if (status)
		complain("%s: its GPUs can't be listed (exit code %d)", h->name, status);
	return !status;
}

static bool count_all(struct run *r)
{
	unsigned int i;

	if (r->o.list)
		printf("%-20s %3s  %-32s %7s %7s  %s\n", "host", "GPU", "name", "MiB", "free",
		       "UUID");
	for (i = 0; i < r->nr_hosts; i++)
		if ((r->o.list || r->hosts[i].gpus == GPUS_UNKNOWN) &&
		    !count_host(r, &r->hosts[i], r->o.list))
			return false;
	return true;
}

static bool plan(struct run *r)
{
	char self[HOST_TEXT] = "";
	const char *why;
	int n;

	gethostname(self, sizeof(self) - 1);
	n = plan_hosts(r->o.hosts ? r->o.hosts : "localhost", self, r->hosts, &why);
	if (n < 0) {
		complain("--hosts: %s", why);
		return false;
	}
	r->nr_hosts = n;
	if (!count_all(r))
		return false;
	if (r->o.list)
		return true;
	n = plan_places(r->hosts, r->nr_hosts, r->o.gpus, r->o.share, r->places, DEVICES_MAX, &why);
	if (n < 0)
		complain("%s", why);
	r->nr_places = n < 0 ? 0 : n;
	return n > 0;
}

/* ------------------------------------------------------------------ a run */

static bool make_secret(struct run *r)
{
	unsigned char bytes[(SECRET_TEXT - 1) / 2];
	unsigned int i;

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return false;
	for (i = 0; i < sizeof(bytes); i++)
		sprintf(r->secret + 2 * i, "%02x", bytes[i]);
	return true;
}

static bool listen_here(struct run *r)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int e = folder_make(r->folder, sizeof(r->folder));

	if (e) {
		complain("%s: %s", r->folder, strerror(-e));
		return false;
	}
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/run", r->folder);
	r->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (r->listener >= 0 && !bind(r->listener, (struct sockaddr *)&at, sizeof(at)) &&
	    !listen(r->listener, JOBS_MAX))
		return true;
	complain("%s: %s", at.sun_path, strerror(errno));
	return false;
}

int main(int argc, char **argv)
{
	static struct run r = { .listener = -1 };
	const char *why, *what;
	bool fine;
	int e = options_read(argc, argv, &r.o, &why, &what);

	if (e > 0) {
		fputs(run_usage, stdout);
		return 0;
	}
	if (e < 0) {
		complain(why, what);
		return EXIT_OWN;
	}
	if (!find_all(&r) || !plan(&r))
		return EXIT_OWN;
	if (r.o.list)
		return 0;
	fine = wait_begin(&r) && make_secret(&r) && listen_here(&r) && jobs_begin(&r) &&
	       program_run(&r);
	jobs_end(&r);
	if (*r.folder)
		folder_remove(r.folder);
	if (fine)
		program_pass_on(&r);
	return r.interrupted ? 128 + r.status : EXIT_OWN;
}
