// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any stream of methods, register writes, writes to memory and context switches. Each action is 8
 * bytes: what, where, and an argument. The channel counts as "to be stopped", so nothing may wait.
 */
#include <assert.h>
#include <string.h>

#include "gr/fake.h"

#define PD	0x400000u
#define INST	0x10000u
#define CTX	0x100000u
#define ACTIONS 512

struct action {
	uint8_t what, subc;
	uint16_t where;
	uint32_t data;
};

static void resume(struct fake *f)
{
	wr32(f, GR_INTR, ~0u);
	wr32(f, GR_TRAP, ~0u);
	wr32(f, GR_CTRL, GR_CTRL_FIFO | GR_CTRL_RESTART);
	assert(!gr_engine.stalled(&f->g, 0));
}

static void act(struct fake *f, struct chan *c, const struct action *a)
{
	enum eng_ret ret;

	switch (a->what % 8) {
	case 0:
		vram32_set(f, PD + a->where * 4u, a->data);
		break;
	case 1:
		wr32(f, GR_BASE + (a->subc % 0x20u) * 0x10000 + (a->where & ~3u), a->data);
		break;
	case 2:
		if (!gr_engine.save(&f->g, 0, c))
			gr_engine.load(&f->g, 0, c);
		break;
	default:
		ret = gr_engine.method(&f->g, 0, c, a->subc % 5, a->where & 0x3ffc, a->data,
				       a->subc & 8);
		assert(ret <= ENG_STALL && ret != ENG_ILLEGAL_MTHD && ret != ENG_PRIV);
		break;
	}
	if (gr_engine.stalled(&f->g, 0))
		resume(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fake *f;
	struct action a;
	struct chan c;

	if (f)
		fake_recycle(f, PD);
	else
		f = fake_create();
	fake_enable_exceptions(f);
	fake_instance(f, INST, PD, CTX);
	fake_boot_nouveau(f);
	fake_chan(f, &c, 1, INST);
	atomic_store(&c.stop, true);
	gr_engine.load(&f->g, 0, &c);
	for (size_t i = 0; i + sizeof(a) <= size && i < ACTIONS * sizeof(a); i += sizeof(a)) {
		memcpy(&a, data + i, sizeof(a));
		act(f, &c, &a);
	}
	return 0;
}
