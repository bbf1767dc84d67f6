/* SPDX-License-Identifier: MIT */
/*
 * TLS 1.3 with certificates on both sides, by GnuTLS, which is loaded when it is needed. A folder
 * has ca.crt and, for a server, server.crt and server.key; for a client, client.crt and client.key.
 * Both sides accept only certificates of that CA, whose keys are of ECDSA P-256, and agree on keys
 * by X25519 or P-256. A server's folder may have crl.pem, certificates that the CA has revoked.
 *
 * As for a connection (conn.h), one thread may read and another one write at a time.
 */
#ifndef KVGPU_REMOTE_TLS_H
#define KVGPU_REMOTE_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct tls;
struct tls_credentials;

#define TLS_DIRECTORY "/etc/kvgpu/tls"
/* of a peer, with their zeros */
enum { TLS_NAME_MAX = 64, TLS_FINGERPRINT = 65 };

/*
 * Load GnuTLS. Call before the other functions, from any thread. 0, or -errno and *why, which is
 * valid until this thread's next error.
 */
int tls_load(const char **why);
/*
 * Read a folder: 0, or -errno and *why, also if this side's certificate is not valid now or of
 * another kind of key, or if everybody may read or write its key. Opens files: a server's process
 * calls it before it gives up its rights (remote/supervisor/child.c).
 */
int tls_credentials_read(const char *folder, bool server, struct tls_credentials **out,
			 const char **why);
void tls_credentials_free(struct tls_credentials *c);
/*
 * Shake hands on @fd, which stays the caller's: 0, or -errno and *why. @host: the name or address
 * that the server's certificate has to be for; NULL: this side is the server. Waits as long as the
 * socket does. The credentials may be freed after tls_forget(). Opens no file: at the server it
 * runs in a process without rights (remote/supervisor/child.c).
 */
int tls_begin(int fd, struct tls_credentials *c, const char *host, struct tls **out,
	      const char **why);
void tls_forget(struct tls *t);
/* the common name of the peer's certificate: letters, digits, - . _ */
const char *tls_peer(const struct tls *t);
/* the SHA-256 of the key in the peer's certificate, 64 small hexadecimal digits */
const char *tls_fingerprint(const struct tls *t);
/* The alert that ended a read, in words, or NULL. On the thread that reads. */
const char *tls_complaint(const struct tls *t);
/* as the functions of conn.h */
int tls_write(struct tls *t, const struct iovec *parts, unsigned int n);
ssize_t tls_some(struct tls *t, void *to, size_t n, bool wait);
bool tls_pending(const struct tls *t);
void tls_end(struct tls *t);

/*
 * The SHA-256 of @n bytes, which is 32 bytes long. False: GnuTLS was not loaded, or fails. Any
 * thread.
 */
bool tls_hash(const void *bytes, size_t n, uint8_t *hash);

#endif
