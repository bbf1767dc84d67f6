// SPDX-License-Identifier: GPL-2.0-only
/* The server as a process sees it. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <selftests/unit_test.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <gk110/pci.h>

#include "fake_device.h"

static char dir[64], sock[96], stats[96], plugin[96];
static struct vfio_server *server;
static pthread_t thread;
static int run_result;

static atomic_uint polls, polled; /* calls of poll(); those that returned */

int __real_poll(struct pollfd *p, nfds_t n, int ms);
int __wrap_poll(struct pollfd *p, nfds_t n, int ms)
{
	int r;

	atomic_fetch_add(&polls, 1);
	r = __real_poll(p, n, ms);
	atomic_fetch_add(&polled, 1);
	return r;
}

static void nap(unsigned int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l };

	nanosleep(&ts, NULL);
}

static void *run_main(void *arg)
{
	run_result = vfio_server_run(server, fake.g);
	return NULL;
}

static struct vfio_server *create(void)
{
	struct vfio_options opt = { .socket = sock,
				    .stats_socket = stats,
				    .plugin_socket = plugin };

	return vfio_server_create(&opt);
}

static int setup_dir(void **state)
{
	strcpy(dir, "/tmp/server_test.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(sock, sizeof(sock), "%s/vfio", dir);
	snprintf(stats, sizeof(stats), "%s/stats", dir);
	snprintf(plugin, sizeof(plugin), "%s/plugin", dir);
	fake_setup(false);
	return 0;
}

static int teardown_dir(void **state)
{
	fake_teardown();
	unlink(sock);
	unlink(stats);
	unlink(plugin);
	return rmdir(dir);
}

static int setup(void **state)
{
	if (setup_dir(state))
		return -1;
	server = create();
	if (!server)
		return -1;
	run_result = -1;
	return pthread_create(&thread, NULL, run_main, NULL);
}

static int teardown(void **state)
{
	if (thread) {
		kill(getpid(), SIGTERM);
		pthread_join(thread, NULL);
		thread = 0;
	}
	vfio_server_destroy(server);
	if (run_result || !access(sock, F_OK) || !access(stats, F_OK) || !access(plugin, F_OK))
		return -1; /* the server failed, or left a socket behind */
	return teardown_dir(state);
}

static int dial(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(a.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void put(int fd, uint16_t cmd, const void *data, size_t len, int send_fd)
{
	struct vu_hdr hdr = { .id = 7, .cmd = cmd, .size = sizeof(hdr) + len };
	struct iovec iov[2] = { { &hdr, sizeof(hdr) }, { (void *)data, len } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };
	char ctl[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct cmsghdr *c;

	if (send_fd >= 0) {
		m.msg_control = ctl;
		m.msg_controllen = sizeof(ctl);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &send_fd, sizeof(int));
	}
	assert_int_equal(sendmsg(fd, &m, MSG_NOSIGNAL), sizeof(hdr) + len);
}

/* Returns the error of the next reply, and puts its payload into @data. */
static uint32_t get(int fd, void *data, size_t cap)
{
	struct vu_hdr hdr;
	uint8_t buf[4096];

	assert_int_equal(recv(fd, &hdr, sizeof(hdr), MSG_WAITALL), sizeof(hdr));
	assert_true(hdr.size - sizeof(hdr) <= sizeof(buf));
	if (hdr.size > sizeof(hdr))
		assert_int_equal(recv(fd, buf, hdr.size - sizeof(hdr), MSG_WAITALL),
				 hdr.size - sizeof(hdr));
	if (data)
		memcpy(data, buf, cap);
	return hdr.flags & VU_F_ERROR ? hdr.error : 0;
}

static int greeted_client(void)
{
	struct vu_version v = { 0 };
	int fd = dial(sock);

	put(fd, VU_VERSION, &v, sizeof(v), -1);
	assert_int_equal(get(fd, NULL, 0), 0);
	return fd;
}

TEST(test_session)
{
	struct vu_device_info info = { .argsz = sizeof(info) };
	int fd = greeted_client();

	put(fd, VU_DEVICE_GET_INFO, &info, sizeof(info), -1);
	assert_int_equal(get(fd, &info, sizeof(info)), 0);
	assert_int_equal(info.num_regions, 9);
	close(fd);
}

/* State that a client leaves behind when it dies is not there for the next client. */
TEST(test_clients_in_a_row)
{
	struct vfio_irq_set set = { .argsz = sizeof(set),
				    .index = 1,
				    .count = 1,
				    .flags = VFIO_IRQ_SET_DATA_EVENTFD |
					     VFIO_IRQ_SET_ACTION_TRIGGER };
	struct vu_dma_map map = { .argsz = sizeof(map), .flags = 3, .size = 0x1000 };
	int ram = memfd_create("ram", 0), ev = eventfd(0, EFD_NONBLOCK), fd, i, resets, maps, msi;

	assert_int_equal(ftruncate(ram, 0x1000), 0);
	for (i = 0; i < 20; i++) {
		fd = greeted_client();
		put(fd, VU_DMA_MAP, &map, sizeof(map), ram);
		/* EEXIST if the last client's mapping were still there */
		assert_int_equal(get(fd, NULL, 0), 0);
		put(fd, VU_DEVICE_SET_IRQS, &set, sizeof(set), ev);
		assert_int_equal(get(fd, NULL, 0), 0);
		close(fd);
	}
	fd = greeted_client();
	/*
	 * the server's thread did all of this before it answered; the locks tell the thread
	 * sanitizer so
	 */
	pthread_mutex_lock(&fake.g->lock);
	resets = fake.resets;
	msi = server->irq.fd[1];
	pthread_mutex_unlock(&fake.g->lock);
	pthread_rwlock_rdlock(&fake.g->dma_lock);
	maps = server->dma.nr;
	pthread_rwlock_unlock(&fake.g->dma_lock);
	assert_int_equal(resets, 1 + 20); /* at the start, and after each client */
	assert_int_equal(maps, 0);
	assert_int_equal(msi, -1);
	close(fd);
	close(ram);
	close(ev);
}

TEST(test_second_client_waits)
{
	struct pollfd p = { .events = POLLIN };
	struct vu_version v = { 0 };
	int first = greeted_client(), second = dial(sock), third;

	put(second, VU_VERSION, &v, sizeof(v), -1);
	p.fd = second;
	assert_int_equal(poll(&p, 1, 100), 0);
	third = dial(sock);
	p.fd = third;
	assert_int_equal(poll(&p, 1, 60000), 1); /* the third client is refused */
	assert_true(p.revents & (POLLHUP | POLLIN));
	close(third);
	close(first);
	assert_int_equal(get(second, NULL, 0), 0); /* the second client's turn */
	close(second);
}

TEST(test_nonsense_ends_the_connection)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
	int fd = dial(sock);
	char c;

	assert_int_equal(send(fd, text, sizeof(text), 0), sizeof(text));
	assert_true(recv(fd, &c, 1, 0) <= 0);
	close(fd);
	close(greeted_client()); /* the server still serves clients */
}

TEST(test_many_messages_in_one_write)
{
	struct {
		struct vu_hdr hdr;
		struct vu_region_access a;
		uint32_t v;
	} __attribute__((packed)) w = {
		{ .cmd = VU_REGION_WRITE, .size = sizeof(w), .flags = VU_F_NO_REPLY },
		{ .offset = 0x1000, .region = 0, .count = 4 },
		1,
	};
	uint16_t cmd = GK110_PCI_CMD_MEMORY;
	struct {
		struct vu_region_access a;
		uint16_t cmd;
	} __attribute__((packed)) on = {
		{ .offset = GK110_PCI_CMD_STA, .region = 7, .count = 2 },
		cmd,
	};
	struct vu_device_info info = { .argsz = sizeof(info) };
	uint8_t *buf = malloc(5000 * sizeof(w));
	int fd = greeted_client(), i;
	size_t done = 0;
	ssize_t n;

	put(fd, VU_REGION_WRITE, &on, sizeof(on), -1);
	assert_int_equal(get(fd, NULL, 0), 0);
	for (i = 0; i < 5000; i++)
		memcpy(buf + i * sizeof(w), &w, sizeof(w));
	while (done < 5000 * sizeof(w)) {
		n = send(fd, buf + done, 5000 * sizeof(w) - done, 0);
		assert_true(n > 0);
		done += n;
	}
	put(fd, VU_DEVICE_GET_INFO, &info, sizeof(info), -1);
	assert_int_equal(get(fd, NULL, 0), 0); /* this reply comes after all the writes */
	assert_int_equal(fake.nr_access, 5000);
	free(buf);
	close(fd);
}

TEST(test_statistics)
{
	int fd = dial(stats), i;
	char buf[16];

	assert_int_equal(recv(fd, buf, sizeof(buf), MSG_WAITALL), 3);
	assert_memory_equal(buf, "{}\n", 3);
	close(fd);
	for (i = 0; i < 50; i++)
		/* the client closes before the answer: the server must survive SIGPIPE */
		close(dial(stats));
	fd = greeted_client();
	close(fd);
}

/* The server waits in one call of poll(), without a time limit that would wake it. */
TEST(test_idle_uses_no_cpu)
{
	int fd = greeted_client();
	unsigned int n;

	while ((n = atomic_load(&polls)) != atomic_load(&polled) + 1)
		nap(1);
	nap(500);
	assert_int_equal(atomic_load(&polls), n);
	assert_int_equal(atomic_load(&polled), n - 1);
	close(fd);
}

/* ------------------------------------------------------------------ start */

TEST_WITH(test_stale_socket_is_replaced, setup_dir, teardown_dir)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(a.sun_path, sock);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	close(fd); /* leaves the socket's file, as a killed process does */
	server = create();
	assert_non_null(server);
	vfio_server_destroy(server);
	assert_int_equal(access(sock, F_OK), -1);
}

TEST_WITH(test_live_socket_is_an_error, setup_dir, teardown_dir)
{
	struct vfio_server *other = create();

	assert_non_null(other);
	assert_null(create());
	assert_true(fake_noted("in use"));
	assert_int_equal(access(sock, F_OK), 0); /* the other server's socket stays */
	vfio_server_destroy(other);
}

TEST_WITH(test_paths_that_cannot_be, setup_dir, teardown_dir)
{
	char longer[200], absent[96];
	struct vfio_options opt = { .socket = longer };
	FILE *f;

	memset(longer, 'x', sizeof(longer));
	longer[199] = 0;
	assert_null(vfio_server_create(&opt));
	assert_true(fake_noted("longer"));
	snprintf(absent, sizeof(absent), "%s/absent/socket", dir);
	opt.socket = absent;
	assert_null(vfio_server_create(&opt));
	assert_true(fake_noted("can't listen"));
	f = fopen(sock, "w");
	fclose(f);
	opt.socket = sock;
	assert_null(vfio_server_create(&opt));
	assert_true(fake_noted("no socket"));
	/* a file that is no socket is not removed */
	assert_int_equal(access(sock, F_OK), 0);
}

TEST_MAIN(setup, teardown)
