// SPDX-License-Identifier: MIT
#include "attach.h"

#include <remote/ring/shared.h>
#include <remote/wire/builds.h>

/* ------------------------------------------------------------------ the shmem region's size */

void attach_page_open(struct attach_page *page, uint64_t bytes, uint64_t version)
{
	shared_store(&page->bytes, bytes);
	shared_store(&page->server_version, version);
	/* pairs with attach_page_bytes() */
	shared_store_release(&page->magic, KVGPU_REMOTE_MAGIC_SHMEM);
}

bool attach_page_bytes(const struct attach_page *page, uint64_t *bytes)
{
	if (shared_load_acquire(&page->magic) != KVGPU_REMOTE_MAGIC_SHMEM)
		return false;
	*bytes = shared_load(&page->bytes);
	return true;
}

uint64_t attach_page_version(const struct attach_page *page)
{
	return shared_load(&page->server_version);
}

/* ------------------------------------------------------------------ the server */

enum {
	S_OPEN,
	S_LOOK,
	S_GENERATION,
	S_VERSION,
	S_NAME_REFUSED,
	S_REFUSE,
	S_REFUSED,
	S_CLEARED,
	S_TAKE,
	S_SERVES
};

static enum attach_step next_step(unsigned int *at, unsigned int then)
{
	*at = then;
	return ATTACH_AT_ONCE;
}

static enum attach_step look_for_request(struct attach_server *s)
{
	uint64_t client = shared_load_acquire(&s->page->client); /* pairs with C_REQUEST */

	if (ATTACH_SAYS(client) != ATTACH_REQUESTS || !ATTACH_NUMBER(client) ||
	    (s->only && ATTACH_NAME(ATTACH_NUMBER(client)) != s->only))
		return ATTACH_LOOK_LATER;
	s->nonce = ATTACH_NUMBER(client);
	return next_step(&s->at, S_GENERATION);
}

/* a connect request at an earlier server: its client reads `server`, and asks to connect again */
static enum attach_step check_generation(struct attach_server *s)
{
	s->at = shared_load(&s->page->generation) == s->generation ? S_VERSION : S_LOOK;
	return s->at == S_VERSION ? ATTACH_AT_ONCE : ATTACH_LOOK_LATER;
}

static enum attach_step check_version(struct attach_server *s)
{
	s->at = builds_speak(shared_load(&s->page->version), s->version) ? S_CLEARED :
									   S_NAME_REFUSED;
	return s->at == S_CLEARED ? ATTACH_CLEAR : ATTACH_AT_ONCE;
}

static bool still_there(const struct attach_server *s)
{
	uint64_t client = shared_load_acquire(&s->page->client);

	return ATTACH_NUMBER(client) == s->nonce && ATTACH_SAYS(client) != ATTACH_AWAY;
}

enum attach_step attach_server_step(struct attach_server *s)
{
	switch (s->at) {
	case S_OPEN:
		shared_store_release(&s->page->server, ATTACH_WORD(s->generation, ATTACH_FREE));
		return next_step(&s->at, S_LOOK);
	case S_LOOK:
		return look_for_request(s);
	case S_GENERATION:
		return check_generation(s);
	case S_VERSION:
		return check_version(s);
	case S_NAME_REFUSED:
	case S_CLEARED:
		shared_store(&s->page->taken, s->nonce);
		return next_step(&s->at, s->at == S_CLEARED ? S_TAKE : S_REFUSE);
	case S_REFUSE:
		shared_store_release(&s->page->server, ATTACH_WORD(s->generation, ATTACH_REFUSED));
		return next_step(&s->at, S_REFUSED);
	case S_REFUSED:
		if (still_there(s))
			return ATTACH_LOOK_LATER;
		attach_server_again(s);
		return ATTACH_AT_ONCE;
	case S_TAKE:
		shared_store_release(&s->page->server, ATTACH_WORD(s->generation, ATTACH_TAKEN));
		s->at = S_SERVES;
		return ATTACH_DONE;
	case S_SERVES:
	default:
		return still_there(s) ? ATTACH_DONE : ATTACH_GONE;
	}
}

uint64_t attach_request(const struct attach_page *page)
{
	uint64_t client = shared_load_acquire(&page->client);

	return ATTACH_SAYS(client) == ATTACH_REQUESTS ? ATTACH_NAME(ATTACH_NUMBER(client)) : 0;
}

void attach_server_again(struct attach_server *s)
{
	s->generation = (s->generation + 1) % ATTACH_NUMBERS;
	s->at = S_OPEN;
}

/* ------------------------------------------------------------------ the client */

enum {
	C_LOOK,
	C_AWAY,
	C_GENERATION,
	C_VERSION,
	C_REQUEST,
	C_WAIT,
	C_WHO_TAKEN,
	C_WHO_REFUSED,
	C_HERE,
	C_LEAVE,
	C_REFUSED,
	C_ATTACHED
};

static uint64_t server_says(struct attach_client *c)
{
	/* pairs with the stores of attach_server_step() */
	return shared_load_acquire(&c->page->server);
}

static enum attach_step look_for_server(struct attach_client *c)
{
	uint64_t server = server_says(c);

	c->generation = ATTACH_NUMBER(server);
	/*
	 * A server that says TAKEN or REFUSED has yet to notice that its client is gone: it does
	 * when this client asks to connect.
	 */
	if (ATTACH_SAYS(server) == ATTACH_NONE)
		return ATTACH_LOOK_LATER;
	return next_step(&c->at, C_AWAY);
}

static enum attach_step wait_for_server(struct attach_client *c)
{
	uint64_t server = server_says(c);

	if (ATTACH_NUMBER(server) != c->generation) {
		c->nonce = (c->nonce + 1) % ATTACH_NUMBERS;
		c->nonce += !c->nonce;
		return next_step(&c->at, C_LOOK);
	}
	if (ATTACH_SAYS(server) == ATTACH_TAKEN)
		return next_step(&c->at, C_WHO_TAKEN);
	if (ATTACH_SAYS(server) == ATTACH_REFUSED)
		return next_step(&c->at, C_WHO_REFUSED);
	return ATTACH_LOOK_LATER;
}

/*
 * `server` has the generation of the connect request, so `taken` can't be about a later connect
 * request of this client
 */
static enum attach_step check_nonce(struct attach_client *c, unsigned int then)
{
	c->at = shared_load(&c->page->taken) == c->nonce ? then : C_WAIT;
	return c->at == then ? ATTACH_AT_ONCE : ATTACH_LOOK_LATER;
}

enum attach_step attach_client_step(struct attach_client *c)
{
	switch (c->at) {
	case C_LOOK:
		return look_for_server(c);
	case C_AWAY: /* before the words of the connect request change */
		shared_store_release(&c->page->client, ATTACH_WORD(c->nonce, ATTACH_AWAY));
		return next_step(&c->at, C_GENERATION);
	case C_GENERATION:
		shared_store_release(&c->page->generation, c->generation);
		return next_step(&c->at, C_VERSION);
	case C_VERSION:
		shared_store(&c->page->version, c->version);
		return next_step(&c->at, C_REQUEST);
	case C_REQUEST:
		shared_store_release(&c->page->client, ATTACH_WORD(c->nonce, ATTACH_REQUESTS));
		return next_step(&c->at, C_WAIT);
	case C_WAIT:
		return wait_for_server(c);
	case C_WHO_TAKEN:
		return check_nonce(c, C_HERE);
	case C_WHO_REFUSED:
		return check_nonce(c, C_LEAVE);
	case C_HERE:
		shared_store_release(&c->page->client, ATTACH_WORD(c->nonce, ATTACH_HERE));
		c->at = C_ATTACHED;
		return ATTACH_DONE;
	case C_LEAVE:
		attach_client_leave(c);
		c->at = C_REFUSED;
		return ATTACH_OTHER_VERSION;
	case C_REFUSED:
		return ATTACH_OTHER_VERSION;
	case C_ATTACHED:
	default:
		if (server_says(c) == ATTACH_WORD(c->generation, ATTACH_TAKEN))
			return ATTACH_DONE;
		return ATTACH_GONE;
	}
}

void attach_client_leave(struct attach_client *c)
{
	shared_store_release(&c->page->client, ATTACH_WORD(c->nonce, ATTACH_AWAY));
}

/* ------------------------------------------------------------------ */

bool attach_beat_stands(struct attach_beat *b, const uint64_t *counter, uint64_t ns,
			uint64_t patience_ns)
{
	uint64_t now = shared_load(counter);

	if (!b->begun || now != b->last) {
		*b = (struct attach_beat){ .last = now, .since_ns = ns, .begun = true };
		return false;
	}
	return ns - b->since_ns > patience_ns;
}
