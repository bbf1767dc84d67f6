// SPDX-License-Identifier: MIT
/* Which processes are children of another one: by its list of them, whatever their names are. */
#include <selftests/unit_test.h>
#include <stdbool.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/cluster/run/children.h>

enum { MOST = 8 };

static pid_t child_named(const char *name)
{
	int pipes[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_NAME, name);
		if (write(pipes[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	close(pipes[0]);
	close(pipes[1]);
	return pid;
}

TEST(living_ones)
{
	pid_t first = child_named("plain"), second = child_named("a) Z 1 ("), list[MOST];
	siginfo_t info;

	assert_int_equal(children_of(getpid(), list, MOST), 2);
	assert_true((list[0] == first && list[1] == second) ||
		    (list[0] == second && list[1] == first));
	assert_int_equal(children_of(getpid(), list, 1), 1);
	assert_int_equal(children_of(first, list, MOST), 0);
	/* one that has ended, and was not waited for, is none */
	kill(first, SIGKILL);
	assert_int_equal(waitid(P_PID, first, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(children_of(getpid(), list, MOST), 1);
	assert_int_equal(list[0], second);
	kill(second, SIGKILL);
	while (wait(NULL) > 0)
		;
	assert_int_equal(children_of(getpid(), list, MOST), 0);
}

TEST_MAIN(NULL, NULL)
