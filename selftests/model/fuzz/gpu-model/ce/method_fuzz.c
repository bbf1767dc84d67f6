// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams of methods at a copy engine: nothing that a pushbuffer says, and nothing that a guest
 * writes into RAMFC, may make the model leave the memory that the MMU or physical mode gave it,
 * stop making progress, or keep it from being stopped.
 *
 * Input: records of 6 bytes. Byte 0 picks an action.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../unit/gpu-model/ce/card.h"
#include "ce/ce.h"

/* stops of one launch after which the channel is given up */
#define MAX_TURNS 64

static const uint16_t methods[] = {
	0x100, 0x140, 0x240, 0x244, 0x248, 0x254, 0x258,  0x25c, 0x260, 0x264,
	0x300, 0x300, 0x300, 0x400, 0x404, 0x408, 0x40c,  0x410, 0x414, 0x418,
	0x41c, 0x700, 0x704, 0x708, 0x70c, 0x710, 0x714,  0x718, 0x71c, 0x720,
	0x728, 0x72c, 0x730, 0x734, 0x738, 0x73c, 0x1114, 0x10,	 0x724, 0x304,
};

static void ack(struct card *c, unsigned int inst)
{
	const struct mmio_range *r = &ce_unit.ranges[inst];

	pthread_mutex_lock(&c->g.lock);
	r->write(&c->g, r->base + GK110_CE_INTR, ~0u, ~0u);
	pthread_mutex_unlock(&c->g.lock);
}

static void one_method(struct card *c, unsigned int inst, uint32_t mthd, uint32_t data)
{
	unsigned int turns = 0, charges;
	enum eng_ret ret;

	if (ce_engine.stalled(&c->g, inst))
		ack(c, inst);
	do {
		atomic_store(&c->chan.stop, false);
		charges = c->charges;
		ret = card_method(c, inst, mthd, data);
		if (ret == ENG_AGAIN && (c->charges == charges || mthd != A0B5_LAUNCH_DMA))
			abort(); /* stopped without having done anything: would never end */
		if (ret == ENG_STALL && !ce_engine.stalled(&c->g, inst))
			abort();
		if (ret == ENG_FAULT && !c->fault.count)
			abort();
		if (ret == ENG_PRIV && c->chan.hce_priv)
			abort();
	} while (ret == ENG_AGAIN && ++turns < MAX_TURNS);
	c->fault.count = 0;
}

static void action(struct card *c, const uint8_t *p)
{
	unsigned int inst = p[0] >> 6;
	uint32_t data;

	memcpy(&data, p + 2, sizeof(data));
	inst = inst % GK110_CE_NR;
	switch (p[0] & 0x3f) {
	case 0x3f:
		c->chan.ce_state[p[1] % 32] = data;
		break;
	case 0x3e:
		c->chan.hce_priv = p[1] & 1;
		c->chan.pb_priv = p[1] & 2;
		break;
	case 0x3d:
		c->absent[p[1] % CARD_PAGES] = data & 1;
		c->read_only[p[1] % CARD_PAGES] = data & 2;
		c->privileged[p[1] % CARD_PAGES] = data & 4;
		break;
	case 0x3c:
		one_method(c, inst, data & 0x1fff, data);
		break;
	case 0x3b:
		c->short_runs = p[1] & 1;
		break;
	default:
		/*
		 * small numbers reach more than big ones; bits 5 and 4 of byte 0 say how small
		 */
		if (p[0] & 0x20)
			data &= p[0] & 0x10 ? 0xff : 0x1ffff;
		one_method(c, inst, methods[p[1] % (sizeof(methods) / sizeof(methods[0]))], data);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct card *c;
	size_t i;

	if (size > 6 * 200)
		return 0;
	/* memory keeps its bytes from one input to the next */
	if (!c)
		c = card_create(1);
	memset(c->chan.ce_state, 0, sizeof(c->chan.ce_state));
	memset(c->absent, 0, sizeof(c->absent));
	memset(c->read_only, 0, sizeof(c->read_only));
	memset(c->privileged, 0, sizeof(c->privileged));
	c->chan.hce_priv = c->chan.pb_priv = c->short_runs = false;
	/* every launch stops after each chunk */
	c->stop_after = 1;
	c->g.ce->engine[1].pacer.per_s = 1;
	for (i = 0; i < GK110_CE_NR; i++)
		ack(c, (unsigned int)i);
	for (i = 0; i + 6 <= size; i += 6)
		action(c, data + i);
	return 0;
}
