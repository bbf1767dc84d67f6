/* SPDX-License-Identifier: GPL-2.0-only */
/* The helper as a whole: two threads between the model's socket and the windows. */
#ifndef KVGPU_MODEL_PLUGIN_HELPER_H
#define KVGPU_MODEL_PLUGIN_HELPER_H

#include "uffd_window.h"

#pragma GCC visibility push(hidden)	/* as in uffd_window.h */

struct helper {
	struct uw win;
	int calls, faults;
	pthread_t reader, worker;
	void (*say)(const char *text);
};

/*
 * Shakes hands on @calls (taken over) and starts the threads; @say gets one line for a person when
 * something is wrong. 0, -errno when the model can't be talked to, or -EOPNOTSUPP after telling the
 * model that there is no userfaultfd here.
 */
int helper_start(struct helper *h, int calls, void (*say)(const char *text));
/* ends the threads as if the model had gone away */
void helper_stop(struct helper *h);

/* connects to the model's plugin socket; fd or -errno */
int helper_connect(const char *path);

#pragma GCC visibility pop

#endif
