// SPDX-License-Identifier: MIT
/*
 * Captures under way. A capture that is not relaxed forbids calls such as cuMemAlloc() and
 * cuEventQuery() to its thread, and a global one to all threads of that mode: a forbidden call
 * fails, and the capture with it. To the server's library all threads are one. So the calls of a
 * thread to which nothing is forbidden are carried out in relaxed mode.
 */
#include "client.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* atomic, written under `lock`: all captures; those of global mode */
static unsigned int captures, global;

/* captures of the thread's that are not relaxed */
enum { OWN_MAX = 16 };
static __thread struct {
	uint64_t stream;
	uint32_t mode;
} own[OWN_MAX];
static __thread unsigned int nr_own;

static void count(int all, int of_global)
{
	pthread_mutex_lock(&lock);
	if (all > 0 || captures)
		__atomic_store_n(&captures, captures + all, __ATOMIC_RELAXED);
	__atomic_store_n(&global, global + of_global, __ATOMIC_RELAXED);
	peers_slow(SLOW_CAPTURES, captures);
	pthread_mutex_unlock(&lock);
}

bool captures_any(void)
{
	return __atomic_load_n(&captures, __ATOMIC_RELAXED);
}

CUresult capture_refuse_servers(void)
{
	return REFUSE("a copy between the devices of two servers in a capture",
		      "a graph is of one server");
}

static void begin(uint64_t stream, uint32_t mode)
{
	bool kept = mode != CU_STREAM_CAPTURE_MODE_RELAXED && nr_own < OWN_MAX;

	if (kept) {
		own[nr_own].stream = stream;
		own[nr_own++].mode = mode;
	}
	count(1, kept && mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static void end(uint64_t stream)
{
	bool was_global = false;
	unsigned int i;

	for (i = 0; i < nr_own && own[i].stream != stream; i++)
		;
	if (i < nr_own) {
		was_global = own[i].mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
		own[i] = own[--nr_own];
	}
	count(-1, -was_global);
}

/* *stream: of a call that begins a capture, in *mode */
static bool begins(uint16_t op, const void *fixed, uint64_t *stream, uint32_t *mode)
{
	const struct q_cuStreamBeginCaptureToGraph *to = fixed;
	const struct q_cuStreamBeginCapture_v2 *second = fixed;
	const struct q_cuStreamBeginCapture *first = fixed;

	switch (op) {
	case OP_cuStreamBeginCapture:
		*stream = first->stream;
		*mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
		return true;
	case OP_cuStreamBeginCapture_v2:
		*stream = second->stream;
		*mode = second->mode;
		return true;
	case OP_cuStreamBeginCaptureToGraph:
		*stream = to->stream;
		*mode = to->mode;
		return true;
	}
	return false;
}

void capture_sent(uint16_t op, const void *fixed)
{
	uint64_t stream;
	uint32_t mode;

	if (begins(op, fixed, &stream, &mode))
		begin(stream, mode);
}

void capture_answered(uint16_t op, const void *fixed, CUresult r)
{
	uint64_t stream;
	uint32_t mode;

	if (op == OP_cuStreamEndCapture) {
		if (!r || r == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
		    r == CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
			end(((const struct q_cuStreamEndCapture *)fixed)->stream);
	} else if (r && begins(op, fixed, &stream, &mode)) {
		end(stream);
	}
}

uint32_t capture_mode(uint32_t mode)
{
	if (!captures_any() || nr_own)
		return mode;
	return mode == CU_STREAM_CAPTURE_MODE_GLOBAL && __atomic_load_n(&global, __ATOMIC_RELAXED) ?
		       mode :
		       CU_STREAM_CAPTURE_MODE_RELAXED;
}
