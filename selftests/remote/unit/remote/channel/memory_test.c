// SPDX-License-Identifier: MIT
/*
 * Memory that travels, in processes with limits, and with descriptors 0 to 2 closed. Each case is a
 * child, whose exit code tells.
 */
#include <selftests/unit_test.h>

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/channel/conn.h>
#include <remote/channel/memory.h>

enum { BYTES = 1 << 20, SMALL = 4096, NOBODY = 65534, END = 128 };

/* the wait status of a child that does that */
static int status_of(int (*child)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void limit(int what, rlim_t soft, rlim_t hard)
{
	struct rlimit l = { soft, hard };

	if (setrlimit(what, &l))
		_exit(99);
}

/* only root raises a hard limit */
static int beyond_a_limit(void)
{
	limit(RLIMIT_FSIZE, SMALL, SMALL);
	if (!getuid() && setuid(NOBODY))
		return 98;
	memory_unlimited();
	return memory_make(BYTES) != -EFBIG || !strstr(memory_text(EFBIG), "ulimit -f");
}

static int below_the_hard_limit(void)
{
	limit(RLIMIT_FSIZE, SMALL, RLIM_INFINITY);
	memory_unlimited();
	return memory_make(BYTES) < 0;
}

TEST(files_are_limited)
{
	assert_int_equal(status_of(beyond_a_limit), 0);
	assert_int_equal(status_of(below_the_hard_limit), 0);
}

/* A pair of sockets, the second with bytes and a descriptor to read; the message is in *word. */
static struct conn give(uint64_t *word)
{
	int pair[2], memory = memory_make(BYTES);

	*word = 0;
	if (memory < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
	    memory_send(pair[0], &(uint64_t){ 7 }, sizeof(*word), memory))
		_exit(97);
	close(memory);
	return (struct conn){ .fd = pair[1] };
}

static int no_descriptor_left(void)
{
	uint64_t word;
	struct conn l = give(&word);
	int memory, last = dup(l.fd);

	while (last >= 0 && last < END)
		last = dup(l.fd);
	limit(RLIMIT_NOFILE, END, END);
	return memory_read(&l, &word, sizeof(word), &memory) != -EMFILE || memory >= 0;
}

static int standard_ones_closed(void)
{
	uint64_t word;
	struct conn l = give(&word);
	int memory;

	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	return memory_read(&l, &word, sizeof(word), &memory) || word != 7 ||
	       memory <= STDERR_FILENO || memory_begin() <= STDERR_FILENO;
}

TEST(descriptors_are_few)
{
	assert_int_equal(status_of(no_descriptor_left), 0);
	assert_int_equal(status_of(standard_ones_closed), 0);
}

TEST_MAIN(NULL, NULL)
