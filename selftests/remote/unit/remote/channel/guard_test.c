// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client with two shmem regions in files: each file cut short gives zeros in its own memory, and
 * ends its own connection. A fault elsewhere is the program's, as are all faults after both have
 * ended.
 */
#include <selftests/unit_test.h>
#include <stdbool.h>

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <remote/channel/guard.h>

enum { BYTES = 4 << 12 };

struct memory {
	int fd, life[2];
	volatile uint8_t *base, *again;
};

static volatile sig_atomic_t faults;
static sigjmp_buf after;

static void on_fault(int signal)
{
	faults++;
	siglongjmp(after, 1);
}

static volatile uint8_t *map(int fd)
{
	void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_true(p != MAP_FAILED);
	return p;
}

static void make(struct memory *m)
{
	m->fd = memfd_create("aperture", MFD_CLOEXEC);
	assert_int_equal(ftruncate(m->fd, BYTES), 0);
	m->base = map(m->fd);
	m->again = map(m->fd);
	m->base[0] = 7;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, m->life), 0);
}

static void unmake(struct memory *m)
{
	munmap((void *)m->base, BYTES);
	munmap((void *)m->again, BYTES);
	close(m->fd);
	close(m->life[0]);
	close(m->life[1]);
}

static void guard(struct memory *m)
{
	guard_client((void *)m->base, BYTES, m->life[0]);
	guard_also((void *)m->again, (void *)m->base, BYTES);
}

static bool has_ended(const struct memory *m)
{
	char byte;

	return !recv(m->life[1], &byte, 1, MSG_DONTWAIT);
}

/* whether the program's handler got the fault of a read at @at */
static bool is_the_programs(volatile uint8_t *at)
{
	faults = 0;
	if (!sigsetjmp(after, 1))
		(void)*at;
	return faults;
}

static bool handler_is(void (*handler)(int signal))
{
	struct sigaction now;

	assert_int_equal(sigaction(SIGBUS, NULL, &now), 0);
	return now.sa_handler == handler;
}

TEST(two_shmem_regions)
{
	struct memory one, two, other;

	sigaction(SIGBUS, &(struct sigaction){ .sa_handler = on_fault }, NULL);
	make(&one);
	make(&two);
	make(&other);
	guard(&one);
	guard(&two);
	assert_int_equal(ftruncate(one.fd, 0), 0);
	assert_false(is_the_programs(one.base));
	assert_int_equal(one.base[0], 0);
	assert_int_equal(one.again[BYTES - 1], 0);
	assert_true(has_ended(&one));
	assert_false(has_ended(&two));
	assert_int_equal(two.base[0], 7);
	assert_int_equal(ftruncate(two.fd, 0), 0);
	assert_int_equal(two.again[0], 0);
	assert_int_equal(two.base[0], 0);
	assert_true(has_ended(&two));
	assert_int_equal(ftruncate(other.fd, 0), 0);
	assert_true(is_the_programs(other.base));
	guard_also(NULL, (void *)one.base, 0);
	guard_end((void *)one.base);
	assert_false(handler_is(on_fault));
	guard_end((void *)other.base);
	assert_false(handler_is(on_fault));
	guard_end((void *)two.base);
	assert_true(handler_is(on_fault));
	unmake(&one);
	unmake(&two);
	unmake(&other);
}

/* a program's handler that came later stays when the memory ends */
TEST(a_later_handler)
{
	struct memory one;

	make(&one);
	guard(&one);
	sigaction(SIGBUS, &(struct sigaction){ .sa_handler = on_fault }, NULL);
	guard_end((void *)one.base);
	assert_true(handler_is(on_fault));
	unmake(&one);
}

/* Go's runtime ends the program when a signal comes by another stack than its own */
TEST(the_alternate_stack)
{
	struct sigaction now;
	struct memory one;

	make(&one);
	guard(&one);
	assert_int_equal(sigaction(SIGBUS, NULL, &now), 0);
	assert_true(now.sa_flags & SA_ONSTACK);
	guard_end((void *)one.base);
	unmake(&one);
}

TEST_MAIN(NULL, NULL)
