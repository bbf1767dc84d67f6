// SPDX-License-Identifier: GPL-2.0-only
/*
 * The helper inside QEMU: its socket, hand-shake, calls, and the thread that serves the faults it
 * reports.
 *
 * The helper may die at any time. A call that is not answered in time, or whose answer makes no
 * sense, breaks the link: it is not used any more. The connection of a client that may map the
 * windows is ended, too, as its mapped pages can't be kept right.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <gk110/bar.h>

#include "barmap.h"

#define HELLO_TIMEOUT_MS 2000
/* QEMU gives up after 5 s; its helper connects before its device does */
#define WAIT_HELPER_MS	2000
#define MAP_COUNT_SPARE 16384u /* mappings that QEMU itself may need */

static const struct {
	const char *name;
	unsigned int region;
	uint64_t size;
	/* where the window is in the region, and which part of the region may be mapped */
	uint64_t base, map_size;
	uint64_t map_base;
} region_of[NR_WIN] = {
	/* doorbells in the first 2 MiB are messages */
	[WIN_BAR1] = { "gk110-bar1", VFIO_PCI_BAR1_REGION_INDEX, GK110_BAR1_SIZE, 0,
		       GK110_BAR1_SIZE - (2u << 20), 2u << 20 },
	[WIN_BAR3] = { "gk110-bar3", VFIO_PCI_BAR3_REGION_INDEX, GK110_BAR3_SIZE, 0,
		       GK110_BAR3_SIZE, 0 },
	[WIN_PRAMIN] = { "gk110-bar0", VFIO_PCI_BAR0_REGION_INDEX, GK110_BAR0_SIZE, PRAMIN_BASE,
			 PRAMIN_SIZE, PRAMIN_BASE },
};

static uint64_t window_size(enum bar_window w)
{
	return w == WIN_PRAMIN ? PRAMIN_SIZE : region_of[w].size;
}

static int region_window(unsigned int region)
{
	enum bar_window w;

	for (w = 0; w < NR_WIN; w++)
		if (region_of[w].region == region)
			return w;
	return -1;
}

int barmap_region_fd(const struct barmap *b, unsigned int region)
{
	int w = region_window(region);

	return w < 0 ? -1 : b->region_fd[w];
}

bool barmap_region_area(unsigned int region, uint64_t *off, uint64_t *size)
{
	int w = region_window(region);

	if (w < 0)
		return false;
	*off = region_of[w].map_base;
	*size = region_of[w].map_size;
	return true;
}

/* ------------------------------------------------------------------ calls; lock held */

static int send_packet(int sock, const struct barmap_hdr *hdr, const void *data, size_t len,
		       const int *fds, unsigned int nr_fds)
{
	struct iovec iov[2] = { { (void *)hdr, sizeof(*hdr) }, { (void *)data, len } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(NR_WIN * sizeof(int))];
	} ctl = { 0 };
	struct cmsghdr *c;

	if (nr_fds) {
		m.msg_control = ctl.buf;
		m.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nr_fds * sizeof(int));
	}
	return sendmsg(sock, &m, MSG_NOSIGNAL) == (ssize_t)(sizeof(*hdr) + len) ? 0 : -errno;
}

static int await_ack(struct barmap *b)
{
	struct barmap_ack ack;
	ssize_t n;

	do
		n = recv(b->calls, &ack, sizeof(ack), 0);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(ack) || ack.hdr.type != BARMAP_ACK || ack.hdr.seq != b->seq)
		return -EPIPE;
	return ack.error ? -ack.error : (int)ack.value;
}

void barmap_break(struct barmap *b)
{
	b->broken = true;
	shutdown(b->faults, SHUT_RDWR); /* wakes the link thread, which drops the helper */
	shutdown(b->calls, SHUT_RDWR);
}

int barmap_call(struct barmap *b, enum barmap_type type, uint32_t arg, const void *data, size_t len,
		int fd)
{
	struct barmap_hdr hdr = { .type = type, .seq = ++b->seq, .arg = arg };
	int ret;

	if (b->helper != HELPER_READY || b->broken)
		return -EPIPE;
	ret = send_packet(b->calls, &hdr, data, len, &fd, fd >= 0);
	ret = ret ? -EPIPE : await_ack(b);
	if (ret == -EPIPE)
		barmap_break(b);
	return ret;
}

/* -------------------------------------------------- what the socket thread tells; lock not held */

void barmap_add_file(struct barmap *b, int slot, int fd)
{
	pthread_mutex_lock(&b->lock);
	b->file[slot] = fd;
	barmap_call(b, BARMAP_FILE, slot + 1, NULL, 0, fd);
	pthread_mutex_unlock(&b->lock);
}

void barmap_del_file(struct barmap *b, int slot)
{
	pthread_mutex_lock(&b->lock);
	b->file[slot] = -1;
	barmap_call(b, BARMAP_FORGET, slot + 1, NULL, 0, -1);
	pthread_mutex_unlock(&b->lock);
}

/* Empty the files behind the regions: an access to data in them would not fault. */
static void punch_regions(struct barmap *b)
{
	enum bar_window w;

	for (w = 0; w < NR_WIN; w++)
		if (fallocate(b->region_fd[w], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			      region_of[w].size))
			gk110_note(b->g, "mapped BARs: %s can't be emptied: %s", region_of[w].name,
				   strerror(errno));
}

static void attach(struct barmap *b)
{
	int n;

	/* a page that still shows something would not be found as a part of its window */
	barmap_zap_all(b);
	punch_regions(b);
	n = barmap_call(b, BARMAP_ATTACH, 0, NULL, 0, -1);
	b->enabled = n >= 0;
	if (n < 0) {
		gk110_note(b->g, "mapped BARs: the windows can't be found in the client: %s",
			   strerror(-n));
		barmap_break(b); /* the client's mappings would stay empty: end the link */
	} else if (n < NR_WIN) {
		gk110_note(b->g, "mapped BARs: the client has mapped %d of %d windows", n, NR_WIN);
	}
}

void barmap_enable(struct barmap *b, bool on)
{
	pthread_mutex_lock(&b->lock);
	if (!b->offered || b->enabled == on) {
		pthread_mutex_unlock(&b->lock);
		return;
	}
	pthread_mutex_unlock(&b->lock);
	if (!on)
		barmap_reset(b);
	pthread_mutex_lock(&b->lock);
	if (on)
		attach(b);
	else
		b->enabled = false;
	pthread_mutex_unlock(&b->lock);
}

bool barmap_wait_helper(struct barmap *b, pid_t client_pid)
{
	uint64_t until = mono_ns() + b->wait_helper_ms * 1000000ull;
	bool ok;

	pthread_mutex_lock(&b->lock);
	while (b->helper == HELPER_NONE)
		if (!mono_cond_wait(&b->helper_changed, &b->lock, until))
			break;
	ok = b->helper == HELPER_READY && !b->broken;
	if (b->helper == HELPER_NONE)
		gk110_note(b->g,
			   "mapped BARs: no helper came within %u ms (is QEMU started with -plugin "
			   "gk110-barmap.so,socket=...?): BAR accesses are messages",
			   b->wait_helper_ms);
	if (ok && client_pid && b->helper_pid && client_pid != b->helper_pid) {
		gk110_note(
			b->g,
			"mapped BARs: the helper runs in process %d, the client is %d: BAR accesses are messages",
			(int)b->helper_pid, (int)client_pid);
		ok = false;
	}
	b->offered = ok;
	pthread_mutex_unlock(&b->lock);
	return ok;
}

void barmap_disconnect(struct barmap *b)
{
	uint64_t lost;

	pthread_mutex_lock(&b->lock);
	if (b->offered)
		barmap_call(b, BARMAP_DETACH, 0, NULL, 0, -1);
	barmap_forget(b);
	b->offered = false;
	b->enabled = false;
	if (b->helper == HELPER_USELESS)
		b->helper = HELPER_NONE;
	if (read(b->lost_fd, &lost, sizeof(lost)) != sizeof(lost))
		lost = 0; /* no helper had been lost */
	pthread_mutex_unlock(&b->lock);
}

int barmap_lost_fd(const struct barmap *b)
{
	return b->lost_fd;
}

/* ------------------------------------------------------------------ the link thread */

static bool recv_hello(int sock, struct barmap_hello *hello, int *fd)
{
	struct iovec iov = { .iov_base = hello, .iov_len = sizeof(*hello) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} ctl;
	struct cmsghdr *c;
	ssize_t n;

	*fd = -1;
	m.msg_control = ctl.buf;
	m.msg_controllen = sizeof(ctl.buf);
	n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	if (n < 0)
		return false;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(int));
	return n == sizeof(*hello) && hello->hdr.type == BARMAP_HELLO &&
	       hello->magic == BARMAP_MAGIC && (hello->uffd_error || *fd >= 0);
}

static void set_timeout(int sock, int opt, int ms)
{
	struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	setsockopt(sock, SOL_SOCKET, opt, &tv, sizeof(tv));
}

static int send_welcome(struct barmap *b, int sock)
{
	struct barmap_welcome w = { .hdr.type = BARMAP_WELCOME,
				    .magic = BARMAP_MAGIC,
				    .version = BARMAP_VERSION };
	struct stat st;
	enum bar_window i;

	for (i = 0; i < NR_WIN; i++) {
		if (fstat(b->region_fd[i], &st))
			return -errno;
		w.win[i].dev = st.st_dev;
		w.win[i].ino = st.st_ino;
		w.win[i].base = region_of[i].base;
		w.win[i].size = window_size(i);
	}
	return send_packet(sock, &w.hdr, (uint8_t *)&w + sizeof(w.hdr), sizeof(w) - sizeof(w.hdr),
			   b->region_fd, NR_WIN);
}

static void helper_state(struct barmap *b, enum barmap_helper state)
{
	b->helper = state;
	pthread_cond_broadcast(&b->helper_changed);
}

/* Take over a helper that can help. Lock held. */
static void helper_adopt(struct barmap *b, int sock, int faults, const struct barmap_hello *hello)
{
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);
	int slot;

	getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len);
	b->calls = sock;
	b->faults = faults;
	b->helper_pid = cred.pid;
	b->broken = false;
	b->helper = HELPER_READY;
	b->max_cuts = hello->max_map_count > 2 * MAP_COUNT_SPARE ?
			      (hello->max_map_count - MAP_COUNT_SPARE) / 2 :
			      MAP_COUNT_SPARE / 2;
	if (hello->max_map_count && hello->max_map_count < BARMAP_GOOD_MAP_COUNT)
		gk110_note(
			b->g,
			"mapped BARs: vm.max_map_count is %u; with less than %u, windows of many small pages are "
			"emptied now and then",
			hello->max_map_count, BARMAP_GOOD_MAP_COUNT);
	barmap_forget(b);
	barmap_call(b, BARMAP_FILE, SHOW_VRAM, NULL, 0, b->g->vram_fd);
	for (slot = 0; slot < DMA_MAX_FILES; slot++)
		if (b->file[slot] >= 0)
			barmap_call(b, BARMAP_FILE, slot + 1, NULL, 0, b->file[slot]);
	helper_state(b, HELPER_READY);
}

static void helper_accept(struct barmap *b)
{
	struct barmap_hello hello;
	int sock, faults;

	sock = accept4(b->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (sock < 0)
		return;
	set_timeout(sock, SO_RCVTIMEO, atomic_load(&b->hello_ms));
	set_timeout(sock, SO_SNDTIMEO, BARMAP_ACK_TIMEOUT_MS);
	if (!recv_hello(sock, &hello, &faults)) {
		gk110_note(b->g, "mapped BARs: what connected to the plugin socket is no helper");
		goto drop;
	}
	if (hello.version != BARMAP_VERSION) {
		gk110_note(
			b->g,
			"mapped BARs: the helper speaks version %u, this is %u: build both from one tree",
			hello.version, BARMAP_VERSION);
		goto drop;
	}
	pthread_mutex_lock(&b->lock);
	if (hello.uffd_error) {
		gk110_note(
			b->g,
			"mapped BARs: no userfaultfd or no /proc in QEMU (%s): BAR accesses are messages. "
			"A sandbox may forbid userfaultfd, as does vm.unprivileged_userfaultfd = 0 before Linux 5.11",
			strerror(hello.uffd_error));
		helper_state(b, HELPER_USELESS);
	} else if (!send_welcome(b, sock)) {
		set_timeout(sock, SO_RCVTIMEO, BARMAP_ACK_TIMEOUT_MS);
		helper_adopt(b, sock, faults, &hello);
		pthread_mutex_unlock(&b->lock);
		return;
	}
	pthread_mutex_unlock(&b->lock);
drop:
	if (faults >= 0)
		close(faults);
	close(sock);
}

static void helper_drop(struct barmap *b)
{
	uint64_t one = 1;

	pthread_mutex_lock(&b->lock);
	close(b->calls);
	close(b->faults);
	b->calls = b->faults = -1;
	b->broken = false;
	b->enabled = false;
	b->nr_transient = 0;
	barmap_forget(b);
	helper_state(b, HELPER_NONE);
	if (b->offered && write(b->lost_fd, &one, sizeof(one)) != sizeof(one))
		gk110_note(b->g, "mapped BARs: eventfd: %s", strerror(errno));
	pthread_mutex_unlock(&b->lock);
}

static bool serve_fault(struct barmap *b)
{
	struct barmap_fault f;
	ssize_t n;

	n = recv(b->faults, &f, sizeof(f), MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n != sizeof(f) || f.hdr.type != BARMAP_FAULT)
		return false;
	barmap_serve_fault(b, f.win, f.page, f.write);
	return true;
}

void *barmap_thread(void *arg)
{
	struct barmap *b = arg;
	struct timespec ts;
	bool linked = false;
	int64_t wait;

	for (;;) {
		struct pollfd p[2] = { { .fd = b->stop_fd, .events = POLLIN },
				       { .fd = linked ? b->faults : b->listen_fd,
					 .events = POLLIN } };

		wait = linked ? barmap_expire(b) : -1;
		ts = (struct timespec){ .tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000 };
		if (ppoll(p, 2, wait < 0 ? NULL : &ts, NULL) < 0 && errno != EINTR)
			break;
		if (p[0].revents)
			break;
		if (!p[1].revents)
			continue;
		if (!linked) {
			helper_accept(b);
		} else if (!serve_fault(b)) {
			helper_drop(b);
		}
		pthread_mutex_lock(&b->lock);
		linked = b->helper == HELPER_READY;
		pthread_mutex_unlock(&b->lock);
	}
	if (linked)
		helper_drop(b);
	return NULL;
}

/* ------------------------------------------------------------------ life cycle */

static int window_init(struct barmap *b, enum bar_window w)
{
	struct barmap_window *win = &b->win[w];

	win->nr_pages = window_size(w) / VU_PAGE;
	win->lo = win->nr_pages;
	win->show = calloc(win->nr_pages, sizeof(*win->show));
	b->region_fd[w] = memfd_create(region_of[w].name, MFD_CLOEXEC);
	if (!win->show || b->region_fd[w] < 0 || ftruncate(b->region_fd[w], region_of[w].size)) {
		gk110_err("no memory file for %s: %s", region_of[w].name, strerror(errno));
		return -ENOMEM;
	}
	return 0;
}

struct barmap *barmap_create(struct vfio_server *s, int listen_fd)
{
	struct barmap *b = calloc(1, sizeof(*b));
	enum bar_window w;
	unsigned int i;
	bool ok = true;

	if (!b) {
		close(listen_fd);
		return NULL;
	}
	b->server = s;
	b->listen_fd = listen_fd;
	b->calls = b->faults = -1;
	b->hello_ms = HELLO_TIMEOUT_MS;
	b->wait_helper_ms = WAIT_HELPER_MS;
	pthread_mutex_init(&b->lock, NULL);
	mono_cond_init(&b->helper_changed);
	for (i = 0; i < DMA_MAX_FILES; i++)
		b->file[i] = -1;
	b->stop_fd = eventfd(0, EFD_CLOEXEC);
	b->lost_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (w = 0; w < NR_WIN; w++)
		b->region_fd[w] = -1;
	for (w = 0; w < NR_WIN && ok; w++)
		ok = !window_init(b, w);
	if (ok && b->stop_fd >= 0 && b->lost_fd >= 0)
		return b;
	barmap_destroy(b);
	return NULL;
}

int barmap_start(struct barmap *b, struct gk110 *g)
{
	int ret;

	b->g = g;
	ret = pthread_create(&b->thread, NULL, barmap_thread, b);
	if (ret)
		gk110_err("no thread for the mapped BARs: %s", strerror(ret));
	b->started = !ret;
	return -ret;
}

void barmap_destroy(struct barmap *b)
{
	uint64_t one = 1;
	enum bar_window w;

	if (!b)
		return;
	if (b->started && write(b->stop_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(b->thread, NULL);
	for (w = 0; w < NR_WIN; w++) {
		free(b->win[w].show);
		if (b->region_fd[w] >= 0)
			close(b->region_fd[w]);
	}
	close(b->listen_fd);
	if (b->stop_fd >= 0)
		close(b->stop_fd);
	if (b->lost_fd >= 0)
		close(b->lost_fd);
	pthread_cond_destroy(&b->helper_changed);
	pthread_mutex_destroy(&b->lock);
	free(b);
}
