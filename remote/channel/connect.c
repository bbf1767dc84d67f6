// SPDX-License-Identifier: MIT
/* The choice of the carrier: that which an address names, or the hello of a client. */
#include <errno.h>
#include <sys/socket.h>

#include "address.h"
#include "shmem.h"
#include "line.h"
#include "tls.h"

/* ------------------------------------------------------------------ the client's end */

static const char *tls_folder = TLS_DIRECTORY;

void kvgpu_remote_tls_folder(const char *folder)
{
	tls_folder = folder;
}

static int begin_tls(struct line *l, const char *host, const char **why)
{
	struct tls_credentials *c;
	int r = tls_load(why);

	if (!r)
		r = tls_credentials_read(tls_folder, false, &c, why);
	if (r)
		return r;
	r = tls_begin(l->fd, c, host, &l->tls, why);
	if (!r)
		tls_forget(l->tls);
	tls_credentials_free(c);
	return r;
}

int kvgpu_remote_connect(const char *address, uint64_t version, kvgpu_remote_notified notified,
			 void *ctx, struct kvgpu_remote_channel **out, const char **why)
{
	struct line l = { .fd = -1 };
	struct address a;
	int r = address_parse(address, false, &a, why);

	if (r)
		return r;
	if (address_is_endpoint(&a))
		return endpoint_connect(&a, version, notified, ctx, out, why);
	l.fd = address_connect(&a, why);
	if (l.fd < 0)
		return l.fd;
	line_prepare(&l);
	line_patience(&l, ADDRESS_PATIENCE_S);
	if (a.scheme == ADDRESS_SHMEM)
		return shmem_connect(&l, version, notified, ctx, out, why);
	r = a.scheme == ADDRESS_TLS ? begin_tls(&l, a.host, why) : 0;
	if (r) {
		line_close(&l);
		return r;
	}
	return stream_connect(&l, version, notified, ctx, out, why);
}

/* ------------------------------------------------------------------ the server's end */

int kvgpu_remote_listen(const char *address, const char **why)
{
	struct address a;
	int r = address_parse(address, true, &a, why);

	return r ? r : address_listen(&a, why);
}

static bool is_unix(const struct line *l)
{
	socklen_t bytes = sizeof(int);
	int domain = 0;

	return !l->tls && !getsockopt(l->fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) &&
	       domain == AF_UNIX;
}

int kvgpu_remote_welcome_line(struct line *l, uint64_t version, uint64_t arena_bytes, uint64_t more,
			      int begun, kvgpu_remote_admit admit, void *ctx,
			      struct kvgpu_remote_port **out)
{
	struct kvgpu_remote_hello hello;
	int r;

	line_prepare(l);
	r = line_read(l, &hello, sizeof(hello));
	if (r)
		return r;
	if (hello.magic == KVGPU_REMOTE_MAGIC ||
	    (hello.magic == KVGPU_REMOTE_MAGIC_RELAY && is_unix(l)))
		return stream_welcome(l, version, arena_bytes, begun, &hello, admit, ctx, out);
	/* the memory's descriptor can only travel over a UNIX socket */
	if (hello.magic == KVGPU_REMOTE_MAGIC_SHMEM && is_unix(l))
		return shmem_welcome(l, version, arena_bytes, more, begun, &hello, admit, ctx, out);
	return -EPROTO;
}

int kvgpu_remote_welcome(int fd, uint64_t version, uint64_t arena_bytes,
			 struct kvgpu_remote_port **out)
{
	struct line l = { .fd = fd };
	int r = kvgpu_remote_welcome_line(&l, version, arena_bytes, 0, -1, NULL, NULL, out);

	if (r)
		line_close(&l);
	return r;
}
