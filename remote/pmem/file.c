// SPDX-License-Identifier: MIT
/*
 * On the host: makes the file that two VMs get as memory, and prints libvirt's XML for it. pmem.h
 * has the contracts, remote/channel/label.h says why a file has two labels.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <remote/channel/layout.h>
#include <remote/conf/kept.h>

#include "pmem.h"

/* ENDPOINTS, ENDPOINT_BYTES: the defaults. An endpoint is one program's piece of the file. */
enum { ALIGN = 2 << 20, ENDPOINTS = 4, ENDPOINT_BYTES = 32 << 20 };
/* each endpoint begins at a multiple of ALIGN */
#define SHMEM_MIN_ENDPOINT ((SHMEM_MIN + ALIGN - 1) / ALIGN * ALIGN)
#define FILE_MIN	   (SHMEM_LABEL_DATA + SHMEM_MIN)
#define FILE_MAX	   (1ull << 40)

uint64_t file_size(const char *text)
{
	unsigned long long n;
	unsigned int shift;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	shift = !strcmp(end, "M") ? 20 : !strcmp(end, "G") ? 30 : 0;
	if (errno || *text < '0' || *text > '9' || !shift || n > FILE_MAX >> shift) {
		report_error("'%s' is no size: a number and M or G, such as 256M", text);
		return 0;
	}
	n <<= shift;
	if (n < FILE_MIN || n % ALIGN) {
		report_error(
			"%s is no size for an aperture: it has an even number of MiB, 14 or more",
			text);
		return 0;
	}
	return n;
}

uint32_t file_endpoints(const char *text, uint64_t bytes)
{
	uint64_t shared = bytes - SHMEM_LABEL_DATA, most = shared / SHMEM_MIN_ENDPOINT, n;
	char *end;

	if (!text) {
		n = shared / ENDPOINT_BYTES;
		return n > ENDPOINTS ? ENDPOINTS : n ? n : 1;
	}
	if (most > SHMEM_ENDPOINTS)
		most = SHMEM_ENDPOINTS;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || !n || n > most) {
		report_error("'%s' is no number of programs for so much memory: 1 to %" PRIu64,
			     text, most);
		return 0;
	}
	return n;
}

/* ------------------------------------------------------------------ whose files they are */

static bool folder_is_kept(const char *path)
{
	char bad[PATH_MAX];
	int r = kept_look(path, bad);

	if (r < 0)
		report_error("%s: %s", bad, strerror(-r));
	else if (r)
		report_error(
			"%s: others may write there, and so make or exchange the file that VMs get as memory: "
			"take a folder of root's, such as /dev/shm/kvgpu",
			bad);
	return !r;
}

/* the folder of the file @path, which the caller frees; NULL: no memory */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !slash ? strdup(".") : strndup(path, slash == path ? 1 : slash - path);
}

static bool file_is_kept(const char *path, int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !(st.st_mode & S_IWOTH))
		return true;
	report_error(
		"%s: all users may write it, or it is no file: it is no aperture that VMs should get",
		path);
	return false;
}

/* QEMU, which is not root, has to get through the folder */
enum { FOLDER_MODE = 0711 };

static bool make_folder(const char *path)
{
	char *folder = folder_of(path);
	bool good = folder && (!mkdir(folder, FOLDER_MODE) || errno == EEXIST);

	if (folder && !good)
		report_error("%s: %s", folder, strerror(errno));
	good = good && folder_is_kept(folder);
	free(folder);
	return good;
}

static bool has_label(int fd, struct shmem_label *l)
{
	uint8_t first[SHMEM_LABEL_BYTES];

	return pread(fd, first, sizeof(first), 0) == sizeof(first) && shmem_label_read(first, l);
}

/* there is a file already: 0 if it is just what would be made */
static int is_made(const char *path, uint64_t bytes, uint32_t endpoints)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct shmem_label l, want = shmem_label_make(bytes, endpoints);
	bool kept = fd < 0 || file_is_kept(path, fd),
	     same = fd >= 0 && has_label(fd, &l) && !memcmp(&l, &want, sizeof(l));

	if (kept && !same)
		report_error("%s: another file is there already, and stays as it is", path);
	if (fd >= 0)
		close(fd);
	return !kept || !same;
}

int file_make(const char *path, uint64_t bytes, uint32_t endpoints)
{
	struct shmem_label l = shmem_label_make(bytes, endpoints);
	int fd, r;

	if (!make_folder(path))
		return 1;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST)
		return is_made(path, bytes, endpoints);
	if (fd < 0) {
		report_error("%s: %s", path, strerror(errno));
		return 1;
	}
	/* allocate all of it now: a page without memory would fail later, in a VM that runs */
	r = posix_fallocate(fd, 0, bytes);
	errno = r;
	if (r || pwrite(fd, &l, sizeof(l), l.data + SHMEM_LABEL_AT) != sizeof(l) ||
	    pwrite(fd, &l, sizeof(l), 0) != sizeof(l) || fsync(fd)) {
		report_error("%s: %s", path, strerror(errno));
		unlink(path);
		close(fd);
		return 1;
	}
	close(fd);
	return 0;
}

/* whether @path has no character that is special in XML */
static bool plain(const char *path)
{
	return !strpbrk(path, "<>&'\"");
}

/* of a file in a folder that is kept */
static bool may_be_given(const char *path, const char *whole, int fd, struct shmem_label *l)
{
	struct stat st;

	if (!has_label(fd, l))
		report_error("%s: it is no aperture: kvgpu-aperture make FILE SIZE makes one",
			     path);
	else if (fstat(fd, &st) || (uint64_t)st.st_size < l->bytes)
		report_error("%s: it is shorter than it was made: it was cut", path);
	else if (!plain(whole))
		report_error("%s: a path with <, >, & or quotes can't be put into XML here", whole);
	else
		return file_is_kept(path, fd);
	return false;
}

int file_xml(const char *path, FILE *to)
{
	char *whole = realpath(path, NULL), *folder = whole ? folder_of(whole) : NULL;
	struct shmem_label l;
	bool good = false;
	int fd = -1;

	if (!whole ||
	    (folder && folder_is_kept(folder) && (fd = open(whole, O_RDONLY | O_CLOEXEC)) < 0))
		report_error("%s: %s", path, strerror(errno));
	if (fd >= 0)
		good = may_be_given(path, whole, fd, &l);
	if (good)
		fprintf(to,
			"<memory model='virtio-pmem' access='shared'>\n  <source>\n    <path>%s</path>\n  </source>\n"
			"  <target>\n    <size unit='MiB'>%" PRIu64
			"</size>\n  </target>\n</memory>\n",
			whole, l.bytes >> 20);
	if (fd >= 0)
		close(fd);
	free(folder);
	free(whole);
	return !good;
}
