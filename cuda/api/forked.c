// SPDX-License-Identifier: MIT
#include "forked.h"

#include <pthread.h>
#include <stddef.h>

static bool expected, child; /* atomic */

static void after_fork(void)
{
	__atomic_store_n(&child, true, __ATOMIC_RELAXED);
}

void forked_expect(void)
{
	if (!__atomic_exchange_n(&expected, true, __ATOMIC_RELAXED))
		pthread_atfork(NULL, NULL, after_fork);
}

bool forked_is_child(void)
{
	return __atomic_load_n(&child, __ATOMIC_RELAXED);
}
