// SPDX-License-Identifier: MIT
/*
 * A proxy that does not answer while a link is measured: memory that MPI may still read must stay.
 * A link that is lost is not measured.
 * The MPI in this file never completes a synchronous send by itself, and reads the bytes of such
 * sends only afterwards.
 */
#include <selftests/unit_test.h>
#include <time.h>

#include <remote/cluster/relay/relay.h>

enum { MOST = 64, STAGING = 1 << 20 };

static struct {
	const uint8_t *from;
	int bytes;
	bool recv, done;
} requests[1024];
static struct {
	const uint8_t *from;
	int bytes;
} unread[MOST];
static unsigned int nr_requests, nr_unread, answers;
static volatile unsigned int sum;

/* a millisecond passes whenever measure.c looks */
uint64_t now_us(void)
{
	static uint64_t us;

	return us += 1000;
}

double MPI_Wtime(void)
{
	return now_us() / 1e6;
}

static MPI_Request make(const void *from, int n, bool recv, bool done)
{
	assert_true(nr_requests < 1024);
	requests[nr_requests].from = from;
	requests[nr_requests].bytes = n;
	requests[nr_requests].recv = recv;
	requests[nr_requests].done = done;
	return nr_requests++;
}

/* Of all receives only the first @answers ones complete. */
int MPI_Irecv(void *to, int n, MPI_Datatype of, int from, int tag, MPI_Comm c, MPI_Request *r)
{
	*r = make(to, n, true, answers);
	answers -= !!answers;
	return MPI_SUCCESS;
}

int MPI_Isend(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm c, MPI_Request *r)
{
	*r = make(from, n, false, true);
	return MPI_SUCCESS;
}

int MPI_Issend(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm c,
	       MPI_Request *r)
{
	assert_true(nr_unread < MOST);
	unread[nr_unread].from = from;
	unread[nr_unread++].bytes = n;
	*r = make(from, n, false, false);
	return MPI_SUCCESS;
}

int MPI_Test(MPI_Request *r, int *done, MPI_Status *status)
{
	*done = *r == MPI_REQUEST_NULL || requests[*r].done;
	if (*done)
		*r = MPI_REQUEST_NULL;
	return MPI_SUCCESS;
}

/* Says that it cancels, but changes nothing. */
int MPI_Cancel(MPI_Request *r)
{
	return MPI_SUCCESS;
}

static void silent_after(unsigned int n)
{
	static struct settings settings = { .staging = STAGING,
					    .eager = EAGER_MEASURED,
					    .patience_s = 8 };
	struct link *l = calloc(1, sizeof(*l));
	unsigned int i;
	int k;

	nr_requests = nr_unread = 0;
	answers = n;
	l->settings = &settings;
	l->eager = 16 << 10;
	link_measure(l);
	/* now the proxy reads what was sent to it */
	for (i = 0; i < nr_unread; i++)
		for (k = 0; k < unread[i].bytes; k++)
			sum += unread[i].from[k];
	free(l);
}

TEST(from_the_begin)
{
	silent_after(0);
}

TEST(after_some)
{
	silent_after(5);
}

TEST(lost_before)
{
	struct link *l = calloc(1, sizeof(*l));

	nr_requests = answers = 0;
	l->settings = &(struct settings){ .staging = STAGING, .patience_s = 8 };
	l->lost = true;
	link_measure(l);
	assert_int_equal(nr_requests, 0);
	assert_true(l->measured);
	free(l);
}

TEST_MAIN(NULL, NULL)
