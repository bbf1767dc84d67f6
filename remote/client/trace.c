// SPDX-License-Identifier: MIT
/*
 * KVGPU_REMOTE_TRACE=FILE or FILE,MS: a line in FILE for each call that a server answered with an
 * error, that was refused, or that took MS milliseconds or longer (1000). Programs may share the
 * file: each line is one write(), behind all others. While nothing is traced, a call that is queued
 * looks at nothing of this file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cuda/api/text.h>
#include <remote/conf/conf.h>
#include <remote/wire/dump.h>

#include "client.h"

enum { BOUND_MS = 1000, BOUND_MS_MAX = 3600 * 1000 };
#define NS_OF_MS 1000000ull

/* written under `init_lock`, before there is a server whose `slow` has SLOW_TRACE */
static int trace_file = -1;
static struct stat opened;
static uint64_t bound_ns;

static __thread uint64_t began_ns; /* of the call that was sent last */

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* The program may have closed the file's number, and opened something else. */
static bool is_open(void)
{
	struct stat st;

	return trace_file >= 0 && !fstat(trace_file, &st) && st.st_dev == opened.st_dev &&
	       st.st_ino == opened.st_ino;
}

static void put_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put_line(const char *format, ...)
{
	const uint64_t us = now_ns(CLOCK_REALTIME) / 1000;
	char line[700];
	va_list args;
	ssize_t r;
	int n;

	n = snprintf(line, sizeof(line), "%llu.%06u %d.%ld ", (unsigned long long)us / 1000000,
		     (unsigned int)(us % 1000000), (int)getpid(), (long)syscall(SYS_gettid));
	va_start(args, format);
	vsnprintf(line + n, sizeof(line) - n - 1, format, args);
	va_end(args);
	text_clean(line, sizeof(line) - 1);
	n = strlen(line);
	line[n++] = '\n';
	r = is_open() ? write(trace_file, line, n) : 0;
	(void)r; /* a disk that is full stops no program */
}

void trace_say(const char *text)
{
	if (trace_file >= 0)
		put_line("%s", text);
}

static const char *open_file(const char *path)
{
	trace_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
			  0600);
	if (trace_file < 0)
		return errno == ELOOP ? "it is a symbolic link" : strerror(errno);
	if (!fstat(trace_file, &opened) && S_ISREG(opened.st_mode) && opened.st_uid == geteuid())
		return NULL;
	close(trace_file);
	trace_file = -1;
	return "it is no file of this user's";
}

bool trace_begin(const char **why)
{
	const char *text = secure_getenv("KVGPU_REMOTE_TRACE"), *comma;
	static bool looked; /* under `init_lock` */
	uint64_t ms = BOUND_MS;
	char path[4096];
	size_t n;

	*why = NULL;
	if (looked || !text || !*text)
		return trace_file >= 0;
	looked = true;
	comma = strrchr(text, ',');
	if (!comma || !conf_natural(comma + 1, BOUND_MS_MAX, &ms))
		comma = NULL;
	bound_ns = ms * NS_OF_MS;
	n = comma ? (size_t)(comma - text) : strlen(text);
	if (snprintf(path, sizeof(path), "%.*s", (int)n, text) < (int)sizeof(path))
		*why = open_file(path);
	else
		*why = "the name is too long";
	return !*why;
}

uint64_t trace_now(void)
{
	return trace_file >= 0 ? now_ns(CLOCK_MONOTONIC) : 0;
}

void trace_sent(uint16_t op, uint64_t began, CUresult r)
{
	began_ns = began;
	if (r)
		trace_answered(op, r);
}

/*
 * Not yet done is no error: programs ask again and again. Nor is it one that an image has not the
 * function that the client asks for by itself.
 */
void trace_answered(uint16_t op, CUresult r)
{
	const uint64_t ns = trace_file >= 0 ? now_ns(CLOCK_MONOTONIC) - began_ns : 0;
	const char *name = kvgpu_remote_op_name(op), *error = "?";
	const bool failed = r && r != CUDA_ERROR_NOT_READY && op != OP_image_function;

	if (trace_file < 0 || (!failed && ns < bound_ns))
		return;
	cuGetErrorName(r, &error);
	put_line("%s%s: %s, %llu.%03u ms", name, strncmp(name, "cu", 2) ? " (a frame)" : "()",
		 error, (unsigned long long)(ns / NS_OF_MS), (unsigned int)(ns / 1000 % 1000));
}
