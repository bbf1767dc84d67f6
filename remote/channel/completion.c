// SPDX-License-Identifier: MIT
/*
 * Completion slots, where threads wait for the answers of a stream. A thread looks for a short time
 * and then sleeps in the kernel. At a shmem region threads wait elsewhere (shmem_client.c); a
 * completion slot is taken here, too, and receives an answer that is long.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <remote/ring/clock.h>

#include "carrier.h"

/* looks at the completion slot between two looks at the clock */
enum { SPIN_NS = 20000, LOOKS = 32 };

static void futex(uint32_t *word, int what, uint32_t value)
{
	syscall(SYS_futex, word, what | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

unsigned int kvgpu_remote_completion_get(struct kvgpu_remote_channel *c)
{
	unsigned int i;

	for (i = 0; i < KVGPU_REMOTE_COMPLETIONS; i++) {
		struct completion *b = &c->completions[i];

		if (__atomic_exchange_n(&b->taken, true, __ATOMIC_ACQUIRE))
			continue;
		if (!b->payload)
			b->payload = malloc(KVGPU_REMOTE_PAYLOAD_MAX);
		if (b->payload)
			return i + 1;
		__atomic_store_n(&b->taken, false, __ATOMIC_RELEASE);
		break;
	}
	return 0;
}

void kvgpu_remote_completion_put(struct kvgpu_remote_channel *c, unsigned int completion)
{
	__atomic_store_n(&c->completions[completion - 1].taken, false, __ATOMIC_RELEASE);
}

/*
 * Set the state to EMPTY before the frame goes out: the answer may be there before the sender is
 * back.
 */
void completion_prepare(struct kvgpu_remote_channel *c, unsigned int completion)
{
	__atomic_store_n(&c->completions[completion - 1].state, COMPLETION_EMPTY, __ATOMIC_SEQ_CST);
}

struct completion *completion_of(struct kvgpu_remote_channel *c, unsigned int completion)
{
	struct completion *b = completion && completion <= KVGPU_REMOTE_COMPLETIONS ?
				       &c->completions[completion - 1] :
				       NULL;
	uint32_t state;

	if (!b || !__atomic_load_n(&b->taken, __ATOMIC_ACQUIRE))
		return NULL;
	state = __atomic_load_n(&b->state, __ATOMIC_ACQUIRE);
	return state == COMPLETION_EMPTY || state == COMPLETION_SLEEPS ? b : NULL;
}

static void set_state(struct completion *b, uint32_t state)
{
	if (__atomic_exchange_n(&b->state, state, __ATOMIC_SEQ_CST) == COMPLETION_SLEEPS)
		futex(&b->state, FUTEX_WAKE, INT_MAX);
}

void completion_deliver(struct completion *b)
{
	set_state(b, COMPLETION_FULL);
}

void channel_lost(struct kvgpu_remote_channel *c)
{
	unsigned int i;

	__atomic_store_n(&c->gone, true, __ATOMIC_SEQ_CST);
	for (i = 0; i < KVGPU_REMOTE_COMPLETIONS; i++)
		if (__atomic_load_n(&c->completions[i].state, __ATOMIC_SEQ_CST) != COMPLETION_FULL)
			set_state(&c->completions[i], COMPLETION_GONE);
}

void completions_free(struct kvgpu_remote_channel *c)
{
	unsigned int i;

	for (i = 0; i < KVGPU_REMOTE_COMPLETIONS; i++)
		free(c->completions[i].payload);
}

static uint32_t wait_for(struct kvgpu_remote_channel *c, struct completion *b)
{
	uint64_t until = clock_ns() + SPIN_NS;
	uint32_t state = COMPLETION_EMPTY;
	unsigned int i = 0;

	while ((state = __atomic_load_n(&b->state, __ATOMIC_ACQUIRE)) == COMPLETION_EMPTY) {
		clock_pause();
		if (++i % LOOKS == 0 && clock_ns() > until)
			break;
	}
	while (state == COMPLETION_EMPTY || state == COMPLETION_SLEEPS) {
		/*
		 * channel_lost() sets .gone first and then all completion slots;
		 * completion_prepare() has set this one
		 * before: so this thread sees .gone or COMPLETION_GONE
		 */
		if (__atomic_load_n(&c->gone, __ATOMIC_SEQ_CST))
			return COMPLETION_GONE;
		if (state == COMPLETION_EMPTY &&
		    !__atomic_compare_exchange_n(&b->state, &state, COMPLETION_SLEEPS, false,
						 __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE))
			continue;
		futex(&b->state, FUTEX_WAIT, COMPLETION_SLEEPS);
		state = __atomic_load_n(&b->state, __ATOMIC_ACQUIRE);
	}
	return state;
}

int completion_await(struct kvgpu_remote_channel *c, unsigned int completion, uint64_t seq,
		     struct kvgpu_remote_answer *a, const void **payload)
{
	struct completion *b = &c->completions[completion - 1];

	if (wait_for(c, b) != COMPLETION_FULL || b->answer.seq != seq)
		return -ECONNRESET;
	*a = b->answer;
	*payload = b->payload;
	return 0;
}
