// SPDX-License-Identifier: MIT
/* The sockets of addresses. A connection attempt has a time limit, so that a machine that is not there is said soon. */
#include <errno.h>
#include <fcntl.h>
#include <arpa/inet.h>
#include <linux/vm_sockets.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "address.h"

enum { BACKLOG = 64 };

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
	case EADDRNOTAVAIL:
		return "that is no address of this machine";
	default:
		return strerror(error);
	}
}

static int fail(int fd, int error, const char **why)
{
	*why = text_of(error);
	if (fd >= 0)
		close(fd);
	return -error;
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
		/* a UNIX socket whose queue is full */
		return errno == EAGAIN ? ETIMEDOUT : errno;
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
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), error = fd < 0 ? errno : connect_within(fd, to, bytes);

	return error ? fail(fd, error, why) : fd;
}

static int listen_at(int family, const void *at, socklen_t bytes, const char **why)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0)
		return fail(fd, errno, why);
	if (family == AF_INET || family == AF_INET6)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){ 0 }, sizeof(int));
	if (bind(fd, at, bytes) || listen(fd, BACKLOG))
		return fail(fd, errno, why);
	return fd;
}

static struct sockaddr_un un_of(const struct address *a)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	strcpy(to.sun_path, a->host);
	return to;
}

static struct sockaddr_vm vm_of(const struct address *a)
{
	return (struct sockaddr_vm){ .svm_family = AF_VSOCK, .svm_cid = a->cid, .svm_port = a->port };
}

/* The first address of that name that @open succeeds with. */
static int with_each(const struct address *a, int flags, int (*open)(int family, const void *to, socklen_t bytes, const char **why),
		     const char **why)
{
	struct addrinfo hints = { .ai_flags = flags | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM }, *found, *i;
	char port[12];
	int r, fd = -ENOENT;

	snprintf(port, sizeof(port), "%u", a->port);
	r = getaddrinfo(*a->host ? a->host : NULL, port, &hints, &found);
	if (r) {
		*why = gai_strerror(r);
		return -ENOENT;
	}
	for (i = found; i && fd < 0; i = i->ai_next)
		fd = open(i->ai_family, i->ai_addr, i->ai_addrlen, why);
	freeaddrinfo(found);
	return fd;
}

bool address_is_place(const struct address *a)
{
	struct stat st;

	if (a->scheme != ADDRESS_APERTURE)
		return false;
	if (stat(a->host, &st))
		return !strncmp(a->host, "/dev/", 5);
	return !S_ISSOCK(st.st_mode);
}

/* an aperture that is a socket: 0, or -errno */
static int check_socket(const struct address *a, const char **why)
{
	*why = "a bell is for an aperture that is a file or a device, and there is none of that name";
	if (*a->bell)
		return -ENOENT;
	*why = "that is a file or a device, and no socket";
	if (address_is_place(a))
		return -EINVAL;
	*why = "the path of a socket has 107 bytes at most";
	return strlen(a->host) < sizeof(((struct sockaddr_un *)0)->sun_path) ? 0 : -EINVAL;
}

int address_connect(const struct address *a, const char **why)
{
	struct sockaddr_un un;
	struct sockaddr_vm vm;
	int r = a->scheme == ADDRESS_APERTURE ? check_socket(a, why) : 0;

	if (r)
		return r;
	switch (a->scheme) {
	case ADDRESS_UNIX:
	case ADDRESS_APERTURE:
		un = un_of(a);
		return connect_to(AF_UNIX, &un, sizeof(un), why);
	case ADDRESS_VSOCK:
		vm = vm_of(a);
		return connect_to(AF_VSOCK, &vm, sizeof(vm), why);
	default:
		return with_each(a, 0, connect_to, why);
	}
}

/* a socket file without a listener was left behind by a server that was killed */
static int listen_unix(const struct address *a, const char **why)
{
	struct sockaddr_un at = un_of(a);
	const char *ignored;
	int fd = address_connect(a, &ignored);

	if (fd >= 0 || fd == -ETIMEDOUT) {
		if (fd >= 0)
			close(fd);
		*why = "another server listens there";
		return -EADDRINUSE;
	}
	if (fd == -ECONNREFUSED)
		unlink(at.sun_path);
	return listen_at(AF_UNIX, &at, sizeof(at), why);
}

/* all of this machine's addresses: by one socket of both families, or by one of IPv4 where there is no IPv6 */
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
	int r = a->scheme == ADDRESS_APERTURE ? check_socket(a, why) : 0;

	if (r)
		return r;
	switch (a->scheme) {
	case ADDRESS_UNIX:
	case ADDRESS_APERTURE:
		return listen_unix(a, why);
	case ADDRESS_VSOCK:
		vm = vm_of(a);
		return listen_at(AF_VSOCK, &vm, sizeof(vm), why);
	default:
		return *a->host ? with_each(a, AI_PASSIVE, listen_at, why) : listen_everywhere(a, why);
	}
}

void address_of_peer(int fd, char *to, size_t size)
{
	union { struct sockaddr any; struct sockaddr_vm vm; struct sockaddr_in in; struct sockaddr_in6 in6; } peer;
	socklen_t bytes = sizeof(peer), ucred_bytes = sizeof(struct ucred);
	char text[INET6_ADDRSTRLEN] = "?";
	struct ucred user;

	memset(&peer, 0, sizeof(peer));
	if (getpeername(fd, &peer.any, &bytes))
		peer.any.sa_family = AF_UNSPEC;
	switch (peer.any.sa_family) {
	case AF_UNIX:
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &ucred_bytes))
			user.uid = -1;
		snprintf(to, size, "unix:%u", user.uid);
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
