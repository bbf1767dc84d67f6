// SPDX-License-Identifier: MIT
/*
 * A ring of bytes, and rows that say what is where. There is no lock: a reader copies and then
 * hashes what it has, so that an image which another process overwrites meanwhile is not found.
 */
#include "images.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <remote/channel/tls.h>

enum { ROWS = 4096 };

struct kept {
	uint8_t hash[KVGPU_REMOTE_HASH];
	uint64_t at, bytes;
};

/* positions and numbers only grow; atomic */
struct images {
	uint64_t end, images;
	struct kept row[ROWS];
	uint8_t ring[];
};

static size_t size_of(uint64_t bytes)
{
	return sizeof(struct images) + bytes;
}

bool images_fit(uint64_t bytes, uint64_t size)
{
	return size_of(bytes) == size;
}

int images_make(uint64_t bytes)
{
	int fd = memfd_create("kvgpu-remoted images", MFD_CLOEXEC | MFD_ALLOW_SEALING), r;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, size_of(bytes)) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	r = -errno;
	close(fd);
	return r;
}

struct images *images_map(int fd, uint64_t bytes)
{
	struct stat st;
	void *m;

	if (fstat(fd, &st) || !images_fit(bytes, st.st_size))
		return NULL;
	m = mmap(NULL, size_of(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return m == MAP_FAILED ? NULL : m;
}

void images_unmap(struct images *m, uint64_t bytes)
{
	munmap(m, size_of(bytes));
}

void images_keep(struct images *m, uint64_t bytes, const uint8_t *hash, const void *image,
		 uint64_t n)
{
	struct kept k = { .bytes = n };
	uint64_t at, first;

	if (!n || n > bytes)
		return;
	k.at = __atomic_fetch_add(&m->end, n, __ATOMIC_RELAXED);
	at = k.at % bytes;
	first = n < bytes - at ? n : bytes - at;
	memcpy(m->ring + at, image, first);
	memcpy(m->ring, (const uint8_t *)image + first, n - first);
	memcpy(k.hash, hash, sizeof(k.hash));
	m->row[__atomic_fetch_add(&m->images, 1, __ATOMIC_ACQ_REL) % ROWS] = k;
}

/* the last one that was kept: one kept before under the same hash was none of it */
static bool find_row(const struct images *m, const uint8_t *hash, uint64_t n, struct kept *k)
{
	uint64_t last = __atomic_load_n(&m->images, __ATOMIC_ACQUIRE), i;

	for (i = 1; i <= ROWS; i++) {
		*k = *(const volatile struct kept *)&m->row[(last - i) % ROWS];
		if (k->bytes == n && !memcmp(k->hash, hash, sizeof(k->hash)))
			return true;
	}
	return false;
}

uint8_t *images_find(const struct images *m, uint64_t bytes, const uint8_t *hash, uint64_t n)
{
	uint8_t real[KVGPU_REMOTE_HASH], *copy;
	uint64_t at, first;
	struct kept k;

	if (!n || n > bytes || !find_row(m, hash, n, &k))
		return NULL;
	copy = malloc(n + 1);
	if (!copy)
		return NULL;
	at = k.at % bytes;
	first = n < bytes - at ? n : bytes - at;
	memcpy(copy, m->ring + at, first);
	memcpy(copy + first, m->ring, n - first);
	copy[n] = 0;
	if (tls_hash(copy, n, real) && !memcmp(real, hash, sizeof(real)))
		return copy;
	free(copy);
	return NULL;
}
