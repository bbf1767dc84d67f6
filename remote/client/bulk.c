// SPDX-License-Identifier: MIT
/*
 * Copies of host memory, by several threads where the CPUs allow it: one thread does not keep up
 * with a GPU. The caller and the helpers take chunks of its job until none is left. One job is
 * under way at a time; a thread that comes meanwhile copies by itself. Helpers look for the next
 * job for LOOK_NS, then they sleep.
 */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

#include <remote/channel/signals.h>
#include <remote/ring/clock.h>

#include "client.h"

enum { CHUNK = 64 << 10, LEAST = 2 * CHUNK, HELPERS_MAX = 3, LOOK_NS = 50000 };
enum { LINE = 64, PAGE = 4096, PAGES = 4 };

/* atomic, each member */
static struct {
	bool busy; /* a job is under way: its thread writes the next five members */
	uint8_t *to;
	const uint8_t *from;
	uint64_t bytes;
	bool far;
	/* number of the job << 32 | its chunks << 16 | how many of them were taken */
	uint64_t turn;
	uint32_t done; /* chunks that were copied; a futex */
	bool awaited; /* the job's thread sleeps at .done */
	uint32_t jobs; /* jobs that have begun; a futex */
	uint32_t asleep; /* helpers that sleep at .jobs */
} bulk;

static int helpers;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define LOAD(member)	    __atomic_load_n(&bulk.member, __ATOMIC_SEQ_CST)
#define STORE(member, what) __atomic_store_n(&bulk.member, what, __ATOMIC_SEQ_CST)

static void futex(uint32_t *word, int what, uint32_t value)
{
	syscall(SYS_futex, word, what | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

#ifdef __x86_64__
/* @to: at a line's begin */
static void store_line(uint8_t *to, const uint8_t *from)
{
	unsigned int i;

	for (i = 0; i < LINE; i += sizeof(__m128i))
		_mm_stream_si128((__m128i *)(to + i), _mm_loadu_si128((const __m128i *)(from + i)));
}

/*
 * Store past the caches: to fetch the lines that are written, and to write others back for them,
 * takes as long as the copy. A line of each of PAGES pages in turn, as a CPU reads ahead in each
 * page by itself. Returns how many bytes were copied.
 */
static uint64_t copy_past_caches(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
	const uint64_t head = -(uintptr_t)to % LINE;
	uint64_t at = head, line, page;

	memcpy(to, from, head);
	for (; bytes - at >= PAGES * PAGE; at += PAGES * PAGE)
		for (line = at; line < at + PAGE; line += LINE)
			for (page = line; page < line + PAGES * PAGE; page += PAGE)
				store_line(to + page, from + page);
	_mm_sfence();
	return at;
}
#endif

static void copy_part(uint8_t *to, const uint8_t *from, uint64_t bytes, bool far)
{
	uint64_t done = 0;

#ifdef __x86_64__
	if (far && bytes >= LINE)
		done = copy_past_caches(to, from, bytes);
#endif
	memcpy(to + done, from + done, bytes - done);
}

/*
 * Take a chunk of the job that is under way, and copy it. False: none is left. While one is left
 * the job is not over, so its members stay; if it was over after all, .turn is another one.
 */
static bool copy_chunk(void)
{
	uint64_t turn = LOAD(turn), at, bytes;
	uint16_t chunks;
	const uint8_t *from;
	uint8_t *to;
	bool far;

	do {
		chunks = turn >> 16;
		if ((uint16_t)turn == chunks)
			return false;
		at = (uint64_t)(uint16_t)turn * CHUNK;
		bytes = LOAD(bytes) - at;
		to = LOAD(to) + at;
		from = LOAD(from) + at;
		far = LOAD(far);
	} while (!__atomic_compare_exchange_n(&bulk.turn, &turn, turn + 1, false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
	copy_part(to, from, bytes < CHUNK ? bytes : CHUNK, far);
	if (__atomic_add_fetch(&bulk.done, 1, __ATOMIC_SEQ_CST) == chunks && LOAD(awaited))
		futex(&bulk.done, FUTEX_WAKE, 1);
	return true;
}

static void *help(void *arg)
{
	uint64_t until;
	uint32_t seen;

	for (;;) {
		seen = LOAD(jobs);
		while (copy_chunk())
			;
		for (until = clock_ns() + LOOK_NS; LOAD(jobs) == seen && clock_ns() < until;)
			clock_pause();
		if (LOAD(jobs) != seen)
			continue;
		__atomic_add_fetch(&bulk.asleep, 1, __ATOMIC_SEQ_CST);
		futex(&bulk.jobs, FUTEX_WAIT, seen);
		__atomic_sub_fetch(&bulk.asleep, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* half of the CPUs are for other threads: those of the program, and a server on this machine */
static void start_helpers(void)
{
	pthread_t thread;
	cpu_set_t set;
	int wanted = 0;

	if (!sched_getaffinity(0, sizeof(set), &set))
		wanted = (CPU_COUNT(&set) - 1) / 2;
	if (wanted > HELPERS_MAX)
		wanted = HELPERS_MAX;
	while (helpers < wanted && !signals_thread(&thread, help, NULL))
		helpers++;
}

static void await_chunks(uint32_t chunks)
{
	uint64_t until = clock_ns() + LOOK_NS;
	uint32_t done;

	while (LOAD(done) != chunks && clock_ns() < until)
		clock_pause();
	if (LOAD(done) == chunks)
		return;
	STORE(awaited, true);
	while ((done = LOAD(done)) != chunks)
		futex(&bulk.done, FUTEX_WAIT, done);
	STORE(awaited, false);
}

void bulk_copy(void *to, const void *from, uint64_t bytes, bool far)
{
	uint64_t chunks = (bytes + CHUNK - 1) / CHUNK;

	if (bytes > LEAST)
		pthread_once(&once, start_helpers);
	if (bytes <= LEAST || !helpers || chunks > UINT16_MAX ||
	    __atomic_exchange_n(&bulk.busy, true, __ATOMIC_SEQ_CST)) {
		copy_part(to, from, bytes, far);
		return;
	}
	STORE(to, to);
	STORE(from, from);
	STORE(bytes, bytes);
	STORE(far, far);
	STORE(done, 0);
	STORE(turn, (uint64_t)LOAD(jobs) << 32 | chunks << 16);
	__atomic_add_fetch(&bulk.jobs, 1, __ATOMIC_SEQ_CST);
	if (LOAD(asleep))
		futex(&bulk.jobs, FUTEX_WAKE, INT_MAX);
	while (copy_chunk())
		;
	await_chunks(chunks);
	STORE(busy, false);
}
