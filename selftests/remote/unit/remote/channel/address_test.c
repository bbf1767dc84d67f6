// SPDX-License-Identifier: MIT
/* Texts of addresses, and sockets at such addresses; and the owners of subordinate user numbers. */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pwd.h>
#include <pthread.h>
#include <sys/un.h>
#include <unistd.h>

#include <remote/channel/address.h>

#include "selftests/own_folder.h"

enum { CONNECT = 1, LISTEN = 2, BOTH = 3 };

static const struct {
	const char *text;
	int fine; /* CONNECT, LISTEN, BOTH: where the text is an address; 0: nowhere */
	enum address_scheme scheme;
	const char *host;
	uint32_t cid, port;
	const char *doorbell;
	const char *why; /* part of the reason that is given where it is none */
} cases[] = {
	{ "unix:/run/x", BOTH, .scheme = ADDRESS_UNIX, .host = "/run/x" },
	{ "unix:/a b:c", BOTH, .scheme = ADDRESS_UNIX, .host = "/a b:c" },
	{ "unix:", 0, .why = "begins with /" },
	{ "unix:x", 0, .why = "begins with /" },
	{ "unix:@x", 0, .why = "begins with /" },
	{ "aperture:/run/x", BOTH, .scheme = ADDRESS_SHMEM, .host = "/run/x", .doorbell = "" },
	{ "aperture:/dev/shm/a,b", BOTH, .scheme = ADDRESS_SHMEM, .host = "/dev/shm/a,b",
	  .doorbell = "" },
	{ "aperture:/m,bell=vsock:2:1", BOTH, .scheme = ADDRESS_SHMEM, .host = "/m",
	  .doorbell = "vsock:2:1" },
	{ "aperture:/m,bell=unix:/b", BOTH, .scheme = ADDRESS_SHMEM, .host = "/m",
	  .doorbell = "unix:/b" },
	{ "aperture:/m,bell=vsock:*:1", LISTEN, .scheme = ADDRESS_SHMEM, .host = "/m",
	  .doorbell = "vsock:*:1", .why = "CID" },
	{ "aperture:", 0, .why = "begins with /" },
	{ "aperture:x", 0, .why = "begins with /" },
	{ "aperture:/m,bell=", 0, .why = "bell is" },
	{ "aperture:/m,bell=tls:x:1", 0, .why = "bell is" },
	{ "aperture:/m,bell=aperture:/x", 0, .why = "bell is" },
	{ "aperture:/m,bell=unix:x", 0, .why = "begins with /" },
	{ "aperture:/m,bell=vsock:2", 0, .why = "port" },
	{ "vsock:2:7411", BOTH, .scheme = ADDRESS_VSOCK, .host = "", .cid = 2, .port = 7411 },
	{ "vsock:0:1", BOTH, .scheme = ADDRESS_VSOCK, .host = "", .port = 1 },
	{ "vsock:4294967294:4294967294", BOTH, .scheme = ADDRESS_VSOCK, .host = "",
	  .cid = 4294967294u, .port = 4294967294u },
	{ "vsock:*:7411", LISTEN, .scheme = ADDRESS_VSOCK, .host = "", .cid = UINT32_MAX,
	  .port = 7411, .why = "a CID is a number" },
	{ "vsock:4294967295:1", 0, .why = "CID" },
	{ "vsock:1:4294967295", 0, .why = "port" },
	{ "vsock:1:0", 0, .why = "port" },
	{ "vsock:1", 0, .why = "port" },
	{ "vsock::1", 0, .why = "port" },
	{ "vsock:x:1", 0, .why = "CID" },
	{ "vsock:-1:1", 0, .why = "CID" },
	{ "vsock: 1:1", 0, .why = "CID" },
	{ "vsock:1:1 ", 0, .why = "port" },
	{ "vsock:1:2:3", 0, .why = "CID" },
	{ "tls:gpu.example.org:7411", BOTH, .scheme = ADDRESS_TLS, .host = "gpu.example.org",
	  .port = 7411 },
	{ "tls:gpu-1_x:1", BOTH, .scheme = ADDRESS_TLS, .host = "gpu-1_x", .port = 1 },
	{ "tls:192.0.2.1:65535", BOTH, .scheme = ADDRESS_TLS, .host = "192.0.2.1", .port = 65535 },
	{ "tls:[2001:db8::1]:7411", BOTH, .scheme = ADDRESS_TLS, .host = "2001:db8::1",
	  .port = 7411 },
	{ "tls:*:7411", LISTEN, .scheme = ADDRESS_TLS, .host = "", .port = 7411,
	  .why = "a host is" },
	{ "tls:gpu:65536", 0, .why = "port" },
	{ "tls:gpu:0", 0, .why = "port" },
	{ "tls:gpu:", 0, .why = "port" },
	{ "tls:gpu", 0, .why = "port" },
	{ "tls::7411", 0, .why = "port" },
	{ "tls:gpu:18446744073709551617", 0, .why = "port" },
	{ "tls:2001:db8::1:7411", 0, .why = "a host is" },
	{ "tls:[2001:db8::1:7411", 0, .why = "a host is" },
	{ "tls:[]:7411", 0, .why = "a host is" },
	{ "tls:[x]:7411", 0, .why = "a host is" },
	{ "tls:[192.0.2.1]:7411", 0, .why = "a host is" },
	{ "tls:-x:7411", 0, .why = "a host is" },
	{ "tls:.x:7411", 0, .why = "a host is" },
	{ "tls:a b:7411", 0, .why = "a host is" },
	{ "tls:a/b:7411", 0, .why = "a host is" },
	{ "tls:a\nb:7411", 0, .why = "a host is" },
	{ "tcp:127.0.0.1:7411", BOTH, .scheme = ADDRESS_TCP, .host = "127.0.0.1", .port = 7411 },
	{ "tcp:127.255.255.254:1", BOTH, .scheme = ADDRESS_TCP, .host = "127.255.255.254",
	  .port = 1 },
	{ "tcp:[::1]:7411", BOTH, .scheme = ADDRESS_TCP, .host = "::1", .port = 7411 },
	{ "tcp:192.0.2.1:7411", 0, .why = "use tls:" },
	{ "tcp:128.0.0.1:7411", 0, .why = "use tls:" },
	{ "tcp:0.0.0.0:7411", 0, .why = "use tls:" },
	{ "tcp:[::]:7411", 0, .why = "use tls:" },
	{ "tcp:[::ffff:127.0.0.1]:7411", 0, .why = "use tls:" },
	{ "tcp:localhost:7411", 0, .why = "use tls:" },
	{ "tcp:127.1:7411", 0, .why = "use tls:" },
	{ "tcp:*:7411", .fine = 0 },
	{ "", 0, .why = "no address" },
	{ "x", 0, .why = "no address" },
	{ "unix", 0, .why = "no address" },
	{ "UNIX:/x", 0, .why = "no address" },
	{ " unix:/x", 0, .why = "no address" },
	{ "http://x:1", 0, .why = "no address" },
};

TEST(texts)
{
	struct address a;
	const char *why;
	size_t i;
	int who;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (who = CONNECT; who <= LISTEN; who++) {
			int r = address_parse(cases[i].text, who == LISTEN, &a, &why);

			if (r != (cases[i].fine & who ? 0 : -EINVAL))
				fail_msg("\"%s\" gives %d", cases[i].text, r);
			if (r && cases[i].why && !strstr(why, cases[i].why))
				fail_msg("\"%s\": %s", cases[i].text, why);
			if (!r && (a.scheme != cases[i].scheme || strcmp(a.host, cases[i].host) ||
				   a.cid != cases[i].cid || a.port != cases[i].port ||
				   strcmp(a.doorbell, cases[i].doorbell ?: "")))
				fail_msg("\"%s\" is read as %d %s %u %u", cases[i].text, a.scheme,
					 a.host, a.cid, a.port);
		}
}

/* The longest path or host, and one byte more; and a doorbell that is too long. */
TEST(lengths)
{
	char text[400];
	struct address a;
	const char *why;

	memset(text, 'a', sizeof(text));
	memcpy(text, "unix:/", 6);
	text[5 + 107] = 0;
	assert_int_equal(address_parse(text, false, &a, &why), 0);
	text[5 + 107] = 'a';
	text[5 + 108] = 0;
	assert_int_equal(address_parse(text, false, &a, &why), -EINVAL);
	memset(text, 'a', sizeof(text));
	memcpy(text, "tls:", 4);
	strcpy(text + 4 + 253, ":1");
	assert_int_equal(address_parse(text, false, &a, &why), 0);
	memset(text + 4, 'a', 300);
	strcpy(text + 4 + 254, ":1");
	assert_int_equal(address_parse(text, false, &a, &why), -EINVAL);
	memset(text + 4, 'a', 300);
	strcpy(text + 4 + 300, ":1");
	assert_int_equal(address_parse(text, false, &a, &why), -EINVAL);
	memset(text, 'a', sizeof(text));
	memcpy(text, "aperture:/", 10);
	text[9 + 255] = 0;
	assert_int_equal(address_parse(text, false, &a, &why), 0);
	assert_int_equal(address_connect(&a, &why), -EINVAL); /* no socket has such a path */
	text[9 + 255] = 'a';
	text[9 + 256] = 0;
	assert_int_equal(address_parse(text, false, &a, &why), -EINVAL);
	memset(text, 'a', sizeof(text));
	memcpy(text, "aperture:/m,bell=unix:/", 23);
	text[17 + 128] = 0;
	assert_int_equal(address_parse(text, false, &a, &why), -EINVAL);
}

/* A plain socket of this machine. */
TEST(sockets)
{
	struct address a;
	char path[64], text[80], peer[80], want[80];
	const char *why = "";
	int at, fd, other;

	snprintf(path, sizeof(path), "%s/server", own_folder());
	snprintf(text, sizeof(text), "unix:%s", path);
	assert_int_equal(address_parse(text, true, &a, &why), 0);
	assert_int_equal(address_connect(&a, &why), -ENOENT);
	assert_non_null(strstr(why, "no server listens there"));
	at = address_listen(&a, &why);
	assert_true(at >= 0);
	assert_int_equal(address_listen(&a, &why), -EADDRINUSE);
	fd = address_connect(&a, &why);
	assert_true(fd >= 0);
	other = accept(at, NULL, NULL);
	address_of_peer(other, peer, sizeof(peer));
	snprintf(want, sizeof(want), "unix:%u", getuid());
	assert_string_equal(peer, want);
	close(fd);
	close(other);
	close(at);
	/* the socket's file stays, as after a killed server */
	assert_int_equal(address_connect(&a, &why), -ECONNREFUSED);
	at = address_listen(&a, &why);
	assert_true(at >= 0);
	close(at);
	unlink(path);
}

/* The name that has no address: DNS refuses it without a network, as two dots follow each other. */
TEST(name_without_address)
{
	struct address a;
	const char *why = "";

	assert_int_equal(address_parse("tls:nowhere..invalid:7411", false, &a, &why), 0);
	assert_int_equal(address_connect(&a, &why), -ENOENT);
	assert_non_null(strstr(why, "DNS or /etc/hosts"));
}

/* the name and the source of a connection from @from to @to, which listens */
static struct address_source from_there(const char *from, int to, char *name, size_t size)
{
	struct sockaddr_in at = { 0 }, own = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), other;
	struct address_source source;
	socklen_t bytes = sizeof(at);

	assert_int_equal(inet_pton(AF_INET, from, &own.sin_addr), 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof(own)), 0);
	assert_int_equal(getsockname(to, (struct sockaddr *)&at, &bytes), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	other = accept(to, NULL, NULL);
	assert_true(other >= 0);
	address_of_peer(other, name, size);
	source = address_of_source(other);
	close(fd);
	close(other);
	return source;
}

/* Each user of a machine can have any of its loopback addresses: all of them are one client. */
TEST(loopback)
{
	struct sockaddr_in any = { .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int at = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct address_source one, other;
	char name[80];

	assert_int_equal(bind(at, (struct sockaddr *)&any, sizeof(any)), 0);
	assert_int_equal(listen(at, 4), 0);
	one = from_there("127.0.0.1", at, name, sizeof(name));
	assert_string_equal(name, "tcp:127.0.0.1");
	other = from_there("127.9.8.7", at, name, sizeof(name));
	assert_string_equal(name, "tcp:127.0.0.1");
	assert_true(one.net == other.net && one.host == other.host);
	close(at);
}

/* Makes a listening socket whose queue has room for one connection, and has one. */
static int full_queue(const char *path)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int at = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(name.sun_path, path);
	assert_false(bind(at, (struct sockaddr *)&name, sizeof(name)) || listen(at, 0));
	assert_false(connect(fd, (struct sockaddr *)&name, sizeof(name)));
	close(fd);
	return at;
}

static void *connect_there(void *address)
{
	const char *why = "";

	return (void *)(intptr_t)address_connect(address, &why);
}

/* A thread that connects waits in the kernel until there is room. */
TEST(waits_for_room)
{
	struct address a;
	char text[80];
	const char *why;
	pthread_t t;
	void *fd;
	int at;

	snprintf(text, sizeof(text), "unix:%s/server", own_folder());
	assert_int_equal(address_parse(text, false, &a, &why), 0);
	at = full_queue(a.host);
	assert_int_equal(pthread_create(&t, NULL, connect_there, &a), 0);
	/* so that the thread usually finds the queue full; if not, the result is the same */
	usleep(20000);
	close(accept(at, NULL, NULL));
	assert_int_equal(pthread_join(t, &fd), 0);
	assert_true((intptr_t)fd >= 0);
	close((intptr_t)fd);
	close(at);
	unlink(a.host);
}

static unsigned int asked;

/* in the place of libc's: a user whom the network alone knows */
struct passwd *getpwnam(const char *name)
{
	static struct passwd remote = { .pw_name = "far-away", .pw_uid = 54321 };

	asked++;
	return strcmp(name, remote.pw_name) ? NULL : &remote;
}

TEST(owners)
{
	char path[] = "/tmp/kvgpu-subuid-XXXXXX";
	static const char text[] =
		"1000:100000:65536\nroot:1000000:1000\nnobody:200000:65536\n"
		"1001:x:7\n:::\nno-such-user:300000:9\nfar-away:500000:9\n1002:400000:1";
	uid_t first = 99000, free = 99000;
	int fd = mkstemp(path);

	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	assert_int_equal(address_owner(path, 100000), 1000);
	assert_int_equal(address_owner(path, 165535), 1000);
	assert_int_equal(address_owner(path, 200007), 65534);
	assert_int_equal(address_owner(path, 165536), 165536);
	assert_int_equal(address_owner(path, 99999), 99999);
	assert_int_equal(address_owner(path, 1000500), 1000500);
	assert_int_equal(address_owner_of_any(path, &first, 170000), 1000);
	assert_int_equal(first, 100000);
	assert_int_equal(address_owner_of_any(path, &free, 99999), 99999);
	assert_int_equal(free, 99999);
	assert_int_equal(address_owner(path, 300008), 300000);
	assert_int_equal(address_owner(path, 500008), 500000);
	assert_int_equal(asked, 0);
	address_owners_learn(path);
	asked = 0;
	assert_int_equal(address_owner(path, 500008), 54321);
	assert_int_equal(address_owner(path, 200007), 65534);
	assert_int_equal(address_owner(path, 1000500), 1000500);
	assert_int_equal(asked, 0);
	assert_int_equal(address_owner(path, 400000), 1002);
	assert_int_equal(address_owner(path, 7), 7);
	unlink(path);
	assert_int_equal(address_owner(path, 100000), 100000);
}

TEST_MAIN(NULL, NULL)
