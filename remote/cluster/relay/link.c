// SPDX-License-Identifier: MIT
/*
 * A link: what its two sides tell each other about themselves and about tunnels, and whether the
 * other side lives.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ops.h>

#include "relay.h"

enum { BEATS = 4, OVERHEAD_DEFAULT = 64 << 10, EAGER_DEFAULT = 16 << 10 };

void link_lose(struct link *l, const char *why)
{
	if (l->lost)
		return;
	l->lost = true;
	relay_say(l->rank ? "proxy %d is gone: %s" : "broker %d is gone: %s", l->rank, why);
}

void link_out_of_reach(struct link *l, const char *why)
{
	l->unreachable = l->unreachable || !l->lost;
	link_lose(l, why);
}

static bool link_fine(struct link *l, int r)
{
	if (r != MPI_SUCCESS)
		link_out_of_reach(l, "it can't be reached");
	return r == MPI_SUCCESS;
}

bool link_begin(struct link *l, const struct settings *s, int rank)
{
	unsigned int i;

	l->settings = s;
	l->rank = rank;
	l->eager = s->eager == EAGER_MEASURED ? EAGER_DEFAULT : s->eager;
	l->overhead = OVERHEAD_DEFAULT;
	l->measuring = MPI_REQUEST_NULL;
	l->heard_us = l->said_us = now_us();
	for (i = 0; i < TUNNELS; i++) {
		l->tunnels[i].link = l;
		l->tunnels[i].fd = -1;
	}
	for (i = 0; i < CONTROLS; i++)
		if (!link_fine(l, MPI_Recv_init(&l->in[i], sizeof(l->in[i]), MPI_BYTE, rank,
						TAG_CONTROL, MPI_COMM_WORLD, &l->in_made[i])) ||
		    !link_fine(l, MPI_Send_init(&l->out[i], sizeof(l->out[i]), MPI_BYTE, rank,
						TAG_CONTROL, MPI_COMM_WORLD, &l->out_made[i])) ||
		    !link_fine(l, MPI_Start(&l->in_made[i])))
			return false;
	return true;
}

/* the index of a message that can be used, or -1 */
static int spare_control(struct link *l)
{
	int i, done;

	for (i = 0; i < CONTROLS; i++) {
		if (!l->out_busy[i])
			return i;
		if (!link_fine(l, MPI_Test(&l->out_made[i], &done, MPI_STATUS_IGNORE)))
			return -1;
		if (done) {
			l->out_busy[i] = false;
			return i;
		}
	}
	return -1;
}

static bool send_control(struct link *l, struct control c)
{
	int i = l->lost ? -1 : spare_control(l);

	if (i < 0)
		return false;
	c.version = KVGPU_REMOTE_RELAYS;
	l->out[i] = c;
	memcpy(l->out[i].secret, l->settings->secret, SECRET_BYTES);
	l->out_busy[i] = true;
	l->said_us = now_us();
	return link_fine(l, MPI_Start(&l->out_made[i]));
}

bool link_say(struct link *l, enum control_kind kind, unsigned int tunnel)
{
	return send_control(l, (struct control){ .kind = kind, .tunnel = tunnel });
}

bool link_open(struct link *l, const struct tunnel *n)
{
	return send_control(l, (struct control){ .kind = CONTROL_OPEN,
						 .tunnel = n - l->tunnels,
						 .key = { n->key[0], n->key[1] } });
}

bool link_hear(struct link *l, struct control *c)
{
	int done = 0;

	if (l->lost || !link_fine(l, MPI_Test(&l->in_made[l->next_in], &done, MPI_STATUS_IGNORE)) ||
	    !done)
		return false;
	*c = l->in[l->next_in];
	if (!link_fine(l, MPI_Start(&l->in_made[l->next_in])))
		return false;
	l->next_in = (l->next_in + 1) % CONTROLS;
	if (!secret_is(c->secret, l->settings->secret, SECRET_BYTES)) {
		link_lose(l, "it does not know this job's secret");
		return false;
	}
	if (c->version != KVGPU_REMOTE_RELAYS || c->tunnel >= TUNNELS) {
		link_lose(l, "it is of another version: all machines have to have one build");
		return false;
	}
	l->heard_us = now_us();
	l->hello = true;
	l->over = l->over || c->kind == CONTROL_END;
	return true;
}

void link_beat(struct link *l)
{
	uint64_t now = now_us(), patience = l->settings->patience_s * 1000000ull;

	if (now - l->said_us > patience / BEATS)
		link_say(l, CONTROL_ALIVE, 0);
	if (now - l->heard_us > patience)
		link_out_of_reach(l, "it has said nothing for too long");
}

static void take_back(MPI_Request *r)
{
	int done = 0;

	if (*r == MPI_REQUEST_NULL)
		return;
	MPI_Test(r, &done, MPI_STATUS_IGNORE);
	if (!done) {
		MPI_Cancel(r);
		MPI_Wait(r, MPI_STATUS_IGNORE);
	}
	if (*r != MPI_REQUEST_NULL)
		MPI_Request_free(r);
}

/* call when no send of the slot is under way */
static void free_sends(struct slot *slot)
{
	unsigned int i;

	for (i = 0; i < CUT_CLASSES; i++)
		if (slot->made[i] != MPI_REQUEST_NULL)
			MPI_Request_free(&slot->made[i]);
}

void link_end(struct link *l)
{
	unsigned int i, k;

	if (l->settings->counts)
		relay_say(
			"%s %d: %lu messages, %lu pieces inside and %lu apart, %lu messages of pieces both ways by %lu "
			"requests, %lu sleeps; pieces up to %zu bytes inside, %zu bytes cross while one does",
			l->rank ? "to proxy" : "to broker", l->rank, l->counts.messages,
			l->counts.inside, l->counts.apart, l->counts.chunks, l->counts.made,
			backoff_sleeps, l->eager, l->overhead);
	if (l->settings->counts && l->rank)
		relay_say("to proxy %d: %lu bytes", l->rank, l->counts.bytes);
	else if (l->settings->counts)
		relay_say(
			"proxy %d: %lu bytes to the broker; %lu pieces of %lu bytes from other proxies, "
			"%lu of %lu bytes to them",
			l->settings->rank, l->counts.bytes, l->counts.pulled,
			l->counts.pulled_bytes, l->counts.given, l->counts.given_bytes);
	take_back(&l->measuring);
	for (i = 0; i < CONTROLS; i++) {
		MPI_Wait(&l->out_made[i], MPI_STATUS_IGNORE);
		MPI_Request_free(&l->out_made[i]);
		take_back(&l->in_made[i]);
	}
	for (i = 0; i < TUNNELS; i++)
		for (k = 0; k < l->settings->slots && l->tunnels[i].made; k++) {
			take_back(&l->tunnels[i].in[k].made);
			free_sends(&l->tunnels[i].out[k]);
		}
}
