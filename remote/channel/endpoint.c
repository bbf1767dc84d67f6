// SPDX-License-Identifier: MIT
/*
 * A shmem region in a file, or on a device-DAX device: memory of two VMs, or of any two processes
 * that map the same bytes. It has one endpoint, or as many as its label says, each with an equal
 * part of the memory. An endpoint has one client and one server at a time: each holds a lock on a
 * byte of the file, which its kernel releases when the process dies. They find each other in the
 * first page of an endpoint (attach.h).
 *
 * The program calls endpoint_connect(), in cuInit(). A client's process of the server calls
 * kvgpu_remote_endpoint_descriptors() and kvgpu_remote_endpoint_welcome(). The first process of the
 * server calls all others; it has other clients, too, so it touches the memory by guard_try().
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <cuda/api/process.h>
#include <remote/ring/clock.h>

#include "address.h"
#include "shmem.h"
#include "guard.h"
#include "conn.h"
#include "pending.h"
#include "rights.h"

enum { DAX_ALIGN = 2 << 20, PAUSE_NS = 20000, PAUSE_MAX_NS = 10000000 };

/*
 * Time between two looks of a server: LOOK_MS without a doorbell, LOOK_SELDOM_MS after LOOKS_SOON
 * looks in vain, REQUEST_MS when a connect request is about to come. ROUND_MS: after so long
 * kvgpu_remote_endpoint_await() does not begin to wait again.
 */
enum { LOOK_MS = 10, LOOK_SELDOM_MS = 50, LOOKS_SOON = 100, REQUEST_MS = 1, ROUND_MS = 1000 };

/* the part of the file or device that one endpoint has */
struct extent {
	uint64_t from, bytes;
};

struct kvgpu_remote_endpoint {
	int fd;
	struct shmem_layout *base;
	struct extent extent;
	struct pending_clients pending;
	/* the doorbell's connection of the client that was taken; -1: there is none */
	int doorbell;
	struct attach_server attach;
	/* looks since a client was there; LOOKS_SOON at most */
	unsigned int in_vain;
};

/* ------------------------------------------------------------------ files and devices */

/* the size that sysfs tells of a character device; 0: none */
static uint64_t device_bytes(dev_t dev)
{
	char path[64], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/size", major(dev), minor(dev));
	fd = own_descriptor(open(path, O_RDONLY | O_CLOEXEC));
	if (fd < 0)
		return 0;
	(void)!read(fd, text, sizeof(text) - 1);
	close(fd);
	return strtoull(text, NULL, 0) / DAX_ALIGN * DAX_ALIGN;
}

/* in a file with a label the shared part begins at .data */
static uint64_t file_bytes(int fd, uint64_t bytes, uint64_t *from, const char **why)
{
	uint8_t first[SHMEM_LABEL_BYTES];
	struct shmem_label l;

	if (pread(fd, first, sizeof(first), 0) != sizeof(first) || !shmem_label_read(first, &l))
		return bytes;
	*why = "it is shorter than it says itself: it was cut";
	if (l.bytes > bytes)
		return 0;
	*from = l.data;
	return l.bytes - l.data;
}

struct label_text {
	const uint8_t *base;
	uint8_t text[SHMEM_LABEL_BYTES];
};

static int copy_text(void *arg)
{
	struct label_text *t = arg;

	memcpy(t->text, t->base + SHMEM_LABEL_AT, sizeof(t->text));
	return 0;
}

/* A file can be cut short, so it is read. A device can only be mapped. */
static bool label_of(int fd, bool device, uint64_t from, struct shmem_label *l)
{
	struct label_text t;
	void *base;
	int r;

	if (!device)
		return pread(fd, t.text, sizeof(t.text), from + SHMEM_LABEL_AT) == sizeof(t.text) &&
		       shmem_label_read(t.text, l);
	base = mmap(NULL, DAX_ALIGN, PROT_READ, MAP_SHARED, fd, from);
	if (base == MAP_FAILED)
		return false;
	t.base = base;
	r = guard_try(copy_text, &t);
	munmap(base, DAX_ALIGN);
	return !r && shmem_label_read(t.text, l);
}

static bool is_ours(uid_t user)
{
	return !user || user == geteuid();
}

/*
 * Another user who made a file of this name, in a folder as /dev/shm, would be taken for the client
 * that the configuration means. So root (or the server's user) has to own what is served, and a
 * link that leads there. The link is checked before it is followed.
 */
static int check_name(const char *path, const char **why)
{
	struct stat st;

	*why = "another user than root owns it, and would be taken for the client: remove it, and make it as root";
	if (lstat(path, &st))
		return -errno;
	return is_ours(st.st_uid) ? 0 : -EPERM;
}

/*
 * A process that a client has taken over must not open what is served here. If the server is root,
 * a device belongs to root alone from now on. A file keeps its group, which its owner chose.
 */
static int keep_from_others(int fd, const struct stat *st, const char **why)
{
	*why = "it can't be kept from other users: chmod o-rwx";
	if (S_ISCHR(st->st_mode) && !geteuid())
		return fchown(fd, 0, 0) || fchmod(fd, 0600) ? -EPERM : 0;
	return S_ISREG(st->st_mode) && st->st_mode & S_IRWXO && fchmod(fd, st->st_mode & 0770) ?
		       -EPERM :
		       0;
}

static int check_file(int fd, const char **why)
{
	struct stat st;

	if (fstat(fd, &st) || !is_ours(st.st_uid))
		return -EPERM;
	*why = "all users may write it, and would be taken for the client: chmod o-w";
	return S_ISREG(st.st_mode) && st.st_mode & S_IWOTH ? -EPERM :
							     keep_from_others(fd, &st, why);
}

/*
 * Nor may another user pass for the client's server. A device is what root has made. Its owner has
 * no number in a container.
 */
static int check_clients_file(int fd, const char **why)
{
	struct stat st;

	*why = "another user owns it, or all may write it, and could be the server: take one of root's, with chmod o-w";
	return fstat(fd, &st) || (S_ISREG(st.st_mode) &&
				  (!is_ours(st.st_uid) || st.st_mode & S_IWOTH)) ?
		       -EPERM :
		       0;
}

/* a descriptor that the side may use, or -errno and *why */
static int open_checked(const char *path, enum shmem_side side, const char **why)
{
	static const char missing[] =
		"there is no such file or device: \"ls /dev/kvgpu\" shows the apertures of a VM with the package kvgpu-aperture";
	int r = side == SIDE_SERVER ? check_name(path, why) : 0,
	    fd = r ? -1 : own_descriptor(open(path, O_RDWR | O_CLOEXEC));

	if (r == -EPERM)
		return r;
	if (fd < 0) {
		r = -errno;
		*why = side == SIDE_CLIENT ? address_not_opened(-r, missing) : strerror(-r);
		return r;
	}
	r = side == SIDE_SERVER ? check_file(fd, why) : check_clients_file(fd, why);
	if (!r)
		return fd;
	close(fd);
	return r;
}

/* return how many endpoints there are, or 0 and *why */
static unsigned int extent_of(int fd, unsigned int index, struct extent *e, const char **why)
{
	unsigned int endpoints = 1;
	struct shmem_label l;
	struct stat st;

	*why = "it is no file, and no device that says how large it is";
	*e = (struct extent){ 0 };
	if (!fstat(fd, &st))
		e->bytes = S_ISCHR(st.st_mode) ? device_bytes(st.st_rdev) :
			   S_ISREG(st.st_mode) ? file_bytes(fd, st.st_size, &e->from, why) :
						 0;
	if (!e->bytes)
		return 0;
	*why = "it is too small: an aperture has 12 MiB or more, for each of its places";
	if (e->bytes >= DAX_ALIGN && label_of(fd, S_ISCHR(st.st_mode), e->from, &l))
		endpoints = l.endpoints;
	if (endpoints > 1)
		e->bytes = e->bytes / endpoints / DAX_ALIGN * DAX_ALIGN;
	e->from += index * e->bytes;
	if (e->bytes > SHMEM_ARENA + KVGPU_REMOTE_ARENA_MAX)
		e->bytes = SHMEM_ARENA + KVGPU_REMOTE_ARENA_MAX;
	e->bytes = e->bytes / SHMEM_PAGE * SHMEM_PAGE;
	return e->bytes < SHMEM_MIN ? 0 : endpoints;
}

static int lock_byte(int fd, enum shmem_side side, unsigned int index, short type, const char **why)
{
	struct flock l = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = side + 2 * index, .l_len = 1
	};

	if (!fcntl(fd, F_OFD_SETLK, &l))
		return 0;
	*why = errno != EAGAIN && errno != EACCES ?
		       strerror(errno) :
	       side == SIDE_CLIENT ?
		       "other programs use this aperture, each of its places: kvgpu-aperture(8) says how to make more" :
		       "another server, or what is left of one, serves this aperture";
	return errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
}

static void *map_extent(int fd, const struct extent *e)
{
	return mmap(NULL, e->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, e->from);
}

/* whether the endpoint's server waits for a client */
static bool says_free(const struct shmem_layout *base)
{
	return ATTACH_SAYS(__atomic_load_n(&base->attach.server, __ATOMIC_RELAXED)) == ATTACH_FREE;
}

static int lock_and_map(int fd, enum shmem_side side, unsigned int index, const struct extent *e,
			struct shmem_layout **base, const char **why)
{
	int r = lock_byte(fd, side, index, F_WRLCK, why);

	if (r)
		return r;
	*base = map_extent(fd, e);
	r = *base == MAP_FAILED ? -errno : 0;
	*why = r ? strerror(-r) : *why;
	return r;
}

/* A client takes the first endpoint that is free, or if none is, the first that is not locked. */
static int find_endpoint(int fd, enum shmem_side side, unsigned int *index, struct extent *e,
			 struct shmem_layout **base, const char **why)
{
	unsigned int endpoints = extent_of(fd, *index, e, why), i;
	const char *ignored;
	int r = -EBUSY;

	if (*index >= endpoints)
		return -EINVAL;
	if (side == SIDE_SERVER)
		return lock_and_map(fd, side, *index, e, base, why);
	for (i = 0; i < 2 * endpoints; i++) {
		*index = i % endpoints;
		if (*index >= extent_of(fd, *index, e, &ignored))
			break;
		r = lock_and_map(fd, side, *index, e, base, why);
		if (r && r != -EBUSY)
			break;
		if (!r && (i >= endpoints || says_free(*base)))
			break;
		if (r)
			continue;
		munmap(*base, e->bytes);
		lock_byte(fd, side, *index, F_UNLCK, &ignored);
		r = -EBUSY;
	}
	return r;
}

static int open_endpoint(const char *path, enum shmem_side side, unsigned int *index,
			 struct shmem_layout **base, struct extent *e, const char **why)
{
	int fd = open_checked(path, side, why), r;

	if (fd < 0)
		return fd;
	r = find_endpoint(fd, side, index, e, base, why);
	if (!r)
		return fd;
	close(fd);
	return r;
}

/*
 * The doorbell of endpoint 0 is the address's; that of endpoint n has a port n higher, or ".n"
 * behind its path.
 */
static bool doorbell_of(const struct address *at, unsigned int index, bool listen,
			struct address *doorbell, const char **why)
{
	size_t n;

	if (address_parse(at->doorbell, listen, doorbell, why))
		return false;
	doorbell->port += index;
	n = strlen(doorbell->host);
	*why = "the bell's path is too long";
	return !index || doorbell->scheme == ADDRESS_VSOCK ||
	       snprintf(doorbell->host + n, sizeof(doorbell->host) - n, ".%u", index) <
		       (int)(sizeof(doorbell->host) - n);
}

/* sleep for *ns, and double that for the next time, up to PAUSE_MAX_NS */
static void pause_longer(uint64_t *ns)
{
	struct timespec t = { .tv_nsec = *ns };

	*ns = *ns * 2 < PAUSE_MAX_NS ? *ns * 2 : PAUSE_MAX_NS;
	nanosleep(&t, NULL);
}

/* ------------------------------------------------------------------ the client */

/* times the patience: the server's VM may be busy for seconds with another program's end */
enum { REQUEST_TIMES = 2 };
#define LOOK_THERE \
	": does kvgpu-remoted run where the GPU is, and listen at this memory (there: journalctl -u kvgpu-remoted)?"

static bool hung_up(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };

	return fd >= 0 && poll(&p, 1, 0) > 0;
}

/* @life: the connection to the doorbell, or negative; -EPIPE: the server hung up there */
static int request_attach(struct attach_client *c, int life, uint64_t until, const char **why)
{
	uint64_t pause = PAUSE_NS;

	*why = "the server there does not answer" LOOK_THERE;
	for (;;) {
		switch (attach_client_step(c)) {
		case ATTACH_DONE:
			return 0;
		case ATTACH_OTHER_VERSION:
			*why = welcome_apart(c->version, attach_page_version(c->page));
			return -EPROTO;
		case ATTACH_LOOK_LATER:
			if (clock_ns() > until || hung_up(life)) {
				attach_client_leave(c);
				return clock_ns() > until ? -ETIMEDOUT : -EPIPE;
			}
			pause_longer(&pause);
			break;
		case ATTACH_AT_ONCE:
		case ATTACH_CLEAR:
		case ATTACH_GONE:
			break;
		}
	}
}

static int ring_doorbell(struct shmem *a, const struct address *at, unsigned int index,
			 uint64_t name, const char **why)
{
	struct kvgpu_remote_hello hello = { KVGPU_REMOTE_MAGIC_SHMEM, name };
	struct iovec part = { &hello, sizeof(hello) };
	struct conn conn = { .fd = -1 };
	struct address doorbell;

	if (!doorbell_of(at, index, false, &doorbell, why))
		return -EINVAL;
	conn.fd = a->life = address_connect(&doorbell, why);
	if (conn.fd < 0)
		return conn.fd;
	conn_prepare(&conn);
	*why = "the server hung up at its bell";
	return conn_write(&conn, &part, 1);
}

static int meet_once(struct shmem *a, const struct address *at, unsigned int index,
		     uint64_t version, uint64_t until, const char **why)
{
	uint64_t name;
	int r;

	*why = "there are no random numbers";
	if (getrandom(&name, sizeof(name), 0) != sizeof(name))
		return -EIO;
	name = name >> 24 | 1;
	r = at->doorbell[0] ? ring_doorbell(a, at, index, name, why) : 0;
	if (r)
		return r;
	a->client = (struct attach_client){ .page = &a->base->attach,
					    .version = version,
					    .nonce = ATTACH_NONCE(name) };
	return request_attach(&a->client, at->doorbell[0] ? a->life : -1, until, why);
}

/* a client whose connection to the doorbell was dropped, as for want of room, rings again */
static int meet_server(struct shmem *a, const struct address *at, unsigned int index,
		       uint64_t version, const char **why)
{
	uint64_t bytes, until = clock_ns() + REQUEST_TIMES * a->times.patience_ns, pause = PAUSE_NS;
	int r;

	*why = "no server has made an aperture of it yet" LOOK_THERE;
	if (!attach_page_bytes(&a->base->attach, &bytes))
		return -ENOENT;
	*why = "the server's aperture has another size than this file or device";
	if (bytes > a->bytes || bytes < SHMEM_MIN)
		return -EPROTO;
	a->arena_bytes = a->arena_most = bytes - SHMEM_ARENA;
	for (;;) {
		r = meet_once(a, at, index, version, until, why);
		if ((r != -EPIPE && r != -ECONNRESET) || clock_ns() > until)
			break;
		if (a->life >= 0)
			close(a->life);
		a->life = -1;
		pause_longer(&pause);
	}
	if (!r)
		*why = "out of memory";
	return r;
}

int endpoint_connect(const struct address *at, uint64_t version, kvgpu_remote_notified notified,
		     void *ctx, struct kvgpu_remote_channel **out, const char **why)
{
	/* open_endpoint() sets it where it returns no error, which gcc 14 for arm64 does not see */
	struct shmem_layout *base = NULL;
	struct shmem a;
	unsigned int index = 0;
	struct extent e;
	int r, fd = open_endpoint(at->host, SIDE_CLIENT, &index, &base, &e, why);

	if (fd < 0)
		return fd;
	shmem_init(&a, SIDE_CLIENT, at->doorbell[0] ? WAKE_SOCKET : WAKE_NONE, base, e.bytes);
	a.file = fd;
	guard_client(base, e.bytes, -1);
	r = meet_server(&a, at, index, version, why);
	if (r) {
		shmem_fini(&a);
		return r;
	}
	guard_end(base);
	guard_client(base, e.bytes, a.life);
	/* a child of fork() could write there when another program has the endpoint */
	madvise(base, e.bytes, MADV_DONTFORK);
	return shmem_channel(&a, notified, ctx, out);
}

/* ------------------------------------------------------------------ the server */

bool kvgpu_remote_is_endpoint(const char *address)
{
	struct address at;
	const char *why;

	return !address_parse(address, true, &at, &why) && address_is_endpoint(&at);
}

/* differs from that of an earlier server: the time in microseconds */
static uint64_t first_generation(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return ((uint64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000) % ATTACH_NUMBERS;
}

static int listen_for_doorbell(struct kvgpu_remote_endpoint *p, const struct address *at,
			       unsigned int index, const char **why)
{
	struct address doorbell;

	return doorbell_of(at, index, true, &doorbell, why) ?
		       pending_listen(&p->pending, &doorbell, why) :
		       -EINVAL;
}

static int say_free(void *arg)
{
	attach_server_step(arg);
	return 0;
}

/* the first stores to the memory: there may be no room for the pages of a sparse file */
static int say_size(void *arg)
{
	struct kvgpu_remote_endpoint *p = arg;

	attach_page_open(&p->base->attach, p->extent.bytes, p->attach.version);
	return say_free(&p->attach);
}

int kvgpu_remote_endpoints(const char *address, const char **why)
{
	struct address at;
	struct extent e;
	int r = address_parse(address, true, &at, why), fd;

	if (r)
		return r;
	guard_server();
	fd = open_checked(at.host, SIDE_SERVER, why);
	if (fd < 0)
		return fd;
	r = extent_of(fd, 0, &e, why);
	close(fd);
	return r ? r : -EINVAL;
}

int kvgpu_remote_endpoint_open(const char *address, unsigned int index, uint64_t version,
			       struct kvgpu_remote_endpoint **out, const char **why)
{
	struct kvgpu_remote_endpoint *p = calloc(1, sizeof(*p));
	struct address at;
	int r = address_parse(address, true, &at, why);

	if (!p || r) {
		*why = r ? *why : "out of memory";
		free(p);
		return r ? r : -ENOMEM;
	}
	guard_server();
	p->doorbell = p->pending.listening = -1;
	p->fd = open_endpoint(at.host, SIDE_SERVER, &index, &p->base, &p->extent, why);
	if (p->fd < 0) {
		r = p->fd;
		free(p);
		return r;
	}
	r = at.doorbell[0] ? listen_for_doorbell(p, &at, index, why) : 0;
	if (r) {
		kvgpu_remote_endpoint_close(p);
		return r;
	}
	/* not in processes that serve others; this endpoint's client gets a mapping of its own */
	madvise(p->base, p->extent.bytes, MADV_DONTFORK);
	p->attach = (struct attach_server){ .page = &p->base->attach,
					    .version = version,
					    .generation = first_generation() };
	*why = "its memory can't be touched: is there room for all of it?";
	r = guard_try(say_size, p);
	if (r) {
		kvgpu_remote_endpoint_close(p);
		return r;
	}
	*out = p;
	return 0;
}

static void clear_rings(struct kvgpu_remote_endpoint *p)
{
	memset(p->base->frames, 0, sizeof(*p->base) - offsetof(struct shmem_layout, frames));
}

static void drop_doorbell(struct kvgpu_remote_endpoint *p)
{
	if (p->doorbell >= 0) /* the client's process may have it */
		rights_close_copy(p->doorbell);
	p->doorbell = -1;
}

/* the client that has rung, is still connected, and asks to connect by its name; NULL: none */
static struct pending_client *requesting_client(struct kvgpu_remote_endpoint *p)
{
	struct pending_client *client = pending_find(&p->pending, attach_request(&p->base->attach));

	p->attach.only = client ? client->hello.version : ATTACH_NOBODY;
	return client;
}

static int look_for_request(void *arg)
{
	struct kvgpu_remote_endpoint *p = arg;
	struct pending_client *client = p->pending.listening >= 0 ? requesting_client(p) : NULL;

	for (;;)
		switch (attach_server_step(&p->attach)) {
		case ATTACH_DONE:
			p->doorbell = client ? client->fd : -1;
			if (client)
				client->fd = -1;
			return 1;
		case ATTACH_CLEAR:
			clear_rings(p);
			break;
		case ATTACH_LOOK_LATER:
			return 0;
		case ATTACH_AT_ONCE:
		case ATTACH_OTHER_VERSION:
		case ATTACH_GONE:
			break;
		}
}

int kvgpu_remote_endpoint_look(struct kvgpu_remote_endpoint *p)
{
	int r;

	p->in_vain += p->in_vain < LOOKS_SOON;
	if (p->pending.listening >= 0)
		pending_accept(&p->pending);
	r = guard_try(look_for_request, p);
	if (p->pending.listening >= 0)
		pending_drop_late(&p->pending);
	return r;
}

static int look_ms(const struct kvgpu_remote_endpoint *p)
{
	return p->in_vain < LOOKS_SOON ? LOOK_MS : LOOK_SELDOM_MS;
}

int kvgpu_remote_endpoint_wait(const struct kvgpu_remote_endpoint *p, int *ms)
{
	*ms = p->pending.listening < 0 ? look_ms(p) : pending_any(&p->pending) ? REQUEST_MS : -1;
	return p->pending.listening;
}

int kvgpu_remote_endpoint_await(struct kvgpu_remote_endpoint *p)
{
	uint64_t until = clock_ns() + ROUND_MS * 1000000ull;
	struct pollfd input = { .events = POLLIN };
	int r, ms;

	while (!(r = kvgpu_remote_endpoint_look(p)) && clock_ns() < until) {
		input.fd = kvgpu_remote_endpoint_wait(p, &ms);
		if (poll(&input, 1, ms < 0 ? ROUND_MS : ms) < 0)
			break;
	}
	return r;
}

void kvgpu_remote_endpoint_descriptors(struct kvgpu_remote_endpoint *p, int *of[2])
{
	of[0] = &p->fd;
	of[1] = p->doorbell >= 0 ? &p->doorbell : NULL;
}

int kvgpu_remote_endpoint_welcome(struct kvgpu_remote_endpoint *p, struct kvgpu_remote_port **out)
{
	void *base = map_extent(p->fd, &p->extent);
	struct shmem a;

	if (base == MAP_FAILED)
		return -errno;
	guard_serve();
	/*
	 * pending.listening may be closed in this process: it only tells whether there is a
	 * doorbell
	 */
	shmem_init(&a, SIDE_SERVER, p->pending.listening >= 0 ? WAKE_SOCKET : WAKE_NONE, base,
		   p->extent.bytes);
	a.server = p->attach;
	a.server.page = &a.base->attach;
	a.life = p->doorbell;
	p->doorbell = -1;
	return shmem_port(&a, out);
}

void kvgpu_remote_endpoint_served(struct kvgpu_remote_endpoint *p)
{
	drop_doorbell(p);
	if (p->pending.listening >= 0)
		pending_drop_all(&p->pending);
}

static int has_left(void *arg)
{
	return attach_server_step(arg) == ATTACH_GONE;
}

int kvgpu_remote_endpoint_left(struct kvgpu_remote_endpoint *p)
{
	return guard_try(has_left, &p->attach);
}

int kvgpu_remote_endpoint_again(struct kvgpu_remote_endpoint *p)
{
	drop_doorbell(p);
	p->in_vain = 0;
	attach_server_again(&p->attach);
	return guard_try(say_free, &p->attach);
}

void kvgpu_remote_endpoint_close(struct kvgpu_remote_endpoint *p)
{
	drop_doorbell(p);
	if (p->pending.listening >= 0)
		pending_end(&p->pending);
	munmap(p->base, p->extent.bytes);
	close(p->fd);
	free(p);
}

void kvgpu_remote_endpoint_keep(const struct kvgpu_remote_endpoint *p,
				struct kvgpu_remote_endpoint_kept *k)
{
	*k = (struct kvgpu_remote_endpoint_kept){ .file = p->fd,
						  .bell = p->pending.listening,
						  .any = p->pending.any,
						  .cid = p->pending.cid,
						  .at = p->attach.at,
						  .from = p->extent.from,
						  .bytes = p->extent.bytes,
						  .generation = p->attach.generation,
						  .only = p->attach.only,
						  .nonce = p->attach.nonce };
}

int kvgpu_remote_endpoint_adopt(const struct kvgpu_remote_endpoint_kept *k, uint64_t version,
				struct kvgpu_remote_endpoint **out)
{
	struct kvgpu_remote_endpoint *p = calloc(1, sizeof(*p));
	unsigned int i;

	if (!p)
		return -ENOMEM;
	guard_server();
	p->fd = k->file;
	p->extent = (struct extent){ k->from, k->bytes };
	p->doorbell = -1;
	p->pending = (struct pending_clients){ .listening = k->bell, .any = k->any, .cid = k->cid };
	for (i = 0; i < PENDING_MAX; i++)
		p->pending.at[i].fd = -1;
	p->base = map_extent(p->fd, &p->extent);
	if (p->base == MAP_FAILED) {
		free(p);
		return -ENOMEM;
	}
	madvise(p->base, p->extent.bytes, MADV_DONTFORK);
	p->attach = (struct attach_server){ .page = &p->base->attach,
					    .version = version,
					    .generation = k->generation,
					    .only = k->only,
					    .nonce = k->nonce,
					    .at = k->at };
	*out = p;
	return 0;
}
