/* SPDX-License-Identifier: MIT */
/*
 * What a client's process says about its work: written by its serving thread, read by another
 * process at any moment.
 */
#ifndef KVGPU_REMOTE_COUNTERS_H
#define KVGPU_REMOTE_COUNTERS_H

#include <stdint.h>

/* each word atomic */
struct counters {
	uint64_t calls;			/* frames that were carried out */
	uint64_t memory;		/* bytes of device memory that its calls hold */
	uint64_t received, sent;	/* bytes */
};

#endif
