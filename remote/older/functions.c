// SPDX-License-Identifier: MIT
/*
 * For the client's libraries alone: what older glibcs have in libc_nonshared.a, and newer ones as
 * symbols that the older ones lack. On x86-64 and arm64 the kernel's struct stat is glibc's.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int stat(const char *restrict path, struct stat *restrict st)
{
	return syscall(SYS_newfstatat, AT_FDCWD, path, st, 0);
}

int lstat(const char *restrict path, struct stat *restrict st)
{
	return syscall(SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int fstatat(int fd, const char *restrict path, struct stat *restrict st, int flags)
{
	return syscall(SYS_newfstatat, fd, path, st, flags);
}

int fstat(int fd, struct stat *st)
{
	return syscall(SYS_fstat, fd, st);
}

/*
 * As in libc_nonshared.a. Where ld takes that one, with link-time optimization, it reads libc a
 * second time, and then prefers its symbols to those of moved.c.
 */
extern void *__dso_handle __attribute__((visibility("hidden")));
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);

int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	return __register_atfork(prepare, parent, child, __dso_handle);
}
