// SPDX-License-Identifier: MIT
/*
 * What the GPU's library has compiled of clients' PTX: NVIDIA's driver keeps it in a folder
 * (CUDA_CACHE_PATH), here one for each client. It lies in compiled-folder of remoted.conf, into
 * which the server's user alone can go. A client's process gets a descriptor of its client's
 * folder, and goes by that. So no process finds another client's files, though users of processes
 * come again, and processes of one client have several.
 *
 * The driver makes files that all may read and write, as umask() lets it, but folders of two levels
 * for its user alone. They are there before it comes; it can make none (confine.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor.h"

enum { LEVEL = 16, ALL = 0777, FIRST_FD = 3 };

static bool make_level(int at, const char *name)
{
	return !mkdirat(at, name, ALL) && !fchmodat(at, name, ALL, 0);
}

static bool fill(int folder)
{
	unsigned int i, j;
	char name[4];

	for (i = 0; i < LEVEL; i++) {
		snprintf(name, sizeof(name), "%x", i);
		if (!make_level(folder, name))
			return false;
		for (j = 0; j < LEVEL; j++) {
			snprintf(name, sizeof(name), "%x/%x", i, j);
			if (!make_level(folder, name))
				return false;
		}
	}
	return true;
}

const char *compiled_wrong(const struct remoted_conf *c)
{
	struct stat st;

	if (lstat(c->compiled_folder, &st))
		return strerror(errno);
	if (!S_ISDIR(st.st_mode))
		return "it is no folder";
	return st.st_uid == geteuid() && !(st.st_mode & (S_IRWXG | S_IRWXO)) ?
		       NULL :
		       "it has to be a folder of the server's user, with mode 0700";
}

int compiled_make(const struct remoted_conf *c)
{
	char path[sizeof(c->compiled_folder) + 8];
	int fd;

	if (compiled_wrong(c))
		return -1;
	snprintf(path, sizeof(path), "%s/XXXXXX", c->compiled_folder);
	if (!mkdtemp(path))
		return -1;
	fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && !chmod(path, ALL) && fill(fd))
		return fd;
	if (fd >= 0)
		compiled_drop(fd);
	else
		rmdir(path);
	return -1;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	remove(path);
	return 0;
}

/* a client may have left many files, so a child removes them */
void compiled_drop(int fd)
{
	char link[40], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	close(fd);
	if (n <= 0)
		return;
	path[n] = 0;
	fflush(NULL);
	if (fork())
		return;
	closefrom(FIRST_FD);
	nftw(path, remove_one, FIRST_FD, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	_exit(0);
}

void compiled_use(int fd, uint64_t bytes)
{
	char text[40];

	/* the library asks for it by the path, and never changes its folder */
	snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
	setenv("CUDA_CACHE_PATH", text, 1);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	setenv("CUDA_CACHE_MAXSIZE", text, 1);
	unsetenv("CUDA_CACHE_DISABLE");
	umask(0); /* the client's next process has another user */
}
