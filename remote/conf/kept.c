// SPDX-License-Identifier: MIT
#include "kept.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* links on the way, as Linux follows */
enum { LINKS = 40 };

static bool is_ours(const struct stat *st)
{
	return !st->st_uid || st->st_uid == geteuid();
}

static bool others_may_write(const struct stat *st)
{
	return !is_ours(st) || st->st_mode & (S_IWGRP | S_IWOTH);
}

/* @to: where the link @at leads. The first @n bytes of @at are its folder, with a slash. */
static int read_link(const char *at, size_t n, char to[PATH_MAX])
{
	char target[PATH_MAX];
	ssize_t bytes = readlink(at, target, PATH_MAX - 1);

	if (bytes < 0)
		return -errno;
	target[bytes] = 0;
	n = *target == '/' ? 0 : n;
	return snprintf(to, PATH_MAX, "%.*s%s", (int)n, at, target) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/*
 * Judge each folder and each link on the way, so that none is exchanged before the path is used.
 * @path: begins with /. @last: it is the folder, else it leads to another one on the way.
 */
static int look(const char *path, bool last, unsigned int links, char bad[PATH_MAX])
{
	char at[PATH_MAX], to[PATH_MAX];
	size_t n = 1, name = 0;
	struct stat st;
	bool end;
	int r;

	do {
		snprintf(at, PATH_MAX, "%.*s", (int)n, path);
		if (lstat(at, &st))
			return -errno;
		end = !path[n + strspn(path + n, "/")];
		if (S_ISLNK(st.st_mode) ?
			    !is_ours(&st) :
			    others_may_write(&st) &&
				    ((last && end) || !is_ours(&st) || !(st.st_mode & S_ISVTX))) {
			strcpy(bad, at);
			return 1;
		}
		if (S_ISLNK(st.st_mode)) {
			r = links < LINKS ? read_link(at, name, to) : -ELOOP;
			r = r ? r : look(to, last && end, links + 1, bad);
			if (r)
				return r;
		}
		name = n + strspn(path + n, "/");
		n = name + strcspn(path + name, "/");
	} while (!end);
	return 0;
}

int kept_look(const char *path, char bad[PATH_MAX])
{
	char whole[PATH_MAX] = "";
	int r = -ENAMETOOLONG;
	size_t n;

	snprintf(bad, PATH_MAX, "%s", path);
	if (*path != '/' && !getcwd(whole, PATH_MAX))
		return -errno;
	n = strlen(whole);
	if (snprintf(whole + n, PATH_MAX - n, "%s%s", n ? "/" : "", path) < (int)(PATH_MAX - n))
		r = look(whole, true, 0, bad);
	return r;
}
