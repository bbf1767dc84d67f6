// SPDX-License-Identifier: MIT
/*
 * Device memory that the client knows of: allocated memory, and with several servers variables of
 * modules.
 */
#include <stdlib.h>

#include "client.h"

struct range {
	CUdeviceptr ptr;
	uint64_t bytes;
	const struct object *ctx;
	uint64_t turn;
};

/*
 * A variable of a module. Variables of two servers may have the same address: they can't be moved.
 */
struct variable {
	struct variable *next;
	CUdeviceptr ptr;
	uint64_t bytes;
	const struct object *ctx;
	const void *module;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* protects all below */
static struct variable *variables;
static struct range *ranges;
static unsigned int nr, max;

/* call with the lock, as find(): the first range behind @ptr */
static unsigned int above(CUdeviceptr ptr)
{
	unsigned int low = 0, high = nr;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (ranges[mid].ptr <= ptr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static const struct range *find(CUdeviceptr ptr)
{
	unsigned int i = above(ptr);

	return i && ptr - ranges[i - 1].ptr < ranges[i - 1].bytes ? &ranges[i - 1] : NULL;
}

/* call with the lock, as foreign_variable(); ranges don't overlap */
static bool foreign(const struct peer *p, uint64_t begin, uint64_t bytes)
{
	unsigned int i = above(begin);

	for (i = i ? i - 1 : 0; i < nr && ranges[i].ptr < begin + bytes; i++)
		if (ranges[i].ctx && object_peer(ranges[i].ctx) != p &&
		    ranges[i].ptr + ranges[i].bytes > begin)
			return true;
	return false;
}

static bool foreign_variable(const struct peer *p, uint64_t begin, uint64_t bytes)
{
	const struct variable *v;

	for (v = variables; v; v = v->next)
		if (object_peer(v->ctx) != p && v->ptr < begin + bytes && begin < v->ptr + v->bytes)
			return true;
	return false;
}

bool range_variable(CUdeviceptr ptr, uint64_t bytes, const void *module)
{
	const struct object *ctx = object_context(module);
	struct variable *v;
	bool fine = ctx;

	pthread_mutex_lock(&lock);
	for (v = variables; v && !(v->module == module && v->ptr == ptr); v = v->next)
		;
	if (fine && !v)
		fine = !foreign(object_peer(ctx), ptr, bytes);
	if (fine && !v)
		v = malloc(sizeof(*v));
	else
		v = NULL;
	if (v) {
		*v = (struct variable){ variables, ptr, bytes ? bytes : 1, ctx, module };
		variables = v;
	}
	pthread_mutex_unlock(&lock);
	return fine;
}

bool ranges_foreign(const struct peer *p, uint64_t begin, uint64_t bytes)
{
	bool is;

	pthread_mutex_lock(&lock);
	is = foreign(p, begin, bytes);
	pthread_mutex_unlock(&lock);
	return is;
}

/* if there is no memory to note a range, it stays unknown: calls with it are asked, not queued */
bool range_add(CUdeviceptr ptr, uint64_t bytes, uint64_t turn)
{
	const struct object *ctx = current_context();
	const struct range r = { ptr, bytes, ctx, turn };
	struct range *grown;
	bool free_here = true;
	unsigned int at;

	if (several && ctx && pinned_foreign(object_peer(ctx), ptr, bytes))
		return false;
	pthread_mutex_lock(&lock);
	if (several && ctx)
		free_here = !foreign(object_peer(ctx), ptr, bytes) &&
			    !foreign_variable(object_peer(ctx), ptr, bytes);
	at = above(ptr);
	if (!free_here)
		goto out;
	if (at && ranges[at - 1].ptr == ptr) {
		ranges[at - 1] = r;
	} else {
		if (nr == max) {
			grown = realloc(ranges, (max ? 2 * max : 64) * sizeof(*grown));
			if (!grown)
				goto out;
			ranges = grown;
			max = max ? 2 * max : 64;
		}
		memmove(&ranges[at + 1], &ranges[at], (nr - at) * sizeof(*ranges));
		ranges[at] = r;
		nr++;
	}
out:
	pthread_mutex_unlock(&lock);
	return free_here;
}

/* ----------------------------------------------------------- two servers' memory at one address */

enum { TRIES = 64, TAKEN_MAX = 1024, PIECE_MIN = 2048 };

static CUresult ask_memory(const struct call *like, uint64_t bytes, CUdeviceptr *ptr)
{
	const struct q_cuMemAlloc_v2 q = { .bytes = bytes };
	struct call c = { .op = OP_cuMemAlloc_v2, .fixed = &q, .bytes = sizeof(q), .to = like->to };
	CUresult r = call_ask(&c, sizeof(struct a_cuMemAlloc_v2));

	if (!r)
		*ptr = ((const struct a_cuMemAlloc_v2 *)c.answer)->ptr;
	return r;
}

static void give_back(const struct call *like, CUdeviceptr ptr)
{
	const struct q_cuMemFree_v2 q = { .ptr = ptr };
	struct call c = { .op = OP_cuMemFree_v2, .fixed = &q, .bytes = sizeof(q), .to = like->to };

	call_ask(&c, 0);
}

/*
 * Return the end of the block of other servers' memory at @begin, but at least @begin + @bytes.
 * Ranges with a gap of less than @bytes between them count as one block.
 */
static uint64_t foreign_end(const struct peer *p, uint64_t begin, uint64_t bytes)
{
	uint64_t end = begin + bytes;
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = above(begin) ? above(begin) - 1 : 0; i < nr && ranges[i].ptr < end + bytes; i++)
		if (ranges[i].ctx && object_peer(ranges[i].ctx) != p &&
		    ranges[i].ptr + ranges[i].bytes > end)
			end = ranges[i].ptr + ranges[i].bytes;
	pthread_mutex_unlock(&lock);
	return end;
}

static_assert(!offsetof(struct a_cuMemAlloc_v2, ptr) && !offsetof(struct a_cuMemAllocPitch_v2, ptr),
	      "it is taken there");

/*
 * Allocate what the server has free in [begin, end): first as much as it gives in one piece, then
 * less and less. No piece is smaller than @least. Return how many pieces are in @taken.
 */
static unsigned int fill(const struct call *like, uint64_t begin, uint64_t end, uint64_t least,
			 CUdeviceptr *taken, unsigned int room)
{
	uint64_t bytes = end - begin;
	CUdeviceptr at;
	unsigned int n = 0;

	while (bytes >= least && n < room) {
		if (ask_memory(like, bytes, &at)) {
			bytes /= 2;
		} else if (at < end && at + bytes > begin) {
			taken[n++] = at;
		} else {
			give_back(like, at);
			bytes /= 2;
		}
	}
	return n;
}

/*
 * Memory at an address of another server's memory is kept, with what else the server has free
 * there, until the server gives memory elsewhere, at most TRIES times.
 */
CUresult range_settle(struct call *c, CUdeviceptr *ptr, uint64_t bytes)
{
	const size_t fixed = c->answer_used;
	CUdeviceptr *taken = NULL;
	unsigned int i, n = 0, tries = 0;
	CUresult r = CUDA_SUCCESS;

	while (!r && !range_add(*ptr, bytes, c->turn)) {
		if (!taken)
			taken = malloc(TAKEN_MAX * sizeof(*taken));
		if (!taken || ++tries == TRIES || n == TAKEN_MAX) {
			client_say("%s gives memory only at addresses where another server's is", c->to.peer->address);
			give_back(c, *ptr);
			r = CUDA_ERROR_NOT_SUPPORTED;
			break;
		}
		taken[n++] = *ptr;
		n += fill(c, *ptr, foreign_end(c->to.peer, *ptr, bytes),
			  bytes > PIECE_MIN ? bytes : PIECE_MIN, taken + n, TAKEN_MAX - n);
		r = call_ask(c, fixed);
		if (!r)
			memcpy(ptr, c->answer, sizeof(*ptr));
	}
	for (i = 0; i < n; i++)
		give_back(c, taken[i]);
	free(taken);
	return r;
}

CUresult pitch_settle(struct call *c, CUdeviceptr *ptr, uint64_t pitch, uint64_t width,
		      uint64_t height)
{
	uint64_t bytes;

	if (pitch < width || __builtin_mul_overflow(pitch, height, &bytes))
		return CUDA_ERROR_UNKNOWN;
	return range_settle(c, ptr, bytes);
}

/* call with the lock */
static void remove_at(unsigned int at)
{
	nr--;
	memmove(&ranges[at], &ranges[at + 1], (nr - at) * sizeof(*ranges));
}

/* another thread may have been given the same address by the server since @ptr was freed */
void range_remove(CUdeviceptr ptr, uint64_t turn)
{
	unsigned int at;

	pthread_mutex_lock(&lock);
	at = above(ptr);
	if (at && ranges[at - 1].ptr == ptr && ranges[at - 1].turn < turn)
		remove_at(at - 1);
	pthread_mutex_unlock(&lock);
}

static void end(const void *ctx, const void *module)
{
	struct variable **v = &variables, *gone;
	unsigned int i = 0;

	pthread_mutex_lock(&lock);
	while (i < nr)
		if (ctx && ranges[i].ctx == ctx)
			remove_at(i);
		else
			i++;
	while (*v) {
		gone = *v;
		if (gone->ctx != ctx && gone->module != module) {
			v = &gone->next;
			continue;
		}
		*v = gone->next;
		free(gone);
	}
	pthread_mutex_unlock(&lock);
}

void ranges_end(const void *ctx)
{
	end(ctx, NULL);
}

void ranges_module_ends(const void *module)
{
	end(NULL, module);
}

/*
 * Call with the lock. The context of the module variable at @ptr, or NULL. If several servers have
 * a variable there: that of current_peer(), if it is one of them.
 */
static const struct object *variable_context(CUdeviceptr ptr)
{
	const struct object *ctx = NULL;
	const struct variable *v;

	for (v = variables; v; v = v->next)
		if (ptr - v->ptr < v->bytes && (!ctx || object_peer(v->ctx) == current_peer()))
			ctx = v->ctx;
	return ctx;
}

const struct object *range_context(CUdeviceptr ptr)
{
	const struct object *ctx = NULL;
	const struct range *r;

	pthread_mutex_lock(&lock);
	r = find(ptr);
	ctx = r ? r->ctx : variable_context(ptr);
	pthread_mutex_unlock(&lock);
	return ctx;
}

bool range_has(CUdeviceptr ptr)
{
	bool has;

	pthread_mutex_lock(&lock);
	has = find(ptr) || (variables && variable_context(ptr));
	pthread_mutex_unlock(&lock);
	return has;
}

bool range_holds(CUdeviceptr ptr, uint64_t bytes)
{
	const struct range *r;
	bool holds;

	pthread_mutex_lock(&lock);
	r = find(ptr);
	holds = r && bytes <= r->bytes - (ptr - r->ptr);
	pthread_mutex_unlock(&lock);
	return holds;
}

/* call with the lock */
static bool spans(CUdeviceptr ptr, uint64_t bytes, const void *ctx)
{
	const struct range *r = find(ptr);

	return r && r->ctx == ctx && bytes <= r->bytes - (ptr - r->ptr);
}

bool device_span(CUdeviceptr ptr, uint64_t n, unsigned int size)
{
	const void *ctx = current_context();
	uint64_t bytes;
	bool fine;

	if (!ctx || !n || ptr % size || __builtin_mul_overflow(n, size, &bytes))
		return false;
	pthread_mutex_lock(&lock);
	fine = spans(ptr, bytes, ctx);
	pthread_mutex_unlock(&lock);
	return fine;
}

bool device_spans(CUdeviceptr a, CUdeviceptr b, uint64_t bytes)
{
	return device_span(a, bytes, 1) && device_span(b, bytes, 1);
}
