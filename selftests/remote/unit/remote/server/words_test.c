// SPDX-License-Identifier: MIT
/* The server's small copies, whose words tell of their end before the library does. */
#include "ask.h"

static uint8_t *late_to;
static CUresult late(void *to, CUdeviceptr src, size_t n, CUstream stream)
{
	late_to = to;
	return CUDA_SUCCESS;
}

/* A few words are seen in memory when the GPU has written them: before the event is asked. */
TEST(words_that_come)
{
	static const struct {
		unsigned int at, bytes;
	} apart[] = { { 0, 6 }, { 0, 68 }, { 2, 4 } };
	const uint32_t words[] = { 1, 0, 3 };
	unsigned int i, answers;
	uint64_t st;

	context();
	st = stream();
	s.library.cuMemcpyDtoHAsync_v2 = late;
	answers = fake_answers;
	fake_busy = 1000;
	OUT(12);
	for (i = 0; i < 40; i++)
		assert_false(waits_look(&s));
	assert_int_equal(fake_busy, 1000 - 40 / 8);
	memcpy(late_to, words, 8); /* all but one */
	assert_false(waits_look(&s));
	memcpy(late_to, words, sizeof(words));
	assert_true(waits_look(&s));
	assert_int_equal(fake_answers, answers + 1);
	assert_int_equal(fake_last.result, CUDA_SUCCESS);
	assert_memory_equal(fake_payload, words, sizeof(words));
	/* the words are as the mark is: the event tells */
	OUT(8);
	assert_false(waits_look(&s));
	fake_busy = 0;
	for (i = 0; i < 7 && !waits_look(&s); i++)
		;
	assert_null(s.waits.list);
	assert_int_equal(fake_last.result, CUDA_SUCCESS);
	assert_memory_equal(fake_payload, late_to, 8);
	/* so it does of an error */
	fake_busy = 1;
	OUT(4);
	fake_busy = 0;
	fake_error = CUDA_ERROR_ILLEGAL_ADDRESS;
	for (i = 0; i < 8 && !waits_look(&s); i++)
		;
	fake_error = CUDA_SUCCESS;
	assert_null(s.waits.list);
	assert_int_equal(fake_last.result, CUDA_ERROR_ILLEGAL_ADDRESS);
	/* what is no words, too long or between words has no mark: the event is asked each time */
	for (i = 0; i < 3; i++) {
		fake_busy = 3;
		ASK(copy_out, .src = (1 << 20) + apart[i].at, .stream = st,
		    .at = KVGPU_REMOTE_NOWHERE, .bytes = apart[i].bytes, .flags = COPY_WHOLE);
		assert_false(waits_look(&s));
		assert_int_equal(fake_busy, 2);
		fake_busy = 0;
		assert_true(waits_look(&s));
	}
}

static CUresult busy_query(CUstream stream)
{
	return CUDA_ERROR_NOT_READY;
}

static CUresult still_later(float *ms, CUevent start, CUevent end)
{
	if (ms)
		*ms = 3;
	return s.library.cuEventQuery(end);
}

/* An answer of a few words, which the GPU writes while the stream's end is still to come. */
static void words_of(uint64_t st)
{
	unsigned int answers = fake_answers;

	fake_busy = 1000;
	OUT(4);
	*(volatile uint32_t *)late_to += 1;
	assert_true(waits_look(&s));
	assert_int_equal(fake_answers, answers + 1);
	assert_int_equal(fake_last.result, CUDA_SUCCESS);
}

/* The last question has no answer until the event behind the copy has happened. */
static void asked_behind_words(unsigned int answers, CUresult r)
{
	assert_int_equal(fake_answers, answers);
	assert_false(waits_look(&s));
	assert_true(waits_look(&s));
	assert_null(s.waits.list);
	assert_int_equal(fake_answers, answers + 1);
	assert_int_equal(fake_last.seq, s.frame.head.seq);
	assert_int_equal(fake_last.result, r);
}

/*
 * Words that came show that their stream was over, and what it waited for. So the client is not
 * told later that this is not over.
 */
TEST(over_when_words_came)
{
	uint64_t st, event;
	unsigned int i, answers;

	context();
	st = stream();
	s.library.cuMemcpyDtoHAsync_v2 = late;
	s.library.cuEventElapsedTime = still_later;
	event = GET(event, cuEventCreate, .flags = 0);
	for (i = 0; i < 4; i++) {
		words_of(st);
		answers = fake_answers;
		fake_busy = 2;
		if (i < 2)
			ASK(cuStreamQuery, .stream = i ? 0 : st);
		else if (i == 2)
			ASK(cuEventQuery, .event = event);
		else
			ASK(cuEventElapsedTime, .want = 1, .start = event, .end = event);
		asked_behind_words(answers, CUDA_SUCCESS);
	}
	assert_true(ANSWER(cuEventElapsedTime)->ms == 3);
	/* the event has happened: what is not over now was begun later */
	fake_busy = 2;
	FAILS(ASK(cuStreamQuery, .stream = st), NOT_READY);
	assert_null(s.waits.list);
	/* the library is asked once more only */
	words_of(st);
	answers = fake_answers;
	fake_busy = 2;
	ASK(cuStreamQuery, .stream = st);
	assert_int_equal(fake_answers, answers);
	assert_false(waits_look(&s));
	s.library.cuStreamQuery = busy_query;
	assert_true(waits_look(&s));
	assert_int_equal(fake_answers, answers + 1);
	assert_int_equal(fake_last.result, CUDA_ERROR_NOT_READY);
}

/* What is kept of such copies: not more than is needed, in any context, and of few streams. */
TEST(kept_of_words)
{
	uint64_t ctx = context(), other, st = stream();
	unsigned int i, answers;

	s.library.cuMemcpyDtoHAsync_v2 = late;
	/* an answer that the event itself allows leaves nothing to ask */
	OUT(4);
	for (i = 0; i < 8 && !waits_look(&s); i++)
		;
	assert_null(s.waits.list);
	fake_busy = 1;
	FAILS(ASK(cuStreamQuery, .stream = st), NOT_READY);
	/* the question is asked in another context */
	words_of(st);
	other = context();
	answers = fake_answers;
	fake_busy = 2;
	ASK(cuStreamQuery, .stream = st);
	assert_int_equal(fake_answers, answers);
	assert_false(waits_look(&s));
	assert_true(waits_look(&s));
	assert_int_equal(s.current, other);
	OK(ASK(current, .ctx = ctx));
	/* more streams than the server has room for; and their context ends */
	for (i = 0; i < 40; i++)
		words_of(stream());
	assert_int_equal(s.waits.nr_shown, SHOWN_MAX);
	fake_busy = 0;
	words_of(stream());
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	assert_int_equal(s.waits.nr_shown, 0);
}

/* With a library whose streams go on after an error, words that came tell of none. */
TEST(words_behind_errors)
{
	uint64_t st;

	context();
	st = stream();
	s.library.cuMemcpyDtoHAsync_v2 = late;
	s.library.goes_on = true;
	fake_busy = 1;
	OUT(4);
	memcpy(late_to, &(uint32_t){ 1 }, 4);
	assert_false(waits_look(&s));
	fake_error = CUDA_ERROR_LAUNCH_FAILED;
	assert_true(waits_look(&s));
	fake_error = CUDA_SUCCESS;
	assert_int_equal(fake_last.result, CUDA_ERROR_LAUNCH_FAILED);
}

TEST_MAIN(set_up, tear_down)
