/* SPDX-License-Identifier: MIT */
/*
 * A file that is an aperture can be cut short by anybody who may write it, and a device can fail. Then the next access to what is
 * gone is SIGBUS. A client gets zeros instead, which its rings take for a broken peer; a server process says so, and ends.
 */
#ifndef KVGPU_REMOTE_GUARD_H
#define KVGPU_REMOTE_GUARD_H

#include <stdint.h>

/* One for each process. A handler that the program sets itself later is in the place of this one. @life: shut down, or -1 */
void guard_client(void *base, uint64_t bytes, int life);
/* does nothing where that memory is not guarded */
void guard_end(const void *base);
/* also for processes that fork from this one */
void guard_server(void);

#endif
