/* SPDX-License-Identifier: MIT */
/*
 * The server processes of a proxy. Free of MPI: what includes the server's headers and what
 * includes MPI's are apart.
 */
#ifndef KVGPU_CLUSTER_NURSERY_H
#define KVGPU_CLUSTER_NURSERY_H

#include <stdint.h>

/*
 * A process that makes one server process for each connection it is given; called before MPI is
 * there. @device: which of the GPUs that this process sees. A socket to it, or -1. It and all of
 * its processes end when that is closed, or this process ends.
 */
int nursery_begin(const char *library, uint64_t arena, unsigned int device);
/* A connection to a new server process, or -errno. */
int nursery_connect(int nursery);
/* and waits until it has gone */
void nursery_end(int nursery);
/* the program's own, on standard error */
void nursery_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Lines "gpu HOST INDEX TOTAL FREE UUID NAME" of this machine's GPUs on standard output; exit code
 */
int count_run(const char *library);

#endif
