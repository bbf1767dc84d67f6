/* SPDX-License-Identifier: MIT */
/* sched_client.c, deferred.c, sched_batches.c: work for the GPU waits for the client's turn */
#ifndef KVGPU_REMOTE_SERVER_GPU_SCHED_H
#define KVGPU_REMOTE_SERVER_GPU_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include <remote/wire/frame.h>

#include "sched_shared.h"

struct server;

/* Begin to take turns. @doorbell: the descriptor that rings the arbiter. 0 or -errno */
int sched_begin(struct server *s, struct sched_shared *shared, int doorbell);
void sched_end(struct server *s);
/* kvgpu_remote_next(), but it also returns when the scheduler's client has to look at its work. */
int sched_next(struct server *s, int64_t us, struct kvgpu_remote_head *h, const void **payload);
/* Serve the frame, or keep it for later: 0, or -errno. */
int sched_frame(struct server *s, const struct kvgpu_remote_head *h, const void *payload);
/* Serve kept frames, as far as they may go. Return whether one was served. */
bool sched_go_on(struct server *s);
/* Look at the work under way. @quiet: no frame came */
void sched_look(struct server *s, bool quiet);
/* A capture that has begun is over. */
void sched_capture_ended(struct server *s);
/* the context is about to end, or has ended: forget its work */
void sched_forget(struct server *s, uint64_t context);
/*
 * The server itself makes the GPU work, and waits, whoever has the turn: sched_beside_ends()
 * charges the time since sched_beside(), if nothing else does. In the client's turn it charges all
 * of the turn's time that is not accounted yet. Another such pair in between charges nothing.
 */
uint64_t sched_beside(const struct server *s);
void sched_beside_ends(struct server *s, uint64_t since_ns);
/*
 * A context goes on after the scheduler's client has forgotten its work: charge the client by the
 * clock until all is idle.
 */
void sched_untracked(struct server *s);

#endif
