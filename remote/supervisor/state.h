/* SPDX-License-Identifier: MIT */
/*
 * The state that a first process hands over to the build that it executes in its place
 * (handover.c), as records in memory: each has a kind, members by their names, and an end. A member
 * that a reader does not know is left out, one that is not there keeps its value. So builds can add
 * members; what an older build may not leave out raises STATE_VERSION. The writer is trusted, but
 * another build.
 */
#ifndef KVGPU_REMOTE_STATE_H
#define KVGPU_REMOTE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Raise it, too, when clients' processes of an older build would understand the first process
 * otherwise: what stands in their pages and pools, their reports, their cgroups.
 */
enum { STATE_VERSION = 2, STATE_VERSION_SLEEP /* the same, with clients that sleep */ };

struct state_field {
	const char *name;
	size_t at, size;
	enum { STATE_NUMBER, STATE_TEXT, STATE_DESCRIPTOR } kind;
};

#define STATE_(type, member, what)                                                 \
	{                                                                          \
#member, offsetof(type, member), sizeof(((type *)0)->member), what \
	}
#define STATE_KIND(type, member) \
	_Generic(((type *)0)->member, char * : STATE_TEXT, default : STATE_NUMBER)
/* a number, as bits, or an array of letters; an open descriptor: others are left out */
#define STATE(type, member)    STATE_(type, member, STATE_KIND(type, member))
#define STATE_FD(type, member) STATE_(type, member, STATE_DESCRIPTOR)
#define STATE_END \
	{         \
		0 \
	}

/* Memory for a state, or -errno. state_seal(): 0, or -errno if something could not be written. */
int state_begin(void);
void state_write(int fd, const char *kind, unsigned int index, const struct state_field *fields,
		 const void *of);
int state_seal(int fd);
/* Whether exec closes the descriptors that the state names: @flags is 0 or FD_CLOEXEC. */
void state_descriptors(const char *state, int flags);
/*
 * Close what exec has let through and no state_read() has taken: it stands in records of a kind
 * that this build does not know.
 */
void state_close_rest(const char *state);

/* Map the state of @fd, or NULL and *why. It is whole. state_close(): the caller reads no more. */
const char *state_open(int fd, const char **why);
void state_close(const char *state);
/* The next record of that kind behind @record (NULL: the first one), or NULL. */
const char *state_next(const char *state, const char *record, const char *kind);
/*
 * Fill the members of @to. exec will close descriptors of the record. NULL, or the member that is
 * wrong. *index: of state_write().
 */
const char *state_read(const char *record, unsigned int *index, const struct state_field *fields,
		       void *to);

#endif
