/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device with the root units only: a plain register file, a bus that records interrupts, and
 * stand-ins for the functions of other rooms that root units call. Registers are accessed with
 * gk110.lock taken here. If ptimer_unit is in the list of units, the timer's thread runs from
 * card_new() to card_free(); else the test has one thread.
 */
#ifndef KVGPU_TEST_ROOT_CARD_H
#define KVGPU_TEST_ROOT_CARD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model.h"

struct card {
	struct gk110 g;
	bool level; /* the interrupt line that the bus saw last */
	unsigned int messages, level_changes;
	unsigned int fifo_resets, pmu_resets, gr_resets, ce_resets[3];
	char err[512]; /* texts of gk110_err(), joined */
};

/* there is one card at a time; stand-ins without a device argument use this one */
extern struct card *the_card;

/* Makes a card: initialises, resets and starts @units. The test fails if a unit refuses. */
struct card *card_new(const char *board, const struct unit_ops *const *units, unsigned int nr);
void card_free(struct card *c);
uint32_t rd(struct card *c, uint32_t reg);
void wr(struct card *c, uint32_t reg, uint32_t val);
void wr8(struct card *c, uint32_t reg, uint8_t val);

#endif
