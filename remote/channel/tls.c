// SPDX-License-Identifier: MIT
/*
 * A TLS session on a socket. GnuTLS allows one thread that sends and one that receives in a
 * session. It reads and writes the socket by functions of this file, so that a read waits, or does
 * not, as the caller wants.
 */
#include "tls.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "credentials.h"

enum { RECORD = 16384, HEADER = 5, READ_AHEAD = 64 << 10, DENIED_S = 1, DENIED_READS = 64 };
#define NAME_FORM "1 to 63 letters, digits, - . _"

/*
 * all CAs of kvgpu-remotectl have the same name, so a certificate of another CA shows by its
 * signature, which is wrong
 */
enum {
	NOT_OF_OUR_CA = GNUTLS_CERT_SIGNER_NOT_FOUND | GNUTLS_CERT_SIGNER_NOT_CA |
			GNUTLS_CERT_SIGNATURE_FAILURE | GNUTLS_CERT_SIGNER_CONSTRAINTS_FAILURE
};

/*
 * Only what certificates of kvgpu-remotectl need. A peer without a certificate chooses among what
 * is here, and the largest groups and keys that GnuTLS has cost a server hundreds of milliseconds.
 * AES with 128 bits before the one with 256, which takes a third longer.
 */
static const char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3"
				 ":-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305"
				 ":-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1"
				 ":-SIGN-ALL:+SIGN-ECDSA-SECP256R1-SHA256";

struct tls {
	gnutls_session_t session;
	int fd;
	bool server;
	bool dont_wait, starved; /* the reader's alone; starved: the socket had no bytes */
	int complaint; /* the reader's alone: the alert that the peer has sent; -1: none */
	char peer[TLS_NAME_MAX], fingerprint[TLS_FINGERPRINT];
	/* the writer's alone; left: bytes of tls_write(); more: another record of them follows */
	size_t left;
	bool more;
	uint8_t record[RECORD];
	/* the reader's alone: what was read ahead; nothing while GnuTLS has a part of a record */
	size_t have, used;
	uint8_t ahead[READ_AHEAD];
};

/* GnuTLS asks for a record's header, then for the rest: read many records with one system call */
static ssize_t pull_bytes(gnutls_transport_ptr_t p, void *to, size_t n)
{
	struct tls *t = p;
	ssize_t done;

	if (t->used == t->have) {
		done = recv(t->fd, t->ahead, sizeof(t->ahead), t->dont_wait ? MSG_DONTWAIT : 0);
		t->starved = done < 0 && errno == EAGAIN;
		if (done <= 0)
			return done;
		t->have = done;
		t->used = 0;
	}
	if (n > t->have - t->used)
		n = t->have - t->used;
	memcpy(to, t->ahead + t->used, n);
	t->used += n;
	return n;
}

static ssize_t push_bytes(gnutls_transport_ptr_t p, const void *from, size_t n)
{
	struct tls *t = p;

	return send(t->fd, from, n, MSG_NOSIGNAL | (t->more ? MSG_MORE : 0));
}

/* ------------------------------------------------------------------ bytes */

static int send_record(struct tls *t, const void *from, size_t n)
{
	const uint8_t *at = from;
	ssize_t done;

	while (n) {
		t->more = t->left > (n < RECORD ? n : RECORD);
		done = gnutls.record_send(t->session, at, n < RECORD ? n : RECORD);
		if (done == GNUTLS_E_INTERRUPTED || done == GNUTLS_E_AGAIN)
			continue;
		if (done <= 0)
			return -ECONNRESET;
		at += done;
		n -= done;
		t->left -= done;
	}
	return 0;
}

/* small parts go out together: a record and a system call for each would cost more */
int tls_write(struct tls *t, const struct iovec *parts, unsigned int n)
{
	const uint8_t *from;
	size_t used = 0, left, some;
	unsigned int i;

	for (i = 0, t->left = 0; i < n; i++)
		t->left += parts[i].iov_len;
	for (i = 0; i < n; i++) {
		from = parts[i].iov_base;
		for (left = parts[i].iov_len; left; left -= some, from += some) {
			if (!used && left >= RECORD) {
				some = left / RECORD * RECORD;
				if (send_record(t, from, some))
					return -ECONNRESET;
				continue;
			}
			some = left < RECORD - used ? left : RECORD - used;
			memcpy(t->record + used, from, some);
			used += some;
			if (used < RECORD)
				continue;
			if (send_record(t, t->record, used))
				return -ECONNRESET;
			used = 0;
		}
	}
	return send_record(t, t->record, used);
}

ssize_t tls_some(struct tls *t, void *to, size_t n, bool wait)
{
	ssize_t done;

	t->dont_wait = !wait;
	/* GnuTLS also says "again" after a message of the session itself, such as new keys */
	do {
		t->starved = false;
		done = gnutls.record_recv(t->session, to, n);
	} while (done < 0 && !t->starved && !gnutls.error_is_fatal(done));
	if (done > 0)
		return done;
	if (done && !gnutls.error_is_fatal(done))
		return wait ? -ETIMEDOUT : 0;
	if (done == GNUTLS_E_FATAL_ALERT_RECEIVED)
		t->complaint = gnutls.alert_get(t->session);
	return -ECONNRESET;
}

bool tls_pending(const struct tls *t)
{
	size_t n = t->have - t->used;
	const uint8_t *at = t->ahead + t->used;

	return gnutls.record_check_pending(t->session) ||
	       (n >= HEADER && n - HEADER >= (size_t)(at[3] << 8 | at[4]));
}

/* ------------------------------------------------------------------ checking the peer */

static const char *complaint_of(int alert, bool server)
{
	const char *them = server ? "the client" : "the server";

	switch (alert) {
	case GNUTLS_A_CERTIFICATE_EXPIRED:
		return channel_text(
			"%s says that this machine's certificate has expired: make a new one, or set the clocks",
			them);
	case GNUTLS_A_CERTIFICATE_REVOKED:
		return channel_text("%s says that this machine's certificate was revoked", them);
	case GNUTLS_A_UNKNOWN_CA:
		return channel_text(
			"%s does not know the CA of this machine's certificate: both have to be of one CA",
			them);
	case GNUTLS_A_ACCESS_DENIED:
		return channel_text(
			"%s takes no certificate with this name, which has to be " NAME_FORM, them);
	case GNUTLS_A_CERTIFICATE_REQUIRED:
		return channel_text("%s wants a certificate", them);
	case GNUTLS_A_HANDSHAKE_FAILURE:
		return channel_text(
			"%s can't do what this side can: X25519 or P-256, and certificates of ECDSA P-256",
			them);
	case GNUTLS_A_PROTOCOL_VERSION:
		return channel_text("%s does not speak TLS 1.3", them);
	default:
		return channel_text("%s refuses this side: %s", them,
				    gnutls.alert_get_name(alert) ?: "for no known reason");
	}
}

const char *tls_complaint(const struct tls *t)
{
	return t->complaint < 0 ? NULL : complaint_of(t->complaint, t->server);
}

static const char *doubt_of(const struct tls *t, unsigned int status, const char *host,
			    const char *folder)
{
	const char *whose = t->server ? "the client's" : "the server's";

	if (status & NOT_OF_OUR_CA)
		return channel_text(
			"%s certificate is not of the CA in %s/ca.crt: both sides have to be of one CA",
			whose, folder);
	if (status & GNUTLS_CERT_REVOKED)
		return channel_text("%s certificate was revoked, says %s/crl.pem", whose, folder);
	if (status & GNUTLS_CERT_EXPIRED)
		return channel_text(
			"%s certificate has expired: \"kvgpu-remotectl certs\" makes a new one; or is the clock wrong?",
			whose);
	if (status & GNUTLS_CERT_NOT_ACTIVATED)
		return channel_text("%s certificate is not valid yet: are both clocks right?",
				    whose);
	if (status & GNUTLS_CERT_UNEXPECTED_OWNER)
		return channel_text(
			"%s certificate is not for %s: use a name or address that it was made for",
			whose, host);
	if (status & GNUTLS_CERT_PURPOSE_MISMATCH)
		return channel_text("%s certificate was not made for a %s", whose,
				    t->server ? "client" : "server");
	return channel_text("%s certificate is not valid", whose);
}

static int alert_of(unsigned int status)
{
	if (status & NOT_OF_OUR_CA)
		return GNUTLS_A_UNKNOWN_CA;
	if (status & GNUTLS_CERT_REVOKED)
		return GNUTLS_A_CERTIFICATE_REVOKED;
	return status & GNUTLS_CERT_EXPIRED ? GNUTLS_A_CERTIFICATE_EXPIRED :
					      GNUTLS_A_BAD_CERTIFICATE;
}

/* an alert is lost if the socket is closed with bytes unread: read for a moment */
static void say_no(struct tls *t, int alert)
{
	struct timeval moment = { .tv_sec = DENIED_S };
	char ignored[512];
	int i;

	gnutls.alert_send(t->session, GNUTLS_AL_FATAL, alert);
	shutdown(t->fd, SHUT_WR);
	setsockopt(t->fd, SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof(moment));
	for (i = 0; i < DENIED_READS && recv(t->fd, ignored, sizeof(ignored), 0) > 0; i++)
		;
}

/*
 * Of the key, which the CA has signed: a holder can change the encoding of the CA's signature, and
 * with it the sum of the whole certificate.
 */
static int take_fingerprint(struct tls *t, gnutls_x509_crt_t crt)
{
	uint8_t sum[TLS_FINGERPRINT / 2];
	size_t size = sizeof(sum), i;
	int r = gnutls.x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA256, sum, &size);

	for (i = 0; !r && i < size; i++)
		snprintf(t->fingerprint + 2 * i, 3, "%02x", sum[i]);
	return r;
}

static int peer_name(struct tls *t, const char **why)
{
	unsigned int n = 0;
	const gnutls_datum_t *chain = gnutls.certificate_get_peers(t->session, &n);
	size_t size = sizeof(t->peer), i;
	gnutls_x509_crt_t crt;
	int r;

	*why = "the peer shows no certificate";
	if (!chain || !n || gnutls.x509_crt_init(&crt))
		return -EACCES;
	r = gnutls.x509_crt_import(crt, chain, GNUTLS_X509_FMT_DER);
	if (!r)
		r = gnutls.x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, 0, t->peer,
						  &size);
	if (!r)
		r = take_fingerprint(t, crt);
	gnutls.x509_crt_deinit(crt);
	*why = "the name in the peer's certificate has to be " NAME_FORM;
	if (r || !size || size >= sizeof(t->peer))
		return -EACCES;
	t->peer[size] = 0;
	for (i = 0; i < size; i++)
		if (!isalnum((unsigned char)t->peer[i]) && !memchr("-._", t->peer[i], 3))
			return -EACCES;
	return 0;
}

static int check_peer(struct tls *t, const char *host, const char *folder, const char **why)
{
	gnutls_typed_vdata_st wanted[] = {
		{ .type = GNUTLS_DT_KEY_PURPOSE_OID,
		  .data = (void *)(uintptr_t)(t->server ? GNUTLS_KP_TLS_WWW_CLIENT :
							  GNUTLS_KP_TLS_WWW_SERVER) },
		{ .type = GNUTLS_DT_DNS_HOSTNAME, .data = (void *)(uintptr_t)host },
	};
	unsigned int status = 0;
	int r = gnutls.certificate_verify_peers(t->session, wanted, host ? 2 : 1, &status);

	if (!r && !status) {
		r = peer_name(t, why);
		if (r)
			say_no(t, GNUTLS_A_ACCESS_DENIED);
		return r;
	}
	*why = r == GNUTLS_E_NO_CERTIFICATE_FOUND ? "the peer shows no certificate" :
						    doubt_of(t, status, host, folder);
	say_no(t, alert_of(status));
	return -EACCES;
}

/* ------------------------------------------------------------------ a session's life */

static int handshake(struct tls *t, const char **why)
{
	int r;

	do {
		t->starved = false;
		r = gnutls.handshake(t->session);
	} while (r < 0 && !t->starved && !gnutls.error_is_fatal(r));
	switch (r) {
	case 0:
		return 0;
	case GNUTLS_E_AGAIN:
		*why = "the other side says nothing";
		return -ETIMEDOUT;
	case GNUTLS_E_FATAL_ALERT_RECEIVED:
		*why = complaint_of(gnutls.alert_get(t->session), t->server);
		return -EACCES;
	case GNUTLS_E_PREMATURE_TERMINATION:
	case GNUTLS_E_PULL_ERROR:
	case GNUTLS_E_PUSH_ERROR:
		*why = "the other side closed the connection while hands were shaken";
		return -ECONNRESET;
	case GNUTLS_E_UNEXPECTED_PACKET:
	case GNUTLS_E_UNEXPECTED_PACKET_LENGTH:
	case GNUTLS_E_UNSUPPORTED_VERSION_PACKET:
	case GNUTLS_E_RECORD_OVERFLOW:
		*why = "what is there does not speak TLS 1.3";
		return -EPROTO;
	default:
		gnutls.alert_send_appropriate(t->session, r);
		*why = channel_text("TLS: %s", gnutls.strerror(r));
		return -EPROTO;
	}
}

/* only a name may be told to the server (SNI), not an address */
static bool is_name(const char *host)
{
	return !strchr(host, ':') && strspn(host, "0123456789.") != strlen(host);
}

static int set_up(struct tls *t, struct tls_credentials *c, const char *host)
{
	/* no tickets: each handshake checks the certificate, which may be revoked since the last */
	int r = gnutls.init(&t->session,
			    (t->server ? GNUTLS_SERVER : GNUTLS_CLIENT) | GNUTLS_NO_TICKETS);

	if (r)
		return r;
	r = gnutls.priority_set_direct(t->session, priorities, NULL);
	if (!r)
		r = gnutls.credentials_set(t->session, GNUTLS_CRD_CERTIFICATE, c->of);
	if (!r && host && is_name(host))
		r = gnutls.server_name_set(t->session, GNUTLS_NAME_DNS, host, strlen(host));
	if (t->server)
		gnutls.certificate_server_set_request(t->session, GNUTLS_CERT_REQUIRE);
	gnutls.transport_set_ptr(t->session, t);
	gnutls.transport_set_pull_function(t->session, pull_bytes);
	gnutls.transport_set_push_function(t->session, push_bytes);
	return r;
}

int tls_begin(int fd, struct tls_credentials *c, const char *host, struct tls **out,
	      const char **why)
{
	struct tls *t = calloc(1, sizeof(*t));
	int r;

	*why = "out of memory";
	if (!t)
		return -ENOMEM;
	t->fd = fd;
	t->server = !host;
	t->complaint = -1;
	r = set_up(t, c, host);
	if (r)
		*why = channel_text("TLS: %s", gnutls.strerror(r));
	r = r ? -EPROTO : handshake(t, why);
	if (!r)
		r = check_peer(t, host, c->folder, why);
	if (r)
		tls_end(t);
	else
		*out = t;
	return r;
}

void tls_forget(struct tls *t)
{
	gnutls.credentials_clear(t->session);
}

const char *tls_peer(const struct tls *t)
{
	return t->peer;
}

const char *tls_fingerprint(const struct tls *t)
{
	return t->fingerprint;
}

void tls_end(struct tls *t)
{
	if (t->session)
		gnutls.deinit(t->session);
	free(t);
}

bool tls_hash(const void *bytes, size_t n, uint8_t *hash)
{
	return gnutls.hash_fast && !gnutls.hash_fast(GNUTLS_DIG_SHA256, bytes, n, hash);
}
