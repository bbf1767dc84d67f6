// SPDX-License-Identifier: MIT
#include "pending.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <remote/ring/clock.h>

#include "rights.h"

/* how long a server waits for the name of a client that rang, and then for its connect request */
#define NAME_NS	    1000000000ull
#define PATIENCE_NS 5000000000ull

/*
 * Accept at most so many connections before the next look for a connect request: so a flood of new
 * ones does not push out one that was not looked at.
 */
enum { AT_ONCE = 8 };

int pending_listen(struct pending_clients *r, const struct address *doorbell, const char **why)
{
	struct address at = *doorbell;
	unsigned int i;

	*r = (struct pending_clients){ .any = doorbell->scheme != ADDRESS_VSOCK ||
					      doorbell->cid == UINT32_MAX,
				       .cid = doorbell->cid };
	for (i = 0; i < PENDING_MAX; i++)
		r->at[i].fd = -1;
	/* listen at all CIDs of this machine */
	if (at.scheme == ADDRESS_VSOCK)
		at.cid = UINT32_MAX;
	r->listening = address_listen(&at, why);
	if (r->listening >= 0)
		fcntl(r->listening, F_SETFL, O_NONBLOCK);
	return r->listening < 0 ? r->listening : 0;
}

void pending_drop(struct pending_client *one)
{
	if (one->fd >= 0)
		rights_close(one->fd);
	*one = (struct pending_client){ .fd = -1 };
}

void pending_drop_all(struct pending_clients *r)
{
	unsigned int i;

	for (i = 0; i < PENDING_MAX; i++)
		pending_drop(&r->at[i]);
}

void pending_end(struct pending_clients *r)
{
	pending_drop_all(r);
	if (r->listening >= 0)
		rights_close_copy(r->listening);
	r->listening = -1;
}

static unsigned int count_of_source(const struct pending_clients *r,
				    const struct pending_client *one)
{
	unsigned int i, n = 0;

	for (i = 0; i < PENDING_MAX; i++)
		n += r->at[i].fd >= 0 && r->at[i].from.net == one->from.net;
	return n;
}

/* a free entry, or that of the oldest connection of the source with most connections */
static struct pending_client *free_entry(struct pending_clients *r)
{
	unsigned int i, n, most = 0;
	struct pending_client *go = NULL;

	for (i = 0; i < PENDING_MAX; i++) {
		struct pending_client *one = &r->at[i];

		if (one->fd < 0)
			return one;
		n = count_of_source(r, one);
		if (n < most || (n == most && one->id > go->id))
			continue;
		go = one;
		most = n;
	}
	pending_drop(go);
	return go;
}

/* false: no connection waits */
static bool accept_pending(struct pending_clients *r)
{
	int fd = accept4(r->listening, NULL, NULL, SOCK_CLOEXEC);
	struct pending_client *one;

	if (fd < 0)
		return errno == EINTR || errno == ECONNABORTED;
	if (!r->any && !address_is_from(fd, r->cid)) {
		close(fd);
		return true;
	}
	one = free_entry(r);
	*one = (struct pending_client){ .fd = fd,
					.from = address_of_source(fd),
					.id = ++r->last_id,
					.until_ns = clock_ns() + NAME_NS };
	return true;
}

/* read the name that a client says when it is connected, or shortly afterwards */
static void read_name(struct pending_client *one)
{
	ssize_t n = rights_read(one->fd, (uint8_t *)&one->hello + one->have,
				sizeof(one->hello) - one->have);

	if (n > 0)
		one->have += n;
	else if (!n || (errno != EAGAIN && errno != EINTR))
		pending_drop(one);
	if (one->have < sizeof(one->hello))
		return;
	one->until_ns = clock_ns() + PATIENCE_NS;
	if (one->hello.magic != KVGPU_REMOTE_MAGIC_SHMEM || !one->hello.version)
		pending_drop(one);
}

void pending_accept(struct pending_clients *r)
{
	unsigned int i;

	for (i = 0; i < AT_ONCE && accept_pending(r); i++)
		;
	for (i = 0; i < PENDING_MAX; i++)
		if (r->at[i].fd >= 0 && r->at[i].have < sizeof(r->at[i].hello))
			read_name(&r->at[i]);
}

static bool has_hung_up(const struct pending_client *one)
{
	struct pollfd end = { .fd = one->fd, .events = POLLRDHUP };

	return poll(&end, 1, 0) > 0;
}

struct pending_client *pending_find(struct pending_clients *r, uint64_t name)
{
	unsigned int i;

	for (i = 0; name && i < PENDING_MAX; i++) {
		struct pending_client *one = &r->at[i];

		if (one->fd >= 0 && one->have == sizeof(one->hello) && one->hello.version == name &&
		    !has_hung_up(one))
			return one;
	}
	return NULL;
}

void pending_drop_late(struct pending_clients *r)
{
	uint64_t now = clock_ns();
	unsigned int i;

	for (i = 0; i < PENDING_MAX; i++)
		if (r->at[i].fd >= 0 && (now > r->at[i].until_ns || has_hung_up(&r->at[i])))
			pending_drop(&r->at[i]);
}

bool pending_any(const struct pending_clients *r)
{
	unsigned int i;

	for (i = 0; i < PENDING_MAX; i++)
		if (r->at[i].fd >= 0)
			return true;
	return false;
}
