// SPDX-License-Identifier: MIT
#include "ringers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <remote/ring/clock.h>

/* how long a server waits for the name of a client that rang, and then for its knock */
#define NAME_NS		1000000000ull
#define PATIENCE_NS	5000000000ull

/*
 * Accept at most so many connections before the next look for a knock: so a flood of new ones does
 * not push out one that was not looked at.
 */
enum { AT_ONCE = 8 };

int ringers_begin(struct ringers *r, const struct address *bell, const char **why)
{
	struct address at = *bell;
	unsigned int i;

	*r = (struct ringers){ .any = bell->scheme != ADDRESS_VSOCK || bell->cid == UINT32_MAX,
			       .cid = bell->cid };
	for (i = 0; i < RINGERS; i++)
		r->at[i].fd = -1;
	/* listen at all CIDs of this machine */
	if (at.scheme == ADDRESS_VSOCK)
		at.cid = UINT32_MAX;
	r->listening = address_listen(&at, why);
	if (r->listening >= 0)
		fcntl(r->listening, F_SETFL, O_NONBLOCK);
	return r->listening < 0 ? r->listening : 0;
}

void ringer_drop(struct ringer *ringer)
{
	if (ringer->fd >= 0)
		close(ringer->fd);
	*ringer = (struct ringer){ .fd = -1 };
}

void ringers_drop(struct ringers *r)
{
	unsigned int i;

	for (i = 0; i < RINGERS; i++)
		ringer_drop(&r->at[i]);
}

void ringers_end(struct ringers *r)
{
	ringers_drop(r);
	if (r->listening >= 0)
		close(r->listening);
	r->listening = -1;
}

static unsigned int from_there(const struct ringers *r, const struct ringer *one)
{
	unsigned int i, n = 0;

	for (i = 0; i < RINGERS; i++)
		n += r->at[i].fd >= 0 && r->at[i].from.net == one->from.net;
	return n;
}

/* a free entry, or that of the oldest connection of the source with most connections */
static struct ringer *room(struct ringers *r)
{
	unsigned int i, n, most = 0;
	struct ringer *go = NULL;

	for (i = 0; i < RINGERS; i++) {
		struct ringer *one = &r->at[i];

		if (one->fd < 0)
			return one;
		n = from_there(r, one);
		if (n < most || (n == most && one->id > go->id))
			continue;
		go = one;
		most = n;
	}
	ringer_drop(go);
	return go;
}

/* false: no connection waits */
static bool take_one(struct ringers *r)
{
	int fd = accept4(r->listening, NULL, NULL, SOCK_CLOEXEC);
	struct ringer *one;

	if (fd < 0)
		return errno == EINTR || errno == ECONNABORTED;
	if (!r->any && !address_is_from(fd, r->cid)) {
		close(fd);
		return true;
	}
	one = room(r);
	*one = (struct ringer){ .fd = fd,
				.from = address_of_source(fd),
				.id = ++r->last_id,
				.until_ns = clock_ns() + NAME_NS };
	return true;
}

/* read the name that a client says when it is connected, or shortly afterwards */
static void hear_name(struct ringer *one)
{
	ssize_t n = recv(one->fd, (uint8_t *)&one->hello + one->have,
			 sizeof(one->hello) - one->have, MSG_DONTWAIT);

	if (n > 0)
		one->have += n;
	else if (!n || (errno != EAGAIN && errno != EINTR))
		ringer_drop(one);
	if (one->have < sizeof(one->hello))
		return;
	one->until_ns = clock_ns() + PATIENCE_NS;
	if (one->hello.magic != KVGPU_REMOTE_MAGIC_SHMEM || !one->hello.version)
		ringer_drop(one);
}

void ringers_hear(struct ringers *r)
{
	unsigned int i;

	for (i = 0; i < AT_ONCE && take_one(r); i++)
		;
	for (i = 0; i < RINGERS; i++)
		if (r->at[i].fd >= 0 && r->at[i].have < sizeof(r->at[i].hello))
			hear_name(&r->at[i]);
}

static bool rung_off(const struct ringer *one)
{
	struct pollfd end = { .fd = one->fd, .events = POLLRDHUP };

	return poll(&end, 1, 0) > 0;
}

struct ringer *ringers_find(struct ringers *r, uint64_t name)
{
	unsigned int i;

	for (i = 0; name && i < RINGERS; i++) {
		struct ringer *one = &r->at[i];

		if (one->fd >= 0 && one->have == sizeof(one->hello) && one->hello.version == name &&
		    !rung_off(one))
			return one;
	}
	return NULL;
}

void ringers_end_late_ones(struct ringers *r)
{
	uint64_t now = clock_ns();
	unsigned int i;

	for (i = 0; i < RINGERS; i++)
		if (r->at[i].fd >= 0 && (now > r->at[i].until_ns || rung_off(&r->at[i])))
			ringer_drop(&r->at[i]);
}

bool ringers_are_there(const struct ringers *r)
{
	unsigned int i;

	for (i = 0; i < RINGERS; i++)
		if (r->at[i].fd >= 0)
			return true;
	return false;
}
