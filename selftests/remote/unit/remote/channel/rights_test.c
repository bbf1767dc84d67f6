// SPDX-License-Identifier: MIT
/*
 * Descriptors that a peer sends unasked, and whose last close() waits: by a kernel that refuses
 * them, and by one that can't. A wait is seen by alarm(): it ends this program.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <remote/channel/address.h>
#include <remote/channel/rights.h>
#include <remote/channel/pending.h>

#include "selftests/own_folder.h"
#include "selftests/remote/unit/remote/linger.h"

enum { JUNK = 128 };

static unsigned int forks;

pid_t __real_fork(void);
pid_t __wrap_fork(void)
{
	forks++;
	return __real_fork();
}

static int set_up(void **state)
{
	old_kernel = true;
	alarm(HANGS_S);
	return 0;
}

static int tear_down(void **state)
{
	alarm(0);
	return 0;
}

static void make_pair(int type, int pair[2])
{
	assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair), 0);
}

TEST(the_kernel_refuses)
{
	socklen_t bytes = sizeof(int);
	int pair[2], passes;
	char byte = 0;

	old_kernel = false;
	make_pair(SOCK_STREAM, pair);
	if (getsockopt(pair[0], SOL_SOCKET, LINGER_PASS_RIGHTS, &passes, &bytes)) {
		/* cmocka's skip() would print "not ok" */
		print_message("# the_kernel_refuses: not run, this kernel can't\n");
		return;
	}
	rights_refuse(pair[0]);
	assert_int_equal(linger_send(pair[1], "x", 1, 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(send(pair[1], "y", 1, 0), 1);
	assert_int_equal(rights_read(pair[0], &byte, 1), 1);
	assert_int_equal(byte, 'y');
	rights_close(pair[0]);
	assert_int_equal(waitpid(-1, NULL, 0), -1); /* no child was needed */
	close(pair[1]);
}

/* with bytes, an urgent one, and without any, which a message may be */
TEST(closing_does_not_wait)
{
	static const struct {
		int type, flags;
		size_t n;
	} rows[] = {
		{ SOCK_STREAM, 0, 3 },
		{ SOCK_STREAM, MSG_OOB, 1 },
		{ SOCK_SEQPACKET, 0, 3 },
		{ SOCK_SEQPACKET, 0, 0 },
	};
	int pair[2], other, copy;
	unsigned int i;

	for (i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
		make_pair(rows[i / 2].type, pair);
		other = linger_send(pair[1], "abc", rows[i / 2].n, rows[i / 2].flags);
		assert_true(other >= 0);
		close(pair[1]);
		copy = i % 2 ? dup(pair[0]) : -1;
		if (copy >= 0)
			rights_close_copy(copy);
		rights_close(pair[0]);
		linger_ends(other);
	}
}

/* Another process has set SO_LINGER of the connection, and has ended. What it had sent comes. */
TEST(a_connection_does_not_linger)
{
	int other;

	rights_close(linger_make(&other));
	linger_ends(other);
	rights_close_copy(linger_make(&other));
	linger_ends(other);
}

/*
 * Peers that say what nobody reads, with or without a descriptor, and go: a fork costs this process
 * more than such a connection costs a peer.
 */
TEST(junk_costs_few_forks)
{
	int pair[2], others[JUNK / 2];
	unsigned int i;

	forks = 0;
	for (i = 0; i < JUNK; i++) {
		make_pair(SOCK_STREAM, pair);
		if (i % 2)
			others[i / 2] = linger_send(pair[1], "abc", 3, 0);
		else
			assert_int_equal(send(pair[1], "abc", 3, 0), 3);
		rights_close(pair[0]);
		/* the peer sees the end at once */
		assert_int_equal(recv(pair[1], pair, 1, MSG_DONTWAIT), 0);
		close(pair[1]);
	}
	assert_in_range(forks, 0, JUNK / 10);
	for (i = 0; i < JUNK / 2; i++)
		linger_ends(others[i]);
}

/* What another process has of a connection goes on. */
TEST(a_copy_is_not_the_connection)
{
	int pair[2], copy;
	char byte;

	make_pair(SOCK_STREAM, pair);
	copy = dup(pair[0]);
	rights_close_copy(copy);
	assert_int_equal(send(pair[1], "x", 1, MSG_NOSIGNAL), 1);
	assert_int_equal(recv(pair[0], &byte, 1, MSG_DONTWAIT), 1);
	copy = dup(pair[0]);
	rights_close(copy);
	assert_int_equal(send(pair[1], "x", 1, MSG_NOSIGNAL), -1);
	close(pair[0]);
	close(pair[1]);
}

TEST(reading_does_not_wait)
{
	static const struct {
		int type, flags;
		size_t before, n;
	} rows[] = {
		{ SOCK_STREAM, 0, 0, 1 },	{ SOCK_STREAM, 0, 2, 3 },
		{ SOCK_STREAM, MSG_OOB, 0, 1 }, { SOCK_SEQPACKET, 0, 0, 3 },
		{ SOCK_SEQPACKET, 0, 0, 0 },
	};
	int pair[2], other;
	unsigned int i, k;
	char bytes[16];
	ssize_t n = 0;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		make_pair(rows[i].type, pair);
		if (rows[i].before)
			assert_true(send(pair[1], "abc", rows[i].before, 0) > 0);
		other = linger_send(pair[1], "abc", rows[i].n, rows[i].flags);
		assert_true(other >= 0);
		/* behind an urgent byte there are plain ones */
		if (rows[i].flags)
			assert_int_equal(send(pair[1], "de", 2, 0), 2);
		for (k = 0; k < 4 && n >= 0; k++)
			n = rights_read(pair[0], bytes, sizeof(bytes));
		assert_int_equal(n, -1);
		assert_int_equal(errno, EPROTO);
		rights_close(pair[0]);
		linger_ends(other);
		close(pair[1]);
		n = 0;
	}
}

TEST(other_bytes_are_read)
{
	char bytes[16];
	int pair[2];

	make_pair(SOCK_STREAM, pair);
	assert_int_equal(rights_read(pair[0], bytes, sizeof(bytes)), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(send(pair[1], "abcde", 5, 0), 5);
	assert_int_equal(rights_read(pair[0], bytes, 3), 3);
	assert_int_equal(rights_read(pair[0], bytes + 3, sizeof(bytes) - 3), 2);
	assert_memory_equal(bytes, "abcde", 5);
	close(pair[1]);
	assert_int_equal(rights_read(pair[0], bytes, sizeof(bytes)), 0);
	rights_close(pair[0]);
}

/* Of a connection of its parent's, a child has the last copy. */
static void child_closes(void)
{
	int pair[2], told[2], other, status;
	char byte;
	pid_t pid;

	make_pair(SOCK_STREAM, pair);
	rights_refuse(pair[0]);
	rights_allow(pair[0]);
	other = linger_send(pair[1], "abc", 3, 0);
	assert_true(other >= 0);
	assert_int_equal(pipe(told), 0);
	pid = fork();
	if (!pid) {
		alarm(HANGS_S);
		close(other);
		close(told[1]);
		dup2(told[0], 0);
		(void)!read(0, &byte, 1);
		rights_closefrom(3);
		_exit(waitpid(-1, NULL, 0) != -1);
	}
	close(pair[1]);
	close(pair[0]);
	close(told[0]);
	close(told[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	linger_ends(other);
}

TEST(a_child_does_not_wait)
{
	child_closes();
}

/* a kernel that could refuse them was asked to let them come again */
TEST(a_child_does_not_wait_where_they_come)
{
	old_kernel = false;
	child_closes();
}

/* Who rings sends such a descriptor with the first bytes, or behind them. */
TEST(at_the_doorbell)
{
	struct address at = { .scheme = ADDRESS_UNIX };
	struct kvgpu_remote_hello hello = { KVGPU_REMOTE_MAGIC_SHMEM, 7 };
	struct pending_clients r;
	const char *why;
	unsigned int i;
	int fd, other;

	snprintf(at.host, sizeof(at.host), "%s/bell", own_folder());
	assert_int_equal(pending_listen(&r, &at, &why), 0);
	for (i = 0; i < 3; i++) {
		fd = address_connect(&at, &why);
		assert_true(fd >= 0);
		if (i)
			assert_int_equal(send(fd, &hello, sizeof(hello), 0), sizeof(hello));
		if (i == 2) /* its name is read before */
			pending_accept(&r);
		other = linger_send(fd, &hello, sizeof(hello), 0);
		assert_true(other >= 0);
		pending_accept(&r);
		pending_drop_all(&r);
		assert_false(pending_any(&r));
		linger_ends(other);
		close(fd);
	}
	/* one that was not accepted */
	fd = address_connect(&at, &why);
	other = linger_send(fd, &hello, sizeof(hello), 0);
	close(fd);
	pending_end(&r);
	linger_ends(other);
}

TEST_MAIN(set_up, tear_down)
