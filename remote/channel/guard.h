/* SPDX-License-Identifier: MIT */
/*
 * A file that is an aperture can be cut short by any process that may write it, and a device can
 * fail. Then the next access to what is gone is SIGBUS. A client gets zeros instead, which its
 * rings take for a broken peer; a client's server process says so, and ends; a process that has
 * more to do than this looks by guard_try().
 */
#ifndef KVGPU_REMOTE_GUARD_H
#define KVGPU_REMOTE_GUARD_H

#include <stdint.h>

/*
 * One for each process. A handler that the program sets itself later is in the place of this one.
 * @life: shut down, or -1
 */
void guard_client(void *base, uint64_t bytes, int life);
/*
 * @also is @bytes of the same memory, at @base and on; NULL: no more. Does nothing where @base is
 * not in what is guarded
 */
void guard_also(void *also, const void *base, uint64_t bytes);
/* does nothing where that memory is not guarded */
void guard_end(const void *base);
/* also for processes that fork from this one */
void guard_server(void);
/* this process serves a client there: standard error as it is now is where it says why it ends */
void guard_serve(void);
/*
 * after guard_server(): what @look gives, or -EIO where it touched what is gone. It takes no lock,
 * and keeps nothing
 */
int guard_try(int (*look)(void *arg), void *arg);

#endif
