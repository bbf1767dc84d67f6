/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A second pushbuffer decoder for the unit test and the fuzzer. It was written straight from the
 * bit positions in cla16f.h and envytools' table of GF100 commands.
 */
#ifndef KVGPU_TEST_NAIVE_DECODE_H
#define KVGPU_TEST_NAIVE_DECODE_H

#include <stdbool.h>
#include <stdint.h>

struct naive {
	uint32_t left, mthd, subc;
	/* added to the method after each word: 4, 0, or -1: 4 once, then 0 */
	int step;
	uint32_t device, user; /* masks of sub-devices */
	bool mask_on, active;
	int format;
};

struct naive_out {
	int kind; /* 0 nothing, 1 method, 2 end of segment, 3 bad */
	uint32_t subc, mthd, data;
	bool last;
};

static inline struct naive naive_fresh(uint32_t subdevice, int format)
{
	return (struct naive){ .device = subdevice & 0xfff,
			       .user = subdevice >> 16 & 0xfff,
			       .active = subdevice >> 28 & 1,
			       .mask_on = subdevice >> 29 & 1,
			       .format = format };
}

static inline void naive_start(struct naive *n, uint32_t mthd, uint32_t subc, uint32_t count,
			       int step)
{
	n->mthd = mthd;
	n->subc = subc;
	n->left = count;
	n->step = step;
}

static inline void naive_send(struct naive *n, uint32_t data, bool last, struct naive_out *o)
{
	o->kind = !n->mask_on || n->active;
	o->subc = n->subc;
	o->mthd = n->mthd;
	o->data = data;
	o->last = last;
}

static inline void naive_step(struct naive *n, uint32_t w, struct naive_out *o)
{
	uint32_t op = w >> 29, tert = w >> 16 & 3, mask = w >> 4 & 0xfff;

	*o = (struct naive_out){ 0 };
	if (n->left) {
		naive_send(n, w, n->left == 1, o);
		n->left--;
		if (n->step)
			n->mthd = (n->mthd + 4) & 0x3ffc;
		if (n->step < 0)
			n->step = 0;
		return;
	}
	if (n->format == 0 && op != 0 && op != 2) {
		o->kind = 3;
	} else if (op == 7) {
		o->kind = 2;
	} else if (op == 6) {
		o->kind = 3;
	} else if (op == 4) {
		naive_start(n, (w & 0xfff) * 4, w >> 13 & 7, 0, 0);
		naive_send(n, w >> 16 & 0x1fff, true, o);
	} else if (op & 1) {
		naive_start(n, (w & 0xfff) * 4, w >> 13 & 7, w >> 16 & 0x1fff,
			    op == 1 ? 4 :
			    op == 3 ? 0 :
				      -1);
	} else if (tert == 0) {
		naive_start(n, w & 0x1ffc, w >> 13 & 7, w >> 18 & 0x7ff, op == 0 ? 4 : 0);
	} else if (op == 2 || !n->mask_on) {
		o->kind = 3;
	} else if (tert == 1) {
		n->active = n->device & mask;
	} else if (tert == 2) {
		n->user = mask;
	} else {
		n->active = n->device & n->user;
	}
}

#endif
