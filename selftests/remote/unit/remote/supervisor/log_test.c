// SPDX-License-Identifier: MIT
/* The log: budgets of lines about clients, and what clients' processes can do with the log. */
#include <selftests/unit_test.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/supervisor/supervisor.h>

enum { MINUTE_MS = 60000, LINES_A_MINUTE = 30, IPV4 = 2 };

static uint64_t now = MINUTE_MS;
static char text[1 << 20]; /* what the log got since look() */

uint64_t __wrap_now_ms(void)
{
	return now;
}

/* ------------------------------------------------------------------ */

static int log_file, old_stderr;

/* @text: the lines since the last look. Return how many have @part in them. */
static unsigned int look(const char *part)
{
	unsigned int n = 0;
	const char *at;
	ssize_t bytes = pread(log_file, text, sizeof(text) - 1, 0);

	text[bytes < 0 ? 0 : bytes] = 0;
	for (at = text; (at = strstr(at, part)); at += strlen(part))
		n++;
	return n;
}

/* standard error is a file from here on */
static int begin(void **state)
{
	old_stderr = dup(STDERR_FILENO);
	log_file = memfd_create("log", MFD_CLOEXEC);
	return log_file < 0 || dup2(log_file, STDERR_FILENO) < 0;
}

/* what cmocka says of a test that failed is there, too */
static int end(void **state)
{
	if (look("ERROR"))
		dprintf(old_stderr, "%s", text);
	return ftruncate(log_file, 0) || lseek(log_file, 0, SEEK_SET);
}

static void next_minute(void)
{
	now += MINUTE_MS;
	assert_int_equal(end(NULL), 0);
}

static struct address_source network(uint32_t number)
{
	return (struct address_source){ (uint64_t)IPV4 << 32 | number << 8, 0 };
}

static void say_often(enum about about, struct address_source from, const char *name)
{
	unsigned int i;

	for (i = 0; i < 100; i++)
		say_of_clients(about, &from, "%s says", name);
}

/* lines about one client do not keep lines about others out, nor other lines about that client */
TEST(one_keeps_none_out)
{
	next_minute();
	say_often(ABOUT_NEWCOMERS, network(1), "one");
	say_often(ABOUT_NEWCOMERS, network(2), "two");
	say_often(ABOUT_PROCESSES, network(1), "killed");
	assert_int_equal(look("one says\n"), LINES_A_MINUTE);
	assert_int_equal(look("two says\n"), LINES_A_MINUTE);
	assert_int_equal(look("killed says\n"), LINES_A_MINUTE);
	next_minute();
	say_often(ABOUT_NEWCOMERS, network(1), "again");
	assert_int_equal(look("again says\n"), LINES_A_MINUTE);
	assert_int_equal(look(": 210 more lines about clients were left out\n"), 1);
}

/* addresses of one network are one source; shmem regions are not */
TEST(sources)
{
	struct address_source near = { (uint64_t)IPV4 << 32 | 0x0a000001, 0 }, beside = near;
	struct address_source endpoint = { UINT64_MAX, 1 }, other = { UINT64_MAX, 2 };

	beside.net++;
	next_minute();
	say_often(ABOUT_NEWCOMERS, near, "near");
	say_often(ABOUT_NEWCOMERS, beside, "near");
	assert_int_equal(look("near says"), LINES_A_MINUTE);
	say_often(BY_PROCESSES, endpoint, "place");
	say_often(BY_PROCESSES, other, "place");
	assert_int_equal(look("place says"), 2 * LINES_A_MINUTE);
}

/* a client with very many networks: the log stays small */
TEST(many_networks)
{
	uint32_t i;

	next_minute();
	for (i = 0; i < 1000; i++)
		say_often(ABOUT_NEWCOMERS, network(i), "all");
	assert_in_range(look("all says"), LINES_A_MINUTE, 20 * LINES_A_MINUTE);
}

/* ------------------------------------------------------------------ clients' processes */

static struct client process(int ends[2])
{
	struct client c = { .state = CLIENT_SERVED, .pid = 4711, .from = network(7) };

	strcpy(c.who, "unix:1000");
	assert_int_equal(log_pipe(ends), 0);
	c.log = ends[0];
	return c;
}

static void run(void (*body)(int), int pipe)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		log_part(pipe);
		body(pipe);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void say_one(int pipe)
{
	say("cuBLAS: %s", "not here");
}

static void forge(int pipe)
{
	static const char lines[] = "\033[2Jclear\nkvgpu-remoted[1]: forged\n";

	if (write(pipe, lines, strlen(lines)) < 0)
		_exit(1);
}

/* the first process says whose line it is */
TEST(lines_have_names)
{
	int ends[2];
	struct client c = process(ends);

	next_minute();
	run(say_one, ends[1]);
	run(forge, ends[1]);
	log_hear(&c);
	assert_int_equal(look(": unix:1000, process 4711: cuBLAS: not here\n"), 1);
	assert_int_equal(look(": unix:1000, process 4711: ?[2Jclear\n"), 1);
	assert_int_equal(look(": unix:1000, process 4711: kvgpu-remoted[1]: forged\n"), 1);
	assert_int_equal(look("process 4711"), 3);
	close(ends[1]);
	log_hear(&c);
	assert_int_equal(c.log, -1);
}

/* nobody reads meanwhile: the process goes on */
static void say_without_end(int pipe)
{
	unsigned int i;

	for (i = 0; i < 100000; i++)
		say("more");
}

/* a client's lines have a budget, and are not read beyond it */
TEST(lines_have_an_end)
{
	int ends[2];
	struct client c = process(ends);
	unsigned int i;

	next_minute();
	for (i = 0; i < 4; i++) {
		run(say_without_end, ends[1]);
		log_hear(&c);
	}
	assert_int_equal(look("more\n"), LINES_A_MINUTE);
	assert_in_range(log_wait(&c), 1, MINUTE_MS);
	next_minute();
	assert_int_equal(log_wait(&c), 0);
	log_hear(&c);
	assert_in_range(look("more\n"), 1, LINES_A_MINUTE);
	close(ends[0]);
	close(ends[1]);
}

/* each write is a part of its own: a line without bytes, or only what ends a text */
static void say_nothing(int pipe)
{
	unsigned int i;

	for (i = 0; i < 100; i++)
		if (write(pipe, i % 2 ? "\n" : "", 1) < 0 && errno != EAGAIN)
			_exit(1);
}

/* lines that are empty are not said, and not read without end */
TEST(empty_lines_have_an_end)
{
	int ends[2];
	struct client c = process(ends);
	unsigned int i;

	next_minute();
	for (i = 0; i < 4; i++) {
		run(say_nothing, ends[1]);
		log_hear(&c);
	}
	assert_in_range(log_wait(&c), 1, MINUTE_MS);
	assert_int_equal(look("process 4711"), 0);
	close(ends[0]);
	close(ends[1]);
}

/*
 * A process that was taken over can't reach the log by what it has: it ends its pipe, and makes it
 * block, and the log and other processes' pipes go on.
 */
static void spoil(int pipe)
{
	unsigned int i;

	shutdown(pipe, SHUT_RDWR);
	fcntl(pipe, F_SETFL, 0);
	for (i = 0; i < 10; i++)
		forge(pipe);
}

TEST(others_go_on)
{
	int ends[2], others[2];
	struct client c = process(ends), d = process(others);

	next_minute();
	run(spoil, ends[1]);
	d.from = network(8);
	run(say_one, others[1]);
	log_hear(&c);
	log_hear(&d);
	say("the first process");
	assert_int_equal(look("cuBLAS: not here\n"), 1);
	assert_int_equal(look("the first process\n"), 1);
	assert_true(fcntl(ends[0], F_GETFL) & O_NONBLOCK);
}

static void say_secret(int pipe)
{
	say("payroll: %d", 4712);
}

/* whether this process has those words below the frame of the caller, in what it may read */
static bool stack_has(const char *words)
{
	enum { PAGE = 4096, PAGES = 512 };
	static char copy[PAGES][PAGE];
	uintptr_t at = (uintptr_t)__builtin_frame_address(0) & -(uintptr_t)PAGE;
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	unsigned int i = PAGES;

	while (i && pread(memory, copy[i - 1], PAGE, at) == PAGE) {
		at -= PAGE;
		i--;
	}
	return memmem(copy, sizeof(copy), words, strlen(words));
}

/* A client's process, a copy of the first process, has nothing of what another one has said. */
TEST(none_has_others_lines)
{
	static struct client c;
	static struct supervisor s = { .clients = &c, .nr_clients = 1 };
	int ends[2], status, i;
	pid_t pid;

	c = process(ends);
	next_minute();
	/* also has the linker find what it calls, which puts registers onto the stack */
	assert_false(stack_has("payroll: 4712"));
	run(say_secret, ends[1]);
	log_hear(&c);
	assert_int_equal(look("payroll: 4712\n"), 1);
	/* the first child is no client's process, or this test would see nothing */
	for (i = 0; i < 2; i++) {
		pid = fork();
		if (!pid) {
			if (i)
				clients_part(&s, &c, false);
			_exit(stack_has("payroll: 4712") == i);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

static int finish(void **state)
{
	close(log_file);
	return dup2(old_stderr, STDERR_FILENO) < 0;
}

int main(void)
{
	return unit_tests_run(NULL, end, begin, finish);
}
