// SPDX-License-Identifier: MIT
/*
 * Calls as frames. All threads send in one order, which is the order of the calls. The server carries a frame out in the context
 * that was named last, so that is named first where the thread has another one.
 */
#include <stdlib.h>

#include "client.h"

/* bytes of queued frames that the server may be behind: what it keeps while its library is busy is bounded, too */
enum { BEHIND_MAX = 8 << 20 };

static pthread_mutex_t submit = PTHREAD_MUTEX_INITIALIZER;
static uint64_t named_context;	/* `submit` */
static uint32_t named_mode;
static uint64_t behind;		/* atomic: bytes since an answer */
static uint64_t through;	/* atomic */
static unsigned int captures;	/* atomic */
static uint64_t acknowledged;	/* atomic */
static uint64_t submitted;	/* atomic; `submit` */
static bool suspect;		/* atomic: a context has an error that stays, so calls fail that nothing speaks against */

static __thread unsigned int box, other_box;	/* the other one: of calls in a handler */
static pthread_key_t box_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void thread_ends(void *value)
{
	const unsigned int mine[] = { box, other_box };
	unsigned int i;

	if (!client_ready())
		for (i = 0; i < 2; i++)
			if (mine[i])
				kvgpu_remote_box_put(channel, mine[i]);
	box = other_box = 0;
}

static void make_key(void)
{
	pthread_key_create(&box_key, thread_ends);
}

static unsigned int own_box(void)
{
	if (!box) {
		pthread_once(&once, make_key);
		box = kvgpu_remote_box_get(channel);
		pthread_setspecific(box_key, (void *)(uintptr_t)box);
	}
	return box;
}

void call_aside(bool aside)
{
	unsigned int first = box;

	box = other_box;
	other_box = first;
}

CUresult call_enter(unsigned int flags)
{
	CUresult r = client_ready();

	if (r || flags & CALL_NO_CONTEXT)
		return r;
	if (in_host_function())
		return CUDA_ERROR_NOT_PERMITTED;
	return current_check();
}

/* ------------------------------------------------------------------ parts */

void call_end(struct call *c)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		free(c->owned[i]);
		c->owned[i] = NULL;
	}
}

CUresult call_bytes(struct call *c, const void *p, uint64_t n)
{
	static const uint8_t zeros[8];

	if (n > KVGPU_REMOTE_PAYLOAD_MAX / 2 || (n && !p) || c->nr_parts + 2 > CALL_PARTS)
		return CUDA_ERROR_INVALID_VALUE;
	c->part[c->nr_parts++] = (struct iovec){ (void *)(uintptr_t)p, n };
	if (n % 8)
		c->part[c->nr_parts++] = (struct iovec){ (void *)(uintptr_t)zeros, 8 - n % 8 };
	return CUDA_SUCCESS;
}

CUresult call_string(struct call *c, const char *text, uint32_t *bytes)
{
	size_t n = strnlen(text, KVGPU_REMOTE_STRING_MAX) + 1;

	*bytes = n;
	return n > KVGPU_REMOTE_STRING_MAX ? CUDA_ERROR_INVALID_VALUE : call_bytes(c, text, n);
}

CUresult call_handles(struct call *c, unsigned int class, const void *const *handles, uint64_t n)
{
	uint64_t *ids, i;

	if (n > KVGPU_REMOTE_LIST_MAX || (n && !handles))
		return CUDA_ERROR_INVALID_VALUE;
	ids = malloc(n * sizeof(*ids) + 1);
	if (!ids)
		return CUDA_ERROR_OUT_OF_MEMORY;
	c->owned[c->owned[0] ? 1 : 0] = ids;
	for (i = 0; i < n; i++)
		if (!handle_id(class, handles[i], &ids[i]))
			return CUDA_ERROR_INVALID_HANDLE;
	return call_bytes(c, ids, n * sizeof(*ids));
}

bool answer_bytes(struct call *c, void *to, uint64_t n)
{
	uint64_t padded = (n + 7) & ~7ull;

	if (n > c->answer_bytes || padded > c->answer_bytes - c->answer_used)
		return false;
	memcpy(to, (const uint8_t *)c->answer + c->answer_used, n);
	c->answer_used += padded;
	return true;
}

bool answer_handles(struct call *c, unsigned int class, void **to, uint64_t n, void *parent)
{
	uint64_t i, id;

	if (n > KVGPU_REMOTE_LIST_MAX)
		return false;
	for (i = 0; i < n; i++) {
		if (!answer_bytes(c, &id, sizeof(id)))
			return false;
		to[i] = handle_here(class, id, parent);
	}
	return true;
}

/* ------------------------------------------------------------------ sending; `submit` is held */

static int name_context(void)
{
	struct q_current q = { 0 };
	struct iovec part = { &q, sizeof(q) };
	uint64_t seq;
	int r;

	q.ctx = current_id(&q.mode);
	if (q.ctx == named_context && q.mode == named_mode)
		return 0;
	r = kvgpu_remote_send(channel, OP_current, 0, &part, 1, &seq);
	if (!r) {
		named_context = q.ctx;
		named_mode = q.mode;
	}
	return r;
}

static int send_call(struct call *c, unsigned int to)
{
	struct iovec all[CALL_PARTS + 1] = { { (void *)(uintptr_t)c->fixed, c->bytes } };
	int r = name_context();

	memcpy(all + 1, c->part, c->nr_parts * sizeof(c->part[0]));
	if (!r && c->push_bytes)
		r = kvgpu_remote_push(channel, c->push_at, c->push_bytes);
	return r ? r : kvgpu_remote_send(channel, c->op, to, all, c->nr_parts + 1, &c->seq);
}

/* parts lie where the program has them: they are read with the lock, when no page of them may be closed */
static bool managed_begins(const struct call *c)
{
	bool work = op_touches(c->op) && !c->apart;
	unsigned int i;

	for (i = 0; i < c->nr_parts; i++)
		managed_touch(c->part[i].iov_base, c->part[i].iov_len);
	if (work)
		managed_work_begins();
	return work;
}

static int submit_call(struct call *c, unsigned int to)
{
	uint64_t bytes = sizeof(struct kvgpu_remote_head) + c->bytes;
	bool work = managed_any() && managed_begins(c);
	unsigned int i;
	int r;

	for (i = 0; i < c->nr_parts; i++)
		bytes += c->part[i].iov_len;
	__atomic_add_fetch(&behind, bytes, __ATOMIC_RELAXED);
	pthread_mutex_lock(&submit);
	c->turn = submitted + 1;
	__atomic_store_n(&submitted, c->turn, __ATOMIC_RELEASE);
	r = send_call(c, to);
	pthread_mutex_unlock(&submit);
	if (work)
		managed_work_sent();
	return r;
}

/* ------------------------------------------------------------------ asking */

static bool stays(CUresult r)
{
	switch ((int)r) {
	case CUDA_ERROR_ILLEGAL_ADDRESS:
	case CUDA_ERROR_LAUNCH_FAILED:
	case CUDA_ERROR_LAUNCH_TIMEOUT:
	case CUDA_ERROR_ASSERT:
	case CUDA_ERROR_UNKNOWN:
	case 214: /* ECC */ case 220: /* NVLINK */
	case 714: case 715: case 716: case 717: case 718:	/* stack, instruction, alignment, address space, PC */
		return true;
	}
	return false;
}

static void set_through(uint64_t seq)
{
	uint64_t old = __atomic_load_n(&through, __ATOMIC_RELAXED);

	while (old < seq && !__atomic_compare_exchange_n(&through, &old, seq, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

/* what is not shared the library copies as it copies any memory: an answer means that it has read what came before */
static void heard(uint64_t seq)
{
	if (!kvgpu_remote_is_shared(channel))
		set_through(seq);
	__atomic_store_n(&behind, 0, __ATOMIC_RELAXED);
}

uint64_t call_turn(void)
{
	return __atomic_load_n(&submitted, __ATOMIC_ACQUIRE);
}

uint64_t call_through(void)
{
	return __atomic_load_n(&through, __ATOMIC_ACQUIRE);
}

CUresult call_ask(struct call *c, size_t fixed)
{
	struct kvgpu_remote_answer a;
	unsigned int to = own_box();
	const void *payload;
	CUresult r;

	if (!to) {
		call_end(c);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (submit_call(c, to) || kvgpu_remote_await(channel, to, c->seq, &a, &payload)) {
		call_end(c);
		return CUDA_ERROR_SYSTEM_NOT_READY;
	}
	call_end(c);
	(void)__atomic_load_n(&acknowledged, __ATOMIC_ACQUIRE);
	heard(a.seq);
	r = a.result;
	c->answer = payload;
	c->answer_bytes = a.bytes;
	c->answer_used = fixed;
	if (managed_any() && op_reports(c->op) && r != CUDA_ERROR_NOT_READY)
		managed_waited();
	if (stays(r))
		__atomic_store_n(&suspect, true, __ATOMIC_RELAXED);
	/* the server has no context where the thread's is gone */
	if (r == CUDA_ERROR_INVALID_CONTEXT && current_check() == CUDA_ERROR_CONTEXT_IS_DESTROYED)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return !r && a.bytes < fixed ? CUDA_ERROR_UNKNOWN : r;
}

void call_due(void)
{
	(void)__atomic_load_n(&submitted, __ATOMIC_ACQUIRE);
	(void)__atomic_load_n(&acknowledged, __ATOMIC_ACQUIRE);
}

CUresult call_acknowledge(uint64_t invocation)
{
	__atomic_add_fetch(&acknowledged, 1, __ATOMIC_RELEASE);
	return kvgpu_remote_ack(channel, invocation) ? CUDA_ERROR_SYSTEM_NOT_READY : CUDA_SUCCESS;
}

CUresult call_fence(uint64_t upto)
{
	struct q_fence q = { .upto = upto };
	struct call c = { .op = OP_fence, .fixed = &q, .bytes = sizeof(q) };
	CUresult r = call_ask(&c, 0);

	if (!r)
		set_through(upto < c.seq ? upto : c.seq);
	return r;
}

CUresult call_queue(struct call *c)
{
	int r;

	if (captures_any() || __atomic_load_n(&suspect, __ATOMIC_RELAXED))
		return call_ask(c, 0);
	r = submit_call(c, 0);
	call_end(c);
	if (r)
		return CUDA_ERROR_SYSTEM_NOT_READY;
	return __atomic_load_n(&behind, __ATOMIC_RELAXED) > BEHIND_MAX ? call_fence(0) : CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ captures */

void captures_begun(void)
{
	__atomic_add_fetch(&captures, 1, __ATOMIC_RELAXED);
}

void captures_ended(void)
{
	unsigned int n = __atomic_load_n(&captures, __ATOMIC_RELAXED);

	while (n && !__atomic_compare_exchange_n(&captures, &n, n - 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

bool captures_any(void)
{
	return __atomic_load_n(&captures, __ATOMIC_RELAXED);
}
