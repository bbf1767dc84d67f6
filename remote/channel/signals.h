/* SPDX-License-Identifier: MIT */
/* The program's signals, in a library that has threads of its own, and that repairs faults. */
#ifndef KVGPU_REMOTE_SIGNALS_H
#define KVGPU_REMOTE_SIGNALS_H

#include <pthread.h>
#include <signal.h>

/*
 * Start a thread of the library's own, which blocks signals but those of faults. 0, or -errno, and
 * then *thread is undefined.
 */
int signals_thread(pthread_t *thread, void *(*run)(void *arg), void *arg);

/*
 * In a handler: hand a fault that is not the library's to the handler @before. If there was none,
 * set the signal's default action.
 */
void signals_hand_on(const struct sigaction *before, int signal, siginfo_t *info, void *context);

#endif
