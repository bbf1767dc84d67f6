// SPDX-License-Identifier: GPL-2.0-only
/*
 * A channel does nothing but ask for NON_STALL_INTERRUPTs. The chip does not say which channel
 * raised one, so no channel can be stopped for raising too many. So the number that the host serves
 * is bounded: selftests/module/harness checks that, by its own clock (topics/interrupts.c). Here
 * how many it serves is only printed; a guest must still be told, and its channel must go on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bitfield.h>

#include <gk110/fifo.h>
#include <gk110/push.h>
#include <gk110/ram.h>

#include "bare/chan.h"
#include "check.h"
#include "tap.h"
#include "tests.h"

enum { METHODS = 4000, RING = 512, ROOM = 300, STORM_MS = 3000, SOON_MS = 60000 };

/* Return how long kvgpu's interrupt threads have worked, in ticks of user space's clock. */
static uint64_t thread_ticks(void)
{
	unsigned long long user, sys, sum = 0;
	char line[512], *end;
	FILE *list = popen("cat /proc/[0-9]*/stat 2>/dev/null | grep '(irq/[0-9]*-kvgpu)'", "r");

	while (list && fgets(line, sizeof(line), list)) {
		end = strrchr(line, ')');
		if (end && sscanf(end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
				  &user, &sys) == 2)
			sum += user + sys;
	}
	if (list)
		pclose(list);
	return sum;
}

/* Put the pushbuffer into all entries of the ring. */
static void fill(struct bare_chan *c, unsigned int words)
{
	unsigned int i;

	for (i = 0; i < RING; i++) {
		c->ring[2 * i] = c->push_va;
		c->ring[2 * i + 1] = c->push_va >> 32 | FIELD_PREP(GP_ENTRY1_LENGTH, words);
	}
	__sync_synchronize();
}

static volatile uint32_t *userd(struct bare_chan *c, unsigned int off)
{
	return (volatile uint32_t *)(c->g->bars.bar1 + c->userd_bar1 + off);
}

/*
 * Submit as fast as the channel takes entries, until the guest was told of an interrupt, and for
 * STORM_MS at least. Return how often it was told.
 */
static unsigned int storm(struct bare_chan *c)
{
	uint64_t began = now_ms(), ms = 0;
	unsigned int told = 0;
	uint32_t put = 0;

	for (; ms < STORM_MS || (!told && ms < SOON_MS); ms = now_ms() - began) {
		if (((put - *userd(c, USERD_GP_GET)) % RING) < RING - ROOM) {
			put = (put + ROOM) % RING;
			*userd(c, USERD_GP_PUT) = put;
		}
		if (bare_read(c->g, PFIFO_INTR) & PFIFO_INTR_NONSTALL) {
			told++;
			bare_write(c->g, PFIFO_INTR, PFIFO_INTR_NONSTALL);
		}
		usleep(1000);
	}
	return told;
}

void test_nonstall(struct device *d, const struct options *o)
{
	struct bare_chan_config cfg = { .id = 1 };
	uint64_t before, after, began, ms, worked;
	struct bare_space s;
	struct bare_chan c;
	struct bare_gpu g;
	unsigned int i, words, told;
	uint32_t entry = 1, taken = 0;

	if (!o->card) {
		tap_skip("nonstall", "without --card the card's interrupts can't be counted");
		return;
	}
	checks_begin();
	gpu_attach(d, &g);
	cfg.runlist = g.engine[BARE_CE0].runlist;
	bare_space_create(&g, &s);
	bare_chan_create(&g, &s, &cfg, &c);
	bare_runlist(&g, cfg.runlist, &entry, 1);
	for (i = 0; i < METHODS; i++)
		bare_emit(&c, SUBCH_COPY, HOST_NON_STALL_INTERRUPT, 0);
	words = c.words;
	fill(&c, words);
	bare_write(&g, PFIFO_INTR_EN, ~0u);
	began = now_ms();
	before = card_counter(o->card, "chip_interrupts");
	worked = thread_ticks();
	told = storm(&c);
	after = card_counter(o->card, "chip_interrupts");
	worked = (thread_ticks() - worked) * 1000 / sysconf(_SC_CLK_TCK);
	ms = now_ms() - began;
	tap_diag(
		"%llu interrupts of the chip in %llu ms, %llu ms of work; the guest was told %u times",
		(unsigned long long)(after - before), (unsigned long long)ms,
		(unsigned long long)worked, told);
	CHECK(told > 0);
	for (i = 0; i < SOON_MS && *userd(&c, USERD_GP_GET) != *userd(&c, USERD_GP_PUT); i++) {
		if (taken != *userd(&c, USERD_GP_GET))
			i = 0; /* it moves: no hang */
		taken = *userd(&c, USERD_GP_GET);
		usleep(1000);
	}
	CHECK(*userd(&c, USERD_GP_GET) == *userd(&c, USERD_GP_PUT));
	usleep(100000);
	bare_write(&g, PFIFO_INTR, PFIFO_INTR_NONSTALL);
	fill(&c, 2);
	*userd(&c, USERD_GP_PUT) = (*userd(&c, USERD_GP_PUT) + 1) % RING;
	CHECK(bare_poll(&g, PFIFO_INTR, PFIFO_INTR_NONSTALL, PFIFO_INTR_NONSTALL, SOON_MS));
	bare_write(&g, PFIFO_INTR_EN, 0);
	bare_runlist(&g, cfg.runlist, NULL, 0);
	bare_chan_destroy(&c);
	gpu_detach(d, &g);
	checks_end(
		"a storm of NON_STALL_INTERRUPTs: the guest is told, its channel goes on, and it is told of the next one");
}
