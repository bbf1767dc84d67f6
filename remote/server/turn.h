/* SPDX-License-Identifier: MIT */
/* gate.c, held.c, work.c: work for the GPU waits for the client's turn */
#ifndef KVGPU_REMOTE_SERVER_TURN_H
#define KVGPU_REMOTE_SERVER_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include <remote/wire/frame.h>

#include "door.h"

struct server;

/* Begin to take turns. @doorbell: the descriptor that rings the arbiter. 0 or -errno */
int gate_begin(struct server *s, struct door *door, int doorbell);
void gate_end(struct server *s);
/* kvgpu_remote_next(), but it also returns when the gate has to look at its work. */
int gate_next(struct server *s, int64_t us, struct kvgpu_remote_head *h, const void **payload);
/* Serve the frame, or keep it for later: 0, or -errno. */
int gate_frame(struct server *s, const struct kvgpu_remote_head *h, const void *payload);
/* Serve kept frames, as far as they may go. Return whether one was served. */
bool gate_go_on(struct server *s);
/* Look at the work under way. @quiet: no frame came */
void gate_look(struct server *s, bool quiet);
/* A capture that has begun is over. */
void gate_capture_ended(struct server *s);
/* the context is about to end, or has ended: forget its work */
void gate_forget(struct server *s, uint64_t context);
/*
 * The server itself makes the GPU work, and waits, whoever has the turn: gate_beside_ends() charges
 * the time since gate_beside(), if nothing else does. In the client's turn it charges all of the
 * turn's time that is not accounted yet. Another such pair in between charges nothing.
 */
uint64_t gate_beside(const struct server *s);
void gate_beside_ends(struct server *s, uint64_t since_ns);
/*
 * A context goes on after the gate has forgotten its work: charge the client by the clock until all
 * is idle.
 */
void gate_untracked(struct server *s);

#endif
