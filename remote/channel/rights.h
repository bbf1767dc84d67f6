/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that a peer sends over a UNIX socket unasked (SCM_RIGHTS). Who puts the last
 * reference of one may wait as long as the peer has chosen: a TCP socket with SO_LINGER. A process
 * that has other peers uses these functions, also where another process may have set SO_LINGER of
 * the connection itself. Where descriptors may come they make children that end at once; the caller
 * reaps children that it does not know.
 */
#ifndef KVGPU_REMOTE_RIGHTS_H
#define KVGPU_REMOTE_RIGHTS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Have the kernel refuse them, since Linux 6.16. Call for a socket before it has a peer; a
 * listening one before bind(), as connections take it over when they come. Does nothing to other
 * sockets.
 */
void rights_refuse(int fd);
/* Take them again on a connection, for memory_some(). */
void rights_allow(int fd);
/* As recv() with MSG_DONTWAIT; -1 and EPROTO: a descriptor would come with these bytes. */
ssize_t rights_read(int fd, void *to, size_t n);
/*
 * Close a socket, which ends the connection for all that have a copy. Up to RIGHTS_KEPT sockets to
 * which descriptors may come, with something unread, stay open, shut down, until there are so many,
 * or this process ends. For one thread of a process.
 */
enum { RIGHTS_KEPT = 16 };
void rights_close(int fd);
/* Close those that stay open. */
void rights_close_kept(void);
/* Close a copy of a socket, or one that listens. Another process may go on with its own copy. */
void rights_close_copy(int fd);
/* As closefrom(), in a child: its copies may have become the last ones. It makes a child. */
void rights_closefrom(int first);

#endif
