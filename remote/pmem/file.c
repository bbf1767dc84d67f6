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

#include "pmem.h"

/* PLACES, PLACE_BYTES: the defaults. A place is one program's piece of the file. */
enum { ALIGN = 2 << 20, PLACES = 4, PLACE_BYTES = 32 << 20 };
/* each place begins at a multiple of ALIGN */
#define APERTURE_MIN_PLACE	((APERTURE_MIN + ALIGN - 1) / ALIGN * ALIGN)
#define FILE_MIN	(APERTURE_LABEL_DATA + APERTURE_MIN)
#define FILE_MAX	(1ull << 40)

uint64_t file_size(const char *text)
{
	unsigned long long n;
	unsigned int shift;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	shift = !strcmp(end, "M") ? 20 : !strcmp(end, "G") ? 30 : 0;
	if (errno || *text < '0' || *text > '9' || !shift || n > FILE_MAX >> shift) {
		complain("'%s' is no size: a number and M or G, such as 256M", text);
		return 0;
	}
	n <<= shift;
	if (n < FILE_MIN || n % ALIGN) {
		complain("%s is no size for an aperture: it has an even number of MiB, 14 or more", text);
		return 0;
	}
	return n;
}

uint32_t file_places(const char *text, uint64_t bytes)
{
	uint64_t shared = bytes - APERTURE_LABEL_DATA, most = shared / APERTURE_MIN_PLACE, n;
	char *end;

	if (!text) {
		n = shared / PLACE_BYTES;
		return n > PLACES ? PLACES : n ? n : 1;
	}
	if (most > APERTURE_PLACES)
		most = APERTURE_PLACES;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || !n || n > most) {
		complain("'%s' is no number of programs for so much memory: 1 to %" PRIu64, text, most);
		return 0;
	}
	return n;
}

int file_make(const char *path, uint64_t bytes, uint32_t places)
{
	struct aperture_label l = aperture_label_make(bytes, places);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), r;

	if (fd < 0) {
		complain("%s: %s", path, errno == EEXIST ? "it is there already, and stays as it is" : strerror(errno));
		return 1;
	}
	/* allocate all of it now: a page without memory would fail later, in a VM that runs */
	r = posix_fallocate(fd, 0, bytes);
	errno = r;
	if (r || pwrite(fd, &l, sizeof(l), l.data + APERTURE_LABEL_AT) != sizeof(l) ||
	    pwrite(fd, &l, sizeof(l), 0) != sizeof(l) || fsync(fd)) {
		complain("%s: %s", path, strerror(errno));
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

int file_xml(const char *path, FILE *to)
{
	uint8_t first[APERTURE_LABEL_BYTES];
	struct aperture_label l;
	char *whole = realpath(path, NULL);
	int fd = whole ? open(whole, O_RDONLY | O_CLOEXEC) : -1;
	bool good = fd >= 0 && pread(fd, first, sizeof(first), 0) == sizeof(first) &&
		    aperture_label_read(first, &l);
	struct stat st;

	if (fd < 0)
		complain("%s: %s", path, strerror(errno));
	else if (!good)
		complain("%s: it is no aperture: kvgpu-aperture make FILE SIZE makes one", path);
	else if (fstat(fd, &st) || (uint64_t)st.st_size < l.bytes)
		complain("%s: it is shorter than it was made: it was cut", path);
	else if (!plain(whole))
		complain("%s: a path with <, >, & or quotes can't be put into XML here", whole);
	else
		fprintf(to,
			"<memory model='virtio-pmem' access='shared'>\n  <source>\n    <path>%s</path>\n  </source>\n"
			"  <target>\n    <size unit='MiB'>%" PRIu64
			"</size>\n  </target>\n</memory>\n",
			whole, l.bytes >> 20);
	good = good && (uint64_t)st.st_size >= l.bytes && plain(whole);
	if (fd >= 0)
		close(fd);
	free(whole);
	return !good;
}
