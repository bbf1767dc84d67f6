// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes at the same time, each with a session, channels and streams of its own; one of them is
 * killed in the middle.
 */
#include "client.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "methods.h"
#include "pattern.h"
#include "tap.h"

enum { PROCESSES = 6, STREAMS = 3 };

static int work(const struct client_options *o, unsigned int who, unsigned int rounds)
{
	struct stream s[STREAMS];
	struct rng r;
	struct gpu g;
	unsigned int i, n;
	int ret = 0;

	rng_init(&r, o->seed + who);
	gpu_open(&g, o->node);
	for (i = 0; i < STREAMS; i++)
		stream_open(&s[i], &g, (who + i) % 2 ? ENGINE_CE : ENGINE_GR,
			    rng_range(&r, 1000, 256 * 1024), o->seed + 100 * who + i);
	for (n = 0; !ret && n < rounds; n++) {
		for (i = 0; !ret && i < STREAMS; i++)
			ret = stream_kick(&s[i]);
		for (i = 0; !ret && i < STREAMS; i++)
			ret = stream_check(&s[i], JOB_TIMEOUT_MS);
	}
	for (i = 0; i < STREAMS; i++)
		stream_close(&s[i]);
	gpu_close(&g);
	return ret;
}

void test_stress(const struct client_options *o)
{
	unsigned int rounds = o->quick ? 12 : 200, i, bad = 0;
	pid_t pid[PROCESSES], killed;
	uint64_t start = now_us();
	int status;

	fflush(stdout);
	for (i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			bail("fork");
		if (!pid[i]) {
			int ret = work(o, i, rounds);

			if (ret)
				tap_diag("process %u: %s", i, strerror(-ret));
			_exit(ret ? 1 : 0);
		}
	}
	killed = fork();
	if (killed < 0)
		bail("fork");
	if (!killed)
		_exit(work(o, PROCESSES, ~0u) ? 1 : 0);
	sleep(o->quick ? 1 : 5);
	kill(killed, SIGKILL);
	if (waitpid(killed, &status, 0) != killed || !WIFSIGNALED(status))
		bad++;
	for (i = 0; i < PROCESSES; i++)
		if (waitpid(pid[i], &status, 0) != pid[i] || status)
			bad++;
	tap_result(!bad, "processes side by side, one killed in the middle",
		   "%d processes, %u bad, %.1f s", PROCESSES + 1, bad, (now_us() - start) / 1e6);
}
