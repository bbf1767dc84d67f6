// SPDX-License-Identifier: MIT
/* Addresses of servers, and the sockets that they name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
/* after sys/socket.h */
#include <linux/vm_sockets.h>

#include "carrier.h"

static const char not_one[] = "no address of a server: unix:/path, aperture:/path, aperture:/path,bell=unix:/path or bell=vsock:CID:PORT";

union name {
	struct sockaddr any;
	struct sockaddr_un un;
	struct sockaddr_vm vm;
};

static const char *behind(const char *text, const char *word)
{
	size_t n = strlen(word);

	return text && !strncmp(text, word, n) && text[n] ? text + n : NULL;
}

/* ------------------------------------------------------------------ whole addresses */

/* a path that is there and no socket is memory; one that is not there may become a socket, but for a device's */
static enum address_kind kind_of(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return strncmp(path, "/dev/", 5) ? ADDRESS_APERTURE : ADDRESS_PLACE;
	return S_ISSOCK(st.st_mode) ? ADDRESS_APERTURE : ADDRESS_PLACE;
}

int address_parse(const char *text, struct address *a, const char **why)
{
	const char *path = behind(text, "aperture:"), *bell;
	size_t n;

	*a = (struct address){ .kind = ADDRESS_STREAM };
	*why = not_one;
	if (!path && !behind(text, "unix:"))
		return -EINVAL;
	*why = "the address is too long";
	if (!path) {
		if (strlen(text) >= sizeof(a->path))
			return -ENAMETOOLONG;
		strcpy(a->path, text);
		return 0;
	}
	bell = strstr(path, ",bell=");
	n = bell ? (size_t)(bell - path) : strlen(path);
	if (n + 6 > sizeof(a->path) || (bell && strlen(bell + 6) >= sizeof(a->bell)))
		return -ENAMETOOLONG;
	if (bell)
		strcpy(a->bell, bell + 6);
	memcpy(a->path, path, n);
	a->kind = kind_of(a->path);
	*why = "a bell is for an aperture that is a file or a device, and there is none of that name";
	if (bell && a->kind != ADDRESS_PLACE)
		return -ENOENT;
	if (a->kind == ADDRESS_APERTURE) {
		memmove(a->path + 5, a->path, n + 1);
		memcpy(a->path, "unix:", 5);
	}
	return 0;
}

/* ------------------------------------------------------------------ sockets */

static bool number(const char *text, char end, const char **next, unsigned int *n)
{
	char *at;

	errno = 0;
	*n = strtoul(text, &at, 10);
	*next = at + 1;
	return !errno && at != text && *at == end;
}

static int name_of(const char *text, union name *to, socklen_t *bytes, const char **why)
{
	const char *path = behind(text, "unix:"), *vm = behind(text, "vsock:"), *port;

	*why = not_one;
	if (vm) {
		to->vm = (struct sockaddr_vm){ .svm_family = AF_VSOCK };
		*bytes = sizeof(to->vm);
		return number(vm, ':', &port, &to->vm.svm_cid) && number(port, 0, &port, &to->vm.svm_port) ? 0 : -EINVAL;
	}
	if (!path)
		return -EINVAL;
	*why = "the path of the socket is too long";
	if (strlen(path) >= sizeof(to->un.sun_path))
		return -ENAMETOOLONG;
	to->un = (struct sockaddr_un){ .sun_family = AF_UNIX };
	strcpy(to->un.sun_path, path);
	*bytes = sizeof(to->un);
	return 0;
}

static int fail(int fd, const char **why)
{
	int e = errno;

	*why = strerror(e);
	if (fd >= 0)
		close(fd);
	return -e;
}

int address_connect(const char *socket_name, const char **why)
{
	socklen_t bytes;
	union name to;
	int r = name_of(socket_name, &to, &bytes, why), fd;

	if (r)
		return r;
	fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, &to.any, bytes))
		return fail(fd, why);
	return fd;
}

/* a socket file that nobody listens at is what a server that was killed left behind */
static int make_way(const char *socket_name, const char *path, const char **why)
{
	const char *ignored;
	int fd = address_connect(socket_name, &ignored);

	if (fd >= 0) {
		close(fd);
		*why = "another server listens there";
		return -EADDRINUSE;
	}
	if (fd == -ECONNREFUSED)
		unlink(path);
	return 0;
}

int address_listen(const char *socket_name, const char **why)
{
	socklen_t bytes;
	union name at;
	int r = name_of(socket_name, &at, &bytes, why), fd;

	if (!r && at.any.sa_family == AF_UNIX)
		r = make_way(socket_name, at.un.sun_path, why);
	if (r)
		return r;
	/* the number is the client's for the server: here it means this machine */
	if (at.any.sa_family == AF_VSOCK)
		at.vm.svm_cid = VMADDR_CID_ANY;
	fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, &at.any, bytes) || listen(fd, 64))
		return fail(fd, why);
	return fd;
}
