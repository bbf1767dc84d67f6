// SPDX-License-Identifier: MIT
/*
 * The answers of the admin's socket, read by kvgpu-remotectl's own code; wrong commands; texts from
 * clients.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/ctl/ctl.h>
#include <remote/starter/starter.h>

static struct remoted_conf conf;
static struct starter s;
static char answer[ANSWER_MAX];

void say(const char *format, ...)
{
}

void say_of_clients(const char *format, ...)
{
}

void complain(const char *format, ...)
{
}

static int set_up(void **state)
{
	remoted_conf_default(&conf);
	s = (struct starter){ .conf = &conf, .admin_fd = -1, .nr_clients = 20, .since = 5 };
	s.clients = calloc(s.nr_clients, sizeof(*s.clients));
	return !s.clients;
}

static int tear_down(void **state)
{
	unsigned int i;

	for (i = 0; i < s.nr_clients; i++)
		if (s.clients[i].state)
			client_gone(&s, &s.clients[i]);
	free(s.clients);
	return 0;
}

static struct client *come(enum client_state state, const char *peer, const char *who)
{
	struct client *c = client_place(&s);

	c->state = state;
	c->pid = 99999999;	/* more than a process id can be */
	strcpy(c->peer, peer);
	strcpy(c->who, who);
	return c;
}

static const char *result(const char *line)
{
	admin_command(&s, line, answer, sizeof(answer));
	return answer;
}

static void rows(void **state)
{
	struct client *c = come(CLIENT_SERVED, "tcp:192.0.2.7", "tls:ann");
	struct ctl_sample sample;

	*c->counters = (struct counters){ 1, 2, 3, 4 };
	c->weight = 50;
	come(CLIENT_NEW, "vsock:5", "");
	s.gone.calls = 10;
	assert_non_null(strstr(result("clients"), "\nok\n"));
	assert_true(sample_read(answer, &sample));
	assert_int_equal(sample.nr_clients, 2);
	assert_int_equal(sample.server.served, 1);
	assert_int_equal(sample.server.newcomers, 1);
	assert_int_equal(sample.server.calls, 11);
	assert_int_equal(sample.server.limit, 64);
	assert_string_equal(sample.server.state, "serving");
	assert_string_equal(sample.clients[0].who, "tls:ann");
	assert_string_equal(sample.clients[0].peer, "tcp:192.0.2.7");
	assert_int_equal(sample.clients[0].calls, 1);
	assert_int_equal(sample.clients[0].memory, 2);
	assert_int_equal(sample.clients[0].received, 3);
	assert_int_equal(sample.clients[0].sent, 4);
	assert_int_equal(sample.clients[0].weight, 50);
	assert_int_equal(sample.clients[0].user, conf.users);
	assert_int_equal(sample.clients[1].user, conf.users + 1);
	assert_string_equal(sample.clients[1].who, "-");
	assert_string_equal(sample.clients[1].state, "new");
	sample_free(&sample);
	/* numbers of clients are never used again */
	client_gone(&s, c);
	assert_int_equal(s.gone.calls, 11);
	assert_true(client_place(&s)->id == 3);
}

static void commands(void **state)
{
	static const char *const wrong[] = { "",	  "x",	    "end",
					     "end ",	  "end x",  "end 1x",
					     "end -1",	  "end 99", "end 18446744073709551616",
					     "clients 1", "CLIENTS" };
	pid_t pid = fork();
	size_t i;
	int status;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_memory_equal(result(wrong[i]), "error ", 6);
	if (!pid)
		for (;;)
			pause();
	come(CLIENT_SERVED, "unix:0", "unix:0")->pid = pid;
	assert_string_equal(result("end 1"), "ok\n");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(client_by_pid(&s, pid)->state, CLIENT_ENDING);
	assert_false(s.draining);
	assert_string_equal(result("drain"), "ok\n");
	assert_true(s.draining);
	assert_non_null(strstr(result("clients"), "state=draining"));
}

/* The largest number of clients fits into an answer, even if each has the longest texts. */
static void many(void **state)
{
	struct ctl_sample sample;
	unsigned int i;

	free(s.clients);
	s.nr_clients = 3072;
	s.clients = calloc(s.nr_clients, sizeof(*s.clients));
	for (i = 0; i < 1024; i++)
		*come(CLIENT_SERVED, "tcp:2001:db8:1111:2222:3333:4444:5555:6666",
		      "tls:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")->counters =
			(struct counters){ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
	s.gone.calls = INT64_MAX - 5;
	result("clients");
	assert_string_equal(answer + strlen(answer) - 4, "\nok\n");
	assert_true(sample_read(answer, &sample));
	assert_int_equal(sample.nr_clients, 1024);
	assert_true(sample.server.calls == INT64_MAX && sample.clients[0].memory == 1ll << 50);
	sample_free(&sample);
}

static void texts(void **state)
{
	char text[8] = { 'a', '\n', 27, 'b', (char)0xff, 'c', 'd', 'e' };
	struct ctl_sample sample;

	clean(text, sizeof(text));
	assert_string_equal(text, "a??b?cd");
	/* what a server of another version or another program might say */
	assert_true(sample_read("server pid=1 state=serving new=2 color=red\nclient id=1 shape=round\nnews of some kind\n",
				&sample));
	sample_free(&sample);
	assert_false(sample_read("", &sample));
	sample_free(&sample);
	assert_false(sample_read("server pid=x\n", &sample));
	sample_free(&sample);
	assert_false(sample_read("server state=\"\n", &sample));
	sample_free(&sample);
	assert_false(sample_read("server pid\n", &sample));
	sample_free(&sample);
	assert_false(sample_read("server pid=1\nserver pid=1\n", &sample));
	sample_free(&sample);
}

int main(void)
{
#define WITH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = { WITH(rows), WITH(commands), WITH(many), WITH(texts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
