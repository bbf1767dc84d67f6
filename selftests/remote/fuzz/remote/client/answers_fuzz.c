// SPDX-License-Identifier: MIT
/*
 * Answers and events of a server that lies, and the calls of a program: by liar.h of
 * selftests/remote/unit/remote/client, whose chance are the fuzzer's bytes. There are two servers.
 */
#include "liar.h"

struct input {
	const uint8_t *data;
	size_t n;
};

static void *session(void *arg)
{
	const struct input *in = arg;

	liar_seed(1, in->data, in->n);
	liar_lies = 2 + liar_below(64);
	liar_program(in->n);
	return NULL;
}

/* on a thread of its own: the contexts and streams of a thread end with it */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct input in = { data, n };
	static bool begun;
	pthread_t thread;

	if (!begun)
		liar_begin(2);
	begun = true;
	if (!pthread_create(&thread, NULL, session, &in))
		pthread_join(thread, NULL);
	return 0;
}
