// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delay the threads of a test program as a busy machine would. This file is linked into the program
 * with the linker's --wrap. Threads then sleep at random before or after the calls below, and
 * before a thread's first statement. A test must pass with any of these delays.
 *
 * KVGPU_LATE is the seed (1 when it is not set; 0: no delays). The seed modulo 3 selects the
 * threads with delays: 1 all but the first thread, 2 only the first thread, 0 all threads. The
 * delays of a thread follow from the seed and the number of the thread; how many of them happen
 * also depends on time.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SHORT_IN 32 /* a thread sleeps at one in SHORT_IN of its points ... */
#define SHORT_NS 1500000u /* ... for less than this ... */
#define LONG_IN	 24 /* ... but in one of LONG_IN such sleeps ... */
#define LONG_NS	 60000000u /* ... for less than this */
/*
 * A thread sleeps no more as long as it has slept longer than START_NS and half of its life so far
 * together, so that programs end.
 */
#define START_NS 100000000u

int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __real_pthread_rwlock_rdlock(pthread_rwlock_t *l);
int __real_pthread_rwlock_wrlock(pthread_rwlock_t *l);
int __real_pthread_rwlock_unlock(pthread_rwlock_t *l);
int __real_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __real_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);
int __real_pthread_cond_signal(pthread_cond_t *c);
int __real_pthread_cond_broadcast(pthread_cond_t *c);
int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg);
int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __real_nanosleep(const struct timespec *t, struct timespec *rest);
int __real_clock_nanosleep(clockid_t id, int flags, const struct timespec *t,
			   struct timespec *rest);
int __real_usleep(useconds_t us);
int __real_poll(struct pollfd *fds, nfds_t n, int ms);
ssize_t __real_read(int fd, void *buf, size_t n);
ssize_t __real_write(int fd, const void *buf, size_t n);
ssize_t __real_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __real_recvmsg(int fd, struct msghdr *m, int flags);

static atomic_uint nr_threads;
static __thread struct {
	uint64_t rnd, born, total;
	bool known, late;
} me;

static uint64_t seed(void)
{
	const char *s = getenv("KVGPU_LATE");

	return s && *s ? strtoull(s, NULL, 10) : 1;
}

static uint64_t clock_ns(void)
{
	struct timespec ts;

	__real_clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/*
 * Give the calling thread its number and its random numbers. The first thread calls this before it
 * makes another, and has number 0.
 */
static void known(void)
{
	unsigned int nr = atomic_fetch_add(&nr_threads, 1);
	uint64_t s = seed();

	me.known = true;
	me.born = clock_ns();
	me.rnd = (s * 0x9e3779b97f4a7c15ull ^ (nr + 1) * 0xbf58476d1ce4e5b9ull) | 1;
	me.late = s && (s % 3 == 0 || (s % 3 == 1) == (nr > 0));
}

static uint32_t rnd(void)
{
	me.rnd ^= me.rnd << 13;
	me.rnd ^= me.rnd >> 7;
	me.rnd ^= me.rnd << 17;
	return me.rnd * 0x2545f4914f6cdd1dull >> 32;
}

static void late(void)
{
	struct timespec ts = { 0 };

	if (!me.known)
		known();
	if (!me.late || rnd() % SHORT_IN || me.total > START_NS + (clock_ns() - me.born) / 2)
		return;
	ts.tv_nsec = rnd() % (rnd() % LONG_IN ? SHORT_NS : LONG_NS);
	me.total += (uint64_t)ts.tv_nsec;
	__real_nanosleep(&ts, NULL);
}

/* weak: a test that wraps a call itself has no delays there */
#define BEFORE(ret, name, params, args)                \
	__attribute__((weak)) ret __wrap_##name params \
	{                                              \
		late();                                \
		return __real_##name args;             \
	}
#define AFTER(ret, name, params, args)                 \
	__attribute__((weak)) ret __wrap_##name params \
	{                                              \
		ret r_ = __real_##name args;           \
                                                       \
		late();                                \
		return r_;                             \
	}

BEFORE(int, pthread_mutex_lock, (pthread_mutex_t * m), (m))
AFTER(int, pthread_mutex_unlock, (pthread_mutex_t * m), (m))
BEFORE(int, pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l))
BEFORE(int, pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l))
AFTER(int, pthread_rwlock_unlock, (pthread_rwlock_t * l), (l))
BEFORE(int, pthread_cond_signal, (pthread_cond_t * c), (c))
BEFORE(int, pthread_cond_broadcast, (pthread_cond_t * c), (c))
AFTER(int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), (c, m))
AFTER(int, pthread_cond_timedwait,
      (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *t), (c, m, t))
AFTER(int, clock_gettime, (clockid_t id, struct timespec *ts), (id, ts))
AFTER(int, nanosleep, (const struct timespec *t, struct timespec *rest), (t, rest))
AFTER(int, clock_nanosleep,
      (clockid_t id, int flags, const struct timespec *t, struct timespec *rest),
      (id, flags, t, rest))
AFTER(int, usleep, (useconds_t us), (us))
AFTER(int, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms))
BEFORE(ssize_t, read, (int fd, void *buf, size_t n), (fd, buf, n))
BEFORE(ssize_t, write, (int fd, const void *buf, size_t n), (fd, buf, n))
BEFORE(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags))
AFTER(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags))

struct start {
	void *(*f)(void *);
	void *arg;
};

static void *late_start(void *arg)
{
	struct start s = *(struct start *)arg;

	free(arg);
	known();
	late();
	return s.f(s.arg);
}

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg)
{
	struct start *s = malloc(sizeof(*s));
	int ret;

	if (!me.known)
		known();
	if (!s)
		return __real_pthread_create(t, a, f, arg);
	*s = (struct start){ f, arg };
	ret = __real_pthread_create(t, a, late_start, s);
	if (ret)
		free(s);
	late();
	return ret;
}
