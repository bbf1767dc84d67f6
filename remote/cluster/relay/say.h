/* SPDX-License-Identifier: MIT */
/* What a rank tells the user of the job. Free of MPI. */
#ifndef KVGPU_CLUSTER_SAY_H
#define KVGPU_CLUSTER_SAY_H

/* print "kvgpu-run: HOST: " and this on standard error */
void relay_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Say why a library was not loaded, and what to do. */
static inline void relay_say_no_library(const char *path, const char *why)
{
	relay_say("%s: %s: install kvgpu-cuda or the driver of the GPU's vendor, or name its "
		  "libcuda.so.1 by --library",
		  path, why);
}

#endif
