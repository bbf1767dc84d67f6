/* SPDX-License-Identifier: MIT */
/*
 * The daemon of mpirun that has started this rank on its machine. Where the network to mpirun is
 * cut, the daemon would wait for long. For proxies alone.
 */
#ifndef KVGPU_CLUSTER_DAEMON_H
#define KVGPU_CLUSTER_DAEMON_H

#include <stdbool.h>

/* Note the process that has started this one. Call first: daemon_end() ends what was noted. */
void daemon_note(void);
/*
 * The broker is out of reach. End the daemon, unless it still has other children after @patience_s:
 * the proxy with the least pid waits for that, other proxies don't. The call may return.
 */
void daemon_end(unsigned int patience_s);
/*
 * MPI_Init() begins now, which waits for all ranks: if it is not through in @s seconds a handler of
 * SIGALRM ends this process, with @end the daemon before it. daemon_begun(): it is through.
 */
void daemon_limit(unsigned int s, bool end);
void daemon_begun(void);

#endif
