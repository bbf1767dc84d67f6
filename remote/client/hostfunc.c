// SPDX-License-Identifier: MIT
/*
 * Functions of the program that streams and graphs call. The server says when; one thread here
 * calls the functions one after the other, and acknowledges each but destructors.
 */
#include <stdlib.h>

#include <remote/channel/signals.h>

#include "client.h"

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

struct function_of_host {
	const struct peer *peer; /* the server that may call it */
	CUhostFn fn;
	CUstreamCallback callback;
	CUstream stream;
	void *data;
	bool used, kept;
};

struct due {
	struct due *next;
	struct peer *peer;
	uint64_t id, invocation;
	CUresult status;
	bool acked; /* the server waits for an ack; not of a destructor */
	/* no stream took the function: a callback is told, another function is not called */
	bool refused;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all below */
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static struct function_of_host *functions;
static uint64_t nr_functions;
static struct due *first, **last = &first;
static unsigned int nr_due;
static bool runs;
static unsigned int pending; /* atomic: submitted and not yet returned, without kept ones */

bool host_functions_pending(void)
{
	return __atomic_load_n(&pending, __ATOMIC_ACQUIRE);
}

/* ----------------------------------------------------- numbers of functions: indexes, from 1 on */

static bool more_functions(void)
{
	uint64_t n = nr_functions ? 2 * nr_functions : 64;
	struct function_of_host *grown = realloc(functions, n * sizeof(*grown));

	if (!grown)
		return false;
	memset(grown + nr_functions, 0, (n - nr_functions) * sizeof(*grown));
	functions = grown;
	nr_functions = n;
	return true;
}

static void *main_loop(void *arg);

/* call with the lock */
static bool start_thread(void)
{
	pthread_t thread;

	if (runs)
		return true;
	runs = !signals_thread(&thread, main_loop, NULL);
	if (runs)
		pthread_detach(thread);
	return runs;
}

uint64_t host_function(const struct peer *p, CUhostFn fn, CUstreamCallback callback,
		       CUstream stream, void *data, bool kept)
{
	const struct function_of_host f = { p, fn, callback, stream, data, true, kept };
	uint64_t i, id = 0;

	/* by pthread_self() the program's functions can cancel this thread */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_mutex_lock(&lock);
	for (i = 1; i < nr_functions && functions[i].used; i++)
		;
	if (start_thread() && (i < nr_functions || more_functions())) {
		i = i ? i : 1;
		functions[i] = f;
		id = i;
	}
	pthread_mutex_unlock(&lock);
	if (id && kept)
		pinned_written();
	return id;
}

void host_function_drop(uint64_t id)
{
	pthread_mutex_lock(&lock);
	if (id < nr_functions)
		functions[id].used = false;
	pthread_mutex_unlock(&lock);
}

bool host_function_get(uint64_t id, CUDA_HOST_NODE_PARAMS *p)
{
	struct function_of_host f = { 0 };

	pthread_mutex_lock(&lock);
	if (id && id < nr_functions)
		f = functions[id];
	pthread_mutex_unlock(&lock);
	/* without the lock, as @p may be managed memory */
	if (f.used)
		*p = (CUDA_HOST_NODE_PARAMS){ f.fn, f.data };
	return f.used;
}

/* ------------------------------------------------------------------ calling the functions */

static void call_function(const struct due *d, struct function_of_host *f)
{
	host_function_runs(true);
	call_due();
	if (managed_any())
		managed_waited();
	if (f->callback)
		f->callback(f->stream, d->status, f->data);
	else if (f->fn)
		f->fn(f->data);
	if (managed_any())
		managed_function_ends();
	host_function_runs(false);
	if (d->acked)
		call_acknowledge(d->peer, d->invocation);
}

/* Call with the lock, which is released while the function runs. */
static void call_first(void)
{
	struct due *d = first;
	struct function_of_host f = { 0 };

	first = d->next;
	if (!first)
		last = &first;
	nr_due--;
	if (d->id < nr_functions && functions[d->id].used && functions[d->id].peer == d->peer) {
		f = functions[d->id];
		functions[d->id].used = f.kept;
	}
	if (d->refused)
		f.fn = NULL;
	pthread_mutex_unlock(&lock);
	call_function(d, &f);
	if (f.used && !f.kept && (d->acked || d->refused))
		__atomic_sub_fetch(&pending, 1, __ATOMIC_RELEASE);
	free(d);
	pthread_mutex_lock(&lock);
}

static void *main_loop(void *arg)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!first)
			pthread_cond_wait(&change, &lock);
		call_first();
	}
	return NULL;
}

void host_function_notified(struct peer *p, const struct kvgpu_remote_notification *h,
			    uint64_t invocation)
{
	struct due *d = malloc(sizeof(*d));

	if (!d)
		return; /* no memory: the stream waits for ever, or no destructor runs */
	*d = (struct due){ .peer = p,
			   .id = h->id,
			   .invocation = invocation,
			   .status = h->value,
			   .acked = h->kind == KVGPU_REMOTE_NOTIFY_CALL,
			   .refused = h->kind == KVGPU_REMOTE_NOTIFY_REFUSED };
	if (d->refused)
		call_refused(p, answer_result(h->value));
	pthread_mutex_lock(&lock);
	if (nr_due < DUE_MAX) {
		*last = d;
		last = &d->next;
		d = NULL;
		nr_due++;
		pthread_cond_signal(&change);
	}
	pthread_mutex_unlock(&lock);
	free(d);
}

/* ------------------------------------------------------------------ entry points */

static CUresult submit(CUstream stream, CUhostFn fn, CUstreamCallback callback, void *data)
{
	struct q_host_call q = { .with_status = !!callback, .ordered = several };
	struct call c = { .op = OP_host_call, .fixed = &q, .bytes = sizeof(q) };
	bool kept;
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (!r)
		r = fn || callback ? route_stream(&c.to, stream, &q.stream) :
				     CUDA_ERROR_INVALID_VALUE;
	if (r)
		return r;
	kept = captures_any();
	q.id = host_function(route_peer(&c.to), fn, callback, stream, data, kept);
	if (!q.id)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!kept)
		__atomic_add_fetch(&pending, 1, __ATOMIC_RELEASE);
	r = own_stream(stream) && !several ? call_async(&c) : call_sync(&c, 0);
	if (r) {
		host_function_drop(q.id);
		if (!kept)
			__atomic_sub_fetch(&pending, 1, __ATOMIC_RELEASE);
	}
	return r;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data)
{
	return submit(stream, fn, NULL, data);
}

CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn fn, void *data)
{
	return submit(OWN(stream), fn, NULL, data);
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback fn, void *data, unsigned int flags)
{
	return flags ? CUDA_ERROR_INVALID_VALUE : submit(stream, NULL, fn, data);
}

CUresult cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback fn, void *data,
				  unsigned int flags)
{
	return flags ? CUDA_ERROR_INVALID_VALUE : submit(OWN(stream), NULL, fn, data);
}

/* ---------------------------------- user objects; a destructor is a host function's, too */

CUresult cuUserObjectCreate(CUuserObject *object, void *ptr, CUhostFn destroy, unsigned int count,
			    unsigned int flags)
{
	struct q_user_object q = { .count = count, .flags = flags };
	struct call c = { .op = OP_user_object, .fixed = &q, .bytes = sizeof(q) };
	void *made;
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	if (!object || !destroy)
		return CUDA_ERROR_INVALID_VALUE;
	q.id = host_function(route_peer(&c.to), destroy, NULL, NULL, ptr, false);
	if (!q.id)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = call_sync(&c, sizeof(struct a_user_object));
	if (r) {
		host_function_drop(q.id);
		return r;
	}
	if (!answer_handle(&made, &c, CLASS_USER, ((const struct a_user_object *)c.answer)->object,
			   NULL, false))
		return CUDA_ERROR_UNKNOWN;
	*object = made;
	return CUDA_SUCCESS;
}
