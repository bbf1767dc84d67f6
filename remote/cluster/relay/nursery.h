/* SPDX-License-Identifier: MIT */
/*
 * The server processes of a proxy. Free of MPI: no file includes both the server's headers and
 * MPI's.
 */
#ifndef KVGPU_CLUSTER_NURSERY_H
#define KVGPU_CLUSTER_NURSERY_H

#include <stdint.h>

/*
 * Start the nursery, a process that makes a server process for each connection that it is given.
 * Call before MPI is there. @device: which of the GPUs that this process sees. Returns a socket to
 * the nursery, or -1. The nursery and all of its processes end when that socket is closed, or when
 * this process ends.
 */
int nursery_begin(const char *library, uint64_t arena, unsigned int device);
/* Return a connection to a new server process, or -errno. */
int nursery_connect(int nursery);
/* close the socket to the nursery, and wait until the nursery has ended */
void nursery_end(int nursery);
/* print a line of the program's own on standard error */
void nursery_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Print a line "gpu HOST INDEX TOTAL FREE UUID NAME" for each GPU of this machine on standard
 * output; return the exit code.
 */
int count_run(const char *library);

#endif
