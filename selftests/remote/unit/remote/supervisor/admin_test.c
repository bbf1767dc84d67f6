// SPDX-License-Identifier: MIT
/* The answers of the admin's socket, read by kvgpu-remotectl's own code. */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda/api/text.h>
#include <remote/ctl/ctl.h>
#include <remote/supervisor/supervisor.h>

static struct remoted_conf conf;
static struct supervisor s;
static char answer[ANSWER_MAX];

void report_error(const char *format, ...)
{
}

static int set_up(void **state)
{
	remoted_conf_default(&conf);
	s = (struct supervisor){ .conf = &conf, .admin_fd = -1, .nr_clients = 20, .since = 5 };
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
	free(s.sleepers.rows);
	return 0;
}

static struct client *come(enum client_state state, const char *peer, const char *who)
{
	struct client *c = client_row(&s);

	c->state = state;
	c->pid = 99999999; /* more than a process id can be */
	strcpy(c->peer, peer);
	strcpy(c->who, who);
	return c;
}

static const char *result(const char *line)
{
	admin_command(&s, line, answer, sizeof(answer));
	return answer;
}

TEST(rows)
{
	struct client *c = come(CLIENT_SERVED, "tcp:192.0.2.7", "tls:ann");
	struct ctl_sample sample;

	*c->counters = (struct counters){ 1, 2, 5, 3, 4, 0x4b00040000000007, 8ull << 32, 0 };
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
	assert_int_equal(sample.clients[0].pinned, 5);
	assert_int_equal(sample.clients[0].received, 3);
	assert_int_equal(sample.clients[0].sent, 4);
	assert_int_equal(sample.clients[0].weight, 50);
	assert_int_equal(sample.clients[0].user, conf.users);
	assert_string_equal(sample.clients[0].release, "0.4");
	assert_string_equal(sample.clients[0].protocol, "00000007-00000008");
	assert_true(sample.clients[0].old);
	assert_string_equal(sample.clients[1].release, "");
	assert_false(sample.clients[1].old);
	assert_int_equal(sample.clients[1].user, conf.users + 1);
	assert_string_equal(sample.clients[1].who, "-");
	assert_string_equal(sample.clients[1].state, "new");
	sample_free(&sample);
	s.build = (struct kvgpu_remote_build){ 0x4b00040000000007, 8ull << 32 };
	result("clients");
	assert_true(sample_read(answer, &sample));
	assert_string_equal(sample.clients[0].release, "0.4");
	assert_false(sample.clients[0].old);
	sample_free(&sample);
	/* numbers of clients are not used again */
	client_gone(&s, c);
	assert_int_equal(s.gone.calls, 11);
	assert_true(client_row(&s)->id == 3);
}

TEST(commands)
{
	static const char *const wrong[] = { "",	  "x",	    "end",
					     "end ",	  "end x",  "end 1x",
					     "end -1",	  "end 99", "end 18446744073709551616",
					     "clients 1", "CLIENTS" };
	struct client *held;
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
	/* what gives its memory back is not to be killed, and may not end by itself */
	held = come(CLIENT_ENDING, "unix:0", "unix:0");
	held->pid = pid;
	held->reaped = true;
	assert_memory_equal(result("end 2"), "error its process has ended", 27);
	assert_true(held->reaped && held->pid == pid);
	assert_false(s.draining);
	assert_string_equal(result("drain soon"), "error drain wants seconds, a year at most\n");
	assert_false(s.draining);
	assert_string_equal(result("drain"), "ok\n");
	assert_true(s.draining);
	assert_non_null(strstr(result("clients"), "state=draining"));
}

/* a process that waits, as that of a client by TLS */
static struct client *come_by_tls(const char *who, char digit)
{
	struct client *c = come(CLIENT_SERVED, "tcp:192.0.2.7", who);

	c->tls = true;
	memset(c->fingerprint, digit, REFUSED_WORD - 1);
	c->pid = fork();
	if (!c->pid)
		for (;;)
			pause();
	return c;
}

TEST(refuses)
{
	struct client *ann = come_by_tls("tls:ann", 'a'), *old = come_by_tls("tls:bob", 'b'),
		      *new = come_by_tls("tls:bob", 'c'), *local = come_by_tls("ann", 'd');
	char folder[] = "/tmp/kvgpu-admin-XXXXXX", line[128], path[64];
	struct client *const all[] = { ann, old, new, local };
	unsigned int i;
	FILE *f;

	local->tls = false;
	assert_non_null(mkdtemp(folder));
	strcpy(conf.tls_folder, folder);
	sprintf(path, "%s/refused", folder);
	snprintf(line, sizeof(line), "refuse %s", old->fingerprint);
	/* kvgpu-remotectl wrote another file */
	assert_non_null(
		strstr(result(line), "error this server has another folder: --folder /tmp/"));
	f = fopen(path, "w");
	fprintf(f, "%s\n", old->fingerprint);
	fclose(f);
	assert_string_equal(result(line), "ended 1\nok\n");
	assert_string_equal(result(line), "ended 0\nok\n");
	assert_true(old->state == CLIENT_ENDING && new->state == CLIENT_SERVED);
	f = fopen(path, "a");
	fprintf(f, "bob\n");
	fclose(f);
	assert_string_equal(result("refuse bob"), "ended 1\nok\n");
	assert_true(new->state == CLIENT_ENDING && ann->state == CLIENT_SERVED &&
		    local->state == CLIENT_SERVED);
	f = fopen(path, "a");
	fprintf(f, "b b\n");
	fclose(f);
	assert_non_null(strstr(result("refuse ann"), "/refused:3: neither"));
	for (i = 0; i < 4; i++) {
		client_kill(all[i]);
		kill(all[i]->pid, SIGKILL);
		waitpid(all[i]->pid, NULL, 0);
	}
	unlink(path);
	rmdir(folder);
}

/* ------------------------------------------------------------------ sleep */

static bool is_wanted; /* a reading of the GPUs */

void meter_begin(struct supervisor *s)
{
	is_wanted = true;
}

static struct sleep_shared *sleeps(const struct client *c)
{
	return sleep_shared_of(c->counters);
}

/*
 * two GPUs of one type, of which the client has 2 MiB on the first one; read later than all that
 * is decided here
 */
static void read_gpus(struct client *c)
{
	uint64_t now = now_ms() + 60000;

	s.sleepers.nr_gpus = 2;
	s.sleepers.gpus[0] =
		(struct sleepers_gpu){ .total = 8 << 20, .free = 4 << 20, .read_ms = now };
	s.sleepers.gpus[1] =
		(struct sleepers_gpu){ .total = 8 << 20, .free = 8 << 20, .read_ms = now };
	memset(s.uuids[0], 'a', 16);
	memset(s.uuids[1], 'b', 16);
	c->sleeper.uses[0] = 2 << 20;
}

static const struct ctl_client *row_of(unsigned int i)
{
	static struct ctl_client c;
	struct ctl_sample sample;

	result("clients");
	assert_true(sample_read(answer, &sample));
	c = sample.clients[i];
	sample_free(&sample);
	return &c;
}

/* The process of the client is played here, by the words that it has with the first one. */
TEST(sleep_and_wake)
{
	struct client *c = come(CLIENT_SERVED, "unix:0", "unix:0");

	assert_true(suspend_begin(&s));
	assert_string_equal(row_of(0)->sleep, "");
	assert_memory_equal(result("suspend 1"), "error its library can't", 23);
	assert_memory_equal(result("suspend 7"), "error there is no client", 24);
	assert_memory_equal(result("suspend x"), "error suspend wants", 19);
	assert_memory_equal(result("resume 1 gpu 16"), "error resume wants", 18);
	assert_memory_equal(result("resume 1 gpu"), "error resume wants", 18);
	sleeps(c)->state = SLEEP_AWAKE;
	assert_string_equal(row_of(0)->sleep, "awake");
	assert_string_equal(result("resume 1"), "error it does not sleep\n");
	/* nothing is ordered before the GPUs were read */
	assert_false(is_wanted);
	assert_string_equal(result("suspend 1"), "ok\n");
	assert_true(is_wanted && !sleeps(c)->order);
	assert_string_equal(row_of(0)->sleep, "going");
	read_gpus(c);
	suspend_look(&s);
	assert_int_equal(sleeps(c)->order, 1);
	sleeps(c)->refusal = SLEEP_LIBRARY;
	sleeps(c)->error = 801;
	sleeps(c)->done = 1;
	assert_string_equal(row_of(0)->sleep, "awake");
	assert_string_equal(row_of(0)->why, "library-801");
	assert_string_equal(result("suspend 1"), "ok\n");
	assert_int_equal(sleeps(c)->order, 2);
	assert_int_equal(c->sleep.raised, 2 << 20);
	sleeps(c)->state = SLEEP_ASLEEP;
	sleeps(c)->refusal = SLEEP_FINE;
	sleeps(c)->done = 2;
	assert_string_equal(row_of(0)->sleep, "asleep");
	assert_int_equal(row_of(0)->suspended, 2 << 20);
	assert_int_equal(row_of(0)->sleeps, 1);
	assert_string_equal(row_of(0)->why, "");
	assert_memory_equal(result("suspend 1"), "error it sleeps already", 23);
	/* it wants to wake, and its GPU has no room any more */
	sleeps(c)->wish = 5;
	sleeps(c)->state = SLEEP_WAITS;
	s.sleepers.gpus[0].free = 0;
	assert_string_equal(row_of(0)->sleep, "waits");
	assert_string_equal(row_of(0)->why, "room");
	assert_int_equal(sleeps(c)->granted, 0);
	/* the other one has; all GPUs are named */
	assert_string_equal(result("resume 1 gpu 1"), "ok\n");
	assert_string_equal(row_of(0)->why, "wakes");
	assert_int_equal(sleeps(c)->granted, 5);
	assert_int_equal(sleeps(c)->nr_moves, 2);
	assert_int_equal(sleeps(c)->moves[0].from[0], 'a');
	assert_int_equal(sleeps(c)->moves[0].to[15], 'b');
	assert_int_equal(sleeps(c)->moves[1].from[0], 'b');
	assert_int_equal(sleeps(c)->moves[1].to[0], 'a');
	sleeps(c)->state = SLEEP_AWAKE;
	assert_string_equal(row_of(0)->sleep, "awake");
	assert_true(!row_of(0)->suspended && !c->sleep.raised && row_of(0)->sleeps == 1);
	/* its page may have anything */
	memset(sleeps(c), 0xff, sizeof(*sleeps(c)));
	assert_string_equal(row_of(0)->sleep, "cannot");
	assert_int_equal(c->sleep.order, 2);
}

/* A process is told to trace; what it writes, or says of that, may be anything. */
TEST(a_trace)
{
	struct client *c = come(CLIENT_SERVED, "unix", "unix:0");
	struct trace_shared *t = trace_shared_of(c->counters);
	char *text = trace_text_of(c->counters);

	assert_memory_equal(result("trace 1 5"), "error its process can't be traced", 33);
	assert_memory_equal(result("traced 1 0"), "error it was not traced", 23);
	t->can = 1;
	assert_memory_equal(result("trace 1 61"), "error trace wants", 17);
	assert_memory_equal(result("trace 1"), "error trace wants", 17);
	assert_memory_equal(result("trace 2 5"), "error there is no client", 24);
	assert_string_equal(result("trace 1 5"), "ok\n");
	assert_int_equal(t->order, 1);
	assert_int_equal(t->ms, 5000);
	assert_int_equal(t->rung, sleeps(c)->order);
	assert_string_equal(result("traced 1 0"), "trace state=begins used=0 dropped=0\n\nok\n");
	t->begun = 1;
	t->state = TRACE_RUNS;
	assert_memory_equal(result("trace 1 5"), "error a trace of it is under way", 32);
	strcpy(text, "w a\033\n\377b");
	t->used = 8;
	assert_string_equal(result("traced 1 2"),
			    "trace state=runs used=8 dropped=0\na?\n?b?\nok\n");
	/* its words may have anything */
	memset(t, 0xff, sizeof(*t));
	memset(text, 0xff, TRACE_ROOM);
	assert_memory_equal(result("traced 1 0"), "trace state=begins used=0", 25);
	t->state = TRACE_RUNS;
	result("traced 1 4194303");
	assert_non_null(strstr(answer, "used=4194304 dropped=4294967295\n?\nok\n"));
	result("traced 1 0");
	assert_string_equal(answer + strlen(answer) - 5, "?\nok\n");
	assert_memory_equal(result("traced 1 4194305"), "error traced wants", 18);
	/* its lines stay when it has gone, until another one is traced */
	t->order = t->begun = 1;
	t->state = TRACE_RUNS;
	client_gone(&s, c);
	assert_memory_equal(result("traced 1 4194303"), "trace state=killed used=4194304", 31);
	c = come(CLIENT_SERVED, "unix", "unix:0");
	trace_shared_of(c->counters)->can = 1;
	assert_string_equal(result("trace 2 5"), "ok\n");
	client_gone(&s, c);
	assert_memory_equal(result("traced 1 0"), "error it was not traced", 23);
	assert_memory_equal(result("traced 2 0"), "trace state=killed used=0", 25);
	munmap(s.traced.counters, s.traced.bytes);
}

/* The largest number of clients fits into an answer. */
TEST(many)
{
	struct ctl_sample sample;
	unsigned int i;

	free(s.clients);
	s.nr_clients = 3072;
	s.clients = calloc(s.nr_clients, sizeof(*s.clients));
	for (i = 0; i < 1024; i++) {
		struct client *c =
			come(CLIENT_SERVED, "tcp:2001:db8:1111:2222:3333:4444:5555:6666",
			     "tls:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");

		*c->counters = (struct counters){ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
						  UINT64_MAX, UINT64_MAX, UINT64_MAX, 0 };
		memset(c->fingerprint, 'f', REFUSED_WORD - 1);
		c->sleeper = (struct sleeper){ .state = SLEEPER_WAITS,
					       .why = WHY_MEMORY,
					       .bytes = SLEEPERS_MOST,
					       .sleeps = UINT32_MAX,
					       .ahead = UINT32_MAX };
	}
	s.gone.calls = INT64_MAX - 5;
	result("clients");
	assert_string_equal(answer + strlen(answer) - 4, "\nok\n");
	assert_true(sample_read(answer, &sample));
	assert_int_equal(sample.nr_clients, 1024);
	assert_true(sample.server.calls == INT64_MAX && sample.clients[0].memory == 1ll << 50);
	assert_string_equal(sample.clients[1023].fingerprint, s.clients[1023].fingerprint);
	sample_free(&sample);
}

TEST(texts)
{
	char text[8] = { 'a', '\n', 27, 'b', (char)0xff, 'c', 'd', 'e' };
	struct ctl_sample sample;

	text_clean(text, sizeof(text));
	assert_string_equal(text, "a??b?cd");
	/* what a server of another version or another program might say */
	assert_true(sample_read(
		"server pid=1 state=serving new=2 color=red\nclient id=1 shape=round\nnews of some kind\n",
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

/* a connection of an admin, and the supervisor's descriptor of it in *@there */
static int connect_admin(const struct sockaddr_un *a, socklen_t length, int *there)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	unsigned int i;

	assert_int_equal(connect(fd, (const struct sockaddr *)a, length), 0);
	*there = -1;
	admin_accept(&s);
	for (i = 0; i < ADMINS; i++)
		if (s.admins[i].fd > *there)
			*there = s.admins[i].fd;
	return fd;
}

/* whether the supervisor has closed its end of @fd */
static bool was_dropped(int fd)
{
	char c;

	return !recv(fd, &c, 1, MSG_DONTWAIT);
}

/* The oldest connection makes room. */
TEST(the_oldest_makes_room)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(a.sun_family) + 1 +
			   sprintf(a.sun_path + 1, "kvgpu-admin-test-%d", (int)getpid());
	int fd[ADMINS + 2], there, first, i;

	for (i = 0; i < ADMINS; i++)
		s.admins[i].fd = -1;
	s.admin_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(s.admin_fd, (struct sockaddr *)&a, length), 0);
	assert_int_equal(listen(s.admin_fd, 8), 0);
	fd[0] = connect_admin(&a, length, &first);
	for (i = 1; i < ADMINS; i++)
		fd[i] = connect_admin(&a, length, &there);
	close(fd[0]);
	for (i = 0; s.admins[i].fd != first; i++)
		;
	admin_read(&s, &s.admins[i]);
	assert_int_equal(s.admins[i].fd, -1);
	fd[ADMINS] = connect_admin(&a, length, &there);
	for (i = 1; i <= ADMINS; i++)
		assert_false(was_dropped(fd[i]));
	fd[ADMINS + 1] = connect_admin(&a, length, &there);
	assert_true(was_dropped(fd[1]));
	for (i = 2; i <= ADMINS + 1; i++)
		assert_false(was_dropped(fd[i]));
	for (i = 1; i <= ADMINS + 1; i++)
		close(fd[i]);
	for (i = 0; i < ADMINS; i++)
		close(s.admins[i].fd);
	close(s.admin_fd);
}

TEST_MAIN(set_up, tear_down)
