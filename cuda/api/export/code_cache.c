// SPDX-License-Identifier: MIT
/*
 * What NVRTC and nvJitLink have compiled, kept for later programs, as NVIDIA's driver does for
 * them: a file for each piece in the user's folder of caches. A file has the whole key before the
 * code, so another piece whose name is the same is seen. Files come by rename(): none is half
 * there. The oldest go when there is more than CUDA_CACHE_MAXSIZE; CUDA_CACHE_DISABLE=1 keeps none.
 * Without a folder nothing is found, and compilers go on.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "slots.h"

enum { NAME = 17 };
static const uint64_t bytes_max = 1ull << 30; /* as the driver has it */

static const char first[] = "kvgpu code 1"; /* of each key, with its 0 */

struct code_entry {
	char name[NAME]; /* of the file: a hash of the key */
	uint8_t *key;
	size_t bytes;
};

/* A folder of this user alone, made where it is missing: a descriptor, or -1. */
static int open_folder(const char *path)
{
	struct stat st;
	int fd;

	mkdir(path, 0700);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && st.st_uid == geteuid() &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* In a set-user-ID program there is none: the environment is the caller's. */
static int cache_folder(void)
{
	const char *off = secure_getenv("CUDA_CACHE_DISABLE"),
		   *own = secure_getenv("CUDA_CACHE_PATH"),
		   *caches = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	char path[4096];

	if (off && atoi(off))
		return -1;
	if (!own && !caches && home) {
		snprintf(path, sizeof(path), "%s/.cache", home);
		mkdir(path, 0700);
	}
	if (snprintf(path, sizeof(path), "%s%s/kvgpu",
		     own	    ?:
			     caches ?:
			     home   ?:
				      "",
		     own || caches ? "" : "/.cache") >= (int)sizeof(path) ||
	    *path != '/' || !(own || caches || home))
		return -1;
	if (own)
		mkdir(own, 0700);
	return open_folder(path);
}

static uint64_t hash_of(const uint8_t *at, size_t bytes) /* FNV-1a */
{
	uint64_t h = 0xcbf29ce484222325;

	while (bytes--)
		h = (h ^ *at++) * 0x100000001b3;
	return h;
}

CUresult code_cache_open(struct code_entry **out, unsigned int kind, const void *data, size_t bytes,
			 const char *options, const char *host, const char *build,
			 unsigned int arch)
{
	const char *const texts[] = { first, options ?: "", host ?: "", build ?: "" };
	const unsigned int numbers[] = { kind, arch };
	struct code_entry *e;
	size_t all = sizeof(numbers) + bytes;
	unsigned int i;
	uint8_t *at;

	if (!out || (!data && bytes))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < 4; i++)
		all += strlen(texts[i]) + 1;
	e = malloc(sizeof(*e));
	at = malloc(all);
	if (!e || !at) {
		free(e);
		free(at);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*e = (struct code_entry){ .key = at, .bytes = all };
	for (i = 0; i < 4; i++)
		at = (uint8_t *)stpcpy((char *)at, texts[i]) + 1;
	at = mempcpy(at, numbers, sizeof(numbers));
	memcpy(at, data, bytes);
	snprintf(e->name, NAME, "%016llx", (unsigned long long)hash_of(e->key, all));
	*out = e;
	return CUDA_SUCCESS;
}

CUresult code_cache_close(struct code_entry *e)
{
	if (!e)
		return CUDA_ERROR_INVALID_VALUE;
	free(e->key);
	free(e);
	return CUDA_SUCCESS;
}

/* all of a file: true, with *@at the caller's; it is a plain file of at most 4 GiB */
static bool read_file(int folder, const char *name, uint8_t **at, size_t *bytes)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	bool whole;

	*at = NULL;
	if (fd < 0)
		return false;
	whole = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size < UINT32_MAX;
	*bytes = whole ? st.st_size : 0;
	*at = whole ? malloc(*bytes + 1) : NULL;
	whole = *at && read(fd, *at, *bytes) == (ssize_t)*bytes;
	futimens(fd, NULL); /* the oldest goes first */
	close(fd);
	return whole;
}

CUresult code_cache_find(struct code_entry *e, unsigned int flags, void **code, uint32_t *bytes)
{
	int folder = e && code && bytes ? cache_folder() : -1;
	uint8_t *at = NULL;
	size_t all;
	bool found;

	if (folder < 0)
		return CUDA_ERROR_NOT_FOUND;
	found = read_file(folder, e->name, &at, &all) && all > e->bytes &&
		!memcmp(at, e->key, e->bytes);
	close(folder);
	if (found) {
		*bytes = all - e->bytes;
		memmove(at, at + e->bytes, *bytes);
		*code = at;
		return CUDA_SUCCESS;
	}
	free(at);
	return CUDA_ERROR_NOT_FOUND;
}

CUresult code_cache_free(void *code)
{
	free(code);
	return CUDA_SUCCESS;
}

static uint64_t most_bytes(void)
{
	const char *text = secure_getenv("CUDA_CACHE_MAXSIZE");

	return text ? strtoull(text, NULL, 10) : bytes_max;
}

/* bytes of all files; *@oldest: the name of the one that was used longest ago */
static uint64_t look_through(DIR *d, char oldest[NAME])
{
	struct timespec first_used = { 0 };
	const struct dirent *f;
	uint64_t bytes = 0;
	struct stat st;

	*oldest = 0;
	rewinddir(d);
	while ((f = readdir(d))) {
		if (strlen(f->d_name) != NAME - 1 ||
		    fstatat(dirfd(d), f->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		bytes += st.st_size;
		if (*oldest && (st.st_mtim.tv_sec > first_used.tv_sec ||
				(st.st_mtim.tv_sec == first_used.tv_sec &&
				 st.st_mtim.tv_nsec >= first_used.tv_nsec)))
			continue;
		first_used = st.st_mtim;
		strcpy(oldest, f->d_name);
	}
	return bytes;
}

/* @folder is closed */
static void make_room(int folder, uint64_t bytes)
{
	DIR *d = fdopendir(folder);
	char oldest[NAME];

	if (!d) {
		close(folder);
		return;
	}
	while (look_through(d, oldest) > bytes && *oldest)
		if (unlinkat(folder, oldest, 0))
			break;
	closedir(d);
}

CUresult code_cache_keep(const struct code_entry *e, unsigned int flags, const void *code,
			 uint32_t bytes)
{
	int folder = e && code ? cache_folder() : -1, fd;
	static unsigned int tries; /* atomic */
	char name[NAME + 32];
	bool whole;

	if (folder < 0)
		return CUDA_SUCCESS;
	snprintf(name, sizeof(name), "%s.%d-%u", e->name, (int)getpid(),
		 __atomic_fetch_add(&tries, 1, __ATOMIC_RELAXED));
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	whole = fd >= 0 && write(fd, e->key, e->bytes) == (ssize_t)e->bytes &&
		write(fd, code, bytes) == (ssize_t)bytes;
	if (fd >= 0 && (close(fd) || !whole || renameat(folder, name, folder, e->name)))
		unlinkat(folder, name, 0);
	make_room(folder, most_bytes());
	return CUDA_SUCCESS;
}
