// SPDX-License-Identifier: MIT
/*
 * Answers and events without an end of a server that lies, under a program whose calls are random
 * (liar.h). The sanitizers judge, and the program, which uses what it gets. KVGPU_FLOOD=N runs N
 * answers and events or a few more; KVGPU_FLOOD_SEED=N uses that seed again, with one server where
 * N is even and with two where it is odd. Prints TAP.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "liar.h"

enum { SESSION = 1000 };

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void *session(void *seed)
{
	static const unsigned int lies[] = { 0, 64, 16, 4 };

	liar_seed(*(uint64_t *)seed, NULL, 0);
	liar_lies = lies[liar_below(4)];
	liar_program(SESSION);
	return NULL;
}

/* each on a thread of its own: its contexts and streams end with it */
int main(void)
{
	uint64_t most = number("KVGPU_FLOOD", 200000), i,
		 seed = number("KVGPU_FLOOD_SEED", time(NULL) / 86400), one;
	pthread_t thread;

	printf("1..1\n# seed %" PRIu64 "\n", seed);
	fflush(stdout);
	liar_begin(1 + seed % 2);
	for (i = 0; __atomic_load_n(&liar_told, __ATOMIC_RELAXED) < most; i++) {
		one = seed + (i << 32);
		if (pthread_create(&thread, NULL, session, &one))
			abort();
		pthread_join(thread, NULL);
	}
	printf("ok 1 - %" PRIu64 " answers and events # %" PRIu64 " programs\n", liar_told, i);
	return 0;
}
