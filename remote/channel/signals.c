// SPDX-License-Identifier: MIT
/* The program's signals: signals.h. */
#include "signals.h"

#include <cuda/api/process.h>

int signals_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	return -own_thread(thread, run, arg);
}

void signals_hand_on(const struct sigaction *before, int signal, siginfo_t *info, void *context)
{
	if (before->sa_flags & SA_SIGINFO)
		before->sa_sigaction(signal, info, context);
	else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
		before->sa_handler(signal);
	else
		sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
}
