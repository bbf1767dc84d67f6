// SPDX-License-Identifier: MIT
/* The forker of a proxy: it is in the machine's registry when forker_begin() returns. */
#include <selftests/unit_test.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/cluster/relay/forker.h>
#include <remote/cluster/relay/registry.h>
#include <remote/cluster/relay/say.h>

void relay_say(const char *format, ...)
{
	fail_msg("the forker says: %s", format);
}

/* No program comes, and there is no quota: what a server process is made of is not reached. */
#define UNREACHED(name)  \
	void name(void); \
	void name(void)  \
	{                \
		abort(); \
	}
UNREACHED(confine)
UNREACHED(filter_install)
UNREACHED(filter_tighten)
UNREACHED(library_load)
UNREACHED(pool_clear)
UNREACHED(pool_make)
UNREACHED(pool_map)
UNREACHED(server_run)
UNREACHED(server_init)
UNREACHED(stdio_capture_start)

static void print(const char *uuid)
{
	struct registry_gpu gpu = { .device = 3 };

	snprintf(gpu.uuid, sizeof(gpu.uuid), "%s", uuid);
	registry_print("here", &gpu, 1);
	fflush(stdout);
}

/* what registry_print() of another process prints of the GPU */
static const char *listed(const char *uuid)
{
	static char text[512];
	int out[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (!pid) {
		dup2(out[1], 1);
		print(uuid);
		_exit(0);
	}
	close(out[1]);
	assert_true((n = read(out[0], text, sizeof(text) - 1)) >= 0);
	text[n] = 0;
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return text;
}

/*
 * A program can look as soon as its proxy is there. The forker is a process of its own, which may
 * not have run yet: it can't enter itself.
 */
TEST(listed_at_once)
{
	char uuid[33], who[64];
	const struct forker_gpu gpu = { .device = 3, .uuid = uuid, .label = "7:early" };
	int i;

	for (i = 0; i < 20; i++) {
		int forker;

		snprintf(uuid, sizeof(uuid), "%024x%08x", i, getpid());
		forker = forker_begin(&gpu);
		assert_true(forker >= 0);
		snprintf(who, sizeof(who), "user here 3 %d ", getpid());
		assert_memory_equal(listed(uuid), who, strlen(who));
		forker_end(forker);
		assert_string_equal(listed(uuid), "");
	}
}

TEST_MAIN(NULL, NULL)
