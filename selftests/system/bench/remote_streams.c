// SPDX-License-Identifier: GPL-2.0-only
/*
 * remote_streams [--quick] CRT KEY FILE.json: what a plain stream of this machine carries, to
 * compare copies over sockets with: one process sends 64 MiB to another one, by a UNIX socket, TCP,
 * and TLS 1.3 by GnuTLS on TCP. CRT and KEY are a server's. Nothing of this tree is used.
 */
#include <dlfcn.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 64 << 20, CHUNK = 1 << 20, TRIES_MAX = 64 };

/* clang-format off */
#define GNUTLS_NAMES(X) \
	X(init) X(priority_set_direct) X(credentials_set) X(transport_set_int2) X(handshake) \
	X(record_send) X(record_recv) X(certificate_allocate_credentials) \
	X(certificate_set_x509_key_file)
/* clang-format on */
static struct {
#define MEMBER(name) typeof(&gnutls_##name) name;
	GNUTLS_NAMES(MEMBER)
} tls;

/* an end of a stream */
struct end {
	int fd;
	gnutls_session_t session; /* NULL: no TLS */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static bool load_gnutls(void)
{
	void *library = dlopen("libgnutls.so.30", RTLD_NOW);

#define FIND(name)                                                                                \
	tls.name = library ? (typeof(tls.name))(uintptr_t)dlsym(library, "gnutls_" #name) : NULL; \
	if (!tls.name)                                                                            \
		return false;
	GNUTLS_NAMES(FIND)
	return true;
}

static void fail(const char *what)
{
	fprintf(stderr, "remote_streams: %s\n", what);
	exit(1);
}

static void connect_pair(bool tcp, int fd[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);
	int one = 1, i, listening;

	if (!tcp) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
			fail("no socketpair()");
		return;
	}
	listening = socket(AF_INET, SOCK_STREAM, 0);
	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listening, (void *)&at, n) || listen(listening, 1) ||
	    getsockname(listening, (void *)&at, &n) || connect(fd[0], (void *)&at, n))
		fail("no TCP connection");
	fd[1] = accept(listening, NULL, NULL);
	close(listening);
	for (i = 0; i < 2; i++)
		setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static const char *crt, *key;

static void begin_tls(struct end *e, bool server)
{
	gnutls_certificate_credentials_t of;
	int r;

	if (tls.init(&e->session, server ? GNUTLS_SERVER : GNUTLS_CLIENT) ||
	    tls.priority_set_direct(e->session, "NORMAL:-VERS-ALL:+VERS-TLS1.3", NULL) ||
	    tls.certificate_allocate_credentials(&of) ||
	    tls.credentials_set(e->session, GNUTLS_CRD_CERTIFICATE, of))
		fail("no TLS session");
	if (server && tls.certificate_set_x509_key_file(of, crt, key, GNUTLS_X509_FMT_PEM))
		fail("no key and certificate there");
	tls.transport_set_int2(e->session, e->fd, e->fd);
	do {
		r = tls.handshake(e->session);
	} while (r == GNUTLS_E_AGAIN || r == GNUTLS_E_INTERRUPTED);
	if (r)
		fail("no TLS handshake");
}

static bool send_all(struct end *e, const char *from, size_t n)
{
	ssize_t done;

	for (; n; n -= done, from += done) {
		done = e->session ? tls.record_send(e->session, from, n < CHUNK ? n : CHUNK) :
				    send(e->fd, from, n < CHUNK ? n : CHUNK, MSG_NOSIGNAL);
		if (done <= 0)
			return false;
	}
	return true;
}

static bool receive_all(struct end *e, char *to, size_t n)
{
	ssize_t done;

	for (; n; n -= done, to += done) {
		done = e->session ? tls.record_recv(e->session, to, n < CHUNK ? n : CHUNK) :
				    recv(e->fd, to, n < CHUNK ? n : CHUNK, 0);
		if (done <= 0)
			return false;
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* the times of @tries transfers, sorted, until the receiver says that all is there */
static void measure(bool tcp, bool with_tls, unsigned int tries, char *bytes, double *times)
{
	struct end here, there;
	unsigned int i;
	char word;
	int fd[2];

	connect_pair(tcp, fd);
	here = (struct end){ fd[0], NULL };
	there = (struct end){ fd[1], NULL };
	if (!fork()) {
		close(fd[0]);
		if (with_tls)
			begin_tls(&there, true);
		while (receive_all(&there, bytes, BYTES) && send_all(&there, "", 1))
			;
		_exit(0);
	}
	close(fd[1]);
	if (with_tls)
		begin_tls(&here, false);
	for (i = 0; i < tries; i++) {
		times[i] = now();
		if (!send_all(&here, bytes, BYTES) || !receive_all(&here, &word, 1))
			fail("the stream broke");
		times[i] = now() - times[i];
	}
	close(fd[0]);
	wait(NULL);
	qsort(times, tries, sizeof(*times), compare);
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "unix", "tcp", "tls" };
	const bool quick = argc > 1 && !strcmp(argv[1], "--quick");
	const unsigned int tries = quick ? 5 : 30;
	double times[TRIES_MAX];
	char *bytes = malloc(BYTES);
	unsigned int i;
	FILE *json;

	if (argc - quick != 4) {
		fprintf(stderr, "usage: remote_streams [--quick] CRT KEY FILE.json\n");
		return 2;
	}
	crt = argv[1 + quick];
	key = argv[2 + quick];
	json = fopen(argv[3 + quick], "w");
	if (!json || !bytes) {
		perror(argv[3 + quick]);
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	memset(bytes, 1, BYTES);
	fprintf(json, "{\"rows\": [");
	for (i = 0; i < 3; i++) {
		if (i == 2 && !load_gnutls()) {
			fprintf(stderr, "remote_streams: no libgnutls.so.30: no TLS\n");
			break;
		}
		measure(i, i == 2, tries, bytes, times);
		printf("%-10s %-64s %10.3f GB/s (median %.3f)\n", names[i],
		       "a raw stream, 65536 KiB", BYTES / times[0] / 1e9,
		       BYTES / times[tries / 2] / 1e9);
		fprintf(json,
			"%s\n  {\"where\": \"%s\", \"name\": \"a raw stream, 65536 KiB\", \"value\": %.4f, \"median\": %.4f, \"unit\": \"GB/s\"}",
			i ? "," : "", names[i], BYTES / times[0] / 1e9,
			BYTES / times[tries / 2] / 1e9);
	}
	fprintf(json, "\n]}\n");
	return fclose(json) ? 1 : 0;
}
