// SPDX-License-Identifier: MIT
/*
 * A shmem region below /dev that is awaited: files that can't be served, and then the right one.
 * Also a socket that systemd hands over.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <remote/channel/channel.h>
#include <remote/channel/label.h>
#include <remote/supervisor/supervisor.h>

enum { OTHER_USER = 12345 };

static struct remoted_conf conf;
static struct supervisor s;
/* the test's own, below /dev as a shmem region's has to be */
static char folder[] = "/dev/shm/kvgpu-listen-XXXXXX";
static char path[64], said[512];
static unsigned int lines;

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	lines++;
}

static int set_up(void **state)
{
	remoted_conf_default(&conf);
	snprintf(path, sizeof(path), "%s/m", folder);
	snprintf(conf.listen[0], sizeof(conf.listen[0]), "aperture:%s", path);
	conf.nr_listen = 1;
	s = (struct supervisor){ .conf = &conf, .build = { .version = 1 }, .admin_fd = -1 };
	return unlink(path) && access(path, F_OK) == 0;
}

static int tear_down(void **state)
{
	listen_end(&s);
	unlink(path);
	return 0;
}

static void make(off_t bytes, uid_t user, mode_t mode)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && !ftruncate(fd, bytes) && !fchown(fd, user, -1) && !fchmod(fd, mode));
	close(fd);
}

/* Looks now, instead of a second later. */
static void look(void)
{
	lines = 0;
	s.next_try_ms = 0;
	listen_again(&s);
}

static void expect_awaited(const char *why)
{
	look();
	assert_int_equal(s.nr_listeners, 0);
	assert_int_equal(s.nr_awaited, 1);
	assert_int_equal(lines, 1);
	assert_non_null(strstr(said, why));
	look();
	assert_int_equal(s.nr_awaited, 1);
	assert_int_equal(lines, 0);
}

TEST(wrong_ones_are_awaited)
{
	assert_true(listen_all(&s));
	assert_int_equal(s.nr_awaited, 1);
	make(4096, geteuid(), 0600);
	expect_awaited("too small");
	make(80 << 20, geteuid(), 0606);
	expect_awaited("all users may write it");
	if (!geteuid()) {
		make(80 << 20, OTHER_USER, 0666);
		expect_awaited("another user than root owns it");
	}
	unlink(path);
	make(80 << 20, geteuid(), 0600);
	look();
	assert_int_equal(s.nr_listeners, 1);
	assert_int_equal(s.nr_awaited, 0);
	assert_non_null(strstr(said, "listens at"));
}

/*
 * Another user's file is there at the start: the server starts, and awaits the address. It serves
 * the address when the file is removed and root has made another file.
 */
TEST(anothers_file_at_the_start)
{
	if (geteuid())
		skip();
	make(80 << 20, OTHER_USER, 0600);
	assert_true(listen_all(&s));
	assert_int_equal(s.nr_awaited, 1);
	assert_int_equal(s.nr_listeners, 0);
	unlink(path);
	make(80 << 20, 0, 0600);
	look();
	assert_int_equal(s.nr_listeners, 1);
}

/*
 * Another server has the shmem region's only endpoint. It is served when that server has closed it.
 */
TEST(all_endpoints_or_none)
{
	struct kvgpu_remote_endpoint *other;
	const char *why;

	assert_true(listen_all(&s));
	make(80 << 20, geteuid(), 0600);
	assert_int_equal(kvgpu_remote_endpoint_open(conf.listen[0], 0, 1, &other, &why), 0);
	expect_awaited("another server");
	kvgpu_remote_endpoint_close(other);
	look();
	assert_int_equal(s.nr_listeners, 1);
}

/* The same file in three lines, one with the name of a link, is served once, whenever it comes. */
TEST(a_file_listed_twice)
{
	char link[80];

	snprintf(link, sizeof(link), "%s-link", path);
	assert_int_equal(symlink(path, link), 0);
	snprintf(conf.listen[1], sizeof(conf.listen[1]), "aperture:%s", link);
	strcpy(conf.listen[2], conf.listen[0]);
	conf.nr_listen = 3;
	lines = 0;
	assert_true(listen_all(&s));
	assert_int_equal(s.nr_awaited, 2);
	assert_int_equal(lines, 3);
	make(80 << 20, geteuid(), 0600);
	look();
	assert_int_equal(s.nr_listeners, 1);
	assert_int_equal(lines, 2);
	assert_non_null(strstr(said, link));
	assert_non_null(strstr(said, "it is listed twice"));
	listen_end(&s);
	lines = 0;
	assert_true(listen_all(&s));
	assert_int_equal(s.nr_listeners, 1);
	assert_int_equal(lines, 3);
	assert_non_null(strstr(said, "is listed twice: it is served once"));
	unlink(link);
}

TEST(a_socket_listed_twice)
{
	snprintf(conf.listen[0], sizeof(conf.listen[0]), "unix:%s", path);
	strcpy(conf.listen[1], conf.listen[0]);
	conf.nr_listen = 2;
	assert_true(listen_all(&s));
	assert_int_equal(s.nr_listeners, 1);
	assert_non_null(strstr(said, "is listed twice"));
}

/*
 * What a client can have done to its own shmem region when the server starts: a file that was cut,
 * locks that the client holds, a label with more endpoints than fit.
 */
TEST(what_clients_can_do)
{
	struct shmem_label label = shmem_label_make(1ull << 30, SHMEM_ENDPOINTS);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 2 };
	int fd;

	make(4096, geteuid(), 0600);
	assert_true(listen_all(&s));
	make(80 << 20, geteuid(), 0600);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
	listen_end(&s);
	assert_true(listen_all(&s));
	assert_int_equal(s.nr_awaited, 1);
	lock.l_type = F_UNLCK;
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
	assert_int_equal(pwrite(fd, &label, sizeof(label), SHMEM_LABEL_AT), sizeof(label));
	listen_end(&s);
	assert_true(listen_all(&s));
	assert_int_equal(s.nr_awaited, 1);
	assert_non_null(strstr(said, "for each of its places"));
	label.endpoints = 2;
	assert_int_equal(pwrite(fd, &label, sizeof(label), SHMEM_LABEL_AT), sizeof(label));
	close(fd);
	look();
	assert_int_equal(s.nr_listeners, 2);
}

/* The file's group is one that clients' processes have, so they could open the file. */
TEST(a_group_of_clients)
{
	if (geteuid())
		skip();
	strcpy(conf.groups[1], "daemon");
	assert_true(listen_all(&s));
	/* known since the start: the loop asks NSS for no name, as that may wait for a network */
	strcpy(conf.groups[1], "no-such-group");
	make(80 << 20, 0, 0660);
	assert_int_equal(chown(path, 0, 1), 0);
	expect_awaited("its group is one of");
	assert_int_equal(chmod(path, 0600), 0);
	look();
	assert_int_equal(s.nr_listeners, 1);
	/* a reload's trial, for a configuration that has the group of what is served */
	s.trial = true;
	assert_true(listen_all(&s));
	assert_int_equal(chmod(path, 0660), 0);
	assert_true(listen_all(&s));
	strcpy(conf.groups[1], "daemon");
	assert_false(listen_all(&s));
	assert_non_null(strstr(said, "its group is one of"));
}

/* What was lost, or is listened at no more, leaves room for other addresses. */
TEST(rows_are_used_again)
{
	unsigned int i;

	snprintf(conf.listen[1], sizeof(conf.listen[1]), "unix:%s-socket", path);
	conf.nr_listen = 2;
	make(80 << 20, geteuid(), 0600);
	for (i = 0; i <= LISTENERS; i++) {
		assert_true(listen_all(&s));
		assert_int_equal(s.nr_awaited, 0);
		assert_int_equal(s.nr_listeners, 2);
		listen_lost(&s, &s.listeners[0]);
		listener_drop(&s, &s.listeners[1]);
	}
}

/* A file that somebody has removed, and another server has made again, is that server's. */
TEST(another_servers_file)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	struct socket_file admin = { 0 };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(conf.listen[0], sizeof(conf.listen[0]), "unix:%s", path);
	assert_true(listen_all(&s));
	socket_file_begin(&admin, path);
	assert_int_equal(unlink(path), 0);
	strcpy(name.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	socket_file_end(&admin);
	listen_end(&s);
	assert_int_equal(access(path, F_OK), 0);
	close(fd);
	assert_int_equal(unlink(path), 0);
	assert_true(listen_all(&s));
	listen_end(&s);
	assert_int_equal(access(path, F_OK), -1);
}

/* Who may write the folder puts a link in the socket's place: its target gets no group. */
TEST(another_file_gets_no_group)
{
	struct stat st;
	char own[80];

	snprintf(conf.listen[0], sizeof(conf.listen[0]), "unix:%s", path);
	snprintf(own, sizeof(own), "%s-own", path);
	assert_true(listen_all(&s));
	assert_true(socket_file_give(&s.listeners[0].file, path, "root"));
	assert_true(!stat(path, &st) && (st.st_mode & 0777) == 0660);
	assert_true(!rename(path, own) && !chmod(own, 0600) && !symlink(own, path));
	assert_false(socket_file_give(&s.listeners[0].file, path, "root"));
	assert_non_null(strstr(said, "not there any more"));
	assert_true(!stat(own, &st) && (st.st_mode & 0777) == 0600);
	listen_end(&s);
	assert_int_equal(unlink(own), 0);
}

/* Lets fd 3 be a socket at @at that listens, as systemd hands it over. */
static void by_systemd(const char *at)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char pid[16];
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(name.sun_path, at);
	assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	assert_int_equal(listen(fd, 1), 0);
	if (fd != 3) {
		assert_int_equal(dup2(fd, 3), 3);
		close(fd);
	}
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "1", 1);
}

/* Two addresses with one port are both listened at, although systemd gave a socket. */
TEST(one_port_of_two_addresses)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) };
	socklen_t bytes = sizeof(in);
	int kept = fcntl(3, F_DUPFD_CLOEXEC, 10), probe = socket(AF_INET, SOCK_STREAM, 0);

	/* a port that is unused now */
	assert_int_equal(bind(probe, (struct sockaddr *)&in, sizeof(in)), 0);
	assert_int_equal(getsockname(probe, (struct sockaddr *)&in, &bytes), 0);
	close(probe);
	by_systemd(path);
	snprintf(conf.listen[0], sizeof(conf.listen[0]), "unix:%s", path);
	snprintf(conf.listen[1], sizeof(conf.listen[1]), "tls:127.0.0.1:%d", ntohs(in.sin_port));
	snprintf(conf.listen[2], sizeof(conf.listen[2]), "tls:127.0.0.2:%d", ntohs(in.sin_port));
	conf.nr_listen = 3;
	if (!listen_adopt(&s) || !listen_all(&s))
		fail_msg("%s", said);
	assert_int_equal(s.nr_listeners, 3);
	listen_end(&s);
	if (kept >= 0) {
		dup2(kept, 3);
		close(kept);
	}
}

/* @at: as NOTIFY_SOCKET has it; what arrives there of listen_tell() is in @got */
static void notified(const char *at, char *got, size_t bytes)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	ssize_t n;

	memcpy(name.sun_path, at, strlen(at));
	if (*at == '@')
		name.sun_path[0] = 0;
	assert_int_equal(bind(fd, (struct sockaddr *)&name,
			      offsetof(struct sockaddr_un, sun_path) + strlen(at)),
			 0);
	setenv("NOTIFY_SOCKET", at, 1);
	listen_tell(&s, "READY=1");
	n = recv(fd, got, bytes - 1, MSG_DONTWAIT);
	got[n < 0 ? 0 : n] = 0;
	close(fd);
}

/* By sd_notify(3). Clients' processes must not have the variable. */
TEST(systemd_is_told)
{
	char got[32], name[64];

	notified(path, got, sizeof(got));
	assert_string_equal(got, "READY=1");
	assert_null(getenv("NOTIFY_SOCKET"));
	snprintf(name, sizeof(name), "@kvgpu-listen-test-%d", (int)getpid());
	notified(name, got, sizeof(got));
	assert_string_equal(got, "READY=1");
	/* where later words go */
	assert_string_equal(s.notify, name);
	/* nobody is there: said, and no more */
	snprintf(name, sizeof(name), "%s/absent", folder);
	setenv("NOTIFY_SOCKET", name, 1);
	listen_tell(&s, "READY=1");
	assert_non_null(strstr(said, "NOTIFY_SOCKET"));
	/* without systemd */
	*said = *s.notify = 0;
	listen_tell(&s, "READY=1");
	assert_string_equal(said, "");
}

int main(void)
{
	int failed;

	if (!mkdtemp(folder))
		return 1;
	failed = unit_tests_run(set_up, tear_down, NULL, NULL);
	rmdir(folder);
	return failed;
}
