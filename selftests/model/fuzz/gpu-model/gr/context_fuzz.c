// SPDX-License-Identifier: GPL-2.0-only
/*
 * A context image and register lists of any content: loading, using and saving it ends, and
 * sanitizers see no wrong access.
 */
#include <string.h>

#include "gr/fake.h"

#define PD   0x400000u
#define INST 0x10000u
#define CTX  0x100000u

static void poke(struct fake *f, uint32_t falcon, uint32_t at, uint32_t val)
{
	wr32(f, falcon + FALCON_DMEMC(0), at & (uint32_t)FALCON_MEMC_OFFS);
	wr32(f, falcon + FALCON_DMEMD(0), val);
}

static size_t corrupt_lists(struct fake *f, const uint8_t *data, size_t size)
{
	size_t at = 1;

	for (unsigned int i = data[0] % 16; i && at + 8 <= size; i--, at += 8) {
		uint32_t w[2];

		memcpy(w, data + at, sizeof(w));
		poke(f, i & 1 ? GR_FECS : GR_GPCCS_BCAST, w[0], w[1]);
	}
	return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fake *f;
	struct chan c;
	size_t at;

	if (!size)
		return 0;
	if (f)
		fake_recycle(f, PD);
	else
		f = fake_create();
	fake_instance(f, INST, PD, CTX);
	fake_boot_nouveau(f);
	fake_chan(f, &c, 1, INST);
	at = corrupt_lists(f, data, size);
	if (size - at < FAKE_SPACE - CTX)
		memcpy(f->g.vram + PD + CTX, data + at, size - at);
	/* the patch list starts where the image does, so that it holds the same bytes */
	vram32_set(f, PD + CTX + 4, CTX >> 8);
	vram32_set(f, PD + CTX, vram32(f, PD + CTX) & 0xffff);
	gr_engine.load(&f->g, 0, &c);
	method(f, &c, 2, M_LOAD_INLINE_DATA, 1);
	method(f, &c, 0, M_CALL_MME_MACRO + 4, 1);
	method(f, &c, 1, M_SEND_SIGNALING_PCAS_B, 3);
	gr_engine.save(&f->g, 0, &c);
	return 0;
}
