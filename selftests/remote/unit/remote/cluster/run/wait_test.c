// SPDX-License-Identifier: MIT
/*
 * Signals that come before PROGRAM runs: the first one that ends a program is kept, and then
 * PROGRAM is not started; a changed size of the terminal is none.
 */
#include <selftests/unit_test.h>
#include <stdbool.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/cluster/run/folder.h>
#include <remote/cluster/run/run.h>

static unsigned int complaints;

void report_error(const char *format, ...)
{
	complaints++;
}

void folder_remove(const char *path)
{
}

static char word[] = "true", *program[] = { word, NULL };

static int begin(void **state)
{
	static struct run r;

	r = (struct run){ .listener = -1 };
	r.o.program = program;
	complaints = 0;
	*state = &r;
	return !wait_inherit() || !wait_begin(&r);
}

static int end(void **state)
{
	struct run *r = *state;

	close(r->signals);
	wait_give_back();
	return 0;
}

TEST(first_signal_is_kept)
{
	struct run *r = *state;

	raise(SIGWINCH);
	wait_once(r, 0);
	assert_false(r->interrupted);
	raise(SIGINT);
	wait_once(r, 0);
	assert_true(r->interrupted);
	assert_int_equal(r->status, SIGINT);
	raise(SIGWINCH);
	raise(SIGTERM);
	wait_once(r, 0);
	assert_int_equal(r->status, SIGINT);
}

TEST(program_is_not_begun)
{
	struct run *r = *state;

	raise(SIGTERM);
	assert_false(program_run(r));
	assert_int_equal(r->program, 0);
	assert_int_equal(r->status, SIGTERM);
	assert_int_equal(complaints, 1);
}

TEST(program_runs)
{
	struct run *r = *state;

	raise(SIGCONT);
	assert_true(program_run(r));
	assert_true(r->program > 0 && r->program_ended);
	assert_true(WIFEXITED(r->status) && WEXITSTATUS(r->status) == 0);
	assert_int_equal(complaints, 0);
}

TEST_MAIN(begin, end)
