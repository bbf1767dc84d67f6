// SPDX-License-Identifier: MIT
/*
 * Writes new files: keys and certificates of certs.c, which makes their folders before. At no time
 * has a file more permissions than its mode says.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"

static bool write_one(const struct new_file *f)
{
	int fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, f->mode);
	size_t done = 0;
	ssize_t n = 0;
	int e;

	if (fd < 0) {
		if (errno == EEXIST)
			report_error(
				"%s is there already, and is not overwritten: move it away if a new one is wanted",
				f->path);
		else
			report_error("%s: %s", f->path, strerror(errno));
		return false;
	}
	while (done < f->n && (n = write(fd, (const char *)f->bytes + done, f->n - done)) > 0)
		done += n;
	/* set the mode again, whatever the umask has done to it */
	if (done == f->n && !fchmod(fd, f->mode) && !fsync(fd) && !close(fd))
		return true;
	e = errno;
	report_error("%s: %s", f->path, strerror(e));
	unlink(f->path);
	return false;
}

bool write_new(const struct new_file *files, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!write_one(&files[i])) {
			while (i--)
				unlink(files[i].path);
			return false;
		}
	return true;
}
