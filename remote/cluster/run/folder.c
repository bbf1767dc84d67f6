// SPDX-License-Identifier: MIT
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <remote/channel/address.h>

enum { DEPTH_FDS = 16 };

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	remove(path);
	return 0;
}

void folder_remove(const char *path)
{
	nftw(path, remove_one, DEPTH_FDS, FTW_DEPTH | FTW_PHYS);
}

static bool is_own_folder(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

static void remove_if_dead(const char *base, const char *name)
{
	char path[4096], lock[4200];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", base, name);
	snprintf(lock, sizeof(lock), "%s/lock", path);
	if (strncmp(name, ADDRESS_RUN_FOLDER, strlen(ADDRESS_RUN_FOLDER)) || !is_own_folder(path))
		return;
	fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		folder_remove(path);
	close(fd);
}

static void sweep(const char *base)
{
	DIR *d = opendir(base);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)))
		remove_if_dead(base, e->d_name);
	closedir(d);
}

static const char *base_folder(char *room, size_t size)
{
	const char *named = getenv("XDG_RUNTIME_DIR");

	if (named && *named == '/' && strlen(named) < 48 && is_own_folder(named) &&
	    !access(named, W_OK))
		return named;
	snprintf(room, size, "/run/user/%u", geteuid());
	if (is_own_folder(room) && !access(room, W_OK))
		return room;
	return access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
}

/* the descriptor of the lock stays open for as long as this process lives */
int folder_make(char *path, size_t size)
{
	char room[64], made[4200], lock[4200];
	const char *base = base_folder(room, sizeof(room));
	int fd;

	sweep(base);
	snprintf(path, size, "%s/" ADDRESS_RUN_FOLDER "XXXXXX", base);
	if (!mkdtemp(path))
		return -errno;
	/* named when it is locked: else another kvgpu-run could take it for a dead one's */
	snprintf(made, sizeof(made), "%s/lock.new", path);
	snprintf(lock, sizeof(lock), "%s/lock", path);
	fd = open(made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 || flock(fd, LOCK_EX | LOCK_NB) || rename(made, lock) ? -errno : 0;
}
