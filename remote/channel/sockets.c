// SPDX-License-Identifier: MIT
/* The sockets of addresses. A connection attempt has a time limit. */
#include <errno.h>
#include <fcntl.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* some kernels' header wants sa_family_t of <sys/socket.h> */
#include <linux/vm_sockets.h>

#include <cuda/api/process.h>

#include "address.h"
#include "rights.h"

/* a full queue keeps all clients out */
enum { BACKLOG = 4096 };

static const char *text_of(int error)
{
	switch (error) {
	case ENOENT:
	case ECONNREFUSED:
	case ECONNRESET:
		return "no server listens there: is kvgpu-remoted running, and is the address right?";
	case EACCES:
		return "this user may not connect there: the socket's owner and group may (ls -l)";
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case ENODEV:
		return "no machine answers there: is the address right, and does a firewall let it through?";
	case EAFNOSUPPORT:
		return "this kernel has no such sockets: modprobe vsock, in a VM vmw_vsock_virtio_transport";
	case EADDRINUSE:
		return "something else listens there";
	case EMFILE:
		return "this process may open no more descriptors (ulimit -n)";
	case EADDRNOTAVAIL:
		return "that is no address of this machine";
	default:
		return strerror(error);
	}
}

static int close_failed(int fd, int error, const char **why)
{
	*why = text_of(error);
	if (fd >= 0)
		close(fd);
	return -error;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static int set_patience(int fd, uint64_t ms)
{
	struct timeval t = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t)) ? errno : 0;
}

/* if the queue of a UNIX socket is full, connect() waits in the kernel, with a time limit */
static int connect_unix(int fd, const void *to, socklen_t bytes)
{
	uint64_t until = now_ms() + ADDRESS_PATIENCE_S * 1000, now;
	int error;

	do {
		now = now_ms();
		if (now >= until)
			return ETIMEDOUT;
		error = set_patience(fd, until - now);
		if (!error && connect(fd, to, bytes))
			error = errno;
	} while (error == EINTR);
	return error == EAGAIN ? ETIMEDOUT : error ? error : set_patience(fd, 0);
}

/* 0, or errno */
static int connect_within(int fd, const void *to, socklen_t bytes)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	socklen_t size = sizeof(int);
	int r, error = 0;

	if (fcntl(fd, F_SETFL, O_NONBLOCK))
		return errno;
	if (connect(fd, to, bytes) && errno != EINPROGRESS)
		return errno;
	do {
		r = poll(&p, 1, ADDRESS_PATIENCE_S * 1000);
	} while (r < 0 && errno == EINTR);
	if (r <= 0)
		return r ? errno : ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
		return errno;
	if (!error && fcntl(fd, F_SETFL, 0))
		error = errno;
	return error;
}

static int connect_to(int family, const void *to, socklen_t bytes, const char **why)
{
	int fd = own_descriptor(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)), error;

	error = fd < 0		  ? errno :
		family == AF_UNIX ? connect_unix(fd, to, bytes) :
				    connect_within(fd, to, bytes);
	return error ? close_failed(fd, error, why) : fd;
}

static int listen_at(int family, const void *at, socklen_t bytes, const char **why)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, r;

	if (fd < 0)
		return close_failed(fd, errno, why);
	if (family == AF_UNIX)
		rights_refuse(fd);
	if (family == AF_INET || family == AF_INET6)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){ 0 }, sizeof(int));
	if (!bind(fd, at, bytes) && !listen(fd, BACKLOG))
		return fd;
	r = close_failed(fd, errno, why);
	if (r == -ENOENT)
		*why = "there is no such folder: make it, or name another one";
	if (r == -EACCES || r == -EROFS)
		*why = "this user may make no socket there; kvgpu-remoted.service may in /run/kvgpu-remoted alone: link to one there";
	return r;
}

static struct sockaddr_un un_of(const struct address *a)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	strcpy(to.sun_path, a->host);
	return to;
}

static struct sockaddr_vm vm_of(const struct address *a)
{
	return (struct sockaddr_vm){ .svm_family = AF_VSOCK,
				     .svm_cid = a->cid,
				     .svm_port = a->port };
}

static const char *text_of_name(int error)
{
	switch (error) {
	case EAI_ADDRFAMILY:
	case EAI_AGAIN:
	case EAI_FAIL:
	case EAI_NODATA:
	case EAI_NONAME:
		return "no address is known for this name: is it right, and does DNS or /etc/hosts have it?";
	default:
		return gai_strerror(error);
	}
}

/* Open the first address of that name with which @open succeeds. */
static int with_each(const struct address *a, int flags,
		     int (*open)(int family, const void *to, socklen_t bytes, const char **why),
		     const char **why)
{
	struct addrinfo hints = { .ai_flags = flags | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM },
			*found, *i;
	char port[12];
	int r, fd = -ENOENT;

	snprintf(port, sizeof(port), "%u", a->port);
	r = getaddrinfo(*a->host ? a->host : NULL, port, &hints, &found);
	if (r) {
		*why = text_of_name(r);
		return -ENOENT;
	}
	for (i = found; i && fd < 0; i = i->ai_next)
		fd = open(i->ai_family, i->ai_addr, i->ai_addrlen, why);
	freeaddrinfo(found);
	return fd;
}

bool address_is_endpoint(const struct address *a)
{
	struct stat st;

	if (a->scheme != ADDRESS_SHMEM)
		return false;
	if (stat(a->host, &st))
		return !strncmp(a->host, "/dev/", 5);
	return !S_ISSOCK(st.st_mode);
}

/* check a shmem region's path that is to be a socket: 0, or -errno */
static int check_socket(const struct address *a, const char **why)
{
	*why = "a bell is for an aperture that is a file or a device, and there is none of that name";
	if (*a->doorbell)
		return -ENOENT;
	*why = "that is a file or a device, and no socket";
	if (address_is_endpoint(a))
		return -EINVAL;
	*why = "the path of a socket has 107 bytes at most";
	return strlen(a->host) < sizeof(((struct sockaddr_un *)0)->sun_path) ? 0 : -EINVAL;
}

int address_connect(const struct address *a, const char **why)
{
	struct sockaddr_un un;
	struct sockaddr_vm vm;
	int r = a->scheme == ADDRESS_SHMEM ? check_socket(a, why) : 0;

	if (r)
		return r;
	switch (a->scheme) {
	case ADDRESS_UNIX:
	case ADDRESS_SHMEM:
		un = un_of(a);
		return connect_to(AF_UNIX, &un, sizeof(un), why);
	case ADDRESS_VSOCK:
		vm = vm_of(a);
		return connect_to(AF_VSOCK, &vm, sizeof(vm), why);
	case ADDRESS_TCP:
	case ADDRESS_TLS:
		break;
	}
	return with_each(a, 0, connect_to, why);
}

/* a socket file without a listener was left by a server that was killed: replace it */
static int listen_unix(const struct address *a, const char **why)
{
	struct sockaddr_un at = un_of(a);
	const char *ignored;
	int fd = address_connect(a, &ignored);

	if (fd >= 0 || fd == -ETIMEDOUT) {
		if (fd >= 0)
			rights_close(fd);
		*why = "another server listens there";
		return -EADDRINUSE;
	}
	if (fd == -ECONNREFUSED)
		unlink(at.sun_path);
	return listen_at(AF_UNIX, &at, sizeof(at), why);
}

static int listen_everywhere(const struct address *a, const char **why)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(a->port) };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(a->port) };
	int fd = listen_at(AF_INET6, &six, sizeof(six), why);

	return fd == -EAFNOSUPPORT ? listen_at(AF_INET, &four, sizeof(four), why) : fd;
}

int address_listen(const struct address *a, const char **why)
{
	struct sockaddr_vm vm;
	int r = a->scheme == ADDRESS_SHMEM ? check_socket(a, why) : 0;

	if (r)
		return r;
	switch (a->scheme) {
	case ADDRESS_UNIX:
	case ADDRESS_SHMEM:
		return listen_unix(a, why);
	case ADDRESS_VSOCK:
		vm = vm_of(a);
		return listen_at(AF_VSOCK, &vm, sizeof(vm), why);
	case ADDRESS_TCP:
	case ADDRESS_TLS:
		break;
	}
	return *a->host ? with_each(a, AI_PASSIVE, listen_at, why) : listen_everywhere(a, why);
}

union peer {
	struct sockaddr any;
	struct sockaddr_vm vm;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static union peer peer_of(int fd)
{
	socklen_t bytes = sizeof(union peer);
	union peer peer;

	memset(&peer, 0, sizeof(peer));
	if (getpeername(fd, &peer.any, &bytes))
		peer.any.sa_family = AF_UNSPEC;
	return peer;
}

static uid_t user_of(int fd)
{
	socklen_t bytes = sizeof(struct ucred);
	struct ucred user;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &bytes) ? (uid_t)-1 : user.uid;
}

static uid_t account_of(int fd)
{
	return address_owner(ADDRESS_SUBUID, user_of(fd));
}

/* 8 bytes in network order */
static uint64_t number_of(const uint8_t *bytes)
{
	uint64_t n = 0;
	unsigned int i;

	for (i = 0; i < 8; i++)
		n = n << 8 | bytes[i];
	return n;
}

/* loopback addresses, which each user of this machine can have, are 127.0.0.1 */
static union peer end_of(int fd)
{
	union peer peer = peer_of(fd);
	const struct in6_addr *six = &peer.in6.sin6_addr;
	bool own;

	if (peer.any.sa_family == AF_INET6)
		own = IN6_IS_ADDR_LOOPBACK(six) ||
		      (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == IN_LOOPBACKNET);
	else
		own = peer.any.sa_family == AF_INET &&
		      ntohl(peer.in.sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
	if (own)
		peer = (union peer){ .in = { .sin_family = AF_INET,
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } };
	return peer;
}

/* a family and a number, as numbers that only a reserved IPv6 address has */
#define SOURCE(family, number) ((struct address_source){ (uint64_t)(family) << 32 | (number), 0 })

struct address_source address_of_source(int fd)
{
	union peer peer = end_of(fd);
	const uint8_t *six = peer.in6.sin6_addr.s6_addr;

	switch (peer.any.sa_family) {
	case AF_UNIX:
		return SOURCE(AF_UNIX, account_of(fd));
	case AF_VSOCK:
		return SOURCE(AF_VSOCK, peer.vm.svm_cid);
	case AF_INET:
		return SOURCE(AF_INET, ntohl(peer.in.sin_addr.s_addr));
	case AF_INET6:
		if (IN6_IS_ADDR_V4MAPPED(&peer.in6.sin6_addr))
			return SOURCE(AF_INET, (uint32_t)number_of(six + 8));
		return (struct address_source){ number_of(six), number_of(six + 8) };
	default:
		return SOURCE(AF_UNSPEC, 0);
	}
}

bool address_user(int fd, uid_t *user)
{
	*user = user_of(fd);
	return peer_of(fd).any.sa_family == AF_UNIX && *user != (uid_t)-1;
}

/* SO_PEERPIDFD of Linux 6.5 and later, on x86 and arm64 */
enum { PEER_PROCESS = 77 };

int address_process(int fd)
{
	socklen_t bytes = sizeof(int), of_user = sizeof(struct ucred);
	struct ucred user = { 0 };
	int process;

	if (peer_of(fd).any.sa_family != AF_UNIX)
		return -1;
	if (!getsockopt(fd, SOL_SOCKET, PEER_PROCESS, &process, &bytes))
		return process;
	if (errno == EINVAL || errno == ESRCH)
		return -ESRCH;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &of_user) || user.pid <= 0)
		return -1;
	process = syscall(SYS_pidfd_open, user.pid, 0);
	return process >= 0 ? process : errno == ESRCH ? -ESRCH : -1;
}

bool address_is_from(int fd, uint32_t cid)
{
	union peer peer = peer_of(fd);

	return peer.any.sa_family == AF_VSOCK && peer.vm.svm_cid == cid;
}

void address_of_peer(int fd, char *to, size_t size)
{
	char text[INET6_ADDRSTRLEN] = "?";
	union peer peer = end_of(fd);

	switch (peer.any.sa_family) {
	case AF_UNIX:
		snprintf(to, size, "unix:%u", account_of(fd));
		break;
	case AF_VSOCK:
		snprintf(to, size, "vsock:%u", peer.vm.svm_cid);
		break;
	case AF_INET:
		inet_ntop(AF_INET, &peer.in.sin_addr, text, sizeof(text));
		snprintf(to, size, "tcp:%s", text);
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &peer.in6.sin6_addr, text, sizeof(text));
		snprintf(to, size, "tcp:%s", text);
		break;
	default:
		snprintf(to, size, "unknown");
	}
}
