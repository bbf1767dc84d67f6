// SPDX-License-Identifier: MIT
/*
 * How a program and its server process greet each other by way of two relays: the program's hello
 * becomes a relay's; the server's welcome comes with an arena, and the program gets it with
 * another.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <remote/channel/conn.h>
#include <remote/channel/memory.h>

#include "relay.h"

bool greet_hello(struct tunnel *n)
{
	struct kvgpu_remote_hello hello;

	if (n->parser.have < sizeof(hello))
		return true;
	memcpy(&hello, n->parser.ahead, sizeof(hello));
	if (hello.magic != KVGPU_REMOTE_MAGIC)
		return false;
	hello.magic = KVGPU_REMOTE_MAGIC_RELAY;
	memcpy(n->parser.ahead, &hello, sizeof(hello));
	n->parser.left = sizeof(hello);
	n->greeted = true;
	return true;
}

static bool map_arena(struct tunnel *n, int memory, uint64_t bytes)
{
	uint8_t *arena = memory_map(memory, bytes, NULL);

	return arena && tunnel_has_arena(n, arena, bytes);
}

/*
 * A server process says all of its welcome at once. Don't wait for the rest: this thread serves
 * other programs, too.
 */
int greet_take_welcome(struct tunnel *n, struct kvgpu_remote_welcome *to)
{
	struct conn conn = { .fd = n->fd };
	const char *why;
	int memory = -1;
	bool fine;
	ssize_t here = recv(n->fd, to, sizeof(*to), MSG_PEEK | MSG_DONTWAIT);

	if (here < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	fine = here == (ssize_t)sizeof(*to) && !memory_read(&conn, to, sizeof(*to), &memory);
	if (fine && !to->result)
		fine = to->relayed && !memory_check(memory, to->arena_bytes, &why) &&
		       map_arena(n, memory, to->arena_bytes);
	if (memory >= 0)
		close(memory);
	return fine ? (int)sizeof(*to) : -1;
}

/*
 * the largest power of two that fits eight times into the arena, and into .staging but with .whole
 */
static uint32_t piece_of(const struct tunnel *n)
{
	uint32_t piece = n->link->settings->whole ? 1u << 31 : n->link->settings->staging;

	while (piece & (piece - 1))
		piece &= piece - 1;
	while (piece > n->arena_bytes / 8)
		piece /= 2;
	return piece;
}

static bool give_welcome(struct tunnel *n, const struct kvgpu_remote_welcome *w)
{
	struct {
		struct kvgpu_remote_welcome w;
		struct kvgpu_remote_relayed relay;
	} all = { .w = *w };
	int memory = memory_make(w->arena_bytes);
	bool fine;

	if (memory < 0) {
		relay_say("memory for a program: %s", memory_text(-memory));
		return false;
	}
	fine = map_arena(n, memory, w->arena_bytes);
	all.w.relayed = 1;
	all.relay = (struct kvgpu_remote_relayed){ .piece = fine ? piece_of(n) : 0,
						   .overhead = n->link->settings->whole ?
								       KVGPU_REMOTE_OVERHEAD_WHOLE :
								       n->link->overhead,
						   .job = n->link->settings->job,
						   .key = { n->key[0], n->key[1] },
						   .rank = n->link->rank,
						   .tunnel = n - n->link->tunnels };
	fine = fine && !memory_send(n->fd, &all, sizeof(all), memory);
	close(memory);
	return fine;
}

bool greet_give_welcome(struct tunnel *n, const struct kvgpu_remote_welcome *w)
{
	struct kvgpu_remote_welcome refusal = *w;
	bool sent;

	if (!w->result && (w->arena_bytes < 8 * KVGPU_REMOTE_RELAYED_MIN ||
			   w->arena_bytes > KVGPU_REMOTE_ARENA_MAX))
		return false;
	if (n->fd < 0)
		return true;
	refusal.relayed = 0;
	sent = w->result ? send(n->fd, &refusal, sizeof(refusal), MSG_DONTWAIT | MSG_NOSIGNAL) ==
				   sizeof(refusal) :
			   give_welcome(n, w);
	if (!sent)
		tunnel_end_local(n);
	return true;
}
