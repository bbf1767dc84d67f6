/* SPDX-License-Identifier: GPL-2.0-only */
/* A folder in /tmp that is the test program's own, so that nothing else is in it. */
#ifndef KVGPU_SELFTESTS_OWN_FOLDER_H
#define KVGPU_SELFTESTS_OWN_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char own_folder_path[] = "/tmp/kvgpu-unit-XXXXXX";
static pid_t own_folder_maker;

static void own_folder_remove(void)
{
	DIR *d = getpid() == own_folder_maker ? opendir(own_folder_path) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d) {
		closedir(d);
		rmdir(own_folder_path);
	}
}

/*
 * The folder's path. The first call makes the folder, with mode 0700. It is removed, with the files
 * in it, when the process that made it ends by exit(). For one thread.
 */
static inline const char *own_folder(void)
{
	if (!own_folder_maker) {
		if (!mkdtemp(own_folder_path))
			abort();
		own_folder_maker = getpid();
		atexit(own_folder_remove);
	}
	return own_folder_path;
}

#endif
