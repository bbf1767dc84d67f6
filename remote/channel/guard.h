/* SPDX-License-Identifier: MIT */
/*
 * A file that is a shmem region can be cut short by a process that may write it, and a device can
 * fail. Then an access to the missing memory gets SIGBUS. A client gets zeros instead, and its
 * connection ends. A server's process for one client prints an error, and ends. A process that has
 * other clients, too, accesses the memory by guard_try().
 *
 * A handler runs on the thread that touched the memory, whatever locks that thread holds: it takes
 * no lock. One thread at a time calls guard_client(), guard_also() and guard_end().
 */
#ifndef KVGPU_REMOTE_GUARD_H
#define KVGPU_REMOTE_GUARD_H

#include <stdint.h>

/*
 * Guard memory in a client. A handler that the program sets later replaces this one. @life: a
 * socket that a fault shuts down, or -1.
 */
void guard_client(void *base, uint64_t bytes, int life);
/*
 * @also is a second mapping of @bytes at @base: guard it, too; NULL: no longer. Does nothing if
 * @base is not in the guarded memory.
 */
void guard_also(void *also, const void *base, uint64_t bytes);
/* stop guarding the memory at @base; does nothing if that is not guarded */
void guard_end(const void *base);
/* handle SIGBUS in a server, also in processes that fork from this one */
void guard_server(void);
/* this process serves a client of the memory: standard error as it is now gets the error message */
void guard_serve(void);
/*
 * After guard_server(): returns what @look returns, or -EIO if @look touched missing memory. @look
 * takes no lock, and owns nothing, as it may be left in its middle. In a client: only calls @look.
 */
int guard_try(int (*look)(void *arg), void *arg);

#endif
