// SPDX-License-Identifier: MIT
#include "kept.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_ours(const struct stat *st)
{
	return !st->st_uid || st->st_uid == geteuid();
}

static bool others_may_write(const struct stat *st)
{
	return !is_ours(st) || st->st_mode & (S_IWGRP | S_IWOTH);
}

int kept_look(const char *path, char bad[PATH_MAX])
{
	bool last = true, kept;
	char whole[PATH_MAX];
	struct stat st;

	snprintf(bad, PATH_MAX, "%s", path);
	if (lstat(path, &st) || !realpath(path, whole))
		return -errno;
	if (S_ISLNK(st.st_mode) && !is_ours(&st))
		return 1;
	for (;;) {
		kept = !lstat(*whole ? whole : "/", &st) &&
		       (!others_may_write(&st) || (!last && is_ours(&st) && st.st_mode & S_ISVTX));
		if (!kept)
			snprintf(bad, PATH_MAX, "%s", *whole ? whole : "/");
		if (!kept || !*whole)
			return !kept;
		*strrchr(whole, '/') = 0;
		last = false;
	}
}
