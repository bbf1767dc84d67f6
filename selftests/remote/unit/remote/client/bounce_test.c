// SPDX-License-Identifier: MIT
/*
 * Ends of bounce buffers. The server's NOTIFY_FREE is free to come at any time, so the test lets a
 * second end of the same bounce buffer run as soon as the first has released the lock for the first
 * time.
 */
#include <pthread.h>
#include <sched.h>
#include <selftests/unit_test.h>

#include <remote/channel/signals.h>
#include <remote/client/box.h>

/* --------------------------------------- in the place of the client's other files and a channel */

enum { PIECE = 4096, BYTES = 64 };

struct peer peers[PEERS_MAX];
static unsigned int puts_of_piece, acks; /* acks: atomic */

uint64_t arena_get(struct peer *p, uint64_t bytes)
{
	return PIECE;
}
void arena_put(struct peer *p, uint64_t at)
{
	assert_int_equal(at, PIECE);
	puts_of_piece++;
}
CUresult call_acknowledge(struct peer *p, uint64_t invocation)
{
	__atomic_add_fetch(&acks, 1, __ATOMIC_RELEASE);
	return CUDA_SUCCESS;
}
int signals_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	return pthread_create(thread, NULL, run, arg);
}

/* a bounce buffer to end at this thread's next release of a lock */
static __thread uint64_t ends_too;
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
	int r = __real_pthread_mutex_unlock(m);
	uint64_t id = ends_too;

	ends_too = 0;
	if (id)
		bounce_free(id);
	return r;
}

/* ------------------------------------------------------------------ */

static const uint64_t size[3] = { BYTES, 1, 1 };

static uint64_t make(struct peer *p)
{
	const struct end e = { 0 };
	uint64_t at, id = bounce_new(p, &e, size, false, &at);

	assert_int_not_equal(id, 0);
	puts_of_piece = 0;
	return id;
}

TEST(two_ends_give_one_piece_back)
{
	uint64_t id = make(&peers[0]);
	struct end e;

	ends_too = id;
	bounce_free(id);
	assert_int_equal(puts_of_piece, 1);
	assert_false(bounce_get(id, &peers[0], size, false, &e));
}

/*
 * the ack of a later event tells that the thread of bounce buffers is through with the earlier ones
 */
static void notify(struct peer *p, uint32_t event, uint64_t id)
{
	struct kvgpu_remote_notification h = { .kind = event, .id = id };
	unsigned int before = __atomic_load_n(&acks, __ATOMIC_ACQUIRE);

	bounce_notified(p, &h, 1);
	h = (struct kvgpu_remote_notification){ .kind = KVGPU_REMOTE_NOTIFY_FILL };
	bounce_notified(p, &h, 2);
	while (__atomic_load_n(&acks, __ATOMIC_ACQUIRE) == before)
		sched_yield();
}

TEST(a_server_ends_its_own_bounces)
{
	uint64_t id = make(&peers[0]);
	struct end e;

	notify(&peers[1], KVGPU_REMOTE_NOTIFY_FREE, id);
	assert_true(bounce_get(id, &peers[0], size, false, &e));
	assert_int_equal(puts_of_piece, 0);
	notify(&peers[0], KVGPU_REMOTE_NOTIFY_FREE, id);
	assert_false(bounce_get(id, &peers[0], size, false, &e));
	assert_int_equal(puts_of_piece, 1);
	notify(&peers[0], KVGPU_REMOTE_NOTIFY_FREE, id);
	assert_int_equal(puts_of_piece, 1);
}

/* what the server says of a bounce buffer has to be what the bounce buffer is */
TEST(a_bounce_is_its_servers)
{
	const uint64_t other[3] = { BYTES, 2, 1 };
	uint64_t id = make(&peers[0]);
	struct end e;

	assert_true(bounce_get(id, &peers[0], size, false, &e));
	assert_false(bounce_get(id, &peers[1], size, false, &e));
	assert_false(bounce_get(id, &peers[0], other, false, &e));
	assert_false(bounce_get(id, &peers[0], size, true, &e));
	bounce_free(id);
}

TEST_MAIN(NULL, NULL)
