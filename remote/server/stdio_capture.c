// SPDX-License-Identifier: MIT
/*
 * What kernels print is on the library's standard output; what they assert, and what the library
 * says, is on its standard error. Both are files in memory, so that printing does not wait for a
 * reader. Any thread of the library may write to them while the serving thread reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "server.h"

enum {
	PART = 16 << 10,
	PAGE = 4096,
	FREE_FROM = 1 << 20,
	WINDOW = 2 * PAGE,
	LOOK = 64,
	ASK_EACH = 64
};

/*
 * The file has zeros behind what was written, and a part of them is mapped: so a look at memory
 * tells whether there is new text, without a system call. Text that begins with LOOK zeros is not
 * seen so: each ASK_EACH-th look that sees none asks for the file's position.
 */
struct caught {
	int number, fd; /* descriptor 1 or 2, and that of the file in its place */
	off_t sent, freed;
	off_t at; /* where the mapped part is in the file */
	const uint8_t *window; /* NULL: there is no mapped part */
	unsigned int looks; /* that saw no text */
};

struct stdio_capture {
	struct caught of[2];
};

static void move_window(struct caught *c)
{
	off_t at = c->sent / PAGE * PAGE;
	void *p;

	if (c->window && c->at == at)
		return;
	if (c->window)
		munmap((void *)(uintptr_t)c->window, WINDOW);
	c->window = NULL;
	c->at = at;
	/* allocated bytes: a write beyond them makes the file longer, as at its end */
	if (fallocate(c->fd, 0, at, WINDOW))
		return;
	p = mmap(NULL, WINDOW, PROT_READ, MAP_SHARED, c->fd, at);
	c->window = p == MAP_FAILED ? NULL : p;
}

static int catch_output(struct caught *c, int number)
{
	c->number = number;
	c->fd = memfd_create("text", MFD_CLOEXEC);
	if (c->fd < 0 || dup2(c->fd, number) < 0)
		return -errno;
	move_window(c);
	return 0;
}

static bool is_new(const struct caught *c)
{
	uint64_t word[LOOK / sizeof(uint64_t)], any = 0;
	unsigned int i;

	if (!c->window)
		return true;
	memcpy(word, c->window + (c->sent - c->at), sizeof(word));
	for (i = 0; i < LOOK / sizeof(uint64_t); i++)
		any |= word[i];
	return any;
}

int stdio_capture_start(struct server *s)
{
	int r;

	s->stdio = calloc(1, sizeof(*s->stdio));
	if (!s->stdio)
		return -ENOMEM;
	fflush(stdout);
	r = catch_output(&s->stdio->of[0], STDOUT_FILENO);
	return r ? r : catch_output(&s->stdio->of[1], STDERR_FILENO);
}

CUresult refuse_once(const char *what, const char *why, bool *told)
{
	if (!*told)
		fprintf(stderr, "libcuda (remote): %s is not supported: %s\n", what, why);
	*told = true;
	return CUDA_ERROR_NOT_SUPPORTED;
}

static void send_text(struct server *s, struct caught *c)
{
	struct kvgpu_remote_notification h = { .kind = KVGPU_REMOTE_NOTIFY_TEXT,
					       .value = c->number };
	char part[PART];
	off_t end;
	ssize_t n;

	if (!is_new(c) && ++c->looks % ASK_EACH)
		return;
	/* the position of all writes, as the descriptors share it */
	end = lseek(c->fd, 0, SEEK_CUR);
	while (c->sent < end) {
		n = end - c->sent < PART ? end - c->sent : PART;
		n = pread(c->fd, part, n, c->sent);
		if (n <= 0)
			return;
		c->sent += n;
		if (kvgpu_remote_notify(s->port, &h, part, n))
			return;
	}
	move_window(c);
	if (c->sent - c->freed < FREE_FROM)
		return;
	end = c->sent / PAGE * PAGE;
	fallocate(c->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, c->freed, end - c->freed);
	c->freed = end;
}

void stdio_capture_send(struct server *s)
{
	if (!s->stdio)
		return;
	fflush(stdout);
	send_text(s, &s->stdio->of[0]);
	send_text(s, &s->stdio->of[1]);
}

void stdio_capture_free(struct server *s)
{
	/* the files end with the process, whose standard output and error they are */
	free(s->stdio);
	s->stdio = NULL;
}
