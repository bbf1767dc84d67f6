// SPDX-License-Identifier: MIT
/*
 * A shmem region between processes of one machine: memory of the server (memory.h), whose
 * descriptor travels with the welcome over a UNIX socket. The socket stays: it ends with the peer.
 */
#include <errno.h>
#include <unistd.h>

#include "shmem.h"
#include "conn.h"
#include "memory.h"
#include "rights.h"

/* ------------------------------------------------------------------ the server */

/*
 * All of @memory, of which the arena has @arena_bytes, and what it may grow by is closed; or, where
 * there are too few addresses, without that.
 */
static int map_memory(struct shmem *a, enum shmem_side side, int memory, uint64_t arena_bytes)
{
	uint64_t bytes = memory_bytes(memory);
	void *hint = arena_place(side == SIDE_CLIENT), *base = memory_map(memory, bytes, hint);

	if (!base) {
		bytes = SHMEM_ARENA + arena_bytes;
		base = memory_map(memory, bytes, hint);
	}
	if (!base)
		return -errno;
	shmem_init(a, side, WAKE_FUTEX, base, bytes);
	a->bound = bytes == memory_bytes(memory) ? KVGPU_REMOTE_BOUND_PINNED :
						   KVGPU_REMOTE_BOUND_ADDRESSES;
	a->arena_bytes = arena_bytes;
	/* it can't grow if it does not end with a page */
	if (!arena_protect((uint8_t *)base + SHMEM_ARENA, a->arena_most, arena_bytes))
		a->arena_most = arena_bytes;
	return 0;
}

static int give_memory(struct conn *conn, uint64_t version, uint64_t arena_bytes, int memory,
		       struct shmem *a)
{
	struct kvgpu_remote_welcome w = { KVGPU_REMOTE_MAGIC, version, arena_bytes, 0, 0 };
	int r;

	rights_allow(conn->fd); /* for kvgpu_remote_lend() */
	r = memory_send(conn->fd, &w, sizeof(w), memory);
	return r ? r : map_memory(a, SIDE_SERVER, memory, arena_bytes);
}

static int refuse_client(struct conn *conn, uint64_t version, uint64_t arena_bytes, uint32_t result)
{
	struct kvgpu_remote_welcome w = { KVGPU_REMOTE_MAGIC, version, arena_bytes, result, 0 };
	struct iovec part = { &w, sizeof(w) };

	conn_write(conn, &part, 1);
	return welcome_error(result);
}

/* a page that nobody touches costs nothing: the memory is as long as it may ever be */
int shmem_welcome(struct conn *conn, uint64_t version, uint64_t arena_bytes, uint64_t more,
		  int begun, const struct kvgpu_remote_hello *hello, kvgpu_remote_admit admit,
		  void *ctx, struct kvgpu_remote_port **out)
{
	int r, memory = memory_of(begun, SHMEM_ARENA + arena_bytes + more);
	struct shmem a;
	uint32_t result;

	if (memory < 0)
		return memory;
	result = welcome_result(hello, version, admit, ctx);
	r = result ? refuse_client(conn, version, arena_bytes, result) :
		     give_memory(conn, version, arena_bytes, memory, &a);
	close(memory);
	if (r)
		return r;
	a.life = conn->fd;
	conn->fd = -1;
	return shmem_port(&a, out);
}

/* ------------------------------------------------------------------ the client */

/* the size of @memory, if that can be one that holds an arena of @arena_bytes and may grow */
static uint64_t whole_memory(int memory, uint64_t arena_bytes)
{
	const uint64_t bytes = memory_bytes(memory), least = SHMEM_ARENA + arena_bytes;

	return bytes < least || bytes > SHMEM_ARENA + KVGPU_REMOTE_ARENA_MAX ? least : bytes;
}

static int take_memory(struct conn *conn, uint64_t version, struct shmem *a, const char **why)
{
	struct kvgpu_remote_hello hello = { KVGPU_REMOTE_MAGIC_SHMEM, version };
	struct iovec part = { &hello, sizeof(hello) };
	struct kvgpu_remote_welcome w;
	int memory = -1, r = conn_write(conn, &part, 1);

	if (!r)
		r = memory_read(conn, &w, sizeof(w), &memory);
	*why = r == -ETIMEDOUT ?
		       "the server accepts connections, but says nothing" :
	       r == -EMFILE ?
		       "this process may open no more descriptors (ulimit -n), and the server's memory is one" :
		       "the server closed the connection: its log says why";
	if (r && memory >= 0)
		close(memory);
	if (r)
		return r;
	r = welcome_check(&w, version, why);
	if (!r)
		r = memory_check(memory, whole_memory(memory, w.arena_bytes), why);
	if (!r) {
		r = map_memory(a, SIDE_CLIENT, memory, w.arena_bytes);
		*why = "the server's memory can't be mapped: is this process's address space limited (ulimit -v)?";
	}
	if (memory >= 0)
		close(memory);
	return r;
}

int shmem_connect(struct conn *conn, uint64_t version, kvgpu_remote_notified notified, void *ctx,
		  struct kvgpu_remote_channel **out, const char **why)
{
	struct shmem a;
	int r = take_memory(conn, version, &a, why);

	if (r) {
		conn_close(conn);
		return r;
	}
	conn_patience(conn, 0);
	a.life = conn->fd;
	*why = "out of memory";
	return shmem_channel(&a, notified, ctx, out);
}
