// SPDX-License-Identifier: MIT
/*
 * What kernels print is on the library's standard output; what they assert, and what the library
 * says, is on its standard error. Both are files in memory, so that printing does not wait for a
 * reader.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "server.h"

enum { PART = 16 << 10, PAGE = 4096, FREE_FROM = 1 << 20 };

struct caught {
	int number, fd;		/* descriptor 1 or 2, and that of the file in its place */
	off_t sent, freed;
};

struct text {
	struct caught of[2];
};

static int catch(struct caught *c, int number)
{
	c->number = number;
	c->fd = memfd_create("text", MFD_CLOEXEC);
	if (c->fd < 0 || fcntl(c->fd, F_SETFL, O_APPEND) || dup2(c->fd, number) < 0)
		return -errno;
	return 0;
}

int text_catch(struct server *s, FILE **log)
{
	int r, fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);

	*log = fd < 0 ? NULL : fdopen(fd, "w");
	s->text = calloc(1, sizeof(*s->text));
	if (!*log || !s->text)
		return -ENOMEM;
	setvbuf(*log, NULL, _IOLBF, 0);
	fflush(stdout);
	r = catch(&s->text->of[0], STDOUT_FILENO);
	return r ? r : catch(&s->text->of[1], STDERR_FILENO);
}

static void send(struct server *s, struct caught *c)
{
	struct kvgpu_remote_happening h = { .event = KVGPU_REMOTE_EVENT_TEXT, .value = c->number };
	char part[PART];
	ssize_t n;
	off_t end;

	while ((n = pread(c->fd, part, sizeof(part), c->sent)) > 0) {
		c->sent += n;
		if (kvgpu_remote_happen(s->port, &h, part, n))
			return;
	}
	if (c->sent - c->freed < FREE_FROM)
		return;
	end = c->sent / PAGE * PAGE;
	fallocate(c->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, c->freed, end - c->freed);
	c->freed = end;
}

void text_send(struct server *s)
{
	if (!s->text)
		return;
	fflush(stdout);
	send(s, &s->text->of[0]);
	send(s, &s->text->of[1]);
}

void text_free(struct server *s)
{
	/* the files end with the process, whose standard output and error they are */
	free(s->text);
	s->text = NULL;
}
