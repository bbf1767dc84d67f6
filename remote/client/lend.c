// SPDX-License-Identifier: MIT
/*
 * Registered memory that the GPU is to see. Private pages are this process's alone, but a file in
 * memory can be mapped by the server, too: it gets the file's descriptor over the socket of an
 * aperture. The program has the file open, or it has a path.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cuda/api/process.h>

#include "client.h"
#include "refused.h"

/* a descriptor goes out just ahead of its frame */
static pthread_mutex_t lending = PTHREAD_MUTEX_INITIALIZER;

struct pages {
	dev_t dev;
	uint64_t inode, at, size; /* .at: where in the file they begin */
	char path[256]; /* is_file() says whether it is the same file */
};

/* The file of the one shared mapping in which all of [begin, begin + bytes) is. */
static bool find_pages(uint64_t begin, uint64_t bytes, struct pages *p)
{
	FILE *f = own_file(fopen("/proc/self/maps", "re"), "r");
	unsigned long long from, to, offset, inode;
	unsigned int major_of, minor_of;
	char line[512], rights[8];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		p->path[0] = 0;
		found = sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %255[^\n]", &from, &to, rights,
			       &offset, &major_of, &minor_of, &inode, p->path) >= 7 &&
			begin >= from && begin < to;
	}
	if (f)
		fclose(f);
	if (!found || bytes > to - begin || strcmp(rights, "rw-s"))
		return false;
	p->dev = makedev(major_of, minor_of);
	p->inode = inode;
	p->at = offset + (begin - from);
	return true;
}

/* The server maps it for writing, too. */
static bool is_file(int fd, uint64_t bytes, struct pages *p)
{
	const int seals = F_SEAL_WRITE | F_SEAL_FUTURE_WRITE;
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) || st.st_dev != p->dev || st.st_ino != p->inode || fstatfs(fd, &fs) ||
	    fs.f_type != TMPFS_MAGIC || (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDWR ||
	    fcntl(fd, F_GET_SEALS) & seals)
		return false;
	p->size = st.st_size;
	return p->at < p->size && bytes <= p->size - p->at;
}

/*
 * A copy of a descriptor of the program's, which the program may close meanwhile. No other file's
 * is copied: a copy's close() ends the locks (fcntl()) that the program has on the file.
 */
static int find_open(uint64_t bytes, struct pages *p)
{
	DIR *all = opendir("/proc/self/fd");
	const struct dirent *e;
	int fd, copy = -1;

	while (all && copy < 0 && (e = readdir(all))) {
		fd = *e->d_name == '.' ? -1 : atoi(e->d_name);
		if (fd >= 0 && is_file(fd, bytes, p))
			copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	}
	if (all)
		closedir(all);
	return copy;
}

static int open_again(uint64_t bytes, struct pages *p)
{
	int fd = find_open(bytes, p);

	if (fd < 0 && p->path[0] == '/')
		fd = own_descriptor(open(p->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
	if (fd < 0 || is_file(fd, bytes, p))
		return fd;
	close(fd);
	return -1;
}

/* The server takes no file whose pages it would have to find memory for. */
static void touch_all(const uint8_t *begin, uint64_t bytes)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	uint64_t at;

	for (at = 0; at < bytes; at += page)
		(void)*(const volatile uint8_t *)(begin + at);
	(void)*(const volatile uint8_t *)(begin + bytes - 1);
}

static CUresult lend_file(struct peer *p, int fd, const struct pages *pages, uint64_t bytes,
			  unsigned int flags, CUdeviceptr *device)
{
	const struct q_lend q = { .dev = pages->dev,
				  .inode = pages->inode,
				  .size = pages->size,
				  .at = pages->at,
				  .bytes = bytes,
				  .flags = flags };
	struct call c = { .op = OP_lend, .fixed = &q, .bytes = sizeof(q), .to.peer = p };
	int sent;
	CUresult r;

	if (!call_completion(p)) /* call_sync() would not send the frame */
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&lending);
	sent = kvgpu_remote_lend(p->channel, fd);
	r = sent == -ENOTSUP ? CUDA_ERROR_NOT_SUPPORTED :
	    sent	     ? CUDA_ERROR_SYSTEM_NOT_READY :
			       call_sync(&c, sizeof(struct a_lend));
	pthread_mutex_unlock(&lending);
	if (!r)
		*device = ((const struct a_lend *)c.answer)->device;
	return r;
}

CUresult memory_lend(struct peer *p, const void *host, uint64_t bytes, unsigned int flags,
		     CUdeviceptr *device)
{
	static bool told;
	struct pages pages;
	CUresult r = CUDA_ERROR_NOT_SUPPORTED;
	int fd = find_pages((uintptr_t)host, bytes, &pages) ? open_again(bytes, &pages) : -1;

	if (fd >= 0) {
		touch_all(host, bytes);
		r = lend_file(p, fd, &pages, bytes, flags, device);
		close(fd);
	}
	if (!r && (!answer_memory(*device, bytes) || !answer_address(p, *device))) {
		memory_lend_end(p, *device);
		return CUDA_ERROR_UNKNOWN;
	}
	return r != CUDA_ERROR_NOT_SUPPORTED ?
		       r :
		       client_refuse(
			       "cuMemHostRegister",
			       "the GPU is to see this memory (DEVICEMAP), which takes pages of a file in /dev/shm or a memfd, and "
			       "an aperture on one machine. For NCCL set NCCL_SHM_DISABLE=1",
			       &told);
}

CUresult memory_lend_end(struct peer *p, CUdeviceptr device)
{
	const struct q_lend_end q = { device };
	struct call c = { .op = OP_lend_end, .fixed = &q, .bytes = sizeof(q), .to.peer = p };

	return call_sync(&c, 0);
}
