/* SPDX-License-Identifier: MIT */
/*
 * How code of ours behaves in a process that others have begun: with descriptors 0 to 2 closed,
 * SIGCHLD ignored, signals blocked, any limits, or with rights that who began it lacks. Includes
 * libc alone; used by cuda/ and remote/.
 */
#ifndef KVGPU_CUDA_API_PROCESS_H
#define KVGPU_CUDA_API_PROCESS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

/* OWN_STACK: of threads, between which the limit of stacks decides */
enum { OWN_STACK_MIN = 1 << 20, OWN_STACK_MAX = 8 << 20, OWN_DESCRIPTORS = 1024 };

/*
 * False: the program has rights that its caller lacks (set-user-ID, set-group-ID, capabilities of
 * its file). Then nothing of the environment says what is run or loaded, or where is written.
 */
static inline bool environment_is_own(void)
{
	return !getauxval(AT_SECURE);
}

/*
 * In a library: move a new descriptor above 2, to close on exec. Descriptors 0 to 2 are the
 * program's, which prints there even where it was started with them closed. A negative @fd stays.
 * -1: errno says why, and @fd is closed.
 */
static inline int own_descriptor(int fd)
{
	int moved, error;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	error = errno;
	close(fd);
	errno = error;
	return moved;
}

/* The same of a stream that was opened in @mode, which nobody has read or written; or NULL. */
static inline FILE *own_file(FILE *f, const char *mode)
{
	FILE *moved;
	int fd;

	if (!f || fileno(f) > STDERR_FILENO)
		return f;
	fd = fcntl(fileno(f), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	moved = fd < 0 ? NULL : fdopen(fd, mode);
	if (!moved && fd >= 0)
		close(fd);
	fclose(f);
	return moved;
}

/*
 * In a library: start a thread that takes none of the program's signals but those of its own
 * faults. 0, or an error number, and then *thread is undefined.
 */
static inline int own_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	static const int faults[] = { SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
	sigset_t all, old;
	pthread_attr_t a;
	size_t stack;
	unsigned int i;
	int r = pthread_attr_init(&a);

	if (r)
		return r;
	if (!pthread_attr_getstacksize(&a, &stack) &&
	    (stack < OWN_STACK_MIN || stack > OWN_STACK_MAX))
		pthread_attr_setstacksize(&a,
					  stack < OWN_STACK_MIN ? OWN_STACK_MIN : OWN_STACK_MAX);
	sigfillset(&all);
	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(thread, &a, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&a);
	return r;
}

/*
 * For main() of a program of ours. A closed descriptor 0 to 2 gets one whose use fails as well, and
 * which exec closes. SIGCHLD gets its default, without which no child could be waited for, and no
 * signal is blocked.
 */
static inline void process_begin(void)
{
	sigset_t none;
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
			_exit(1);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * Let this process have 1,024 descriptors, if it may have fewer, and may have that. Return how many
 * it may have now. More are not asked for: an mpirun may close each that it might have.
 */
static inline unsigned long process_descriptors(void)
{
	struct rlimit l;
	rlim_t before;

	if (getrlimit(RLIMIT_NOFILE, &l))
		return 0;
	before = l.rlim_cur;
	if (l.rlim_cur < OWN_DESCRIPTORS)
		l.rlim_cur = l.rlim_max < OWN_DESCRIPTORS ? l.rlim_max : OWN_DESCRIPTORS;
	return setrlimit(RLIMIT_NOFILE, &l) ? before : l.rlim_cur;
}

#endif
