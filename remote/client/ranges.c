// SPDX-License-Identifier: MIT
/*
 * Device memory that the client knows of: allocated memory, memory that the program has mapped,
 * what addresses it has reserved, and with several servers variables of modules.
 */
#include <stdlib.h>

#include "client.h"

/*
 * Mapped memory belongs to no context: .ctx is one by which it may be reached, or NULL. Of its
 * device .usable says whether that may read and write it.
 */
struct range {
	CUdeviceptr ptr;
	uint64_t bytes;
	const struct object *ctx;
	uint64_t serial;
	struct peer *peer;
	bool mapped, usable;
	int dev;
};

struct reservation {
	struct reservation *next;
	CUdeviceptr ptr;
	uint64_t bytes;
	struct peer *peer;
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
static struct reservation *reservations;
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

static const struct reservation *find_reservation(CUdeviceptr ptr)
{
	const struct reservation *v;

	for (v = reservations; v && ptr - v->ptr >= v->bytes; v = v->next)
		;
	return v;
}

/* call with the lock, as foreign_variable(); ranges don't overlap */
static bool foreign(const struct peer *p, uint64_t begin, uint64_t bytes)
{
	unsigned int i = index_above(begin);

	for (i = i ? i - 1 : 0; i < nr && ranges[i].ptr < begin + bytes; i++)
		if (ranges[i].peer != p && ranges[i].ptr + ranges[i].bytes > begin)
			return true;
	return false;
}

static bool foreign_reservation(const struct peer *p, uint64_t begin, uint64_t bytes)
{
	const struct reservation *v;

	for (v = reservations; v; v = v->next)
		if (v->peer != p && v->ptr < begin + bytes && begin < v->ptr + v->bytes)
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
	is = foreign(p, begin, bytes) || foreign_reservation(p, begin, bytes);
	pthread_mutex_unlock(&lock);
	return is;
}

/* if there is no memory to note a range, it stays unknown: calls with it are sync, not async */
static void insert(const struct range *r)
{
	unsigned int at = index_above(r->ptr);
	struct range *grown;

	if (at && ranges[at - 1].ptr == r->ptr) {
		ranges[at - 1] = *r;
		return;
	}
	if (nr == max) {
		grown = realloc(ranges, (max ? 2 * max : 64) * sizeof(*grown));
		if (!grown)
			return;
		ranges = grown;
		max = max ? 2 * max : 64;
	}
	memmove(&ranges[at + 1], &ranges[at], (nr - at) * sizeof(*ranges));
	ranges[at] = *r;
	nr++;
}

/* call with the lock: no other server has something at [begin, begin + bytes) */
static bool is_free(const struct peer *p, uint64_t begin, uint64_t bytes)
{
	return !several || (!foreign(p, begin, bytes) && !foreign_variable(p, begin, bytes) &&
			    !foreign_reservation(p, begin, bytes));
}

bool range_add_of(const struct object *ctx, CUdeviceptr ptr, uint64_t bytes, uint64_t serial)
{
	struct peer *p = ctx ? object_peer(ctx) : peers;
	const struct range r = {
		.ptr = ptr, .bytes = bytes, .ctx = ctx, .serial = serial, .peer = p
	};
	bool free_here;

	if (ptr + bytes < ptr)
		return false;
	if (several && pinned_foreign(p, ptr, bytes))
		return false;
	pthread_mutex_lock(&lock);
	free_here = is_free(p, ptr, bytes);
	if (free_here)
		insert(&r);
	pthread_mutex_unlock(&lock);
	return free_here;
}

bool range_add(CUdeviceptr ptr, uint64_t bytes, uint64_t serial)
{
	return range_add_of(current_context(), ptr, bytes, serial);
}

/* ------------------------------------------------------------------ addresses, and memory there */

/* call with the lock: where the reservation is that begins there, or would be */
static struct reservation **begins_at(CUdeviceptr ptr)
{
	struct reservation **at = &reservations;

	while (*at && (*at)->ptr != ptr)
		at = &(*at)->next;
	return at;
}

bool reservation_add(struct peer *p, CUdeviceptr ptr, uint64_t bytes)
{
	struct reservation *v = malloc(sizeof(*v));
	struct reservation **at;
	bool fine = v && ptr + bytes >= ptr && !(several && pinned_foreign(p, ptr, bytes));

	pthread_mutex_lock(&lock);
	fine = fine && is_free(p, ptr, bytes);
	at = begins_at(ptr);
	if (fine && *at) {
		(*at)->bytes = bytes; /* the earlier one has ended, as the server gives it anew */
	} else if (fine) {
		*v = (struct reservation){ NULL, ptr, bytes, p };
		*at = v;
		v = NULL;
	}
	pthread_mutex_unlock(&lock);
	free(v);
	return fine;
}

void reservation_ends(CUdeviceptr ptr)
{
	struct reservation **at, *v;

	pthread_mutex_lock(&lock);
	at = begins_at(ptr);
	v = *at;
	if (v)
		*at = v->next;
	pthread_mutex_unlock(&lock);
	free(v);
}

void range_mapped(CUdeviceptr ptr, uint64_t bytes, CUmemGenericAllocationHandle handle)
{
	const struct object *o = (const struct object *)(uintptr_t)handle;
	const struct range r = {
		.ptr = ptr, .bytes = bytes, .peer = object_peer(o), .mapped = true, .dev = o->dev
	};

	if (ptr + bytes < ptr)
		return;
	pthread_mutex_lock(&lock);
	insert(&r);
	pthread_mutex_unlock(&lock);
}

/* call with the lock, once with @at NULL and then with the last result: the next one in the part */
static struct range *next_mapped(struct range *at, CUdeviceptr ptr, uint64_t bytes)
{
	unsigned int i = at ? at - ranges + 1 : index_above(ptr);

	if (!at && i && ranges[i - 1].ptr == ptr)
		i--;
	for (; i < nr && ranges[i].ptr - ptr < bytes; i++)
		if (ranges[i].mapped)
			return &ranges[i];
	return NULL;
}

void ranges_accessed(CUdeviceptr ptr, uint64_t bytes, int dev, bool usable)
{
	const struct object *ctx = current_context();
	struct range *r = NULL;

	pthread_mutex_lock(&lock);
	while ((r = next_mapped(r, ptr, bytes)))
		if (r->dev == dev) {
			r->usable = usable;
			r->ctx = ctx && ctx->dev == dev ? ctx : NULL;
		}
	pthread_mutex_unlock(&lock);
}

uint64_t ranges_foreign_end(const struct peer *p, uint64_t begin, uint64_t bytes)
{
	const struct reservation *v;
	uint64_t end = begin + bytes;
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (v = reservations; v; v = v->next)
		if (v->peer != p && v->ptr < end && v->ptr + v->bytes > end)
			end = v->ptr + v->bytes;
	for (i = index_above(begin) ? index_above(begin) - 1 : 0;
	     i < nr && ranges[i].ptr < end + bytes; i++)
		if (ranges[i].peer != p && ranges[i].ptr + ranges[i].bytes > end)
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

void ranges_unmapped(CUdeviceptr ptr, uint64_t bytes)
{
	struct range *r;

	pthread_mutex_lock(&lock);
	while ((r = next_mapped(NULL, ptr, bytes)))
		remove_at(r - ranges);
	pthread_mutex_unlock(&lock);
}

/* another thread may have been given the same address by the server since @ptr was freed */
void range_remove(CUdeviceptr ptr, uint64_t serial)
{
	unsigned int at;

	pthread_mutex_lock(&lock);
	at = index_above(ptr);
	if (at && ranges[at - 1].ptr == ptr && !ranges[at - 1].mapped &&
	    ranges[at - 1].serial < serial)
		remove_at(at - 1);
	pthread_mutex_unlock(&lock);
}

static void end_ranges(const void *ctx, const void *module)
{
	struct variable **v = &variables, *gone;
	unsigned int i = 0;

	pthread_mutex_lock(&lock);
	while (i < nr)
		if (ctx && ranges[i].ctx == ctx && !ranges[i].mapped) {
			remove_at(i);
		} else {
			if (ctx && ranges[i].ctx == ctx)
				ranges[i].ctx = NULL;
			i++;
		}
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

struct peer *range_peer(CUdeviceptr ptr)
{
	const struct reservation *v;
	const struct range *r;
	struct peer *p;

	pthread_mutex_lock(&lock);
	r = find_range(ptr);
	v = r ? NULL : find_reservation(ptr);
	p = r ? r->peer : v ? v->peer : NULL;
	pthread_mutex_unlock(&lock);
	return p;
}

bool range_has(CUdeviceptr ptr)
{
	bool has;

	pthread_mutex_lock(&lock);
	has = find_range(ptr) || find_reservation(ptr) || (variables && variable_context(ptr));
	pthread_mutex_unlock(&lock);
	return has;
}

/*
 * Call with the lock. One allocation has all bytes, or they are in mapped memory without a gap.
 * @ctx: the context that must be able to use them, or NULL.
 */
static bool range_spans(CUdeviceptr ptr, uint64_t bytes, const struct object *ctx)
{
	const struct range *r = find_range(ptr);
	uint64_t rest;

	while (r) {
		if (ctx && (r->mapped ? !r->usable || r->dev != ctx->dev : r->ctx != ctx))
			return false;
		rest = r->bytes - (ptr - r->ptr);
		if (bytes <= rest)
			return true;
		bytes -= rest;
		ptr += rest;
		r = r->mapped && r + 1 < ranges + nr && r[1].mapped && r[1].ptr == ptr ? r + 1 :
											 NULL;
	}
	return false;
}

bool range_holds(CUdeviceptr ptr, uint64_t bytes)
{
	bool holds;

	pthread_mutex_lock(&lock);
	holds = range_spans(ptr, bytes, NULL);
	pthread_mutex_unlock(&lock);
	return holds;
}

bool device_begins(CUdeviceptr ptr)
{
	const struct object *ctx = current_context();
	const struct range *r;
	bool begins;

	pthread_mutex_lock(&lock);
	r = find_range(ptr);
	begins = ctx && r && r->ptr == ptr && r->ctx == ctx && !r->mapped;
	pthread_mutex_unlock(&lock);
	return begins;
}

bool device_span(CUdeviceptr ptr, uint64_t n, unsigned int size)
{
	const struct object *ctx = current_context();
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
