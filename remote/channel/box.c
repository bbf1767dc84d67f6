// SPDX-License-Identifier: MIT
/*
 * Boxes, where threads wait for the answers of a stream. A thread looks for a short time and then
 * sleeps in the kernel. At a shmem region threads wait elsewhere (shmem_client.c); a box is taken
 * here, too, and receives an answer that is long.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <remote/ring/clock.h>

#include "carrier.h"

enum { SPIN_NS = 20000, LOOKS = 32 };	/* looks at the box between two looks at the clock */

static void futex(uint32_t *word, int what, uint32_t value)
{
	syscall(SYS_futex, word, what | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

unsigned int kvgpu_remote_box_get(struct kvgpu_remote_channel *c)
{
	unsigned int i;

	for (i = 0; i < KVGPU_REMOTE_BOXES; i++) {
		struct box *b = &c->boxes[i];

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

void kvgpu_remote_box_put(struct kvgpu_remote_channel *c, unsigned int box)
{
	__atomic_store_n(&c->boxes[box - 1].taken, false, __ATOMIC_RELEASE);
}

/*
 * Set the state to EMPTY before the frame goes out: the answer may be there before the sender is
 * back.
 */
void box_prepare(struct kvgpu_remote_channel *c, unsigned int box)
{
	__atomic_store_n(&c->boxes[box - 1].state, BOX_EMPTY, __ATOMIC_SEQ_CST);
}

struct box *box_of(struct kvgpu_remote_channel *c, unsigned int box)
{
	struct box *b = box && box <= KVGPU_REMOTE_BOXES ? &c->boxes[box - 1] : NULL;
	uint32_t state;

	if (!b || !__atomic_load_n(&b->taken, __ATOMIC_ACQUIRE))
		return NULL;
	state = __atomic_load_n(&b->state, __ATOMIC_ACQUIRE);
	return state == BOX_EMPTY || state == BOX_SLEEPS ? b : NULL;
}

static void end(struct box *b, uint32_t state)
{
	if (__atomic_exchange_n(&b->state, state, __ATOMIC_SEQ_CST) == BOX_SLEEPS)
		futex(&b->state, FUTEX_WAKE, INT_MAX);
}

void box_deliver(struct box *b)
{
	end(b, BOX_FULL);
}

void channel_lost(struct kvgpu_remote_channel *c)
{
	unsigned int i;

	__atomic_store_n(&c->gone, true, __ATOMIC_SEQ_CST);
	for (i = 0; i < KVGPU_REMOTE_BOXES; i++)
		if (__atomic_load_n(&c->boxes[i].state, __ATOMIC_SEQ_CST) != BOX_FULL)
			end(&c->boxes[i], BOX_GONE);
}

void boxes_free(struct kvgpu_remote_channel *c)
{
	unsigned int i;

	for (i = 0; i < KVGPU_REMOTE_BOXES; i++)
		free(c->boxes[i].payload);
}

static uint32_t wait_for(struct kvgpu_remote_channel *c, struct box *b)
{
	uint64_t until = clock_ns() + SPIN_NS;
	uint32_t state = BOX_EMPTY;
	unsigned int i = 0;

	while ((state = __atomic_load_n(&b->state, __ATOMIC_ACQUIRE)) == BOX_EMPTY) {
		clock_pause();
		if (++i % LOOKS == 0 && clock_ns() > until)
			break;
	}
	while (state == BOX_EMPTY || state == BOX_SLEEPS) {
		/*
		 * channel_lost() sets .gone first and then all boxes; box_prepare() has set the box
		 * before: so this thread sees .gone or BOX_GONE
		 */
		if (__atomic_load_n(&c->gone, __ATOMIC_SEQ_CST))
			return BOX_GONE;
		if (state == BOX_EMPTY &&
		    !__atomic_compare_exchange_n(&b->state, &state, BOX_SLEEPS, false,
						 __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE))
			continue;
		futex(&b->state, FUTEX_WAIT, BOX_SLEEPS);
		state = __atomic_load_n(&b->state, __ATOMIC_ACQUIRE);
	}
	return state;
}

int box_await(struct kvgpu_remote_channel *c, unsigned int box, uint64_t seq,
	      struct kvgpu_remote_answer *a, const void **payload)
{
	struct box *b = &c->boxes[box - 1];

	if (wait_for(c, b) != BOX_FULL || b->answer.seq != seq)
		return -ECONNRESET;
	*a = b->answer;
	*payload = b->payload;
	return 0;
}
