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
	uint64_t serial;
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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all below */
static struct variable *variables;
static struct range *ranges;
static unsigned int nr, max;

/* call with the lock, as find_range(): the first range behind @ptr */
static unsigned int index_above(CUdeviceptr ptr)
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

static const struct range *find_range(CUdeviceptr ptr)
{
	unsigned int i = index_above(ptr);

	return i && ptr - ranges[i - 1].ptr < ranges[i - 1].bytes ? &ranges[i - 1] : NULL;
}

/* call with the lock, as foreign_variable(); ranges don't overlap */
static bool foreign(const struct peer *p, uint64_t begin, uint64_t bytes)
{
	unsigned int i = index_above(begin);

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
	bool fine = ctx && ptr + bytes >= ptr;

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

/* if there is no memory to note a range, it stays unknown: calls with it are sync, not async */
bool range_add(CUdeviceptr ptr, uint64_t bytes, uint64_t serial)
{
	const struct object *ctx = current_context();
	const struct range r = { ptr, bytes, ctx, serial };
	struct range *grown;
	bool free_here = true;
	unsigned int at;

	if (ptr + bytes < ptr)
		return false;
	if (several && ctx && pinned_foreign(object_peer(ctx), ptr, bytes))
		return false;
	pthread_mutex_lock(&lock);
	if (several && ctx)
		free_here = !foreign(object_peer(ctx), ptr, bytes) &&
			    !foreign_variable(object_peer(ctx), ptr, bytes);
	at = index_above(ptr);
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

uint64_t ranges_foreign_end(const struct peer *p, uint64_t begin, uint64_t bytes)
{
	uint64_t end = begin + bytes;
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = index_above(begin) ? index_above(begin) - 1 : 0;
	     i < nr && ranges[i].ptr < end + bytes; i++)
		if (ranges[i].ctx && object_peer(ranges[i].ctx) != p &&
		    ranges[i].ptr + ranges[i].bytes > end)
			end = ranges[i].ptr + ranges[i].bytes;
	pthread_mutex_unlock(&lock);
	return end;
}

/* call with the lock */
static void remove_at(unsigned int at)
{
	nr--;
	memmove(&ranges[at], &ranges[at + 1], (nr - at) * sizeof(*ranges));
}

/* another thread may have been given the same address by the server since @ptr was freed */
void range_remove(CUdeviceptr ptr, uint64_t serial)
{
	unsigned int at;

	pthread_mutex_lock(&lock);
	at = index_above(ptr);
	if (at && ranges[at - 1].ptr == ptr && ranges[at - 1].serial < serial)
		remove_at(at - 1);
	pthread_mutex_unlock(&lock);
}

static void end_ranges(const void *ctx, const void *module)
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
	end_ranges(ctx, NULL);
}

void ranges_module_ends(const void *module)
{
	end_ranges(NULL, module);
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
	r = find_range(ptr);
	ctx = r ? r->ctx : variable_context(ptr);
	pthread_mutex_unlock(&lock);
	return ctx;
}

bool range_has(CUdeviceptr ptr)
{
	bool has;

	pthread_mutex_lock(&lock);
	has = find_range(ptr) || (variables && variable_context(ptr));
	pthread_mutex_unlock(&lock);
	return has;
}

bool range_holds(CUdeviceptr ptr, uint64_t bytes)
{
	const struct range *r;
	bool holds;

	pthread_mutex_lock(&lock);
	r = find_range(ptr);
	holds = r && bytes <= r->bytes - (ptr - r->ptr);
	pthread_mutex_unlock(&lock);
	return holds;
}

/* call with the lock */
static bool range_spans(CUdeviceptr ptr, uint64_t bytes, const void *ctx)
{
	const struct range *r = find_range(ptr);

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
	fine = range_spans(ptr, bytes, ctx);
	pthread_mutex_unlock(&lock);
	return fine;
}

bool device_spans(CUdeviceptr a, CUdeviceptr b, uint64_t bytes)
{
	return device_span(a, bytes, 1) && device_span(b, bytes, 1);
}
