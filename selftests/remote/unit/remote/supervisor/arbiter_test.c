// SPDX-License-Identifier: MIT
/*
 * The arbiter's thread, with processes that ring, are killed, or fill the doorbell. That thread
 * runs through all tests, which share its rows. The test is the first process's own thread. Time
 * stands still for the arbiter, so no turn is lost, however late a thread is; turns() moves it
 * once.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <remote/supervisor/supervisor.h>
#include <remote/supervisor/state.h>
#include <remote/turns/turns.h>

enum { CLIENTS = 12 };

static struct remoted_conf conf;
static struct supervisor s;
static uint64_t clock_ns = 1000000000; /* atomic */

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	uint64_t now = __atomic_load_n(&clock_ns, __ATOMIC_SEQ_CST);

	*t = (struct timespec){ now / 1000000000, now % 1000000000 };
	return 0;
}

static int begin(void **state)
{
	remoted_conf_default(&conf);
	s = (struct supervisor){ .conf = &conf, .admin_fd = -1, .nr_clients = CLIENTS };
	s.clients = calloc(CLIENTS, sizeof(*s.clients));
	s.tenants = calloc(CLIENTS, sizeof(*s.tenants));
	return !s.clients || !s.tenants || !arbiter_begin(&s);
}

static struct client *come(const char *who, uint64_t weight)
{
	struct client *c = client_row(&s);

	c->state = CLIENT_SERVED;
	c->weight = weight;
	strcpy(c->who, who);
	assert_true(tenants_enter(&s, c));
	arbiter_enter(&s, c);
	return c;
}

static void go(struct client *c)
{
	arbiter_leave(&s, c);
	client_gone(&s, c);
}

static struct sched_shared *shared(const struct client *c)
{
	return sched_shared_of(c->counters);
}

static uint32_t get(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void set(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static void ring(void)
{
	assert_int_equal(write(arbiter_doorbell(), "", 1), 1);
}

/* Waits until the word is not 0, or is 0 if @set is false. */
static void comes_to(const uint32_t *word, bool set)
{
	unsigned int i;

	for (i = 0; i < 60000 && !!get(word) != set; i++)
		usleep(1000);
	assert_int_equal(!!get(word), set);
}

static void want(struct client *c)
{
	set(&shared(c)->want, 1);
	ring();
}

static void give_back(struct client *c, uint64_t used)
{
	__atomic_store_n(&shared(c)->used, shared(c)->used + used, __ATOMIC_SEQ_CST);
	set(&shared(c)->done, get(&shared(c)->turn));
	ring();
}

TEST(turns)
{
	struct client *a = come("tls:ann", 10), *b;
	uint32_t turn, wake;
	unsigned int i;

	comes_to(&shared(a)->watched, false);
	set(&shared(a)->busy, 1);
	b = come("tls:bob", 30);
	comes_to(&shared(a)->watched, true);
	comes_to(&shared(b)->watched, true);
	assert_int_equal(get(&shared(a)->closed), 0);
	wake = get(&shared(b)->wake);
	want(b);
	comes_to(&shared(a)->closed, true);
	comes_to(&shared(b)->turn, true);
	assert_true(get(&shared(b)->wake) != wake);
	set(&shared(a)->busy, 0);
	want(a);
	comes_to(&shared(b)->wanted, true);
	assert_int_equal(get(&shared(a)->turn), 0);
	/* each client gets its share, and each turn has a new number */
	for (i = 0; i < 40; i++) {
		struct client *c = get(&shared(a)->turn) ? a : b;

		comes_to(&shared(c)->turn, true);
		assert_true(!get(&shared(a)->turn) || !get(&shared(b)->turn));
		turn = get(&shared(c)->turn);
		give_back(c, 4000000);
		while (get(&shared(c)->turn) == turn)
			usleep(100);
		while (!get(&shared(a)->turn) && !get(&shared(b)->turn))
			usleep(100);
	}
	assert_true(shared(b)->turns > 2 * shared(a)->turns);
	assert_int_equal(shared(a)->lost + shared(b)->lost, 0);
	assert_in_range(get(&shared(a)->share), 250, 250);
	/* a process that was killed has no turn */
	if (get(&shared(a)->turn))
		give_back(a, 400000000);
	comes_to(&shared(b)->turn, true);
	go(b);
	comes_to(&shared(a)->turn, true);
	comes_to(&shared(a)->watched, false);
	set(&shared(a)->want, 0);
	give_back(a, 0);
	comes_to(&shared(a)->turn, false);
	__atomic_add_fetch(&clock_ns, TURNS_CALM, __ATOMIC_SEQ_CST);
	comes_to(&shared(a)->closed, false);
	go(a);
}

/* Programs of one client take no turns. */
TEST(one_client)
{
	struct client *a = come("tls:ann", 10), *b = come("tls:ann", 10), *c;

	want(a);
	want(b);
	usleep(20000);
	assert_int_equal(get(&shared(a)->watched) + get(&shared(b)->closed) + get(&shared(a)->turn),
			 0);
	c = come("tls:bob", 10);
	comes_to(&shared(b)->watched, true);
	want(c);
	comes_to(&shared(c)->closed, true);
	go(a);
	go(b);
	go(c);
	c = come("tls:bob", 10);
	comes_to(&shared(c)->watched, false);
	assert_int_equal(shared(c)->charged + shared(c)->turns, 0);
	go(c);
}

/* A client that leaves and comes back keeps its debt. */
TEST(debts_stay)
{
	struct client *a = come("tls:ann", 10), *b = come("tls:bob", 10), *c;

	want(a);
	want(b);
	comes_to(&shared(a)->closed, true);
	while (!get(&shared(a)->turn)) {
		if (get(&shared(b)->turn))
			give_back(b, 1000000);
		usleep(1000);
	}
	set(&shared(a)->want, 0);
	give_back(a, 900000000);
	comes_to(&shared(b)->turn, true);
	go(a);
	/* another name comes in between; there are rows enough for all names */
	c = come("tls:eve", 10);
	go(c);
	a = come("tls:ann", 10);
	c = come("tls:cid", 10);
	want(a);
	want(c);
	give_back(b, 1000000);
	comes_to(&shared(c)->turn, true);
	assert_int_equal(shared(a)->turns, 0);
	set(&shared(c)->want, 0);
	set(&shared(b)->want, 1);
	give_back(c, 1000000);
	comes_to(&shared(b)->turn, true);
	assert_int_equal(shared(a)->turns, 0);
	go(a);
	go(b);
	go(c);
}

/* A program ends in its turn, and says nothing more: its client has the debt all the same. */
TEST(leaves_in_its_turn)
{
	struct client *a = come("tls:ann", 10), *b = come("tls:bob", 10), *c;

	want(a);
	want(b);
	while (!get(&shared(a)->turn)) {
		if (get(&shared(b)->turn))
			give_back(b, 1000000);
		usleep(1000);
	}
	set(&shared(a)->want, 0);
	__atomic_store_n(&shared(a)->used, 900000000, __ATOMIC_SEQ_CST);
	go(a);
	comes_to(&shared(b)->turn, true);
	a = come("tls:ann", 10);
	c = come("tls:dan", 10);
	want(a);
	want(c);
	give_back(b, 1000000);
	comes_to(&shared(c)->turn, true);
	set(&shared(c)->want, 0);
	set(&shared(b)->want, 1);
	give_back(c, 50000000);
	comes_to(&shared(b)->turn, true);
	assert_int_equal(shared(a)->turns, 0);
	go(a);
	go(b);
	go(c);
}

/* in a child: a build that takes over while @a has the turn, and @b wants one; how it ends */
static int take_over(int state, struct client *a, struct client *b, uint32_t turn)
{
	const char *why;

	arbiter_go_on();
	s.state = state_open(state, &why);
	if (!s.state || !arbiter_begin(&s))
		return 1;
	usleep(50000); /* some looks */
	if (get(&shared(a)->turn) != turn)
		return 2;
	give_back(a, 4000000);
	comes_to(&shared(b)->turn, true);
	return get(&shared(b)->turn) == turn + 1 ? 0 : 3;
}

/* The number of a turn is the program's word for it, so the next build goes on from there. */
TEST(another_build)
{
	struct client *a = come("tls:hal", 10), *b = come("tls:ida", 10);
	int handed = state_begin(), status;
	uint32_t turn;
	pid_t pid;

	want(a);
	want(b);
	comes_to(&shared(a)->closed, true);
	while (!get(&shared(a)->turn)) {
		if (get(&shared(b)->turn))
			give_back(b, 1000000);
		usleep(1000);
	}
	arbiter_hold();
	turn = get(&shared(a)->turn);
	arbiter_write(&s, handed);
	assert_int_equal(state_seal(handed), 0);
	pid = fork();
	if (!pid)
		_exit(take_over(handed, a, b, turn));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	arbiter_go_on();
	assert_int_equal(status, 0);
	close(handed);
	go(a);
	go(b);
}

/*
 * A process fills the doorbell with rings. These clients have no debts, so they take turns evenly.
 */
TEST(endless_ringing)
{
	struct client *a = come("tls:fay", 10), *b = come("tls:gus", 10);
	unsigned int i, stuck = 0;
	char full[4096] = { 0 };

	want(a);
	want(b);
	for (i = 0; i < 200000; i++)
		stuck += write(arbiter_doorbell(), full, sizeof(full)) < 0;
	assert_true(stuck > 0);
	comes_to(&shared(a)->closed, true);
	for (i = 0; i < 20; i++) {
		struct client *c = get(&shared(a)->turn) ? a : b;

		comes_to(&shared(c)->turn, true);
		(void)!write(arbiter_doorbell(), full, sizeof(full));
		__atomic_store_n(&shared(c)->used, shared(c)->used + 4000000, __ATOMIC_SEQ_CST);
		set(&shared(c)->done, get(&shared(c)->turn));
		comes_to(&shared(c == a ? b : a)->turn, true);
	}
	go(a);
	go(b);
}

enum { WRITERS = 200, RINGS = 20, PAUSE_US = 10000, LATE_US = 5000 };

static uint64_t us(void)
{
	struct timespec t;

	__real_clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static void *fill_doorbell(void *fd)
{
	static char full[65536];

	while (write((intptr_t)fd, full, sizeof(full)) > 0)
		;
	return NULL;
}

/* Gets its end of the doorbell, and then makes that end block. */
static void be_taken_over(int ready)
{
	int i, fd;
	pthread_t t;

	arbiter_part(&s);
	fd = arbiter_doorbell();
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK))
		_exit(1);
	for (i = 0; i < WRITERS; i++)
		pthread_create(&t, NULL, fill_doorbell, (void *)(intptr_t)fd);
	usleep(200000);
	(void)!write(ready, "", 1);
	pause();
}

/*
 * The flags that a process sets at its end of the doorbell are not those of other processes' ends:
 * their writes do not wait for room.
 */
TEST(blocking_doorbell)
{
	uint64_t begin, took, most = 0;
	unsigned int i, late = 0;
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid)
		be_taken_over(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	for (i = 0; i < RINGS; i++) {
		usleep(PAUSE_US);
		begin = us();
		(void)!write(arbiter_doorbell(), "", 1);
		took = us() - begin;
		most = took > most ? took : most;
		late += took > LATE_US;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	print_message("of %d rings %u took more than %d us, one %lu us\n", RINGS, late, LATE_US,
		      most);
	assert_true(fcntl(arbiter_doorbell(), F_GETFL) & O_NONBLOCK);
	close(ready[0]);
	close(ready[1]);
}

int main(void)
{
	return unit_tests_run(NULL, NULL, begin, NULL);
}
