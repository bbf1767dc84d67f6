/* SPDX-License-Identifier: MIT */
/*
 * Why the kernel killed a channel, or an SM gave up, as nouveau's lines in the kernel's log have
 * it. Pure.
 */
#ifndef KVGPU_CUDA_CAUSE_H
#define KVGPU_CUDA_CAUSE_H

#include "device.h"

struct cause_reader {
	char owner[64];		/* "name[pid]", as nouveau calls this process's channels */
	bool ours;		/* the last trap began in one of our channels */
	/* the scheduler saw an engine hang: whoever is disabled next did that */
	bool timeout;
	enum device_cause cause;
};

/* @line: without its end; the first cause that is found stays */
void cause_line(struct cause_reader *r, const char *line);

#endif
