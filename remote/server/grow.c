// SPDX-License-Identifier: MIT
/*
 * The arena of a client of this machine grows for its pinned memory, and becomes smaller again.
 * Pages are made at once, so that what is not there is refused, and nobody runs out of it later.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "server.h"

/* of the machine's memory so much is left to others: one part of so many */
enum { LEFT = 8 };
#define STEP (16ull << 20)

/* @what of /proc/meminfo, which counts in KiB; 0: not known */
static uint64_t bytes_of(const char *text, const char *what)
{
	const char *at = strstr(text, what);

	return at ? strtoull(at + strlen(what), NULL, 10) << 10 : 0;
}

/* whether the machine keeps enough with @bytes less; also if it does not say so */
static bool machine_has(uint64_t bytes)
{
	int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	char text[1024] = "";
	uint64_t left;

	if (fd < 0)
		return true;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	left = bytes_of(text, "MemTotal:") / LEFT;
	return !left || bytes_of(text, "MemAvailable:") >= left + bytes;
}

/* EINVAL: a kernel without MADV_POPULATE_WRITE */
static bool make_pages(struct server *s, uint64_t at, uint64_t end)
{
	uint64_t bytes;

	for (; at < end; at += bytes) {
		bytes = end - at < STEP ? end - at : STEP;
		if (!machine_has(bytes) ||
		    (madvise(s->arena + at, bytes, MADV_POPULATE_WRITE) && errno != EINVAL))
			return false;
	}
	return true;
}

static bool take(struct server *s, uint64_t arena_bytes)
{
	const struct quota *q = &s->quota;
	uint64_t bytes = arena_bytes - s->arena_first;

	return bytes <= s->options.pinned &&
	       (!q->pool ||
		pool_pin(q->pool, q->nr_programs, q->program, bytes, s->options.pinned));
}

static void give_pages(struct server *s, uint64_t at, uint64_t end)
{
	madvise(s->arena + at, end - at, MADV_REMOVE);
}

/* @open: so many bytes the arena has had at most; they are counted, and stay mapped */
static enum kvgpu_remote_bound grow(struct server *s, uint64_t bytes)
{
	enum kvgpu_remote_bound bound = KVGPU_REMOTE_BOUND_NONE;
	const uint64_t now = s->arena_bytes;
	uint64_t open;

	kvgpu_remote_port_arena(s->port, &open);
	if (bytes > open && !take(s, bytes))
		return KVGPU_REMOTE_BOUND_PINNED;
	s->arena_bytes = bytes;
	if (bytes > open && !kvgpu_remote_port_resize(s->port, bytes))
		bound = KVGPU_REMOTE_BOUND_LIBRARY;
	else if (!make_pages(s, now, bytes))
		bound = KVGPU_REMOTE_BOUND_MACHINE;
	else if (!pinned_more(s, now))
		bound = KVGPU_REMOTE_BOUND_LIBRARY;
	if (!bound)
		return bound;
	give_pages(s, now, bytes);
	s->arena_bytes = now;
	if (bytes > open && kvgpu_remote_port_resize(s->port, open))
		take(s, open);
	return bound;
}

/* work that the client has left there goes on, and touches pages anew: they count as before */
static enum kvgpu_remote_bound shrink(struct server *s, uint64_t bytes)
{
	if (!pinned_less(s, bytes))
		return KVGPU_REMOTE_BOUND_LIBRARY;
	give_pages(s, bytes, s->arena_bytes);
	s->arena_bytes = bytes;
	return KVGPU_REMOTE_BOUND_NONE;
}

/* whole pieces, so that the parts are few */
CUresult frame_grow(struct server *s, const struct q_grow *q, struct kvgpu_remote_cursor *in,
		    struct kvgpu_remote_reply *out)
{
	struct a_grow *a = kvgpu_remote_put(out, sizeof(*a));

	if (!a)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!kvgpu_remote_port_is_shared(s->port) || q->bytes < s->arena_first ||
	    (q->bytes - s->arena_first) % KVGPU_REMOTE_PIECE_MAX || q->bytes == s->arena_bytes)
		return CUDA_ERROR_INVALID_VALUE;
	a->bound = q->bytes > s->arena_bytes ? grow(s, q->bytes) : shrink(s, q->bytes);
	return CUDA_SUCCESS;
}
