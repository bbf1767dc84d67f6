// SPDX-License-Identifier: MIT
#include "pool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

struct pool {
	pthread_mutex_t lock; /* robust, shared by the processes */
	struct share shares[POOL_SHARES];
	/* each process writes its own row; pool_clear() any */
	struct row {
		uint64_t bytes, pinned; /* atomic */
		uint32_t pid; /* atomic */
	} rows[];
};

static size_t size_of(unsigned int programs)
{
	return sizeof(struct pool) + programs * sizeof(struct row);
}

static bool make_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t a;
	bool fine;

	if (pthread_mutexattr_init(&a))
		return false;
	fine = !pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED) &&
	       !pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST) &&
	       !pthread_mutex_init(lock, &a);
	pthread_mutexattr_destroy(&a);
	return fine;
}

int pool_make(unsigned int programs)
{
	int fd = memfd_create("kvgpu-remoted quota", MFD_CLOEXEC | MFD_ALLOW_SEALING), r = 0;
	struct pool *p = NULL;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, size_of(programs)) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		r = -errno;
	else
		p = pool_map(fd, programs);
	if (p && make_lock(&p->lock)) {
		pool_unmap(p, programs);
		return fd;
	}
	if (p)
		pool_unmap(p, programs);
	close(fd);
	return r ? r : -ENOMEM;
}

struct pool *pool_map(int fd, unsigned int programs)
{
	void *p = mmap(NULL, size_of(programs), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

void pool_unmap(struct pool *p, unsigned int programs)
{
	munmap(p, size_of(programs));
}

void pool_keep(struct pool *p, unsigned int programs)
{
	madvise(p, size_of(programs), MADV_DONTFORK);
}

struct share *pool_shares(struct pool *p)
{
	return p->shares;
}

/*
 * Shares are taken from the first one on, so they end at the first that nobody had. Who was killed
 * while taking one may have written no key.
 */
void pool_clear(struct pool *p, unsigned int row)
{
	struct share *a;
	uint64_t state;

	__atomic_store_n(&p->rows[row].bytes, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->rows[row].pid, 0, __ATOMIC_RELAXED);
	for (a = p->shares; a < p->shares + POOL_SHARES; a++) {
		state = __atomic_load_n(&a->state, __ATOMIC_ACQUIRE);
		if (!state && !a->key[0])
			break;
		if (__atomic_load_n(&a->recorder, __ATOMIC_ACQUIRE) == row + 1)
			__atomic_store_n(&a->happened,
					 __atomic_load_n(&a->recorded, __ATOMIC_ACQUIRE),
					 __ATOMIC_RELEASE);
		if (SHARE_PROGRAM(state) == row + 1) {
			a->key[0] = 1;
			__atomic_store_n(&a->state, 0, __ATOMIC_RELEASE);
		}
	}
}

uint64_t pool_bytes(const struct pool *p, unsigned int row)
{
	return __atomic_load_n(&p->rows[row].bytes, __ATOMIC_RELAXED);
}

uint32_t pool_pid(const struct pool *p, unsigned int row)
{
	return __atomic_load_n(&p->rows[row].pid, __ATOMIC_RELAXED);
}

void pool_set_pid(struct pool *p, unsigned int row, uint32_t pid)
{
	__atomic_store_n(&p->rows[row].pid, pid, __ATOMIC_RELAXED);
}

uint64_t pool_others(const struct pool *p, unsigned int programs, unsigned int row)
{
	uint64_t sum = 0, bytes;
	unsigned int i;

	for (i = 0; i < programs; i++)
		if (i != row) {
			bytes = pool_bytes(p, i);
			if (__builtin_add_overflow(sum, bytes, &sum))
				return UINT64_MAX;
		}
	return sum;
}

bool pool_take(struct pool *p, unsigned int programs, unsigned int row, uint64_t bytes,
	       uint64_t limit)
{
	uint64_t others;
	bool fits;

	if (pthread_mutex_lock(&p->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&p->lock);
	others = pool_others(p, programs, row);
	fits = others <= limit && bytes <= limit - others;
	if (fits)
		__atomic_store_n(&p->rows[row].bytes, bytes, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&p->lock);
	return fits;
}

bool pool_pin(struct pool *p, unsigned int programs, unsigned int row, uint64_t bytes,
	      uint64_t limit)
{
	uint64_t sum = bytes;
	unsigned int i;
	bool fits = true;

	if (pthread_mutex_lock(&p->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&p->lock);
	for (i = 0; i < programs && fits; i++)
		fits = i == row ||
		       !__builtin_add_overflow(
			       sum, __atomic_load_n(&p->rows[i].pinned, __ATOMIC_RELAXED), &sum);
	fits = fits && sum <= limit;
	if (fits)
		__atomic_store_n(&p->rows[row].pinned, bytes, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&p->lock);
	return fits;
}

void pool_unpin(struct pool *p, unsigned int row)
{
	__atomic_store_n(&p->rows[row].pinned, 0, __ATOMIC_RELAXED);
}

void pool_give(struct pool *p, unsigned int row, uint64_t bytes)
{
	__atomic_store_n(&p->rows[row].bytes, bytes, __ATOMIC_RELAXED);
}
