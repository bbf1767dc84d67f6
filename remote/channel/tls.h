/* SPDX-License-Identifier: MIT */
/*
 * TLS 1.3 with certificates on both sides, by GnuTLS, which is loaded when it is needed. A folder
 * has ca.crt and, for a server, server.crt and server.key; for a client, client.crt and client.key.
 * Both sides believe certificates of that CA alone.
 */
#ifndef KVGPU_REMOTE_TLS_H
#define KVGPU_REMOTE_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct tls;
struct tls_credentials;

#define TLS_DIRECTORY	"/etc/kvgpu/tls"
enum { TLS_NAME_MAX = 64 };	/* of a peer, with its zero */

/*
 * Loads GnuTLS; before the others, by any thread. All of these: 0, or -errno and *why, which is the
 * thread's until its next error.
 */
int tls_load(const char **why);
/*
 * Reads a folder. An own certificate that has expired, or a key that everybody may read, is an
 * error.
 */
int tls_credentials_read(const char *folder, bool server, struct tls_credentials **out,
			 const char **why);
/* With what is secret of them. */
void tls_credentials_free(struct tls_credentials *c);
/*
 * Shakes hands on @fd, which stays the caller's. @host: what the server's certificate has to be
 * for; NULL: this side is the server. It waits as long as the socket does. The credentials may be
 * freed afterwards, after tls_forget().
 */
int tls_begin(int fd, struct tls_credentials *c, const char *host, struct tls **out,
	      const char **why);
void tls_forget(struct tls *t);
/* the common name of the peer's certificate: letters, digits, - . _ */
const char *tls_peer(const struct tls *t);
/* Says that the peer may not, and waits a moment until it has heard. */
void tls_deny(struct tls *t);
/* What the peer said was wrong with this side, or NULL. */
const char *tls_complaint(const struct tls *t);
/* As those of line.h. */
int tls_write(struct tls *t, const struct iovec *parts, unsigned int n);
ssize_t tls_some(struct tls *t, void *to, size_t n, bool wait);
bool tls_pending(const struct tls *t);
void tls_end(struct tls *t);

/* a text of this thread's, until its next one */
const char *channel_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
