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
#include "protocol.h" /* made by remote/api.py */
#include "run.h"

void report_error(const char *format, ...)
{
	va_list args;

	fputs("kvgpu-run: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
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
		report_error("%s: %s", r->folder, strerror(-e));
		return false;
	}
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/run", r->folder);
	r->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (r->listener >= 0 && !bind(r->listener, (struct sockaddr *)&at, sizeof(at)) &&
	    !listen(r->listener, JOBS_MAX))
		return true;
	report_error("%s: %s", at.sun_path, strerror(errno));
	return false;
}

int main(int argc, char **argv)
{
	static struct run r = { .listener = -1 };
	char why[OPTIONS_TEXT];
	bool fine;
	int e;

	if (!wait_inherit())
		return EXIT_OWN;
	switch (options_read(argc, argv, &r.o, why)) {
	case OPTIONS_HELP:
		return fputs(run_usage, stdout) < 0;
	case OPTIONS_VERSION:
		return puts("kvgpu-run " KVGPU_VERSION ", protocol " KVGPU_REMOTE_PROTOCOL) < 0;
	case OPTIONS_WRONG:
		report_error("%s; kvgpu-run --help lists what there is", why);
		return EXIT_OWN;
	case OPTIONS_FINE:
		break;
	}
	/* GPUs are not looked for in vain; execvp() has the last word */
	e = r.o.list ? 0 : program_look(&r);
	if (e)
		return e;
	if (!find_launcher(&r) || !gpus_find_hosts(&r) || !find_all(&r) || !gpus_find(&r))
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
