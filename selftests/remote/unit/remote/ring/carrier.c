// SPDX-License-Identifier: MIT
/* How a thread sleeps until the peer rings: at a futex or at a socket. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* ppoll(), syscall() */
#endif
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "carrier.h"

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };
}

/* ------------------------------------------------------------------ futex */

static bool futex_gone(const struct kvgpu_doorbell_futex *f)
{
	struct pollfd fd;

	if (!f)
		return false;
	fd = (struct pollfd){ .fd = f->gone_fd, .events = f->gone_events };
	return poll(&fd, 1, 0) > 0 && fd.revents & (f->gone_events | POLLHUP | POLLERR | POLLNVAL);
}

static enum kvgpu_sleep futex_sleep(void *ctx, uint32_t *word, uint64_t ns)
{
	struct timespec limit = timespec_of(ns);

	if (futex_gone(ctx))
		return KVGPU_SLEEP_GONE;
	/* shared between processes: not FUTEX_PRIVATE_FLAG */
	syscall(SYS_futex, word, FUTEX_WAIT, 1, &limit, NULL, 0);
	return futex_gone(ctx) ? KVGPU_SLEEP_GONE : KVGPU_SLEEP_LOOK;
}

static void futex_wake(void *ctx, uint32_t *word)
{
	(void)ctx;
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

const struct kvgpu_doorbell_ops kvgpu_doorbell_futex_ops = { .sleep = futex_sleep,
							     .wake = futex_wake };

/* ------------------------------------------------------------------ socket */

/* take the bytes of past wakes; bytes that stay make the next sleep short */
static enum kvgpu_sleep drain(int fd)
{
	char bytes[64];
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)))
		return KVGPU_SLEEP_LOOK;
	return KVGPU_SLEEP_GONE;
}

static enum kvgpu_sleep socket_sleep(void *ctx, uint32_t *word, uint64_t ns)
{
	const struct kvgpu_doorbell_socket *s = ctx;
	struct pollfd fd = { .fd = s->fd, .events = POLLIN };
	struct timespec limit = timespec_of(ns);

	(void)word;
	if (ppoll(&fd, 1, &limit, NULL) <= 0)
		return KVGPU_SLEEP_LOOK;
	if (fd.revents & (POLLHUP | POLLERR | POLLNVAL))
		return KVGPU_SLEEP_GONE;
	return drain(s->fd);
}

/* If the socket is full, the peer finds the bytes of earlier wakes in it. */
static void socket_wake(void *ctx, uint32_t *word)
{
	const struct kvgpu_doorbell_socket *s = ctx;

	(void)word;
	send(s->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

const struct kvgpu_doorbell_ops kvgpu_doorbell_socket_ops = { .sleep = socket_sleep,
							      .wake = socket_wake };
