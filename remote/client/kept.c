// SPDX-License-Identifier: MIT
/*
 * Answers that stay the same until a call of the program changes them: they are kept here by
 * operation and arguments, and a program that asks for one thousands of times asks the server once.
 */
#include "client.h"

enum { ENTRIES = 512, QUESTION_WORDS = 4, ANSWER_WORDS = 2 };

struct entry {
	uint16_t op; /* 0: empty */
	const struct peer *peer;
	uint32_t generation; /* .generation of its kind when the server was asked */
	uint64_t question[QUESTION_WORDS], answer[ANSWER_WORDS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of .entries */
static struct {
	uint32_t generation[NR_KEPT]; /* atomic: how often answers of a kind were forgotten */
	struct entry entries[ENTRIES];
} kept;

/* what a kept answer is copied to, as .answer of a call */
static __thread uint64_t found[ANSWER_WORDS];

void kept_forget(enum kept_kind kind)
{
	__atomic_add_fetch(&kept.generation[kind], 1, __ATOMIC_SEQ_CST);
}

static struct entry *place_of(const struct entry *e)
{
	uint64_t sum = e->op + 64 * peer_number(e->peer);
	unsigned int i;

	for (i = 0; i < QUESTION_WORDS; i++)
		sum = (sum ^ e->question[i]) * 0x9e3779b97f4a7c15ull;
	return &kept.entries[(sum >> 32) % ENTRIES];
}

static bool is_known(struct entry *e)
{
	const struct entry *at = place_of(e);
	bool known;

	pthread_mutex_lock(&lock);
	known = at->op == e->op && at->peer == e->peer && at->generation == e->generation &&
		!memcmp(at->question, e->question, sizeof(e->question));
	if (known)
		*e = *at;
	pthread_mutex_unlock(&lock);
	return known;
}

/*
 * The generation is read before the server is asked: an answer that a call of another thread
 * changes meanwhile is not found again.
 */
CUresult call_kept(struct call *c, size_t fixed, enum kept_kind kind)
{
	struct entry e = { .op = c->op,
			   .peer = route_peer(&c->to),
			   .generation =
				   __atomic_load_n(&kept.generation[kind], __ATOMIC_SEQ_CST) };
	CUresult r;

	if (c->to.split || c->nr_parts || c->bytes > sizeof(e.question) ||
	    fixed > sizeof(e.answer) || call_asks(e.peer))
		return call_sync(c, fixed);
	memcpy(e.question, c->fixed, c->bytes);
	if (is_known(&e)) {
		memcpy(found, e.answer, sizeof(found));
		c->answer = found;
		c->answer_bytes = fixed;
		return CUDA_SUCCESS;
	}
	r = call_sync(c, fixed);
	if (r)
		return r;
	memcpy(e.answer, c->answer, fixed);
	pthread_mutex_lock(&lock);
	*place_of(&e) = e;
	pthread_mutex_unlock(&lock);
	return r;
}
