// SPDX-License-Identifier: GPL-2.0-only
/* How often the server of kvgpu-top --http (tools/http.c) reads the numbers. */
#include <selftests/unit_test.h>

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/http.h"

#define PEERS	500
#define REQUEST "GET /metrics HTTP/1.1\r\n\r\n"

static struct sockaddr_in address = { .sin_family = AF_INET };

/* the readings so far */
static bool print_reading(FILE *out, void *arg)
{
	int *nr = arg;

	return fprintf(out, "%d\n", ++*nr) > 0;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static pid_t start(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), nr = 0;
	socklen_t size = sizeof(address);
	pid_t child;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(fd, 2 * PEERS), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		dup2(fd, STDIN_FILENO);
		_exit(!serve_http(print_reading, &nr));
	}
	close(fd);
	return child;
}

static int ask(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(send(fd, REQUEST, strlen(REQUEST), 0), strlen(REQUEST));
	return fd;
}

/* Return the number in the answer to @fd. */
static int hear(int fd)
{
	char text[4096] = "", *body;
	size_t have = 0;
	ssize_t n;

	do {
		n = recv(fd, text + have, sizeof(text) - 1 - have, 0);
		assert_true(n >= 0);
		have += n;
	} while (n);
	close(fd);
	assert_int_equal(strncmp(text, "HTTP/1.1 200 ", 13), 0);
	body = strstr(text, "\r\n\r\n");
	assert_non_null(body);
	return atoi(body);
}

/*
 * Whoever is on the machine may ask without end, and hang up before the answer comes. However many
 * do, there is a reading at the beginning, and one for each second that has passed.
 */
TEST(a_second_has_one_reading)
{
	int64_t begin = now_ms();
	pid_t child = start();
	int i, nr;

	(void)state;
	for (i = 0; i < PEERS; i++)
		close(ask());
	do {
		nr = hear(ask());
		assert_in_range(nr, 1, 1 + (now_ms() - begin) / 990);
	} while (nr < 3);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

TEST_MAIN(NULL, NULL)
