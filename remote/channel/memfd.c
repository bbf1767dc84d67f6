// SPDX-License-Identifier: MIT
/*
 * An aperture between processes of one machine: memory of the server's that travels with its
 * welcome over a UNIX socket. It can neither shrink nor grow: a process that cut it short would
 * kill the other one. The socket stays: its end is the peer's.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aperture.h"
#include "line.h"

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW };

union room_for_fd {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static int send_with_fd(int to, const void *bytes, size_t n, int fd)
{
	struct iovec part = { (void *)(uintptr_t)bytes, n };
	union room_for_fd room = { .bytes = { 0 } };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = room.bytes,
			    .msg_controllen = sizeof(room.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(to, &m, MSG_NOSIGNAL) == (ssize_t)n ? 0 : -ECONNRESET;
}

/* *fd: -1 where none came */
static int read_with_fd(struct line *from, void *bytes, size_t n, int *fd)
{
	struct iovec part = { bytes, n };
	union room_for_fd room;
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = room.bytes,
			    .msg_controllen = sizeof(room.bytes) };
	struct cmsghdr *c;
	ssize_t got;

	*fd = -1;
	do {
		got = recvmsg(from->fd, &m, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got <= 0)
		return got < 0 && errno == EAGAIN ? -ETIMEDOUT : -ECONNRESET;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return line_read(from, (uint8_t *)bytes + got, n - got);
}

/* ------------------------------------------------------------------ the server */

static int make_memory(uint64_t bytes)
{
	int fd = memfd_create("kvgpu aperture", MFD_CLOEXEC | MFD_ALLOW_SEALING), e;

	if (fd >= 0 && !ftruncate(fd, bytes) && !fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL))
		return fd;
	e = errno;
	if (fd >= 0)
		close(fd);
	return -e;
}

static int map_memory(struct aperture *a, enum aperture_side side, int memory, uint64_t bytes)
{
	void *base =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);

	if (base == MAP_FAILED)
		return -errno;
	aperture_init(a, side, WAKE_FUTEX, base, bytes);
	return 0;
}

static int give_memory(struct line *l, uint64_t version, uint64_t arena_bytes, int memory,
		       struct aperture *a)
{
	struct kvgpu_remote_welcome w = { KVGPU_REMOTE_MAGIC, version, arena_bytes, 0, 0 };
	int r = send_with_fd(l->fd, &w, sizeof(w), memory);

	return r ? r : map_memory(a, SIDE_SERVER, memory, APERTURE_ARENA + arena_bytes);
}

static int refuse(struct line *l, uint64_t version, uint64_t arena_bytes, uint32_t result)
{
	struct kvgpu_remote_welcome w = { KVGPU_REMOTE_MAGIC, version, arena_bytes, result, 0 };
	struct iovec part = { &w, sizeof(w) };

	line_write(l, &part, 1);
	return welcome_error(result);
}

/* there is memory before .admit is asked */
int aperture_welcome(struct line *l, uint64_t version, uint64_t arena_bytes,
		     const struct kvgpu_remote_hello *hello, kvgpu_remote_admit admit, void *ctx,
		     struct kvgpu_remote_port **out)
{
	int r, memory = make_memory(APERTURE_ARENA + arena_bytes);
	struct aperture a;
	uint32_t result;

	if (memory < 0)
		return memory;
	result = welcome_result(hello, version, admit, ctx);
	r = result ? refuse(l, version, arena_bytes, result) :
		     give_memory(l, version, arena_bytes, memory, &a);
	close(memory);
	if (r)
		return r;
	a.life = l->fd;
	l->fd = -1;
	return aperture_port(&a, out);
}

/* ------------------------------------------------------------------ the client */

static int check_memory(int memory, uint64_t bytes, const char **why)
{
	struct stat st;
	int seals;

	*why = "the server sent no memory with its welcome";
	if (memory < 0 || fstat(memory, &st))
		return -EPROTO;
	*why = "the server's memory has another size than it says";
	if ((uint64_t)st.st_size != bytes)
		return -EPROTO;
	*why = "the server's memory is not sealed: it might shrink";
	seals = fcntl(memory, F_GET_SEALS);
	return seals < 0 || (seals & SEALS) != SEALS ? -EPROTO : 0;
}

static int take_memory(struct line *l, uint64_t version, struct aperture *a, const char **why)
{
	struct kvgpu_remote_hello hello = { KVGPU_REMOTE_MAGIC_APERTURE, version };
	struct iovec part = { &hello, sizeof(hello) };
	struct kvgpu_remote_welcome w;
	int memory = -1, r = line_write(l, &part, 1);

	if (!r)
		r = read_with_fd(l, &w, sizeof(w), &memory);
	*why = r == -ETIMEDOUT ? "the server accepts connections, but says nothing" :
		"the server closed the connection: its log says why";
	if (r && memory >= 0)
		close(memory);
	if (r)
		return r;
	r = welcome_check(&w, version, why);
	if (!r)
		r = check_memory(memory, APERTURE_ARENA + w.arena_bytes, why);
	if (!r) {
		r = map_memory(a, SIDE_CLIENT, memory, APERTURE_ARENA + w.arena_bytes);
		*why = "the server's memory can't be mapped";
	}
	if (memory >= 0)
		close(memory);
	return r;
}

int aperture_connect(struct line *l, uint64_t version, kvgpu_remote_happened happened, void *ctx,
		     struct kvgpu_remote_channel **out, const char **why)
{
	struct aperture a;
	int r = take_memory(l, version, &a, why);

	if (r) {
		line_close(l);
		return r;
	}
	line_patience(l, 0);
	a.life = l->fd;
	*why = "out of memory";
	return aperture_channel(&a, happened, ctx, out);
}
