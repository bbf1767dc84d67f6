// SPDX-License-Identifier: MIT
/* The choice of the carrier: that which an address names, or the hello of a client. */
#include <errno.h>
#include <sys/socket.h>

#include "address.h"
#include "shmem.h"
#include "conn.h"
#include "tls.h"

/* ------------------------------------------------------------------ the client's end */

static const char *tls_folder = TLS_DIRECTORY;

void kvgpu_remote_tls_folder(const char *folder)
{
	tls_folder = folder;
}

static int begin_tls(struct conn *conn, const char *host, const char **why)
{
	struct tls_credentials *c;
	int r = tls_load(why);

	if (!r)
		r = tls_credentials_read(tls_folder, false, &c, why);
	if (r)
		return r;
	r = tls_begin(conn->fd, c, host, &conn->tls, why);
	if (!r)
		tls_forget(conn->tls);
	tls_credentials_free(c);
	return r;
}

int kvgpu_remote_connect(const char *address, uint64_t version, kvgpu_remote_notified notified,
			 void *ctx, struct kvgpu_remote_channel **out, const char **why)
{
	struct conn conn = { .fd = -1 };
	struct address a;
	int r = address_parse(address, false, &a, why);

	if (r)
		return r;
	if (address_is_endpoint(&a))
		return endpoint_connect(&a, version, notified, ctx, out, why);
	conn.fd = address_connect(&a, why);
	if (conn.fd < 0)
		return conn.fd;
	conn_prepare(&conn);
	conn_patience(&conn, ADDRESS_PATIENCE_S);
	if (a.scheme == ADDRESS_SHMEM)
		return shmem_connect(&conn, version, notified, ctx, out, why);
	r = a.scheme == ADDRESS_TLS ? begin_tls(&conn, a.host, why) : 0;
	if (r) {
		conn_close(&conn);
		return r;
	}
	return stream_connect(&conn, version, notified, ctx, out, why);
}

/* ------------------------------------------------------------------ the server's end */

int kvgpu_remote_listen(const char *address, const char **why)
{
	struct address a;
	int r = address_parse(address, true, &a, why);

	return r ? r : address_listen(&a, why);
}

static bool is_unix(const struct conn *conn)
{
	socklen_t bytes = sizeof(int);
	int domain = 0;

	return !conn->tls && !getsockopt(conn->fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) &&
	       domain == AF_UNIX;
}

int kvgpu_remote_welcome_conn(struct conn *conn, uint64_t version, uint64_t arena_bytes,
			      uint64_t more, int begun, kvgpu_remote_admit admit, void *ctx,
			      struct kvgpu_remote_port **out)
{
	struct kvgpu_remote_hello hello;
	int r;

	conn_prepare(conn);
	r = conn_read(conn, &hello, sizeof(hello));
	if (r)
		return r;
	if (hello.magic == KVGPU_REMOTE_MAGIC ||
	    (hello.magic == KVGPU_REMOTE_MAGIC_RELAY && is_unix(conn)))
		return stream_welcome(conn, version, arena_bytes, begun, &hello, admit, ctx, out);
	/* the memory's descriptor can only travel over a UNIX socket */
	if (hello.magic == KVGPU_REMOTE_MAGIC_SHMEM && is_unix(conn))
		return shmem_welcome(conn, version, arena_bytes, more, begun, &hello, admit, ctx,
				     out);
	return -EPROTO;
}

int kvgpu_remote_welcome(int fd, uint64_t version, uint64_t arena_bytes,
			 struct kvgpu_remote_port **out)
{
	struct conn conn = { .fd = fd };
	int r = kvgpu_remote_welcome_conn(&conn, version, arena_bytes, 0, -1, NULL, NULL, out);

	if (r)
		conn_close(&conn);
	return r;
}
