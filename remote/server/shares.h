/* SPDX-License-Identifier: MIT */
/* shares.c: memory and events that programs of one client share */
#ifndef KVGPU_REMOTE_SERVER_SHARES_H
#define KVGPU_REMOTE_SERVER_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "library.h"
#include "pool.h"

struct server;
struct entry;

/* a record of an event that programs share; .key: a part of the key that the share had then */
struct shared_record {
	uint32_t share;
	uint64_t key, number;
};

struct shares {
	struct shared_memory *memory;
	unsigned int events; /* handles of events that are shared */
};

#define SHARES_NOTHING "this server serves one program, as those of kvgpu-run do"

/* Whether there are other programs to share with, now or later. */
bool shares_any(const struct server *s);

/* ------------------------------------------------------------------ memory */

/* The key of the memory that begins at @ptr; a new one if it has none. */
CUresult share_memory(struct server *s, CUdeviceptr ptr, uint8_t *key);
/* What the library calls the memory that has @key. False: no memory of this client has it. */
bool share_raw(struct server *s, const uint8_t *key, uint8_t *raw);
/* The memory at @ptr ends. */
void shares_forget_memory(struct server *s, CUdeviceptr ptr);

/* ------------------------------------------------------------------ events */

/* The event of @e is shared from now on: by a new key, or, as another program has it, by @key. */
CUresult share_event(struct server *s, struct entry *e, const uint8_t *key);
/* The key of the event of @e, which is this program's. False: it has none. */
bool share_event_key(struct server *s, const struct entry *e, uint8_t *key);
void share_event_ends(struct server *s, struct entry *e);
/* The event was recorded here. False: it is not shared. */
bool shared_event_recorded(struct server *s, CUevent event, struct shared_record *record);
/* Up to this record the event has happened; or nobody will see whether. */
void shared_record_happens(struct server *s, const struct shared_record *record);
/* True: another program has recorded the event since this one has; *record: the last record. */
bool shared_event_is_elsewhere(struct server *s, CUevent event, struct shared_record *record);
bool shared_record_happened(struct server *s, const struct shared_record *record);

void shares_free(struct server *s);

#endif
