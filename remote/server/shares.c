// SPDX-License-Identifier: MIT
/*
 * Memory and events that programs of one client share (struct share). A program has a key, which is
 * random, in the place of what the library calls the memory, and only programs of the same client
 * see that client's keys.
 *
 * NVIDIA's library opens memory of another process by 64 bytes, whatever its user. It shares events
 * by a file in /dev/shm, which a process with a user of its own can't make (supervisor/confine.c).
 * So an event is one of the library's in each process, and shared are numbers of its records. Who
 * records it tells when that has happened; others wait for that.
 */
#include <stdlib.h>
#include <sys/random.h>

#include "server.h"

struct shared_memory {
	struct shared_memory *next;
	CUdeviceptr ptr;
	uint32_t share;
};

struct shared_event {
	struct shared_record last; /* .number: of the last record that was made here */
	bool own; /* this program has made the event */
};

/* the beginning of a key; where the share is follows, then what is random */
static const uint8_t MAGIC[4] = "kvsh";
enum { RANDOM_AT = 8 };

bool shares_any(const struct server *s)
{
	return s->quota.pool;
}

static uint32_t program(const struct server *s)
{
	return s->quota.program + 1;
}

static struct share *share_at(const struct server *s, uint32_t i)
{
	return pool_shares(s->quota.pool) + i;
}

static uint64_t part_of(const uint8_t *key)
{
	uint64_t part;

	memcpy(&part, key + RANDOM_AT, sizeof(part));
	return part;
}

/* take a free share; false: there is none */
static bool take_share(struct server *s, enum share_kind kind, const uint8_t *raw, uint32_t *i)
{
	uint8_t random[SHARE_KEY - RANDOM_AT];
	struct share *a;
	uint64_t none;

	if (!s->quota.pool || getrandom(random, sizeof(random), 0) != sizeof(random))
		return false;
	for (*i = 0; *i < POOL_SHARES; ++*i) {
		a = share_at(s, *i);
		none = 0;
		/* no kind yet, so that nobody reads it */
		if (!__atomic_load_n(&a->state, __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&a->state, &none, program(s), false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			break;
	}
	if (*i == POOL_SHARES)
		return false;
	memcpy(a->key, MAGIC, sizeof(MAGIC));
	memcpy(a->key + sizeof(MAGIC), i, sizeof(*i));
	memcpy(a->key + RANDOM_AT, random, sizeof(random));
	if (raw)
		memcpy(a->raw, raw, SHARE_RAW);
	a->recorded = a->happened = 0;
	a->recorder = 0;
	__atomic_store_n(&a->state, SHARE_STATE(kind, program(s)), __ATOMIC_RELEASE);
	return true;
}

static void give_share(struct server *s, uint32_t i)
{
	__atomic_store_n(&share_at(s, i)->state, 0, __ATOMIC_RELEASE);
}

/* takes as long whether the first byte differs or the last one */
static bool same_key(const uint8_t *a, const uint8_t *b)
{
	uint8_t differ = 0;
	unsigned int i;

	for (i = 0; i < SHARE_KEY; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}

/* NULL: nothing of this kind has that key. *copy: as it was while it had it */
static struct share *find_share(struct server *s, enum share_kind kind, const uint8_t *key,
				struct share *copy, uint32_t *i)
{
	struct share *a;

	memcpy(i, key + sizeof(MAGIC), sizeof(*i));
	if (!s->quota.pool || *i >= POOL_SHARES)
		return NULL;
	a = share_at(s, *i);
	copy->state = __atomic_load_n(&a->state, __ATOMIC_ACQUIRE);
	memcpy(copy->key, a->key, SHARE_KEY);
	memcpy(copy->raw, a->raw, SHARE_RAW);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (copy->state >> 32 != kind || !same_key(copy->key, key) ||
	    __atomic_load_n(&a->state, __ATOMIC_RELAXED) != copy->state)
		return NULL;
	return a;
}

/* ------------------------------------------------------------------ memory */

CUresult share_memory(struct server *s, CUdeviceptr ptr, uint8_t *key)
{
	struct shared_memory *m;
	CUipcMemHandle raw;
	CUresult r;

	static_assert(sizeof(raw) == SHARE_RAW, "of the library");
	for (m = s->shares.memory; m && m->ptr != ptr; m = m->next)
		;
	if (!m) {
		if (!s->quota.pool)
			return REFUSE("cuIpcGetMemHandle()", SHARES_NOTHING);
		r = CALL(s, cuIpcGetMemHandle, &raw, ptr);
		if (r)
			return r;
		m = malloc(sizeof(*m));
		if (!m)
			return CUDA_ERROR_OUT_OF_MEMORY;
		*m = (struct shared_memory){ s->shares.memory, ptr, 0 };
		if (!take_share(s, SHARE_MEMORY, (uint8_t *)raw.reserved, &m->share)) {
			free(m);
			return CUDA_ERROR_OUT_OF_MEMORY;
		}
		s->shares.memory = m;
	}
	memcpy(key, share_at(s, m->share)->key, SHARE_KEY);
	return CUDA_SUCCESS;
}

bool share_raw(struct server *s, const uint8_t *key, uint8_t *raw)
{
	struct share copy;
	uint32_t i;

	if (!find_share(s, SHARE_MEMORY, key, &copy, &i))
		return false;
	memcpy(raw, copy.raw, SHARE_RAW);
	return true;
}

void shares_forget_memory(struct server *s, CUdeviceptr ptr)
{
	struct shared_memory **at = &s->shares.memory, *m;

	while ((m = *at) && m->ptr != ptr)
		at = &m->next;
	if (!m)
		return;
	give_share(s, m->share);
	*at = m->next;
	free(m);
}

void shares_free(struct server *s)
{
	struct shared_memory *m;
	uint32_t i;

	while ((m = s->shares.memory)) {
		s->shares.memory = m->next;
		free(m);
	}
	for (i = 1; i < s->handles.nr_entries; i++)
		free(s->handles.entries[i].shared);
}

/* ------------------------------------------------------------------ events */

CUresult share_event(struct server *s, struct entry *e, const uint8_t *key)
{
	struct shared_event *n = calloc(1, sizeof(*n));
	struct share copy;
	bool fine;

	if (!n)
		return CUDA_ERROR_OUT_OF_MEMORY;
	n->own = !key;
	fine = key ? !!find_share(s, SHARE_EVENT, key, &copy, &n->last.share) :
		     take_share(s, SHARE_EVENT, NULL, &n->last.share);
	if (!fine) {
		free(n);
		return key ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
	}
	n->last.key = part_of(key ? key : share_at(s, n->last.share)->key);
	e->shared = n;
	s->shares.events++;
	return CUDA_SUCCESS;
}

bool share_event_key(struct server *s, const struct entry *e, uint8_t *key)
{
	if (!e->shared || !e->shared->own)
		return false;
	memcpy(key, share_at(s, e->shared->last.share)->key, SHARE_KEY);
	return true;
}

void share_event_ends(struct server *s, struct entry *e)
{
	if (!e->shared)
		return;
	if (e->shared->own)
		give_share(s, e->shared->last.share);
	free(e->shared);
	e->shared = NULL;
	s->shares.events--;
}

/* NULL: its owner has ended it */
static struct share *share_of(struct server *s, const struct shared_record *n)
{
	struct share *a = share_at(s, n->share);
	bool is = __atomic_load_n(&a->state, __ATOMIC_ACQUIRE) >> 32 == SHARE_EVENT;

	return is && part_of(a->key) == n->key ? a : NULL;
}

static struct shared_event *shared_of(struct server *s, CUevent event)
{
	struct entry *e = NULL;

	if (s->shares.events)
		e = handle_entry(s, handle_known(s, CLASS_EVENT, event));
	return e ? e->shared : NULL;
}

bool shared_event_recorded(struct server *s, CUevent event, struct shared_record *record)
{
	struct shared_event *n = shared_of(s, event);
	struct share *a = n ? share_of(s, &n->last) : NULL;

	if (!a)
		return false;
	__atomic_store_n(&a->recorder, program(s), __ATOMIC_RELEASE);
	n->last.number = __atomic_add_fetch(&a->recorded, 1, __ATOMIC_ACQ_REL);
	*record = n->last;
	return true;
}

void shared_record_happens(struct server *s, const struct shared_record *record)
{
	struct share *a = share_of(s, record);
	uint64_t now = a ? __atomic_load_n(&a->happened, __ATOMIC_ACQUIRE) : UINT64_MAX;

	while (now < record->number &&
	       !__atomic_compare_exchange_n(&a->happened, &now, record->number, false,
					    __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		;
}

bool shared_event_is_elsewhere(struct server *s, CUevent event, struct shared_record *record)
{
	struct shared_event *n = shared_of(s, event);
	struct share *a = n ? share_of(s, &n->last) : NULL;

	if (!a)
		return false;
	*record = n->last;
	record->number = __atomic_load_n(&a->recorded, __ATOMIC_ACQUIRE);
	return record->number != n->last.number;
}

bool shared_record_happened(struct server *s, const struct shared_record *record)
{
	const struct share *a = share_of(s, record);

	return !a || __atomic_load_n(&a->happened, __ATOMIC_ACQUIRE) >= record->number;
}
