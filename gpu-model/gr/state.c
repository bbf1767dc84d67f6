// SPDX-License-Identifier: GPL-2.0-only
/*
 * Class state. A method that only sets state leaves its argument here; macros read it back,
 * launches use it, context images hold it. The ranges are coarse on purpose: they have the methods
 * of the class headers, and undocumented methods that nouveau's golden context and Mesa's start-up
 * send (gk110_grctx_init_a197_0, nvc0_magic_3d_init) and the card accepts.
 */
#include "gr.h"

struct state_range {
	uint16_t first, last; /* methods, inclusive */
	uint16_t word;
};

static const struct state_range ranges_3d[] = {
	{ 0x0100, 0x2bfc, STRAND_3D },
	{ 0x3300, 0x33fc, STRAND_3D + 0xac0 },
	{ 0x3400, 0x37fc, STRAND_SCRATCH },
};

static const struct state_range ranges_compute[] = {
	{ 0x0100, 0x03fc, STRAND_COMPUTE },	    { 0x0500, 0x057c, STRAND_COMPUTE + 0x0c0 },
	{ 0x0700, 0x07fc, STRAND_COMPUTE + 0x0e0 }, { 0x0d80, 0x107c, STRAND_COMPUTE + 0x120 },
	{ 0x1280, 0x16fc, STRAND_COMPUTE + 0x1e0 }, { 0x1900, 0x1bfc, STRAND_COMPUTE + 0x300 },
	{ 0x2600, 0x2674, STRAND_COMPUTE + 0x3c0 }, { 0x335c, 0x33dc, STRAND_COMPUTE + 0x3de },
	{ 0x3400, 0x37fc, STRAND_SCRATCH },
};

static const struct state_range ranges_i2m[] = {
	{ 0x0100, 0x01fc, STRAND_I2M },
};

static const struct state_range ranges_2d[] = {
	{ 0x0100, 0x09fc, STRAND_2D },
	{ 0x0d00, 0x0dfc, STRAND_2D + 0x240 },
	{ 0x3400, 0x37fc, STRAND_SCRATCH },
};

static const struct {
	uint32_t id;
	const struct state_range *ranges;
	unsigned int nr;
} classes[GR_NR_CLASS] = {
	[GR_3D] = { CLASS_THREED, ranges_3d, sizeof(ranges_3d) / sizeof(ranges_3d[0]) },
	[GR_COMPUTE] = { CLASS_COMPUTE, ranges_compute,
			 sizeof(ranges_compute) / sizeof(ranges_compute[0]) },
	[GR_I2M] = { CLASS_INLINE_TO_MEMORY, ranges_i2m,
		     sizeof(ranges_i2m) / sizeof(ranges_i2m[0]) },
	[GR_2D] = { CLASS_TWOD, ranges_2d, sizeof(ranges_2d) / sizeof(ranges_2d[0]) },
};

bool class_of_id(uint32_t id, enum gr_class *cls)
{
	for (unsigned int i = 0; i < GR_NR_CLASS; i++) {
		if (classes[i].id == id) {
			*cls = i;
			return true;
		}
	}
	return false;
}

bool state_word(enum gr_class cls, uint32_t mthd, unsigned int *word)
{
	for (unsigned int i = 0; i < classes[cls].nr; i++) {
		const struct state_range *r = &classes[cls].ranges[i];

		if (mthd >= r->first && mthd <= r->last) {
			*word = r->word + (mthd - r->first) / 4;
			return true;
		}
	}
	return false;
}

uint32_t state_get(struct gr *gr, enum gr_class cls, uint32_t mthd)
{
	unsigned int word;

	return state_word(cls, mthd, &word) ? strand_get(gr, word) : 0;
}

void state_set(struct gr *gr, enum gr_class cls, uint32_t mthd, uint32_t val)
{
	unsigned int word;

	if (state_word(cls, mthd, &word))
		strand_set(gr, word, val);
}

uint64_t state_addr(struct gr *gr, enum gr_class cls, uint32_t upper_mthd)
{
	uint64_t upper = state_get(gr, cls, upper_mthd) & 0xff;

	return upper << 32 | state_get(gr, cls, upper_mthd + 4);
}

bool state_bundle_word(uint32_t addr, unsigned int *word)
{
	if (addr < BUNDLE_LOW_WORDS)
		*word = STRAND_BUNDLE_LOW + addr;
	else if (addr >= BUNDLE_HIGH_BASE && addr < BUNDLE_HIGH_BASE + BUNDLE_HIGH_WORDS)
		*word = STRAND_BUNDLE_HIGH + addr - BUNDLE_HIGH_BASE;
	else
		return false;
	return true;
}

/*
 * The state before a context is loaded: open on the chip; the model takes zeros, with rendering and
 * launches enabled.
 */
void state_reset(struct gr *gr)
{
	for (unsigned int i = 0; i < STRAND_WORDS; i++)
		strand_set(gr, i, 0);
	state_set(gr, GR_3D, M_SET_RENDER_ENABLE_C, M_RENDER_ALWAYS);
	state_set(gr, GR_COMPUTE, M_SET_RENDER_ENABLE_C, M_RENDER_ALWAYS);
}
