// SPDX-License-Identifier: MIT
/*
 * Compiled twice, to libpthread.so.0 and to libdl.so.2 (LIBDL), with which the client's libraries
 * are linked ahead of libc. They have no code, but names of functions that glibc 2.34 moved into
 * libc, with the versions that these had before. What is linked so wants both libraries, which are
 * empty in newer glibcs, and the old versions, which newer glibcs have.
 */
#ifdef __aarch64__
#define VERSION(since) "2.17" /* this CPU came to glibc after all of these functions */
#else
#define VERSION(since) since
#endif

#define STUB(name, since)                                               \
	__asm__(".symver " #name "," #name "@@@GLIBC_" VERSION(since)); \
	void name(void)                                                 \
	{                                                               \
	}

#ifdef LIBDL
STUB(dlopen, "2.2.5")
STUB(dlsym, "2.2.5")
STUB(dladdr1, "2.3.3")
#else
STUB(pthread_attr_getstacksize, "2.2.5")
STUB(pthread_attr_setstacksize, "2.2.5")
STUB(pthread_condattr_setclock, "2.3.3")
STUB(pthread_create, "2.2.5")
STUB(pthread_detach, "2.2.5")
STUB(pthread_join, "2.2.5")
STUB(pthread_key_create, "2.2.5")
STUB(pthread_mutex_trylock, "2.2.5")
STUB(pthread_once, "2.2.5")
STUB(pthread_rwlock_rdlock, "2.2.5")
STUB(pthread_rwlock_unlock, "2.2.5")
STUB(pthread_rwlock_wrlock, "2.2.5")
STUB(pthread_setspecific, "2.2.5")
STUB(pthread_sigmask, "2.2.5")
#endif
