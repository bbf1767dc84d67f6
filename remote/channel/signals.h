/* SPDX-License-Identifier: MIT */
/*
 * The program's signals, in a library that has threads of its own, and that repairs faults: of an
 * aperture that is cut short (guard.c), and of managed memory (remote/client/managed.c).
 */
#ifndef KVGPU_REMOTE_SIGNALS_H
#define KVGPU_REMOTE_SIGNALS_H

#include <pthread.h>
#include <signal.h>

/*
 * Start a thread of the library's own. It gets no signals, which are for the program's threads, but
 * those for its own faults. 0, or -errno, and then *thread is undefined.
 */
int signals_thread(pthread_t *thread, void *(*run)(void *arg), void *arg);

/*
 * In a handler: hand a fault that is not the library's to the handler @before. If there was none,
 * set the signal's default action, which the access causes when it is tried again.
 */
void signals_hand_on(const struct sigaction *before, int signal, siginfo_t *info, void *context);

#endif
