// SPDX-License-Identifier: MIT
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cuda/api/process.h>

#include "conn.h"

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW };

union room_for_fd {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int memory_send(int to, const void *bytes, size_t n, int memory)
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
	c->cmsg_len = CMSG_LEN(sizeof(memory));
	memcpy(CMSG_DATA(c), &memory, sizeof(memory));
	return sendmsg(to, &m, MSG_NOSIGNAL) == (ssize_t)n ? 0 : -ECONNRESET;
}

/*
 * msg_controllen is the exact size for one descriptor: with padding there would be room for two.
 */
ssize_t memory_some(int from, void *bytes, size_t n, int flags, int *memory)
{
	struct iovec part = { bytes, n };
	union room_for_fd room;
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = room.bytes,
			    .msg_controllen = CMSG_LEN(sizeof(*memory)) };
	struct cmsghdr *c;
	ssize_t got;

	*memory = -1;
	do {
		got = recvmsg(from, &m, flags | MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got <= 0)
		return got < 0 && errno == EAGAIN ? -EAGAIN : -ECONNRESET;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(*memory)))
		memcpy(memory, CMSG_DATA(c), sizeof(*memory));
	else if (m.msg_flags & MSG_CTRUNC) /* it came, and found no room */
		return -EMFILE;
	*memory = own_descriptor(*memory);
	if (m.msg_flags & MSG_CTRUNC && *memory >= 0) { /* the peer has sent more than one */
		close(*memory);
		*memory = -1;
	}
	return got;
}

int memory_read(struct conn *from, void *bytes, size_t n, int *memory)
{
	ssize_t got = memory_some(from->fd, bytes, n, 0, memory);

	if (got < 0)
		return got == -EAGAIN ? -ETIMEDOUT : got;
	return conn_read(from, (uint8_t *)bytes + got, n - got);
}

void memory_unlimited(void)
{
	struct rlimit size = { RLIM_INFINITY, RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	if (!setrlimit(RLIMIT_FSIZE, &size) || getrlimit(RLIMIT_FSIZE, &size))
		return;
	size.rlim_cur = size.rlim_max;
	setrlimit(RLIMIT_FSIZE, &size);
}

const char *memory_text(int error)
{
	return error == EFBIG ?
		       "this process may make no file of the arena's size, in memory or elsewhere (ulimit -f): raise that limit, "
		       "or have less for arena and pinned in remoted.conf" :
		       strerror(error);
}

int memory_begin(void)
{
	int fd = own_descriptor(memfd_create("kvgpu aperture", MFD_CLOEXEC | MFD_ALLOW_SEALING));

	return fd < 0 ? -errno : fd;
}

/* F_SEAL_SEAL: a seal against writing would forbid memory_give_back(), too */
int memory_fix(int memory, uint64_t bytes)
{
	return ftruncate(memory, bytes) || fcntl(memory, F_ADD_SEALS, SEALS | F_SEAL_SEAL) ?
		       -errno :
		       0;
}

int memory_of(int begun, uint64_t bytes)
{
	int fd = begun < 0 ? memory_begin() : fcntl(begun, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), r;

	if (fd < 0)
		return begun < 0 ? fd : -errno;
	r = memory_fix(fd, bytes);
	if (!r)
		return fd;
	close(fd);
	return r;
}

int memory_make(uint64_t bytes)
{
	return memory_of(-1, bytes);
}

bool memory_has_pages(int memory)
{
	struct stat st;

	return !fstat(memory, &st) && st.st_blocks;
}

int memory_give_back(int memory)
{
	struct stat st;

	if (fstat(memory, &st))
		return -errno;
	return fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, st.st_size) ?
		       -errno :
		       0;
}

uint64_t memory_bytes(int memory)
{
	struct stat st;

	return memory < 0 || fstat(memory, &st) || st.st_size < 0 ? 0 : st.st_size;
}

/*
 * A file of huge pages is refused: a mapping without a reserve gets SIGBUS if no huge page is left
 * when it is touched first.
 */
int memory_check(int memory, uint64_t bytes, const char **why)
{
	struct statfs fs;
	struct stat st;
	int seals;

	*why = "the server sent no memory with its welcome";
	if (memory < 0 || fstat(memory, &st))
		return -EPROTO;
	*why = "what the server sent is no memory of ours: it has huge pages, or is in a file";
	if (fstatfs(memory, &fs) || fs.f_type != TMPFS_MAGIC)
		return -EPROTO;
	*why = "the server's memory has another size than it says";
	if ((uint64_t)st.st_size != bytes)
		return -EPROTO;
	*why = "the server's memory is not sealed: it might shrink";
	seals = fcntl(memory, F_GET_SEALS);
	return seals < 0 || (seals & SEALS) != SEALS ? -EPROTO : 0;
}

void *memory_map(int memory, uint64_t bytes, void *hint)
{
	const int flags = MAP_SHARED | MAP_NORESERVE;
	void *base = mmap(hint, bytes, PROT_READ | PROT_WRITE, flags, memory, 0);

	return base == MAP_FAILED ? NULL : base;
}
