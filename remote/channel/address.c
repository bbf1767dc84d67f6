// SPDX-License-Identifier: MIT
/* Addresses of servers: "unix:/path" now. What is connected is a stream socket, and nothing else here knows of which family. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "carrier.h"

static const char not_one[] = "no address of a server: unix:/path";

static int parse(const char *address, struct sockaddr_un *to, const char **why)
{
	const char *path = address && !strncmp(address, "unix:", 5) ? address + 5 : NULL;

	*why = not_one;
	if (!path || !*path)
		return -EINVAL;
	*why = "the path of the socket is too long";
	if (strlen(path) >= sizeof(to->sun_path))
		return -ENAMETOOLONG;
	*to = (struct sockaddr_un){ .sun_family = AF_UNIX };
	strcpy(to->sun_path, path);
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

int address_connect(const char *address, const char **why)
{
	struct sockaddr_un to;
	int r = parse(address, &to, why), fd;

	if (r)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return fail(fd, why);
	return fd;
}

/* a socket file that nobody listens at is what a server that was killed left behind */
int kvgpu_remote_listen(const char *address, const char **why)
{
	struct sockaddr_un at;
	int r = parse(address, &at, why), fd;
	const char *ignored;

	if (r)
		return r;
	fd = address_connect(address, &ignored);
	if (fd >= 0) {
		close(fd);
		*why = "another server listens there";
		return -EADDRINUSE;
	}
	if (fd == -ECONNREFUSED)
		unlink(at.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 64))
		return fail(fd, why);
	return fd;
}
