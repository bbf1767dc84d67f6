/* SPDX-License-Identifier: MIT */
/* What a rank tells the user of the job. Free of MPI. */
#ifndef KVGPU_CLUSTER_SAY_H
#define KVGPU_CLUSTER_SAY_H

/* print "kvgpu-run: HOST: " and this on standard error */
void relay_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
