// SPDX-License-Identifier: MIT
/*
 * Calls as frames. The threads send frames to a server in one order. The server carries a frame out
 * in the context that OP_current named last.
 */
#include <stdlib.h>

#include "client.h"

/* bytes of frames that may be queued without an answer */
enum { BEHIND_MAX = 8 << 20 };

static uint64_t acknowledged; /* atomic: calls of call_acknowledge() */

/* the thread's completion slots at each server; .other: for calls in a signal handler */
static __thread struct {
	uint16_t completion, other;
} own_slots[PEERS_MAX];
static pthread_key_t completion_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void thread_ends(void *value)
{
	unsigned int i;

	for (i = 0; i < nr_peers && !client_ready(); i++) {
		if (kvgpu_remote_is_gone(peers[i].channel))
			continue;
		if (own_slots[i].completion)
			kvgpu_remote_completion_put(peers[i].channel, own_slots[i].completion);
		if (own_slots[i].other)
			kvgpu_remote_completion_put(peers[i].channel, own_slots[i].other);
	}
	memset(own_slots, 0, sizeof(own_slots));
}

static void make_key(void)
{
	pthread_key_create(&completion_key, thread_ends);
}

unsigned int call_completion(struct peer *p)
{
	uint16_t *completion = &own_slots[peer_number(p)].completion;

	if (!*completion) {
		pthread_once(&once, make_key);
		*completion = kvgpu_remote_completion_get(p->channel);
		pthread_setspecific(completion_key, own_slots);
	}
	return *completion;
}

void call_forked(void)
{
	memset(own_slots, 0, sizeof(own_slots));
}

void call_aside(bool aside)
{
	unsigned int i;
	uint16_t first;

	for (i = 0; i < PEERS_MAX; i++) {
		first = own_slots[i].completion;
		own_slots[i].completion = own_slots[i].other;
		own_slots[i].other = first;
	}
}

CUresult call_enter(unsigned int flags)
{
	struct peer *p = peers;
	CUresult r = client_ready();

	if (r || flags & CALL_NO_CONTEXT)
		return r;
	if (in_host_function())
		return CUDA_ERROR_NOT_PERMITTED;
	if (peer_is_slow(p) && several) {
		p = current_peer();
		if (kvgpu_remote_is_gone(p->channel))
			return CUDA_ERROR_SYSTEM_NOT_READY;
	}
	kvgpu_remote_expect(p->channel);
	return flags & CALL_FINDS_CONTEXT ? CUDA_SUCCESS : current_check();
}

/* ------------------------------------------------------------------ parts of calls */

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
		if (!route_handle(&c->to, class, handles[i], &ids[i]))
			return CUDA_ERROR_INVALID_HANDLE;
	return call_bytes(c, ids, n * sizeof(*ids));
}

/* ------------------------------------------------------------------ sending */

/* call with `submit`, as send_call() */
static int name_context(struct peer *p, const struct object *ctx)
{
	struct q_current q = { 0 };
	struct iovec part = { &q, sizeof(q) };
	uint64_t seq;
	int r;

	q.ctx = current_id(p, &q.mode);
	q.ctx = ctx ? ctx->id : q.ctx;
	if (q.ctx == p->named_context && q.mode == p->named_mode)
		return 0;
	r = kvgpu_remote_send(p->channel, OP_current, 0, &part, 1, &seq);
	if (!r) {
		p->named_context = q.ctx;
		p->named_mode = q.mode;
	}
	return r;
}

static int push_piece(struct peer *p, const struct call *c)
{
	struct kvgpu_remote_pull pull = { .piece = { c->push_at, c->push_bytes } };

	if (!c->push_bytes)
		return 0;
	if (!c->fetch)
		return kvgpu_remote_push(p->channel, c->push_at, c->push_from, c->push_bytes);
	pull.source = *c->fetch;
	return kvgpu_remote_fetch(p->channel, &pull);
}

static int send_call(struct peer *p, struct call *c, unsigned int to)
{
	struct iovec all[CALL_PARTS + 1];
	int r = name_context(p, c->to.ctx);
	unsigned int i;

	all[0] = (struct iovec){ (void *)(uintptr_t)c->fixed, c->bytes };
	for (i = 0; i < c->nr_parts; i++)
		all[i + 1] = c->part[i];
	if (!r)
		r = push_piece(p, c);
	return r ? r : kvgpu_remote_send(p->channel, c->op, to, all, c->nr_parts + 1, &c->seq);
}

/*
 * The call's parts are still in the program's memory. They are read with `submit` held, when no
 * page of them may be closed: open their pages now.
 */
static bool managed_begins(struct peer *p, const struct call *c)
{
	bool work = op_touches(c->op) && !c->apart;
	unsigned int i;

	for (i = 0; i < c->nr_parts; i++)
		managed_touch(c->part[i].iov_base, c->part[i].iov_len);
	if (work)
		managed_work_begins(p, c->to.ctx);
	else if (op_reports(c->op))
		managed_wait_begins(p);
	return work;
}

static bool is_work(uint16_t op)
{
	return op_touches(op) || op == OP_cuEventRecord || op == OP_cuEventRecordWithFlags ||
	       op == OP_cuStreamWaitEvent;
}

/* The server's library may keep bytes of host memory for this call until its stream goes on. */
static bool takes_room(uint16_t op)
{
	return op == OP_copy_in || op == OP_box || op == OP_run;
}

/*
 * The server's library may wait for all work of the GPU in this call: NVIDIA's does, to free memory
 * and to load code.
 */
static bool may_wait_for_work(uint16_t op)
{
	return op == OP_image || op == OP_function || op == OP_cuFuncLoad ||
	       op == OP_cuModuleUnload || op == OP_cuMemFree_v2 || op == OP_cuArrayDestroy ||
	       op == OP_cuMipmappedArrayDestroy;
}

/*
 * Call with `submit`. A library has little room for such bytes, and the server's one thread is in
 * the library while that waits; what signals a cross-server fence needs both. So these calls wait
 * while a cross-server fence is pending. A fence is counted before its frame is sent, so under the
 * lock none is missed.
 */
static void wait_for_room(struct peer *p, uint16_t op)
{
	bool waits = takes_room(op) || may_wait_for_work(op);

	while (waits && __atomic_load_n(&p->cross_fences, __ATOMIC_RELAXED)) {
		fair_lock_release(&p->submit);
		waits = cross_fence_await(p);
		fair_lock_take(&p->submit);
	}
}

/*
 * What a call to a slow server does before it takes `submit`. True: managed_work_sent() is needed.
 */
static bool slow_begins(struct peer *p, const struct call *c)
{
	bool work = managed_any() && managed_begins(p, c);

	if (__atomic_load_n(&p->cross_fences, __ATOMIC_RELAXED) && is_work(c->op))
		cross_fence_behind(p);
	return work;
}

static int submit_call(struct peer *p, struct call *c, unsigned int to)
{
	uint64_t bytes = sizeof(struct kvgpu_remote_head) + c->bytes;
	bool work = peer_is_slow(p) && slow_begins(p, c);
	unsigned int i;
	int r;

	for (i = 0; i < c->nr_parts; i++)
		bytes += c->part[i].iov_len;
	capture_sent(c->op, c->fixed);
	if (c->push_bytes)
		fair_lock_bulk(&p->submit);
	else
		fair_lock_take(&p->submit);
	if (peer_is_slow(p))
		wait_for_room(p, c->op);
	/*
	 * note_answered() may set it to 0 meanwhile: then this undoes that, which costs a fence at
	 * most
	 */
	__atomic_store_n(&p->behind, __atomic_load_n(&p->behind, __ATOMIC_RELAXED) + bytes,
			 __ATOMIC_RELAXED);
	c->serial = p->submitted + 1;
	__atomic_store_n(&p->submitted, c->serial, __ATOMIC_RELEASE);
	r = send_call(p, c, to);
	work_sent(p, c, !to);
	fair_lock_release(&p->submit);
	if (work)
		managed_work_sent();
	return r;
}

/* ------------------------------------------------------------------ asking */

static bool stays(CUresult r)
{
	switch ((int)r) {
	case CUDA_ERROR_CONTAINED:
	case CUDA_ERROR_ILLEGAL_ADDRESS:
	case CUDA_ERROR_LAUNCH_FAILED:
	case CUDA_ERROR_LAUNCH_TIMEOUT:
	case CUDA_ERROR_ASSERT:
	case CUDA_ERROR_UNKNOWN:
	case CUDA_ERROR_ECC_UNCORRECTABLE:
	case CUDA_ERROR_NVLINK_UNCORRECTABLE:
	case CUDA_ERROR_HARDWARE_STACK_ERROR:
	case CUDA_ERROR_ILLEGAL_INSTRUCTION:
	case CUDA_ERROR_MISALIGNED_ADDRESS:
	case CUDA_ERROR_INVALID_ADDRESS_SPACE:
	case CUDA_ERROR_INVALID_PC:
	case CUDA_ERROR_TENSOR_MEMORY_LEAK:
		return true;
	}
	return false;
}

static void raise_seq(uint64_t *to, uint64_t seq)
{
	uint64_t old = __atomic_load_n(to, __ATOMIC_RELAXED);

	while (old < seq && !__atomic_compare_exchange_n(to, &old, seq, true, __ATOMIC_RELEASE,
							 __ATOMIC_RELAXED))
		;
}

/*
 * A piece that is not late was read when the copy's call returns in the server (source_bytes() in
 * its copy.c). So with an answer all earlier ones of them were read.
 */
static void note_answered(struct peer *p, uint64_t seq)
{
	raise_seq(&p->answered, seq);
	__atomic_store_n(&p->behind, 0, __ATOMIC_RELAXED);
}

uint64_t call_serial(const struct peer *p)
{
	return __atomic_load_n(&p->submitted, __ATOMIC_ACQUIRE);
}

uint64_t call_answered(const struct peer *p)
{
	return __atomic_load_n(&p->answered, __ATOMIC_ACQUIRE);
}

uint64_t call_fenced(const struct peer *p)
{
	return __atomic_load_n(&p->fenced, __ATOMIC_ACQUIRE);
}

CUresult call_begin(struct call *c, unsigned int completion)
{
	struct peer *p = route_peer(&c->to);
	const uint64_t began = peer_is_slow(p) ? trace_now() : 0;
	CUresult r = c->to.split;

	if (!r && !completion)
		r = CUDA_ERROR_OUT_OF_MEMORY;
	if (!r && peer_is_slow(p))
		r = table_refuses(p, c->op);
	if (!r && submit_call(p, c, completion))
		r = CUDA_ERROR_SYSTEM_NOT_READY;
	if (began)
		trace_sent(c->op, began, r);
	call_end(c);
	return r;
}

/* calls that managed.c makes, some with its lock */
static bool is_of_pages(uint16_t op)
{
	return op == OP_managed_in || op == OP_managed_out || op == OP_mapped_in ||
	       op == OP_mapped_out || op == OP_idle || op == OP_fence;
}

void call_refused(struct peer *p, CUresult r)
{
	if (stays(r))
		peer_slow(p, SLOW_SUSPECT, true);
}

static CUresult take_answer(struct call *c, unsigned int completion, size_t fixed)
{
	struct peer *p = c->to.peer;
	struct kvgpu_remote_answer a;
	const void *payload;
	CUresult r;

	if (kvgpu_remote_await(p->channel, completion, c->seq, &a, &payload))
		return CUDA_ERROR_SYSTEM_NOT_READY;
	(void)__atomic_load_n(&acknowledged, __ATOMIC_ACQUIRE);
	note_answered(p, a.seq);
	r = answer_result(a.result);
	c->answer = payload;
	c->answer_bytes = a.bytes;
	c->answer_used = fixed;
	if (managed_any() && !is_of_pages(c->op) && r != CUDA_ERROR_NOT_READY)
		managed_waited(); /* the call may have waited for work */
	if (!r && __atomic_load_n(&p->late, __ATOMIC_RELAXED) && op_reports(c->op))
		r = __atomic_exchange_n(&p->late, 0, __ATOMIC_RELAXED);
	call_refused(p, r);
	capture_answered(c->op, c->fixed, r);
	if (r == CUDA_ERROR_ILLEGAL_ADDRESS)
		hidden_tell(p);
	/* while the thread's context is a destroyed one, the server is told that it has none */
	if (r == CUDA_ERROR_INVALID_CONTEXT && current_check() == CUDA_ERROR_CONTEXT_IS_DESTROYED)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return !r && a.bytes < fixed ? CUDA_ERROR_UNKNOWN : r;
}

CUresult call_take(struct call *c, unsigned int completion, size_t fixed)
{
	CUresult r = take_answer(c, completion, fixed);

	if (peer_is_slow(c->to.peer))
		trace_answered(c->op, r);
	return r;
}

CUresult call_sync(struct call *c, size_t fixed)
{
	unsigned int completion = call_completion(route_peer(&c->to));
	CUresult r = call_begin(c, completion);

	return r ? r : call_take(c, completion, fixed);
}

void call_late(struct peer *p, CUresult r)
{
	int none = CUDA_SUCCESS;

	if (r)
		__atomic_compare_exchange_n(&p->late, &none, r, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
}

CUresult call_each(struct call *c, size_t fixed)
{
	CUresult r = call_sync(c, fixed);
	unsigned int i;

	for (i = 0; i < nr_peers && several && r; i++) {
		c->to = (struct route){ .peer = &peers[i] };
		r = call_sync(c, fixed);
	}
	return r;
}

void call_due(void)
{
	unsigned int i;

	for (i = 0; i < nr_peers; i++)
		(void)__atomic_load_n(&peers[i].submitted, __ATOMIC_ACQUIRE);
	(void)__atomic_load_n(&acknowledged, __ATOMIC_ACQUIRE);
}

CUresult call_acknowledge(struct peer *p, uint64_t invocation)
{
	__atomic_add_fetch(&acknowledged, 1, __ATOMIC_RELEASE);
	if (kvgpu_remote_ack(p->channel, invocation))
		return CUDA_ERROR_SYSTEM_NOT_READY;
	return CUDA_SUCCESS;
}

CUresult call_fence(struct peer *p, uint64_t upto)
{
	struct q_fence q = { .upto = upto };
	struct call c = { .op = OP_fence, .fixed = &q, .bytes = sizeof(q), .to.peer = p };
	CUresult r = call_sync(&c, 0);

	if (!r)
		raise_seq(&p->fenced, upto < c.seq ? upto : c.seq);
	return r;
}

bool call_asks(const struct peer *p)
{
	return kvgpu_remote_is_gone(p->channel) ||
	       __atomic_load_n(&p->slow, __ATOMIC_RELAXED) & SLOW_SUSPECT;
}

/*
 * When calls are traced the server is asked for the error of each launch and each fill. Not of
 * copies, whose answers wait for what their streams have to do before.
 */
static bool is_asked(const struct peer *p, uint16_t op)
{
	return __atomic_load_n(&p->slow, __ATOMIC_RELAXED) & SLOW_TRACE && op_touches(op) &&
	       !takes_room(op) && op != OP_copy_out && op != OP_peer;
}

/*
 * Only with several servers an argument can split a route. What a server lacks call_begin()
 * refuses. Not inline, for what is queued without it.
 */
static __attribute__((noinline)) bool must_be_sync(struct peer *p, const struct call *c)
{
	return captures_any() || c->to.split ||
	       __atomic_load_n(&p->slow, __ATOMIC_RELAXED) & SLOW_SUSPECT || is_asked(p, c->op) ||
	       table_refuses(p, c->op);
}

CUresult call_async(struct call *c)
{
	struct peer *p = route_peer(&c->to);
	int r;

	if (peer_is_slow(p) && must_be_sync(p, c))
		return call_sync(c, 0);
	r = submit_call(p, c, 0);
	call_end(c);
	if (r)
		return CUDA_ERROR_SYSTEM_NOT_READY;
	if (__atomic_load_n(&p->behind, __ATOMIC_RELAXED) > BEHIND_MAX)
		return call_fence(p, 0);
	return CUDA_SUCCESS;
}

bool captures_none(const struct peer *p, CUstreamCaptureStatus *status)
{
	if (captures_any() || call_asks(p))
		return false;
	*status = CU_STREAM_CAPTURE_STATUS_NONE;
	return true;
}
