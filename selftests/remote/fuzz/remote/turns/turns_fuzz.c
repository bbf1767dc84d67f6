// SPDX-License-Identifier: MIT
/*
 * Programs say anything, at any times, and come and go: the turn is with a program that is there,
 * no program is charged more than it said and the time that has passed (and TURNS_LOST for each
 * look), clocks stay within their limits, and when programs of two clients or more behave, each
 * gets a turn.
 */
#include <stdlib.h>
#include <string.h>

#include <remote/turns/turns.h>

enum { CLIENTS = 4, PROGRAMS = 8, ROUNDS = 20000 };

static struct turns_client clients[CLIENTS];
static struct turns_program programs[PROGRAMS];
static struct turns t;
static uint64_t now, most[PROGRAMS]; /* the most that each can have been charged */
static const uint8_t *in;
static size_t left;

static void must(bool fine)
{
	if (!fine)
		abort();
}

static uint8_t byte(void)
{
	if (!left)
		return 0;
	left--;
	return *in++;
}

static uint64_t span(void)
{
	uint64_t n = byte() | byte() << 8;

	switch (byte() % 4) {
	case 0:
		return n;
	case 1:
		return n * 1000;
	case 2:
		return n * 100000;
	default:
		return n << byte() % 48;
	}
}

static void look(uint64_t dt)
{
	uint32_t i, before = t.holder;
	bool wants = false;
	uint64_t again;

	now += dt;
	for (i = 0; i < PROGRAMS; i++)
		most[i] += programs[i].present || i == t.holder ? dt + TURNS_LOST : 0;
	again = turns_look(&t, now);
	must(again > now || t.closed);
	for (i = 0; i < PROGRAMS; i++) {
		struct turns_program *p = &programs[i];

		wants |= p->present && p->wants && i != t.holder;
		must(p->charged <= most[i]);
		must(!p->present || p->seen == p->used);
	}
	for (i = 0; i < CLIENTS; i++)
		must(!clients[i].weight ||
		     (int64_t)(clients[i].clock - t.clock) <=
			     (int64_t)(TURNS_DEBT * 4096 / clients[i].weight));
	must(t.holder == TURNS_NONE ||
	     (t.closed && programs[t.holder].present && !programs[t.holder].gave_back));
	must(!t.closed || !wants || t.holder != TURNS_NONE);
	must(t.wanted == (wants && t.holder != TURNS_NONE));
	if (t.holder != TURNS_NONE && t.holder != before)
		must(programs[t.holder].turn_ns >= TURNS_SHORTEST &&
		     programs[t.holder].turn_ns <= TURNS_LONGEST && t.turn);
}

static void come(uint32_t i, uint32_t client)
{
	uint32_t j;
	bool first = true;

	for (j = 0; j < PROGRAMS; j++)
		first &= !programs[j].present || programs[j].client != client;
	if (first)
		clients[client] =
			(struct turns_client){ .weight = 1 + (byte() | byte() << 8) % 10000 };
	programs[i] = (struct turns_program){ .present = true, .client = client };
	most[i] = 0;
}

static void step(void)
{
	uint32_t i = byte() % PROGRAMS;
	struct turns_program *p = &programs[i];
	uint64_t ns;

	switch (byte() % 6) {
	case 0:
		if (!p->present)
			come(i, byte() % CLIENTS);
		else if (byte() % 4 == 0)
			p->present = false;
		break;
	case 1:
		p->wants = byte() % 2;
		break;
	case 2:
		p->busy = byte() % 2;
		break;
	case 3:
		ns = span();
		p->used += ns;
		most[i] += ns;
		break;
	case 4:
		p->gave_back = byte() % 2;
		break;
	default:
		look(span());
	}
	if (t.holder != TURNS_NONE && !programs[t.holder].present)
		look(0);
}

/*
 * all want, and give back what they get: each is the next one some time. Of two clients at least:
 * programs of one take no turns
 */
static void behave(void)
{
	bool had[PROGRAMS] = { false };
	uint32_t i, round, n = 0;

	programs[1].present &= programs[0].present && programs[1].client != programs[0].client;
	look(0);
	for (i = 0; i < PROGRAMS; i++) {
		if (!programs[i].present)
			come(i, i == 1 ? (programs[0].client + 1) % CLIENTS : i % CLIENTS);
		programs[i].busy = false;
		programs[i].wants = true;
		clients[programs[i].client].weight = 10;
	}
	look(0);
	for (round = 0; round < ROUNDS && n < PROGRAMS; round++) {
		must(t.closed && t.holder != TURNS_NONE);
		n += !had[t.holder];
		had[t.holder] = true;
		programs[t.holder].used += programs[t.holder].turn_ns;
		most[t.holder] += programs[t.holder].turn_ns;
		programs[t.holder].gave_back = true;
		look(programs[t.holder].turn_ns);
	}
	must(n == PROGRAMS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	memset(clients, 0, sizeof(clients));
	memset(programs, 0, sizeof(programs));
	memset(most, 0, sizeof(most));
	t = (struct turns){ .clients = clients,
			    .programs = programs,
			    .nr_clients = CLIENTS,
			    .nr_programs = PROGRAMS,
			    .holder = TURNS_NONE };
	in = data;
	left = size;
	now = 1 + span();
	while (left)
		step();
	if (now < UINT64_MAX / 4)
		behave();
	return 0;
}
