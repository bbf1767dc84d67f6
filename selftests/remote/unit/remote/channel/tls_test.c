// SPDX-License-Identifier: MIT
/*
 * A channel on TLS with certificates as kvgpu-remotectl makes them; wrong certificates and files;
 * peers that do not speak TLS; and keys that are renewed.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <remote/channel/channel.h>
#include <remote/channel/conn.h>
#include <remote/channel/tls.h>
#include <remote/ctl/ctl.h>

#include "certificates.h"

enum { VERSION = 77, ARENA = 4 << 20, OP_ECHO = 100, OP_DOUBLE, OP_QUIET };

static char complaint[512];

void report_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(complaint, sizeof(complaint), format, args);
	va_end(args);
}

/* ------------------------------------------------------------------ a server */

static struct {
	int listening, port;
	char folder[128];
	pthread_t thread;
	int result; /* result of the credentials, the handshake or the welcome */
	char why[512], peer[TLS_NAME_MAX], fingerprint[TLS_FINGERPRINT];
	struct tls *tls;
} server;

static int serve_one(struct kvgpu_remote_port *p, const struct kvgpu_remote_head *h,
		     const void *payload)
{
	struct kvgpu_remote_piece piece;
	uint64_t bytes, i;
	uint8_t *arena = kvgpu_remote_port_arena(p, &bytes);

	switch (h->op) {
	case OP_ECHO:
		return kvgpu_remote_reply(p, h, h->bytes, payload, h->bytes);
	case OP_DOUBLE:
		memcpy(&piece, payload, sizeof(piece));
		for (i = 0; i < piece.bytes; i++)
			arena[piece.at + i] *= 2;
		kvgpu_remote_return(p, piece.at, piece.bytes);
		return kvgpu_remote_reply(p, h, 0, NULL, 0);
	default:
		return h->op != OP_QUIET;
	}
}

static void serve_line(struct conn *l)
{
	struct kvgpu_remote_port *p;
	struct kvgpu_remote_head h;
	const void *payload;
	int r = kvgpu_remote_welcome_conn(l, VERSION, ARENA, 0, -1, NULL, NULL, &p);

	server.result = r;
	if (r) {
		snprintf(server.why, sizeof(server.why), "%s", tls_complaint(l->tls) ?: "");
		conn_close(l);
		return;
	}
	/*
	 * Wait not at all, with a limit, and without an end in turn: bytes can be in the TLS
	 * session while the socket is empty.
	 */
	for (unsigned int turn = 0; (r = kvgpu_remote_next(p,
							   turn % 3 == 0 ? 0 :
							   turn % 3 == 1 ? 2000 :
									   -1,
							   &h, &payload)) >= 0;
	     turn++)
		if (r == 1 && serve_one(p, &h, payload))
			break;
	kvgpu_remote_port_close(p);
}

static void *serve(void *arg)
{
	struct conn l = { .fd = accept(server.listening, NULL, NULL) };
	struct tls_credentials *c;
	const char *why = "";

	server.result = tls_credentials_read(server.folder, true, &c, &why);
	if (!server.result) {
		server.result = tls_begin(l.fd, c, NULL, &l.tls, &why);
		if (!server.result)
			tls_forget(l.tls);
		tls_credentials_free(c);
	}
	snprintf(server.why, sizeof(server.why), "%s", why);
	if (server.result) {
		conn_close(&l);
		return NULL;
	}
	strcpy(server.peer, tls_peer(l.tls));
	strcpy(server.fingerprint, tls_fingerprint(l.tls));
	serve_line(&l);
	return NULL;
}

static void listen_with(const char *folder, void *(*run)(void *))
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t bytes = sizeof(at);

	server.listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server.listening, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(server.listening, 4), 0);
	assert_int_equal(getsockname(server.listening, (struct sockaddr *)&at, &bytes), 0);
	server.port = ntohs(at.sin_port);
	snprintf(server.folder, sizeof(server.folder), "%s", folder ? path(folder) : "");
	assert_int_equal(pthread_create(&server.thread, NULL, run, NULL), 0);
}

static void server_ends(void)
{
	pthread_join(server.thread, NULL);
	close(server.listening);
}

static void on_notification(void *ctx, const struct kvgpu_remote_notification *h, const void *bytes,
			    size_t n)
{
}

static int connect_as(const char *folder, const char *host, struct kvgpu_remote_channel **c,
		      const char **why)
{
	static char client_folder[128];
	char address[64];

	snprintf(client_folder, sizeof(client_folder), "%s", path(folder));
	kvgpu_remote_tls_folder(client_folder);
	snprintf(address, sizeof(address), "tls:%s:%d", host, server.port);
	return kvgpu_remote_connect(address, VERSION, on_notification, NULL, c, why);
}

static int ask(struct kvgpu_remote_channel *c, unsigned int completion, uint16_t op,
	       const void *payload, size_t n, struct kvgpu_remote_answer *a, const void **back)
{
	struct iovec part = { (void *)(uintptr_t)payload, n };
	uint64_t seq;
	int r = kvgpu_remote_send(c, op, completion, &part, 1, &seq);

	return r ? r : kvgpu_remote_await(c, completion, seq, a, back);
}

/* ------------------------------------------------------------------ folders of certificates */

static int make(void **state)
{
	static const char *const hosts[] = { "127.0.0.1", "localhost" }, *const ann[] = { "ann" };
	struct certs_wish w = { top, 30, hosts, 2 };
	const char *why;

	strcpy(top, "/tmp/kvgpu-tls-XXXXXX");
	if (!mkdtemp(top) || tls_load(&why))
		return -1;
	w.folder = strdup(path("ours"));
	if (certs_server(&w))
		return -1;
	w.names = ann;
	w.nr_names = 1;
	if (certs_client(&w))
		return -1;
	/* certificates of another site */
	free((void *)w.folder);
	w.folder = strdup(path("theirs"));
	if (certs_client(&w))
		return -1;
	free((void *)w.folder);
	return 0;
}

static int end(void **state)
{
	char line[100];

	snprintf(line, sizeof(line), "rm -rf '%s'", top);
	return system(line);
}

/* ------------------------------------------------------------------ what works */

TEST(frames_and_pieces)
{
	struct kvgpu_remote_piece piece = { 4096, 3 << 20 };
	static uint64_t words[KVGPU_REMOTE_PAYLOAD_MAX / 8];
	struct kvgpu_remote_channel *c;
	struct kvgpu_remote_answer a;
	uint64_t bytes, i, seq;
	const char *why = "";
	const void *back;
	unsigned int completion;
	uint8_t *arena;

	listen_with("ours", serve);
	if (connect_as("ours/clients/ann", "localhost", &c, &why))
		fail_msg("%s; server: %s", why, server.why);
	completion = kvgpu_remote_completion_get(c);
	for (i = 0; i < KVGPU_REMOTE_PAYLOAD_MAX / 8; i++)
		words[i] = i * i;
	/* sizes below and above that of a TLS record, 16 KiB */
	for (i = 0; i < 300; i++) {
		size_t n = i < 290 ? i * 8 * 56 : KVGPU_REMOTE_PAYLOAD_MAX;

		assert_int_equal(ask(c, completion, OP_ECHO, words, n, &a, &back), 0);
		assert_int_equal(a.bytes, n);
		assert_memory_equal(back, words, n);
	}
	arena = kvgpu_remote_arena(c, &bytes);
	for (i = 0; i < piece.bytes; i++)
		arena[piece.at + i] = i * 7;
	assert_int_equal(kvgpu_remote_push(c, piece.at, NULL, piece.bytes), 0);
	assert_int_equal(ask(c, completion, OP_DOUBLE, &piece, sizeof(piece), &a, &back), 0);
	for (i = 0; i < piece.bytes; i++)
		if (arena[piece.at + i] != (uint8_t)((uint8_t)(i * 7) * 2))
			fail_msg("byte %llu", (unsigned long long)i);
	/*
	 * Many frames without an answer: a frame's bytes can be in the session when the socket is
	 * empty.
	 */
	for (i = 0; i < 5000; i++) {
		struct iovec part = { words, 24 };

		assert_int_equal(kvgpu_remote_send(c, OP_QUIET, 0, &part, 1, &seq), 0);
	}
	assert_int_equal(ask(c, completion, OP_ECHO, words, 8, &a, &back), 0);
	assert_string_equal(server.peer, "ann");
	kvgpu_remote_disconnect(c);
	server_ends();
	assert_int_equal(server.result, 0);
}

/* passes bytes on between two sockets until one of them is shut down */
static void *carry(void *arg)
{
	const int *fd = arg;
	struct pollfd p[2] = { { .fd = fd[0], .events = POLLIN },
			       { .fd = fd[1], .events = POLLIN } };
	char bytes[4096];
	ssize_t n = 1;
	int i;

	while (n > 0 && poll(p, 2, -1) > 0)
		for (i = 0; i < 2 && n > 0; i++)
			if (p[i].revents) {
				n = recv(fd[i], bytes, sizeof(bytes), 0);
				n = n > 0 ? send(fd[!i], bytes, n, MSG_NOSIGNAL) : n;
			}
	return NULL;
}

static void *begin_server(void *arg)
{
	struct tls_credentials *c;
	struct conn *l = arg;
	const char *why = "";

	if (!tls_credentials_read(path("ours"), true, &c, &why)) {
		tls_begin(l->fd, c, NULL, &l->tls, &why);
		tls_credentials_free(c);
	}
	return NULL;
}

static void write_record(struct conn *l, const char *text)
{
	struct iovec part = { (void *)(uintptr_t)text, strlen(text) };

	assert_int_equal(conn_write(l, &part, 1), 0);
}

static size_t moved(int from, int to, size_t most)
{
	char bytes[4096];
	ssize_t n = recv(from, bytes, most < sizeof(bytes) ? most : sizeof(bytes), 0);

	assert_true(n > 0);
	assert_int_equal(send(to, bytes, n, 0), n);
	return n;
}

/*
 * A session that reads ahead: records that came with another one are pending, the first part of one
 * is not, as it is no reason to read without a wait.
 */
TEST(what_is_pending)
{
	struct conn here = { .fd = -1 }, there = { .fd = -1 };
	int ours[2], theirs[2], between[2];
	struct tls_credentials *c;
	pthread_t carrier, server;
	const char *why = "";
	char text[64], folder[128];
	unsigned int i;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ours), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, theirs), 0);
	between[0] = ours[1];
	between[1] = theirs[0];
	there.fd = theirs[1];
	here.fd = ours[0];
	snprintf(folder, sizeof(folder), "%s", path("ours/clients/ann"));
	assert_int_equal(tls_credentials_read(folder, false, &c, &why), 0);
	assert_int_equal(pthread_create(&carrier, NULL, carry, between), 0);
	assert_int_equal(pthread_create(&server, NULL, begin_server, &there), 0);
	assert_int_equal(tls_begin(here.fd, c, "localhost", &here.tls, &why), 0);
	tls_credentials_free(c);
	pthread_join(server, NULL);
	assert_non_null(there.tls);
	/* which ends the carrier */
	assert_int_equal(shutdown(there.fd, SHUT_WR), 0);
	pthread_join(carrier, NULL);
	for (i = 0; i < 3; i++)
		write_record(&here, "three");
	while (moved(ours[1], theirs[0], 4096) &&
	       recv(ours[1], text, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
		;
	for (i = 0; i < 3; i++) {
		assert_int_equal(conn_some(&there, text, sizeof(text), true), 5);
		assert_int_equal(conn_pending(&there), i < 2);
	}
	assert_int_equal(conn_some(&there, text, sizeof(text), false), 0);
	/* a record in parts: behind another one, within its header, and before its last byte */
	write_record(&here, "one");
	write_record(&here, "in parts");
	moved(ours[1], theirs[0], 5 + 3 + 1 + 16 + 3);
	assert_int_equal(conn_some(&there, text, sizeof(text), true), 3);
	assert_false(conn_pending(&there));
	assert_int_equal(conn_some(&there, text, sizeof(text), false), 0);
	moved(ours[1], theirs[0], 2 + 8 + 1 + 15);
	assert_false(conn_pending(&there));
	assert_int_equal(conn_some(&there, text, sizeof(text), false), 0);
	assert_false(conn_pending(&there));
	moved(ours[1], theirs[0], 1);
	assert_int_equal(conn_some(&there, text, sizeof(text), false), 8);
	assert_memory_equal(text, "in parts", 8);
	conn_close(&here);
	conn_close(&there);
	close(ours[1]);
	close(theirs[0]);
}

/* -------------------------------------------------------------- what is wrong with certificates */

static void fails(const char *server_folder, const char *client_folder, const char *host,
		  const char *client_says, const char *server_says)
{
	struct kvgpu_remote_channel *c;
	const char *why = "";
	int r;

	listen_with(server_folder, serve);
	r = connect_as(client_folder, host, &c, &why);
	if (!r)
		kvgpu_remote_disconnect(c);
	else if (server.listening >= 0)
		/* for a client that could not even connect */
		shutdown(server.listening, SHUT_RDWR);
	server_ends();
	if (!r)
		fail_msg("%s and %s for %s get on", server_folder, client_folder, host);
	if (!strstr(why, client_says))
		fail_msg("the client says: %s", why);
	if (server_says && !strstr(server.why, server_says))
		fail_msg("the server says: %s", server.why);
}

TEST(strangers)
{
	/* what each side complains of, and what it hears of the other side's complaint */
	fails("ours", "theirs/clients/ann", "localhost", "not of the CA",
	      "client's certificate is not of the CA");
	copy("theirs/clients/ann", "mixed");
	shell("cp ours/ca.crt mixed/");
	fails("ours", "mixed", "localhost", "does not know the CA",
	      "client's certificate is not of the CA");
}

TEST(wrong_host)
{
	fails("ours", "ours/clients/ann", "127.0.0.2", "not for 127.0.0.2",
	      "the client refuses this side");
}

TEST(times)
{
	time_t now = time(NULL);

	copy("ours", "late");
	change("late/server.key", "late/server.crt", now - 86400 * 30, now - 86400, "ann");
	copy("ours/clients/ann", "late-ann");
	change("late-ann/client.key", "late-ann/client.crt", now - 86400 * 30, now - 86400, "ann");
	copy("ours/clients/ann", "early-ann");
	change("early-ann/client.key", "early-ann/client.crt", now + 86400, now + 86400 * 2, "ann");
	/* a side refuses its own certificate for its dates before the other side sees it */
	fails("ours", "late-ann", "localhost", "late-ann/client.crt: expired on", NULL);
	fails("ours", "early-ann", "localhost", "not valid before", NULL);
	listen_with("late", serve);
	shutdown(server.listening, SHUT_RDWR);
	server_ends();
	assert_int_equal(server.result, -EKEYEXPIRED);
	assert_non_null(strstr(server.why, "kvgpu-remotectl certs"));
}

TEST(purposes)
{
	/* a server can't use a client's certificate */
	copy("ours", "posing");
	shell("cd posing && cp clients/ann/client.crt server.crt && cp clients/ann/client.key server.key");
	fails("posing", "ours/clients/ann", "localhost", "not for localhost", NULL);
	/* nor a client a server's */
	copy("ours", "posing2");
	shell("cd posing2 && cp server.crt client.crt && cp server.key client.key");
	fails("ours", "posing2", "localhost", "refuses this side", "not made for a client");
}

TEST(names)
{
	time_t now = time(NULL);

	copy("ours/clients/ann", "odd");
	change("odd/client.key", "odd/client.crt", now - 60, now + 86400, "ann = \"root\"");
	fails("ours", "odd", "localhost", "the server takes no certificate with this name",
	      "letters, digits");
}

/* Whether a client of that folder gets on with the server of another one. */
static bool gets_on(const char *server_folder, const char *client_folder)
{
	struct kvgpu_remote_channel *c;
	const char *why;
	int r;

	listen_with(server_folder, serve);
	r = connect_as(client_folder, "localhost", &c, &why);
	if (!r)
		kvgpu_remote_disconnect(c);
	server_ends();
	return !r;
}

/* A server's crl.pem shuts out whom it names, and if it is old, or not the CA's, everybody. */
TEST(revoked)
{
	static const char *const bob[] = { "bob" };
	struct certs_wish w = { strdup(path("listed")), 30, bob, 1 };
	time_t now = time(NULL);
	struct tls_credentials *c;
	const char *why;

	copy("ours", "listed");
	assert_int_equal(certs_client(&w), 0);
	free((void *)w.folder);
	make_crl("ours/ca.key", "ours/ca.crt", now + 86400, false);
	assert_true(gets_on("listed", "ours/clients/ann"));
	make_crl("ours/ca.key", "ours/ca.crt", now + 86400, true);
	fails("listed", "ours/clients/ann", "localhost", "certificate was revoked",
	      "listed/crl.pem");
	assert_true(gets_on("listed", "listed/clients/bob"));
	/* of another CA with the same name */
	make_crl("theirs/ca.key", "theirs/ca.crt", now + 86400, true);
	assert_int_equal(tls_credentials_read(path("listed"), true, &c, &why), -EINVAL);
	assert_non_null(strstr(why, "crl.pem: no list in PEM that the CA in ca.crt has signed"));
	make_crl("ours/ca.key", "ours/ca.crt", now - 60, true);
	assert_int_equal(tls_credentials_read(path("listed"), true, &c, &why), -EINVAL);
	shell(": > listed/crl.pem");
	assert_int_equal(tls_credentials_read(path("listed"), true, &c, &why), -EINVAL);
	shell("rm listed/crl.pem && mkdir listed/crl.pem");
	assert_int_equal(tls_credentials_read(path("listed"), true, &c, &why), -EINVAL);
	shell("rmdir listed/crl.pem && ln -s nowhere listed/crl.pem");
	assert_int_equal(tls_credentials_read(path("listed"), true, &c, &why), -ENOENT);
}

/*
 * A fingerprint shuts out a key: it is the same where the certificate's signature has other bytes.
 * kvgpu-remotectl prints the one that the server finds.
 */
TEST(fingerprints)
{
	static const char *const folders[] = {
		[NEGATED] = "negated", [WITH_PARAMETERS] = "with-parameters"
	};
	const char *shown[] = { strdup(path("ours/clients/ann/client.crt")) };
	struct certs_wish w = { .names = shown, .nr_names = 1 };
	char anns[TLS_FINGERPRINT], printed[TLS_FINGERPRINT] = "", file[64];
	uint8_t sum[32], other[32];
	FILE *out;
	int saved;

	assert_true(gets_on("ours", "ours/clients/ann"));
	strcpy(anns, server.fingerprint);
	whole_sum("ours/clients/ann/client.crt", sum);
	for (unsigned int i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		copy("ours/clients/ann", folders[i]);
		snprintf(file, sizeof(file), "%s/client.crt", folders[i]);
		vary(file, i);
		whole_sum(file, other);
		assert_memory_not_equal(sum, other, sizeof(sum));
		server.fingerprint[0] = 0;
		if (!gets_on("ours", folders[i]))
			fail_msg("%s: %s", folders[i], server.why);
		assert_string_equal(server.fingerprint, anns);
	}
	/* another key of the same name */
	copy("ours/clients/ann", "new-key");
	make_key("new-key/client.key", GNUTLS_PK_ECDSA,
		 GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1));
	change("new-key/client.key", "new-key/client.crt", time(NULL) - 60, time(NULL) + 86400,
	       "ann");
	assert_true(gets_on("ours", "new-key"));
	assert_string_equal(server.peer, "ann");
	assert_string_not_equal(server.fingerprint, anns);
	fflush(stdout);
	saved = dup(1);
	out = fopen(path("shown"), "w+");
	dup2(fileno(out), 1);
	assert_int_equal(certs_show(&w), 0);
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
	rewind(out);
	assert_int_equal(fread(printed, 1, TLS_FINGERPRINT - 1, out), TLS_FINGERPRINT - 1);
	fclose(out);
	assert_string_equal(printed, anns);
	free((void *)shown[0]);
}

TEST(files)
{
	struct tls_credentials *c;
	const char *why;

	copy("ours/clients/ann", "open");
	chmod(path("open/client.key"), 0644);
	assert_int_equal(tls_credentials_read(path("open"), false, &c, &why), -EPERM);
	assert_non_null(strstr(why, "chmod o="));
	unlink(path("open/client.key"));
	assert_int_equal(tls_credentials_read(path("open"), false, &c, &why), -ENOENT);
	assert_non_null(strstr(why, "client.key: no such file"));
	copy("ours/clients/ann", "mismatch");
	shell("cp ours/server.key mismatch/client.key");
	assert_int_equal(tls_credentials_read(path("mismatch"), false, &c, &why), -EINVAL);
	shell("echo nonsense > mismatch/client.crt");
	assert_int_equal(tls_credentials_read(path("mismatch"), false, &c, &why), -EINVAL);
	assert_non_null(strstr(why, "client.crt: no certificate"));
}

/* A user outside of the group that the files have is told that a group may read them. */
TEST(not_for_this_user)
{
	bool is_root = !geteuid();
	struct tls_credentials *c;
	const char *why;
	int r;

	copy("ours/clients/ann", "private");
	chmod(top, 0711);
	chmod(path("private"), 0711);
	chmod(path("private/ca.crt"), 0);
	/* root may read all files */
	assert_int_equal(is_root ? seteuid(65534) : 0, 0);
	r = tls_credentials_read(path("private"), false, &c, &why);
	assert_int_equal(is_root ? seteuid(0) : 0, 0);
	assert_int_equal(r, -EACCES);
	assert_non_null(strstr(why, "private/ca.crt: you may not open it: users in its group may"));
}

TEST(makes_no_second)
{
	static const char *const ann[] = { "ann" }, *const bad[] = { "../ann" };
	struct certs_wish w = { strdup(path("ours")), 30, ann, 1 };
	struct stat st;

	assert_int_equal(certs_client(&w), 1);
	assert_non_null(strstr(complaint, "is not overwritten"));
	w.names = bad;
	assert_int_equal(certs_client(&w), 1);
	assert_non_null(strstr(complaint, "a client's name"));
	assert_int_equal(certs_server(&w), 1);
	free((void *)w.folder);
	assert_int_equal(stat(path("ours/ca.key"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(path("ours/server.key"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(path("ours/clients/ann/client.key"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(path("ours/clients/ann"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
}

/* Who may exchange the files in a folder has the CA that is in it, or is put into it. */
TEST(makes_none_where_others_write)
{
	static const char *const ann[] = { "ann" };
	struct certs_wish w = { strdup(path("shared")), 30, ann, 1 };

	assert_int_equal(mkdir(w.folder, 0755) || chmod(w.folder, 0777), 0);
	assert_int_equal(certs_client(&w), 1);
	assert_non_null(strstr(complaint, "shared: others may write there"));
	assert_int_equal(access(path("shared/ca.key"), F_OK), -1);
	assert_int_equal(chmod(w.folder, 0755), 0);
	if (!geteuid()) {
		assert_int_equal(chown(w.folder, 12345, 12345), 0);
		assert_int_equal(certs_server(&w), 1);
		assert_non_null(strstr(complaint, "shared: others may write there"));
		assert_int_equal(chown(w.folder, 0, 0), 0);
	}
	free((void *)w.folder);
	w.folder = strdup(path("link"));
	assert_int_equal(symlink("shared", w.folder), 0);
	if (!geteuid()) {
		assert_int_equal(lchown(w.folder, 12345, 12345), 0);
		assert_int_equal(certs_client(&w), 1);
		assert_non_null(strstr(complaint, "link: others may write there"));
		assert_int_equal(lchown(w.folder, 0, 0), 0);
	}
	assert_int_equal(certs_client(&w), 0);
	free((void *)w.folder);
}

/* Of our CA, but with a key of another kind than kvgpu-remotectl's. */
TEST(kinds_of_keys)
{
	static const struct {
		const char *folder, *says;
		gnutls_pk_algorithm_t kind;
		unsigned int bits;
	} kinds[] = { { "rsa", "its key is RSA of 2048 bits; wanted is ECDSA P-256", GNUTLS_PK_RSA,
			2048 },
		      { "p384", "its key is EC/ECDSA of 384 bits", GNUTLS_PK_ECDSA,
			GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP384R1) } };
	struct tls_credentials *c;
	char key[32], crt[32];
	const char *why;
	unsigned int i;
	time_t now = time(NULL);

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		copy("ours", kinds[i].folder);
		snprintf(key, sizeof(key), "%s/server.key", kinds[i].folder);
		snprintf(crt, sizeof(crt), "%s/server.crt", kinds[i].folder);
		make_key(key, kinds[i].kind, kinds[i].bits);
		change(key, crt, now - 60, now + 86400, "localhost");
		assert_int_equal(tls_credentials_read(path(kinds[i].folder), true, &c, &why),
				 -EINVAL);
		if (!strstr(why, kinds[i].says))
			fail_msg("the server says: %s", why);
	}
}

/* -------------------------------------------------------------- peers that speak something else */

static void *speak_plain(void *arg)
{
	char said[200];
	int fd = accept(server.listening, NULL, NULL);

	while (recv(fd, said, sizeof(said), 0) > 0)
		send(fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

TEST(no_tls_there)
{
	struct kvgpu_remote_channel *c;
	const char *why = "";

	listen_with(NULL, speak_plain);
	assert_true(connect_as("ours/clients/ann", "localhost", &c, &why) < 0);
	assert_non_null(strstr(why, "does not speak TLS"));
	server_ends();
}

TEST(no_tls_comes)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct kvgpu_remote_hello hello = { KVGPU_REMOTE_MAGIC, VERSION };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char byte;

	listen_with("ours", serve);
	to.sin_port = htons(server.port);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(send(fd, &hello, sizeof(hello), MSG_NOSIGNAL), sizeof(hello));
	while (recv(fd, &byte, 1, 0) > 0)
		;
	close(fd);
	server_ends();
	assert_true(server.result < 0);
}

/* ------------------------------------------------------------------ a client by GnuTLS alone */

struct raw {
	int fd;
	gnutls_session_t session;
	gnutls_certificate_credentials_t credentials;
};

/*
 * With ann's certificate of @folder, or NULL: none. 0: the client's part of the handshake is done.
 */
static int raw_handshake(struct raw *r, const char *folder, const char *priorities)
{
	char crt[64], key[64];
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				  .sin_port = htons(server.port) };

	r->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(r->fd, (struct sockaddr *)&to, sizeof(to)), 0);
	gnutls_certificate_allocate_credentials(&r->credentials);
	if (folder) {
		snprintf(crt, sizeof(crt), "%s/client.crt", folder);
		snprintf(key, sizeof(key), "%s/client.key", folder);
		assert_int_equal(gnutls_certificate_set_x509_key_file(
					 r->credentials, path(crt), path(key), GNUTLS_X509_FMT_PEM),
				 0);
	}
	gnutls_init(&r->session, GNUTLS_CLIENT);
	assert_int_equal(gnutls_priority_set_direct(r->session, priorities, NULL), 0);
	gnutls_credentials_set(r->session, GNUTLS_CRD_CERTIFICATE, r->credentials);
	gnutls_transport_set_int(r->session, r->fd);
	return gnutls_handshake(r->session);
}

static void raw_end(struct raw *r)
{
	gnutls_deinit(r->session);
	gnutls_certificate_free_credentials(r->credentials);
	close(r->fd);
}

static void raw_send(struct raw *r, const void *bytes, size_t n)
{
	assert_int_equal(gnutls_record_send(r->session, bytes, n), n);
}

static void raw_read(struct raw *r, void *to, size_t n)
{
	uint8_t *at = to;
	ssize_t done;

	while (n) {
		done = gnutls_record_recv(r->session, at, n);
		if (done == GNUTLS_E_AGAIN || done == GNUTLS_E_INTERRUPTED)
			continue;
		if (done <= 0)
			fail_msg("%s; the server says: %s", gnutls_strerror(done), server.why);
		at += done;
		n -= done;
	}
}

/*
 * The server waits for ever in one of three turns. A renewal of keys neither ends that wait nor
 * counts as a byte.
 */
TEST(renewed_keys)
{
	struct kvgpu_remote_hello hello = { KVGPU_REMOTE_MAGIC, VERSION };
	struct {
		uint16_t kind, completion;
		uint32_t bytes;
		uint64_t a, b, word;
	} answer;
	struct {
		struct kvgpu_remote_head h;
		uint64_t word;
	} frame = { .h = { .op = OP_ECHO, .completion = 1, .bytes = 8 } };
	struct kvgpu_remote_welcome w;
	struct raw r;
	uint64_t i;
	size_t b;

	listen_with("ours", serve);
	assert_int_equal(raw_handshake(&r, "ours/clients/ann", "NORMAL"), 0);
	raw_send(&r, &hello, sizeof(hello));
	raw_read(&r, &w, sizeof(w));
	assert_int_equal(w.result, 0);
	for (i = 0; i < 30; i++) {
		frame.h.seq = frame.word = i;
		/* each byte in a record of its own; in three of the frames with new keys */
		for (b = 0; b < sizeof(frame); b++) {
			/* GnuTLS limits how often keys are renewed */
			if ((b == 5 || b == 20) && i % 10 == 3)
				assert_int_equal(gnutls_session_key_update(
							 r.session, b == 5 ? GNUTLS_KU_PEER : 0),
						 0);
			raw_send(&r, (uint8_t *)&frame + b, 1);
		}
		raw_read(&r, &answer, sizeof(answer));
		assert_int_equal(answer.a, i);
		assert_int_equal(answer.word, i);
	}
	raw_end(&r);
	server_ends();
}

TEST(no_certificate)
{
	struct raw r;
	char byte;

	listen_with("ours", serve);
	assert_int_equal(raw_handshake(&r, NULL, "NORMAL"), 0);
	assert_true(gnutls_record_recv(r.session, &byte, 1) < 0);
	assert_int_equal(gnutls_alert_get(r.session), GNUTLS_A_CERTIFICATE_REQUIRED);
	raw_end(&r);
	server_ends();
	assert_true(server.result < 0);
}

/*
 * What a peer offers, and whether the server takes it: groups, kinds of signatures and versions
 * that cost it much are refused before it computes anything.
 */
TEST(kinds_of_handshakes)
{
#define ONLY(group) "NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-" group
	static const struct {
		const char *priorities, *folder;
		bool taken;
	} offers[] = {
		{ ONLY("X25519"), "ours/clients/ann", true },
		{ ONLY("SECP256R1"), "ours/clients/ann", true },
		{ ONLY("FFDHE2048"), "ours/clients/ann", false },
		{ ONLY("FFDHE8192"), "ours/clients/ann", false },
		{ ONLY("SECP521R1"), "ours/clients/ann", false },
		{ ONLY("X448"), "ours/clients/ann", false },
		{ "NORMAL:-VERS-ALL:+VERS-TLS1.2", "ours/clients/ann", false },
		{ "NORMAL:-SIGN-ALL:+SIGN-RSA-PSS-RSAE-SHA256", "ours/clients/ann", false },
		/* of our CA, with an RSA key */
		{ "NORMAL", "rsa-ann", false },
	};
	time_t now = time(NULL);
	unsigned int i;
	struct raw r;
	char byte;

	copy("ours/clients/ann", "rsa-ann");
	make_key("rsa-ann/client.key", GNUTLS_PK_RSA, 2048);
	change("rsa-ann/client.key", "rsa-ann/client.crt", now - 60, now + 86400, "ann");
	for (i = 0; i < sizeof(offers) / sizeof(*offers); i++) {
		server.peer[0] = 0;
		listen_with("ours", serve);
		if (!raw_handshake(&r, offers[i].folder, offers[i].priorities)) {
			/* the server's end of the connection is that of its thread */
			shutdown(r.fd, SHUT_WR);
			while (gnutls_record_recv(r.session, &byte, 1) > 0)
				;
		}
		raw_end(&r);
		server_ends();
		/* with a certificate that is taken only the hello is missing */
		if (offers[i].taken != !strcmp(server.peer, "ann"))
			fail_msg("%s, %s: the server says: %s", offers[i].priorities,
				 offers[i].folder, server.why);
	}
}

int main(void)
{
	return unit_tests_run(NULL, NULL, make, end);
}
