/* SPDX-License-Identifier: MIT */
/*
 * The program's signals, in a library that has threads of its own, and that mends faults: of an
 * aperture that is cut short (guard.c), and of managed memory (remote/client/managed.c).
 */
#ifndef KVGPU_REMOTE_SIGNALS_H
#define KVGPU_REMOTE_SIGNALS_H

#include <pthread.h>
#include <signal.h>

/*
 * A thread of the library's own: the program's signals are for the program's threads, but those
 * that tell of a fault here. 0 or -errno; then *thread says nothing.
 */
int signals_thread(pthread_t *thread, void *(*run)(void *arg), void *arg);

/*
 * In a handler: a fault that is none of the library's goes to the handler that was there @before.
 * Where there was none, the signal does from now on what it does by itself, at the access that is
 * tried again.
 */
void signals_hand_on(const struct sigaction *before, int signal, siginfo_t *info, void *context);

#endif
