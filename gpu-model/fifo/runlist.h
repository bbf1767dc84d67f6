/* SPDX-License-Identifier: GPL-2.0-only */
/* Parsing of runlists and choosing from them: no device, no memory of the guest, no clock. */
#ifndef KVGPU_MODEL_FIFO_RUNLIST_H
#define KVGPU_MODEL_FIFO_RUNLIST_H

#include <stdbool.h>
#include <stdint.h>

/* a channel group, or a channel in no group */
struct rl_group {
	bool tsg;
	uint16_t id;
	uint16_t count; /* members; 1 for a bare channel */
	uint16_t turn; /* member to try first */
	uint32_t first; /* index of its first member in runlist.chan */
	uint64_t slice_ns; /* TSG only; 0 = no limit */
};

struct runlist {
	struct rl_group *group;
	uint16_t *chan; /* members of all groups, in order */
	unsigned int nr_groups, nr_chans;
	unsigned int cursor; /* group to try first */
	unsigned int malformed;
};

/*
 * Replace the contents by @nr entries of two words at @words. Return 0, or -ENOMEM and an empty
 * list. A TSG header takes the entries after it as members until its count is used up.
 */
int rl_parse(struct runlist *rl, const uint32_t *words, unsigned int nr);
void rl_free(struct runlist *rl);

/* turns.c answers, with gk110.lock held; its chan_ready() may take dma_lock for reading. */
struct rl_ask {
	bool (*group_free)(void *ctx, const struct rl_group *grp);
	bool (*chan_ready)(void *ctx, unsigned int chid);
	void *ctx;
};

/* Find the next member of @grp that is ready, in rotation. */
bool rl_pick_member(struct runlist *rl, struct rl_group *grp, const struct rl_ask *ask,
		    unsigned int *chid);
/* Find the next free group with a ready member; the cursor moves behind it. */
struct rl_group *rl_pick(struct runlist *rl, const struct rl_ask *ask, unsigned int *chid);
/* Whether rl_pick() would find something; changes nothing in @rl. */
bool rl_any(const struct runlist *rl, const struct rl_ask *ask);
/* First group that is TSG @id; NULL if there is none. */
struct rl_group *rl_find_tsg(struct runlist *rl, unsigned int id);

/* Return ns. Runlist entries and RAMFC encode @timeout << @scale in units of 1024 ns. */
uint64_t rl_slice_ns(unsigned int timeout, unsigned int scale);

#endif
