/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The helper: two threads inside QEMU, between the model's socket and the windows. The reader sends
 * page faults to the model. The worker carries out the model's calls, and ends the reader when the
 * model ends.
 *
 * The reader must never wait for the worker (uffd_window.c says why): share no lock between them
 * but that of struct uw.
 */
#ifndef KVGPU_MODEL_PLUGIN_HELPER_H
#define KVGPU_MODEL_PLUGIN_HELPER_H

#include "uffd_window.h"

#pragma GCC visibility push(hidden) /* as in uffd_window.h */

/* Set by helper_start(). At its end the worker closes .calls and .faults, and frees .win. */
struct helper {
	struct uw win;
	int calls, faults;
	pthread_t reader, worker;
	void (*say)(const char *text);
};

/*
 * Shake hands on @calls (taken over) and start the threads, which use @h until they end. This waits
 * as long as the model serves the helper of another QEMU, as it serves one at a time. Return 0,
 * -errno, or -EOPNOTSUPP after the model was told that pages can't be served here. When the model
 * goes away later, @say (which may be NULL) gets one line for the user, on the worker's thread.
 * Then, and after an error, @calls is closed. After an error @say is not called, and @h may be
 * freed.
 */
int helper_start(struct helper *h, int calls, void (*say)(const char *text));

/* Connect to the model's plugin socket. Return the descriptor or -errno. */
int helper_connect(const char *path);

#pragma GCC visibility pop

#endif
