/* SPDX-License-Identifier: MIT */
/*
 * Why the kernel killed a channel, or an SM gave up: read from nouveau's lines in the kernel's log.
 * Pure.
 */
#ifndef KVGPU_CUDA_CAUSE_H
#define KVGPU_CUDA_CAUSE_H

#include "device.h"

/*
 * log.c's nv_cause() fills in .owner and zeroes the rest. It gives the reader the text of each new
 * line of the log, with the device's check_lock held.
 */
struct cause_reader {
	char owner[64]; /* "name[pid]", as nouveau calls this process's channels */
	bool ours; /* the last trap began in one of our channels */
	/* an engine hung: the next channel that is disabled is taken for the cause */
	bool timeout;
	enum device_cause cause;
};

/* The first cause that is found stays in r->cause. */
void cause_line(struct cause_reader *r, const char *line);

#endif
