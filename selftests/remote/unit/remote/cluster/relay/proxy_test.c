// SPDX-License-Identifier: MIT
/*
 * How a proxy ends: after the broker's END it takes back all requests. If the link is lost, MPI is
 * called no more, because a call could wait for ever. A tunnel that can't be opened loses the link,
 * as its program would wait for ever. The MPI in this file says END, and fails from a moment on
 * that each test chooses.
 */
#include <fcntl.h>
#include <selftests/unit_test.h>
#include <unistd.h>

#include <ops.h> /* made by remote/api.py */

#include <remote/cluster/relay/daemon.h>
#include <remote/cluster/relay/relay.h>

enum { REQUESTS = 2 * CONTROLS, PACE_US = 10000 };

static struct settings settings = { .slots = 1, .patience_s = 1, .secret = { 7 } };
static struct {
	void *at;
	bool receives;
} requests[REQUESTS];
static unsigned int nr_requests, freed, pulls_ended, turns;
static struct link *proxys; /* which keeps it until the process ends */
static bool said_end; /* the broker has */
static bool failed; /* a call of MPI has */
static bool silent; /* the broker says nothing at all */
static bool opens; /* in the place of END the broker opens a tunnel */
static bool said_open;
static unsigned int refused; /* tunnels for which there was no memory */
static unsigned int stops_us; /* the first pause takes so long: the proxy is stopped */
static unsigned int daemons_ended;
static uint64_t clock_us = 1; /* moves where the proxy pauses, and nowhere else */
/* MPI fails: at the first call after END; at the first call while the tunnels get quiet; never */
static enum { AFTER_END, WHILE_QUIET, NEVER } fails;

/* ------------------------------------------------------------------ MPI */

static int answer(void)
{
	assert_false(failed);
	failed = said_end && (fails == AFTER_END || (fails == WHILE_QUIET && turns));
	return failed ? MPI_ERR_COUNT : MPI_SUCCESS;
}

static int make(void *at, bool receives, MPI_Request *r)
{
	assert_true(nr_requests < REQUESTS);
	requests[nr_requests].at = at;
	requests[nr_requests].receives = receives;
	*r = nr_requests++;
	return answer();
}

int MPI_Recv_init(void *to, int n, MPI_Datatype of, int from, int tag, MPI_Comm c, MPI_Request *r)
{
	return make(to, true, r);
}

int MPI_Send_init(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm c,
		  MPI_Request *r)
{
	return make((void *)from, false, r);
}

int MPI_Start(MPI_Request *r)
{
	/* the message that says END is taken, and its request begins anew */
	return said_end && requests[*r].receives && !turns ? MPI_SUCCESS : answer();
}

int MPI_Test(MPI_Request *r, int *done, MPI_Status *status)
{
	struct control c = { .kind = opens ? CONTROL_OPEN : CONTROL_END,
			     .version = KVGPU_REMOTE_RELAYS,
			     .secret = { 7 } };
	int e = answer();

	*done = !e && (!requests[*r].receives || (!said_end && !said_open && !silent));
	if (*done && requests[*r].receives) {
		memcpy(requests[*r].at, &c, sizeof(c));
		said_end = !opens;
		said_open = opens;
	}
	return e;
}

int MPI_Cancel(MPI_Request *r)
{
	return answer();
}

int MPI_Wait(MPI_Request *r, MPI_Status *status)
{
	return answer();
}

int MPI_Request_free(MPI_Request *r)
{
	freed++;
	return answer();
}

/* ---------------------------------------------------------------- the rest of the program */

unsigned long backoff_sleeps;

uint64_t now_us(void)
{
	return clock_us;
}

bool backoff_wait(const struct settings *s, struct pollfd *p, unsigned int n, bool moved, bool open)
{
	clock_us += stops_us ? stops_us : PACE_US;
	stops_us = 0;
	return true;
}

void daemon_end(unsigned int patience_s)
{
	assert_int_equal(patience_s, settings.patience_s);
	daemons_ended++;
}

/* One tunnel takes three turns until it is quiet, and calls MPI in each. */
bool tunnels_go(struct link *l)
{
	struct tunnel *n = &l->tunnels[0];
	int done;

	if (!said_end)
		return false;
	turns++;
	n->state = turns < 3 ? TUNNEL_OPEN : TUNNEL_FREE;
	if (!l->lost && MPI_Test(&l->out_made[0], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
		link_lose(l, "it can't be reached");
	if (l->lost)
		n->state = TUNNEL_FREE;
	return true;
}

unsigned int tunnels_wait(struct link *l, struct pollfd *p, bool *open)
{
	return 0;
}

void tunnels_hang_up(struct link *l)
{
}

bool tunnels_are_quiet(const struct link *l)
{
	return l->tunnels[0].state == TUNNEL_FREE;
}

bool tunnel_open(struct tunnel *n, int fd)
{
	assert_true(said_open);
	close(fd);
	refused++;
	return false;
}

bool measure_listen(struct link *l)
{
	proxys = l;
	return true;
}

bool measure_answer(struct link *l)
{
	return false;
}

bool pull_begin(struct link *l)
{
	return true;
}

bool pull_go(struct link *l)
{
	return false;
}

void pull_end(void)
{
	assert_false(failed);
	pulls_ended++;
}

int forker_connect(int forker)
{
	return open("/dev/null", O_RDONLY);
}

void forker_end(int forker)
{
}

void relay_say(const char *format, ...)
{
}

/* ------------------------------------------------------------------ tests */

static int run(int when)
{
	int r;

	nr_requests = freed = pulls_ended = turns = daemons_ended = refused = 0;
	said_end = said_open = failed = false;
	fails = when;
	r = proxy_run(&settings, -1);
	free(proxys);
	return r;
}

TEST(all_is_taken_back)
{
	assert_int_equal(run(NEVER), 0);
	assert_int_equal(freed, REQUESTS);
	assert_int_equal(pulls_ended, 1);
	assert_int_equal(daemons_ended, 0);
}

TEST(lost_in_the_turn_that_heard_end)
{
	assert_int_equal(run(AFTER_END), 1);
	assert_true(said_end && failed);
	assert_int_equal(freed, 0);
	assert_int_equal(pulls_ended, 0);
}

TEST(lost_while_the_tunnels_get_quiet)
{
	assert_int_equal(run(WHILE_QUIET), 1);
	assert_true(said_end && failed && turns);
	assert_int_equal(freed, 0);
	assert_int_equal(pulls_ended, 0);
}

/*
 * mpirun's daemon is ended where the network is cut, but not where this proxy was stopped, nor in a
 * step of Slurm
 */
TEST(out_of_reach)
{
	silent = true;
	assert_int_equal(run(NEVER), 1);
	assert_int_equal(daemons_ended, 1);
	stops_us = 700000;
	assert_int_equal(run(NEVER), 1);
	assert_int_equal(daemons_ended, 0);
	settings.step = true;
	assert_int_equal(run(NEVER), 1);
	assert_int_equal(daemons_ended, 0);
	settings.step = silent = false;
}

/* the link is lost at once, not when the broker has been silent for long */
TEST(no_memory_for_a_tunnel)
{
	opens = true;
	assert_int_equal(run(NEVER), 1);
	assert_int_equal(refused, 1);
	assert_int_equal(daemons_ended, 0);
	opens = false;
}

TEST_MAIN(NULL, NULL)
